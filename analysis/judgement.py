"""A claim of the article, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Verdict: TypeAlias = Literal["holds", "holds if", "does not hold", "not yet judged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A claim in our words, the verdict, and the finding with its numbers."""

    claim: str
    says: str
    verdict: Verdict
    finding: str

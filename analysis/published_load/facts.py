"""Published numbers on speculation under load, as printed, each with its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from analysis.csv_facts import csv_facts

Quantity: TypeAlias = Literal[
    "speedup", "tokens_per_round", "p", "step_s", "prompt_tokens", "output_tokens"
]

APERTUS = "Apertus 1.5 8B speculative decoding report 2026"
MAGICDEC = "MagicDec 2024"
EAGLE_3 = "EAGLE-3 2025"
META = "Meta 2508.08192"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFact:
    """One published number; None and "" where the source prints nothing.

    `quantity` says what `value` is: a speedup (throughput over plain at the same load), tokens per round,
    p = P(accepted | tested), the seconds of a step, or the tokens of a request. `batch` is the number of
    requests at once, `tokens` those per request in a step, `context` those held. `confidence`: "direct"
    (the source's own table), "direct-community" (the same, of a report that nobody reviewed) or "secondary".
    """

    source: str
    url: str
    table: str
    quantity: str
    method: str
    target: str
    draft: str
    task: str
    hardware: str
    gamma: int | None
    batch: int | None
    tokens: int | None
    context: int | None
    value: float
    confidence: str
    note: str


def load_facts(
    source: str | None = None, quantity: Quantity | None = None, method: str | None = None
) -> tuple[LoadFact, ...]:
    """The facts that ship with the package in the order of their file, filtered where a name is given.

    >>> [fact.value for fact in load_facts(MAGICDEC, "p")]
    [0.84, 0.83, 0.82, 0.81, 0.79, 0.79]
    """
    facts = csv_facts(
        "published_load.csv", LoadFact, counts=("gamma", "batch", "tokens", "context")
    )
    return tuple(
        fact
        for fact in facts
        if (source is None or fact.source == source)
        and (quantity is None or fact.quantity == quantity)
        and (method is None or fact.method == method)
    )


def printed_tokens(source: str, method: str) -> dict[int, float]:
    """Tokens per round by draft length.

    >>> printed_tokens(APERTUS, "block drafter")[3]
    2.29
    """
    facts = load_facts(source, "tokens_per_round", method)
    return {fact.gamma: fact.value for fact in facts if fact.gamma is not None}

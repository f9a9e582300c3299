"""Drafts that differ in their family alone: what was measured of them, with intervals.

They were trained and judged by `python -m real_runs.tiny.families`: one target, one shape, one
vocabulary, as much text, as many steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

import numpy as np

from analysis.comparison.resampling import RatioDifference, intervals
from analysis.csv_facts import csv_records
from simulator import Estimate
from simulator._checks import FloatArray

DRAFTS, PROMPTS = "family_drafts.csv", "family_prompts.csv"
Quantity: TypeAlias = Literal["p", "agreement", "tokens_per_round", "greedy_tokens_per_round"]
"""`p` is the mean of Σ min(P, Q), `agreement` the share of places where both prefer the same token; tokens
per round are those at temperature 1 and greedy."""
QUANTITIES: dict[Quantity, tuple[str, str]] = {
    "p": ("overlap", "places"),
    "agreement": ("agreed", "greedy_places"),
    "tokens_per_round": ("tokens", "rounds"),
    "greedy_tokens_per_round": ("greedy_tokens", "greedy_rounds"),
}
_SEED = 2023


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedDraft:
    """One draft: what it learnt from, how long, and its loss on held-out files of the target's kind."""

    kind: str
    seed: int
    steps: int
    windows: int
    parameters: int
    held_out_loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSums:
    """One draft behind one prompt: sums whose ratios are the QUANTITIES."""

    kind: str
    seed: int
    path: str
    offset: int
    sums: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyRun:
    """Every draft of the experiment, and every sum of it."""

    drafts: tuple[TrainedDraft, ...]
    prompts: tuple[PromptSums, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds in the order of the table."""
        return tuple(dict.fromkeys(draft.kind for draft in self.drafts))

    def seeds(self, kind: str) -> tuple[int, ...]:
        """The seeds of a kind."""
        return tuple(draft.seed for draft in self.drafts if draft.kind == kind)

    def loss(self, kind: str) -> float:
        """The mean held-out loss of a kind's drafts [nats/byte]."""
        losses = [draft.held_out_loss for draft in self.drafts if draft.kind == kind]
        return sum(losses) / len(losses)

    def by_seed(self, quantity: Quantity, kind: str) -> tuple[float, ...]:
        """A quantity of each draft of a kind, over all prompts."""
        return tuple(
            float(np.divide(*self._sums(quantity, kind, seed).sum(axis=0)))
            for seed in self.seeds(kind)
        )

    def value(self, quantity: Quantity, kind: str) -> Estimate:
        """A quantity of a kind over its drafts, its interval from files drawn again.

        The cuts of one file are alike, so that files are the independent units.
        """
        return self._difference(quantity, (kind,), np.ones(1))

    def gain(self, quantity: Quantity, kind: str, other: str) -> Estimate:
        """How much more a kind has of a quantity than another, on the same texts."""
        return self._difference(quantity, (kind, other), np.array([1.0, -1.0]))

    def is_ahead(self, quantity: Quantity, kind: str, other: str) -> bool:
        """Whether a kind is ahead of another beyond the chance of texts, and with every seed.

        Drafts of one seed begin with the same weights and take their windows in the same order.
        """
        interval = self.gain(quantity, kind, other).interval
        pairs = zip(self.by_seed(quantity, kind), self.by_seed(quantity, other), strict=True)
        return (
            interval is not None
            and interval[0] > 0.0
            and all(value > against for value, against in pairs)
        )

    def _difference(
        self, quantity: Quantity, kinds: tuple[str, ...], signs: FloatArray
    ) -> Estimate:
        sums = np.stack([self._sums(quantity, kind) for kind in kinds], axis=1)  # [files, kinds, 2]
        statistic = RatioDifference(above=sums[..., :1], below=sums[..., 1:], signs=signs)
        (found,) = intervals([(statistic, len(sums))], rng=np.random.default_rng(_SEED), level=0.95)
        return found

    def _sums(self, quantity: Quantity, kind: str, seed: int | None = None) -> FloatArray:
        """Numerator and denominator by file, over the drafts of a kind or one of them: [files, 2]."""
        files = {path: row for row, path in enumerate(dict.fromkeys(p.path for p in self.prompts))}
        found = np.zeros((len(files), 2))
        for row in self.prompts:
            if row.kind == kind and seed in (None, row.seed):
                values = dict(row.sums)
                found[files[row.path]] += [values[name] for name in QUANTITIES[quantity]]
        return found


@cache
def family_run() -> FamilyRun:
    """The experiment that ships with the package.

    >>> family_run().kinds[0], len(family_run().seeds("own"))
    ('own', 3)
    """
    drafts = tuple(
        TrainedDraft(
            kind=row["kind"],
            seed=int(row["seed"]),
            steps=int(row["steps"]),
            windows=int(row["windows"]),
            parameters=int(row["parameters"]),
            held_out_loss=float(row["held_out_loss"]),
        )
        for row in csv_records(DRAFTS)
    )
    names = tuple(name for pair in QUANTITIES.values() for name in pair)
    prompts = tuple(
        PromptSums(
            kind=row["kind"],
            seed=int(row["seed"]),
            path=row["path"],
            offset=int(row["offset"]),
            sums=tuple((name, float(row[name])) for name in names),
        )
        for row in csv_records(PROMPTS)
    )
    return FamilyRun(drafts=drafts, prompts=prompts)

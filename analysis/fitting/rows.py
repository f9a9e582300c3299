"""What is fitted: the outcomes of rounds, by request where requests can be told apart.

A round with a draft ends in one of two ways: `kept` tokens and a rejection behind them, or `kept`
tokens and the end of the draft. Given the lengths of the drafts, the probability of these outcomes is
the one likelihood that every process is scored on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from simulator import AcceptanceTable
from simulator._checks import FloatArray, IntArray
from simulator.drafts import MAX_GAMMA

Unit = Literal["requests", "intervals", "stretches", "rounds"]
Steps = Sequence[tuple[int, int]]
MAX_CELLS = 10**7
"""Requests × rounds of the longest one that are held in order, 16 bytes each and as much for work."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Counts of independent units: requests, intervals of a log, stretches of one text, or rounds.

    `weights` [rows] is how often a row occurs (1 for a request). `tested` and `accepted` are
    [rows, depths], `rounds` [rows]. With `kept` and `drafted`, [longest, rows], the rounds of each
    row in order, rows sorted by falling number of rounds (`lengths` [rows]).
    """

    unit: Unit
    weights: FloatArray
    rounds: FloatArray
    tested: FloatArray
    accepted: FloatArray
    lengths: IntArray | None = None
    kept: IntArray | None = None
    drafted: IntArray | None = None

    @property
    def depths(self) -> int:
        """The longest draft [tokens]."""
        return int(self.tested.shape[1])

    @property
    def units(self) -> float:
        """How many independent units there are."""
        return float(self.weights.sum())

    @property
    def rejected(self) -> FloatArray:
        """Rounds that kept k tokens and lost the next one, [rows, depths]."""
        return self.tested - self.accepted

    @property
    def ended(self) -> FloatArray:
        """Rounds whose draft ended after k kept tokens, [rows, depths + 1]; k = 0: no draft."""
        reached = np.column_stack([self.rounds, self.accepted])
        return reached - np.column_stack([self.tested, np.zeros(len(reached))])

    def drafted_rounds(self) -> float:
        """Rounds that had a draft."""
        return float(self.weights @ self.tested[:, 0]) if self.depths else 0.0

    @property
    def all_alike(self) -> bool:
        """Whether all units have the same counts by depth."""
        if self.unit == "rounds":
            return False
        counts = np.column_stack([self.rounds, self.tested, self.accepted])
        return bool(np.all(counts == counts[0]))

    def subset(self, chosen: IntArray) -> Rows:
        """The rows at these sorted places."""
        lengths = None if self.lengths is None else self.lengths[chosen]
        longest = 0 if lengths is None or not len(lengths) else int(lengths[0])
        return Rows(
            unit=self.unit,
            weights=self.weights[chosen],
            rounds=self.rounds[chosen],
            tested=self.tested[chosen],
            accepted=self.accepted[chosen],
            lengths=lengths,
            kept=None if self.kept is None else self.kept[:longest, chosen],
            drafted=None if self.drafted is None else self.drafted[:longest, chosen],
        )


def rows_of_pool(table: AcceptanceTable, undrafted: int = 0) -> Rows:
    """Rounds of one table as rows of their own: rounds are all that one can resample."""
    depths = table.depths
    reached = (table.rounds, *table.accepted)
    ended = [reached[k] - (*table.tested, 0)[k] for k in range(depths + 1)]
    ended[0] += undrafted
    counts: list[int] = []
    tested: list[list[int]] = []
    accepted: list[list[int]] = []
    for k in range(depths):
        counts.append(table.tested[k] - table.accepted[k])
        tested.append([1] * (k + 1) + [0] * (depths - k - 1))
        accepted.append([1] * k + [0] * (depths - k))
    for k in range(depths + 1):
        counts.append(ended[k])
        tested.append([1] * k + [0] * (depths - k))
        accepted.append(tested[-1])
    seen = np.flatnonzero(np.asarray(counts))
    shape = (len(counts), depths)
    return Rows(
        unit="rounds",
        weights=np.asarray(counts, dtype=np.float64)[seen],
        rounds=np.ones(len(seen)),
        tested=np.asarray(tested, dtype=np.float64).reshape(shape)[seen],
        accepted=np.asarray(accepted, dtype=np.float64).reshape(shape)[seen],
    )


def rows_of_tables(
    tables: Sequence[AcceptanceTable], *, unit: Unit, undrafted: float = 0.0
) -> Rows:
    """One row per table; rounds without a draft that no table counts are spread by rounds."""
    depths = max((table.depths for table in tables), default=0)
    rounds = np.asarray([table.rounds for table in tables], dtype=np.float64)
    return Rows(
        unit=unit,
        weights=np.ones(len(tables)),
        rounds=rounds * (1.0 + undrafted / max(rounds.sum(), 1.0)),
        tested=_padded([table.tested for table in tables], depths),
        accepted=_padded([table.accepted for table in tables], depths),
    )


def rows_of_steps(requests: Sequence[Steps]) -> Rows:
    """One row per request with its rounds in order, or without the order of more than MAX_CELLS.

    Cells are requests × the rounds of the longest one.
    """
    lengths = np.asarray([len(steps) for steps in requests], dtype=np.int64)
    in_order = int(lengths.max(initial=0)) * len(lengths) <= MAX_CELLS
    order = np.argsort(-lengths, kind="stable")
    lengths = lengths[order]
    flat = np.asarray([step for i in order for step in requests[i]], dtype=np.int64).reshape(-1, 2)
    if np.any(flat < 0) or np.any(flat[:, 1] > flat[:, 0]):
        raise ValueError("steps must be (drafted, accepted) with 0 <= accepted <= drafted.")
    if np.any(flat[:, 0] > MAX_GAMMA):
        raise ValueError(
            f"steps must draft at most {MAX_GAMMA:,} tokens; got {flat[:, 0].max():,}."
        )
    row = np.repeat(np.arange(len(lengths)), lengths)
    drafted = kept = None
    if in_order:
        drafted, kept = np.zeros((2, int(lengths.max(initial=0)), len(lengths)), dtype=np.int64)
        place = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        drafted[place, row], kept[place, row] = flat[:, 0], flat[:, 1]
    depths = int(flat[:, 0].max(initial=0))
    tested_to = np.minimum(flat[:, 1] + 1, flat[:, 0])  # a rejected token was tested too
    return Rows(
        unit="requests",
        weights=np.ones(len(lengths)),
        rounds=lengths.astype(np.float64),
        tested=_reached(row, tested_to, len(lengths), depths),
        accepted=_reached(row, flat[:, 1], len(lengths), depths),
        lengths=lengths if in_order else None,
        kept=kept,
        drafted=drafted,
    )


def replayed(positions: Steps) -> list[tuple[int, int]]:
    """The rounds that a text takes when each token is known as a draft's beginning."""
    steps: list[tuple[int, int]] = []
    place = 0
    while place < len(positions):
        steps.append(positions[place])
        place += positions[place][1] + 1
    return steps


def _reached(row: IntArray, values: IntArray, rows: int, depths: int) -> FloatArray:
    """How many rounds of each row reached each depth, [rows, depths]."""
    counts = np.bincount(row * (depths + 1) + values, minlength=rows * (depths + 1))
    by_value = counts.reshape(rows, depths + 1)
    return by_value[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:].astype(np.float64)


def _padded(values: Sequence[Sequence[int]], depths: int) -> FloatArray:
    padded = np.zeros((len(values), depths))
    for i, counts in enumerate(values):
        padded[i, : len(counts)] = counts
    return padded

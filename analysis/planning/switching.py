"""From the draft lengths of a strategy to a schedule: every batch looked at, not only the planned ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.planning.pricing import Preference, Priced, judged, picked
from analysis.planning.schedule import Schedule
from simulator._checks import FloatArray, IntArray

_ROWS = 4096  # batches at a time
_NONE = -1.0  # no gain is required: losses count as what they are


def schedule_of(
    strategy: Priced,
    batches: Sequence[int],
    *,
    prefer: Preference,
    require_gain: float,
    refine: bool,
    falling: bool,
) -> Schedule:
    """The schedule of one strategy up to the last of `batches`; beyond it the last length goes on.

    `refine` looks at every batch from 1 on, otherwise each planned batch holds until the next. `falling`
    allows no longer drafts at larger batches, and gives up as little as possible for that: also a draft
    that loses at one batch may be taken then, if it gains more at others. A required gain counts as a
    price of each batch that drafts.
    """
    looked_at = np.arange(1, batches[-1] + 1) if refine else np.asarray(batches)
    least = _NONE if falling else require_gain
    score = _scores(strategy, looked_at, prefer=prefer, require_gain=least)
    if falling:
        score[:, 1:] /= 1.0 + require_gain
    at = _falling(score, looked_at, weigh=refine) if falling else picked(score)
    gammas = np.asarray(strategy.gammas)[at]
    starts = np.flatnonzero(np.diff(gammas, prepend=-1))  # gammas are never below 0
    return Schedule.of_points(
        [int(batch) for batch in looked_at[starts]], [int(gamma) for gamma in gammas[starts]]
    )


def _scores(
    strategy: Priced, batches: IntArray, *, prefer: Preference, require_gain: float
) -> FloatArray:
    parts = []
    for start in range(0, len(batches), _ROWS):
        rows = batches[start : start + _ROWS].astype(np.float64)
        values, lows, _ = strategy.speedups(rows)
        parts.append(judged(values, lows, prefer=prefer, require_gain=require_gain))
    return np.concatenate(parts)


def _falling(score: FloatArray, batches: IntArray, *, weigh: bool) -> IntArray:
    """The columns that never rise and whose log scores add up to the most, exactly (dynamic programme).

    Every batch has the same weight among planned ones; among all integers the weight is 1 / batch, so
    that each doubling counts alike. Of equal ways the shorter drafts.
    """
    with np.errstate(divide="ignore"):
        worth = np.log(score)  # −inf: not to be taken; column 0 always may
    if weigh:
        worth = worth / batches[:, np.newaxis]
    rows, columns = worth.shape
    best = np.empty_like(
        worth
    )  # [rows, columns]: this batch at the column, all before at their best
    before = np.empty((rows, columns), dtype=np.int64)  # the column one batch earlier
    best[0] = worth[0]
    for row in range(1, rows):
        before[row], most = _most_from(best[row - 1])
        best[row] = worth[row] + most
    at = np.empty(rows, dtype=np.int64)
    at[-1] = int(np.argmax(best[-1]))
    for row in range(rows - 1, 0, -1):
        at[row - 1] = before[row, at[row]]
    return at


def _most_from(values: FloatArray) -> tuple[IntArray, FloatArray]:
    """For each column the largest value at it or behind it, and the first column that has it."""
    most = np.maximum.accumulate(values[::-1])[::-1]
    holds = np.where(values == most, np.arange(len(values)), len(values))
    return np.minimum.accumulate(holds[::-1])[::-1], most

"""What the sum of counts leaves of their bounds, for many lines at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def narrowed(lows: Ints, highs: Ints, totals: Ints) -> tuple[Ints, Ints]:
    """Bounds of shape [lines, depths], none increasing with depth, as `rounding` narrows those of a line.

    `totals` has shape [lines], each between the sums of its bounds. Non-increasing counts take every sum
    from the smallest to the largest, so a count is possible exactly if the others can make up the rest.

    >>> lows, highs = narrowed(np.array([[5, 1]]), np.array([[9, 3]]), np.array([11]))
    >>> lows.tolist(), highs.tolist()
    ([[8, 2]], [[9, 3]])
    """
    least, most = lows.copy(), highs.copy()
    sums_low, sums_high = lows.sum(axis=1), highs.sum(axis=1)
    for ends, sums in ((highs, sums_high), (lows, sums_low)):
        only = sums == totals  # no count can be more, or less, than that
        least[only], most[only] = ends[only], ends[only]
    open_ = np.flatnonzero((sums_low < totals) & (totals < sums_high))
    if not open_.size:
        return least, most
    low, high, total = lows[open_], highs[open_], totals[open_]
    before = np.cumsum(high, axis=1) - high  # at most so many in shallower depths
    behind = sums_low[open_][:, None] - np.cumsum(low, axis=1)  # at least so many in deeper ones
    for depth in range(lows.shape[1]):
        least[open_, depth] = _smallest(
            low[:, depth], high[:, depth], total - before[:, depth], high[:, depth:]
        )
        # Downwards: the largest count that leaves enough for the others; by signs it is the smallest.
        most[open_, depth] = -_smallest(
            -high[:, depth], -low[:, depth], behind[:, depth] - total, -low[:, : depth + 1]
        )
    return least, most


def _smallest(low: Ints, high: Ints, needed: Ints, others: Ints) -> Ints:
    """The first count from `low` on with which `others`, capped at it, reach `needed`; at most `high`."""
    reached = np.minimum(others, low[:, None]).sum(axis=1) >= needed
    fails, holds = low.copy(), np.where(reached, low, high)
    while (between := holds - fails > 1).any():
        middle = np.where(between, (fails + holds) // 2, holds)
        reached = np.minimum(others, middle[:, None]).sum(axis=1) >= needed
        holds = np.where(between & reached, middle, holds)
        fails = np.where(between & ~reached, middle, fails)
    return holds

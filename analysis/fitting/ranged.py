"""Counts that only bound p: predictions are ranges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.fitting.result import Fit
from analysis.fitting.spread import Spread
from analysis.formulas import expected_tokens
from analysis.uncertainty import p_bounds, p_interval
from simulator import AcceptanceTotals, Estimate

_GRID = 65


def fit_range(totals: AcceptanceTotals, *, notes: tuple[str, ...], level: float) -> Fit:
    """One p somewhere in the range that the totals allow, its sampling error added.

    The value of each prediction is that of the middle of the range; the interval holds at `level` for
    every way in which the counts can be spread over rounds, if one p rules all depths.
    """
    low, high = p_bounds(totals)
    around = p_interval(totals, level=level) or (low, high)
    middle = (low + high) / 2.0
    grid = np.linspace(*around, _GRID)

    def curve(gammas: Sequence[int]) -> Spread:
        draws = np.stack([np.asarray(expected_tokens(grid, g)) for g in gammas], axis=1)
        values = np.asarray([float(expected_tokens(middle, gamma)) for gamma in gammas])
        return Spread(values=values, draws=draws, level=level, range_only=True)

    what = f"p lies between {low:.4f} and {high:.4f} before sampling error."
    return Fit(
        name="constant p, as a range",
        parameters={"p": Estimate(value=middle, interval=around, level=level)},
        notes=(*notes, what, "Nothing says that acceptance is the same at every depth."),
        how="range",
        unit="rounds",
        units=totals.rounds or 0,
        rounds=totals.rounds or 0,
        measured=totals.longest_draft or 0,
        level=level,
        curve=curve,
    )

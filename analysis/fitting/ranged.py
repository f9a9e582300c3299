"""Counts that only bound p: predictions are ranges."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from analysis.fitting.result import Curve, Fit
from analysis.fitting.spread import Spread, t_quantile
from analysis.formulas import expected_tokens
from analysis.uncertainty import Range, p_bounds, p_by_depth_bounds, p_interval
from simulator import AcceptanceTotals, Estimate
from simulator._checks import FloatArray

_GRID = 65


def fit_range(totals: AcceptanceTotals, *, notes: tuple[str, ...], level: float) -> Fit:
    """One p somewhere in the range that the totals allow, its sampling error added.

    The value of each prediction is that of the middle of the range; the interval holds at `level` for
    every way in which the counts can be spread over rounds, if one p rules all depths. Where counts by
    depth say that no one p does, each depth has a range of its own.
    """
    by_depth = _by_depth(totals, level)
    if by_depth and max(low for low, _ in by_depth) > min(high for _, high in by_depth):
        return _fit_by_depth(totals, by_depth, notes=notes, level=level)
    low, high = p_bounds(totals)
    around = p_interval(totals, level=level) or (low, high)
    middle = (low + high) / 2.0
    grid = np.linspace(*around, _GRID)

    def curve(gammas: Sequence[int]) -> Spread:
        draws = np.stack([np.asarray(expected_tokens(grid, g)) for g in gammas], axis=1)
        values = np.asarray([float(expected_tokens(middle, gamma)) for gamma in gammas])
        return Spread(values=values, draws=draws, level=level, range_only=True)

    what = f"p is a range: it lies between {low:.4f} and {high:.4f} before sampling error."
    return _fit(
        "constant p, as a range",
        {"p": Estimate(value=middle, interval=around, level=level)},
        totals,
        notes=(*notes, what, "Nothing says that acceptance is the same at every depth."),
        level=level,
        curve=curve,
    )


def _fit_by_depth(
    totals: AcceptanceTotals, ranges: list[Range], *, notes: tuple[str, ...], level: float
) -> Fit:
    low, high = (np.asarray(ends) for ends in zip(*ranges, strict=True))
    # Tokens rise with every p: the ends are all low and all high; of differences, also one then the other.
    first = np.arange(len(low)) < np.arange(len(low) + 1)[:, np.newaxis]
    corners = np.concatenate([np.where(first, low, high), np.where(first, high, low)])
    known = p_by_depth_bounds(totals) or ()
    middle = np.asarray([sum(known[i]) / 2.0 for i in range(len(low))])

    def curve(gammas: Sequence[int]) -> Spread:
        found = _tokens(np.vstack([middle, corners]), gammas)
        return Spread(values=found[0], draws=found, level=level, range_only=True)

    what = (
        "One p cannot give these counts by depth, however the drafts ended, so each depth has a range of "
        "its own; predictions take all depths at their ends at once."
    )
    return _fit(
        "by depth, as a range",
        {
            f"by_depth[{i}]": Estimate(value=float(p), interval=ends, level=level)
            for i, (p, ends) in enumerate(zip(middle, ranges, strict=True))
        },
        totals,
        notes=(*notes, what),
        level=level,
        curve=curve,
        longest=len(low),
    )


def _fit(
    name: str,
    parameters: dict[str, Estimate],
    totals: AcceptanceTotals,
    *,
    notes: tuple[str, ...],
    level: float,
    curve: Curve,
    longest: int | None = None,
) -> Fit:
    return Fit(
        name=name,
        parameters=parameters,
        notes=notes,
        how="range",
        unit="rounds",
        units=totals.rounds or 0,
        rounds=totals.rounds or 0,
        measured=longest or totals.longest_draft or 0,
        longest=longest,
        level=level,
        curve=curve,
    )


def _tokens(p: FloatArray, gammas: Sequence[int]) -> FloatArray:
    every = 1.0 + np.cumsum(np.cumprod(p, axis=1), axis=1)
    return np.asarray(np.column_stack([np.ones(len(p)), every])[:, list(gammas)], dtype=np.float64)


def _by_depth(totals: AcceptanceTotals, level: float) -> list[Range]:
    """What the counts allow for p at each depth, Wilson's error of the fewest tested added."""
    ranges: list[Range] = []
    alive = totals.rounds or 0
    for (low, high), (least, most) in zip(
        totals.depth_bounds or (), p_by_depth_bounds(totals) or (), strict=False
    ):
        if math.isnan(least):
            break
        fewest = alive if most == 0.0 else low if most == 1.0 else high / most
        tested = max(float(fewest), 1.0)
        ranges.append((_wilson(least, tested, level)[0], _wilson(most, tested, level)[1]))
        alive = low
    return ranges


def _wilson(share: float, tested: float, level: float) -> Range:
    z2 = t_quantile(math.inf, level) ** 2 / tested
    half = math.sqrt(z2 * (share * (1.0 - share) + z2 / 4.0))
    center = share + z2 / 2.0
    return max((center - half) / (1.0 + z2), 0.0), min((center + half) / (1.0 + z2), 1.0)

"""The parameters of a fit as they are named, with their intervals."""

from __future__ import annotations

import math

from analysis.fitting.spread import t_quantile
from analysis.pass_fit.choosing import Choice, errors_of
from analysis.pass_fit.design import SHARES
from simulator import Estimate

LEVEL = 0.95


def values_of(choice: Choice) -> dict[str, float]:
    """Every parameter, as it is named: shares are the inverse of what was sought."""
    solution = choice.solution
    found = dict(zip(solution.design.names, map(float, solution.theta), strict=True))
    found.update(choice.held)
    return {name: 1.0 / value if name in SHARES else value for name, value in found.items()}


def parameters_of(choice: Choice, clusters: int) -> tuple[dict[str, Estimate], tuple[str, ...]]:
    """What was sought, with intervals, and which of it ended on its least value."""
    solution = choice.solution
    design = solution.design
    errors, freedom = errors_of(choice, clusters=clusters)
    reach = t_quantile(freedom + 1, LEVEL) if freedom >= 1 else math.nan
    found, bound = {}, []
    for name, value, low, error in zip(
        design.names, solution.theta, design.low, errors, strict=True
    ):
        at_low = value <= low
        if at_low:
            bound.append(name)
        if not math.isfinite(error):
            found[name] = Estimate(value=float(1.0 / value if name in SHARES else value))
            continue
        ends = (max(float(low), float(value - reach * error)), float(value + reach * error))
        if name in SHARES:
            found[name] = Estimate(
                value=float(1.0 / value),
                se=None if at_low else float(error / value**2),
                interval=(1.0 / ends[1], 1.0 / ends[0]),
                level=LEVEL,
            )
        else:
            found[name] = Estimate(
                value=float(value), se=None if at_low else float(error), interval=ends, level=LEVEL
            )
    if choice.turns is not None:
        least, most = choice.turns
        found["overlap"] = Estimate(
            value=overlap_of(solution.turn),
            interval=(overlap_of(most), overlap_of(least)),
            level=LEVEL,
        )
    return found, tuple(bound)


def overlap_of(turn: float) -> float:
    """k from 1 / k."""
    return math.inf if turn == 0.0 else 1.0 / turn

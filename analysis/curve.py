"""Every draft length up to a limit, side by side: the table behind charts, reports and the app."""

from __future__ import annotations

import math
from dataclasses import dataclass

from analysis.formulas import expected_tokens, round_cost, speedup, tokens_variance
from analysis.optimum import BestGamma, VerifyCost, best_gamma, verify_costs


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """One draft length: expected tokens per round and their standard deviation, cost, speedup."""

    gamma: int
    tokens_per_round: float
    sd: float
    round_cost: float
    speedup: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GammaCurve:
    """All draft lengths from 0 (plain decoding) to the limit, and the best of them."""

    points: tuple[CurvePoint, ...]
    best: BestGamma


def over_gamma(
    p: float,
    cost_ratio: float,
    *,
    max_gamma: int = 16,
    verify_cost: VerifyCost = 1.0,
    overhead: float = 0.0,
) -> GammaCurve:
    """Tokens, cost and speedup for gamma = 0..max_gamma; gamma = 0 costs one plain step.

    Arguments as in `best_gamma`. Raises ValueError for values out of range.

    >>> curve = over_gamma(p=0.7, cost_ratio=0.1, max_gamma=4)
    >>> [round(point.speedup, 2) for point in curve.points], curve.best.gamma
    ([1.0, 1.55, 1.82, 1.95, 1.98], 4)
    """
    best = best_gamma(
        p, cost_ratio, max_gamma=max_gamma, verify_cost=verify_cost, overhead=overhead
    )
    plain = CurvePoint(gamma=0, tokens_per_round=1.0, sd=0.0, round_cost=1.0, speedup=1.0)
    costs = verify_costs(verify_cost, max_gamma)
    points = [
        CurvePoint(
            gamma=gamma,
            tokens_per_round=float(expected_tokens(p, gamma)),
            sd=math.sqrt(float(tokens_variance(p, gamma))),
            round_cost=float(
                round_cost(gamma, cost_ratio, verify_cost=costs[gamma], overhead=overhead)
            ),
            speedup=float(
                speedup(p, gamma, cost_ratio, verify_cost=costs[gamma], overhead=overhead)
            ),
        )
        for gamma in range(1, max_gamma + 1)
    ]
    return GammaCurve(points=(plain, *points), best=best)

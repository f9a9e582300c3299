"""The parameters of a fit with their intervals, made on the unbounded scale."""

from __future__ import annotations

import numpy as np

from analysis.fitting.laws import odds
from analysis.fitting.maximise import Peak
from analysis.fitting.rows import Rows
from analysis.fitting.spread import Resampled, percentiles, t_quantile
from simulator import Estimate
from simulator._checks import FloatArray


def parameter(
    i: int,
    natural: FloatArray,
    best: Peak,
    rows: Rows,
    drawn: Resampled | None,
    covariance: FloatArray,
    level: float,
) -> Estimate:
    """A parameter with its interval, which is made on the unbounded scale."""
    value = float(natural[i])
    if i in best.pinned:
        if best.law.name in {"constant p", "by depth"}:
            return all_or_none(i, best, rows, level)
        return Estimate(value=value, level=level)
    if rows.units < 2.0:
        return Estimate(value=value, level=level)
    if drawn is not None:
        column = best.law.natural(drawn.thetas[0])
        moved = odds(column) if best.law.odds_only else drawn.thetas[0]
        tails = percentiles(rows.units, level)
        low, high = np.quantile(moved[:, i], tails, method="weibull")
        # Around the best point: the draws repeat the bias of a maximum, which would count twice.
        half, spread = float(high - low) / 2.0, float(moved[:, i].std(ddof=1))
    else:
        spread = float(np.sqrt(covariance[i, i]))
        half = t_quantile(rows.units, level) * spread
    ends = []
    for by in (-half, half, -1e-4, 1e-4):
        theta = best.theta.copy()
        theta[i] += by
        ends.append(float(best.law.natural(theta[np.newaxis])[0, i]))
    se = spread * abs(ends[3] - ends[2]) / 2e-4
    return Estimate(value=value, se=se, interval=(min(ends[:2]), max(ends[:2])), level=level)


def all_or_none(i: int, best: Peak, rows: Rows, level: float) -> Estimate:
    """Every tested token was kept, or none: Wilson's interval of independent tokens."""
    tested, accepted = rows.weights @ rows.tested, rows.weights @ rows.accepted
    if best.law.name == "constant p":
        tested, accepted = tested.sum(keepdims=True), accepted.sum(keepdims=True)
    z2 = t_quantile(np.inf, level) ** 2
    far = z2 / (float(tested[i]) + z2)
    kept = bool(accepted[i] > 0)
    return Estimate(
        value=1.0 if kept else 0.0, interval=(1.0 - far, 1.0) if kept else (0.0, far), level=level
    )


def around(value: float, se: float, units: float, level: float) -> tuple[float, float]:
    """A share with Student's interval, cut at 0 and 1."""
    half = t_quantile(units, level) * se
    return max(value - half, 0.0), min(value + half, 1.0)

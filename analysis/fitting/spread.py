"""How sure a fit is: requests drawn again, the choice of process with them, or the sandwich variance.

Resampling: each draw takes as many requests as there are, with replacement. A law with a closed form
is fitted to it exactly; another takes a few steps of Newton from the best point (`draws`). Then the
draw chooses among the processes.

Sandwich: the variance of what each request does to the estimate, the delta method for what is computed
from the parameters (White 1982; Liang and Zeger 1986). What a request does is one step of Newton to the
point without it, (H − h)⁻¹ s with its own curvature h taken out, for with few requests H⁻¹ s is too
small (the jackknife: MacKinnon and White 1985, Bell and McCaffrey 2002).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.fitting.choice import Criterion, penalty
from analysis.fitting.draws import draw_totals, newton_draws
from analysis.fitting.maximise import Peak
from analysis.fitting.rows import Rows
from simulator import Estimate
from simulator._checks import FloatArray

_STEP = 1e-4
_TELLS = 1e-6  # of the information of all: less in all others tells nothing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hidden:
    """What rounding hides of values: they move by slopes [values, depths] · δ.

    δ lies between −below and above, [depths] each, and sums to 0.
    """

    slopes: FloatArray
    below: FloatArray
    above: FloatArray

    def reach(self, contrast: FloatArray) -> tuple[float, float]:
        """How far contrast · values can fall and rise.

        The largest Σ c_i δ_i is by duality the smallest of Σ max((c_i − λ) above_i, (λ − c_i) below_i)
        over λ, which lies at one of the c_i.

        >>> Hidden(slopes=np.eye(2), below=np.ones(2), above=np.ones(2)).reach(np.asarray([1.0, 0.5]))
        (0.5, 0.5)
        """
        c = contrast @ self.slopes
        apart = c - c[:, np.newaxis]  # [λ, depths]
        up = np.maximum(apart * self.above, -apart * self.below).sum(axis=1).min()
        down = np.maximum(-apart * self.above, apart * self.below).sum(axis=1).min()
        return float(down), float(up)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """Values with what is known of their error: draws [draws, values], or a covariance, or neither.

    `units` are the independent units behind them; `hidden` is what rounding adds to the intervals.
    """

    values: FloatArray
    draws: FloatArray | None = None
    covariance: FloatArray | None = None
    units: float = math.inf
    level: float = 0.95
    range_only: bool = False
    hidden: Hidden | None = None

    def estimate(self, contrast: FloatArray, *, bounds: tuple[float, float]) -> Estimate:
        """contrast · values with its interval, which is cut at the possible values."""
        value = float(contrast @ self.values)
        if self.units < 2.0:  # nothing varies that could be seen
            return Estimate(value=value, level=self.level)
        if self.draws is not None:
            drawn = self.draws @ contrast
            if self.range_only:
                low, high = float(drawn.min()), float(drawn.max())
                return Estimate(value=value, interval=(low, high), level=self.level)
            tails = percentiles(self.units, self.level)
            low, high = (float(end) for end in np.quantile(drawn, tails, method="weibull"))
            se = float(drawn.std(ddof=1)) * _inflation(self.units)
        elif self.covariance is not None:
            se = math.sqrt(max(float(contrast @ self.covariance @ contrast), 0.0))
            half = t_quantile(self.units, self.level) * se
            low, high = value - half, value + half
        else:
            return Estimate(value=value, level=self.level)
        if self.hidden is not None:
            down, up = self.hidden.reach(contrast)
            low, high = low - down, high + up
        interval = (min(max(low, bounds[0]), value), max(min(high, bounds[1]), value))
        return Estimate(value=value, se=se, interval=interval, level=self.level)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Resampled:
    """What each draw of requests says.

    `weights` [draws, rows] say how often a row is in it; then `thetas` of every peak [draws, k] each, the
    criterion of each peak [draws, peaks], and the share of rounds with a draft [draws].
    """

    weights: FloatArray
    thetas: tuple[FloatArray, ...]
    criteria: FloatArray
    coverage: FloatArray

    def tokens(self, peaks: Sequence[Peak], gammas: Sequence[int], *, beyond: bool) -> FloatArray:
        """Tokens per round under the process that each draw chooses, [draws, gammas].

        `beyond`: only processes that say something beyond the measured depths may be chosen.
        """
        allowed = [i for i, peak in enumerate(peaks) if peak.law.extrapolates or not beyond]
        chosen = np.asarray(allowed)[np.argmin(self.criteria[:, allowed], axis=1)]
        tokens = np.empty((len(chosen), len(gammas)))
        for i in allowed:
            mine = chosen == i
            if mine.any():
                tokens[mine] = peaks[i].law.tokens(self.thetas[i][mine], gammas)
        return 1.0 + self.coverage[:, np.newaxis] * (tokens - 1.0)


def resample(
    peaks: Sequence[Peak], rows: Rows, *, draws: int, by: Criterion, rng: np.random.Generator
) -> Resampled:
    """Draw the units again and fit each draw; the choice is repeated by BIC or AIC."""
    units = round(rows.units)
    weights = rng.multinomial(units, rows.weights / rows.weights.sum(), size=draws).astype(float)
    with_draft = rows.tested[:, 0]
    total = np.maximum(weights @ rows.rounds, 1.0)
    thetas, criteria = [], []
    again: Criterion = "bic" if by == "held-out" else by
    for peak in peaks:
        theta = peak.law.exact(weights, rows)
        theta = newton_draws(peak, weights, rows) if theta is None else theta
        values = draw_totals(peak.law, theta, weights, rows)
        thetas.append(theta)
        criteria.append(-2.0 * values + penalty(theta.shape[1], rows, again))
    return Resampled(
        weights=weights,
        thetas=tuple(thetas),
        criteria=np.stack(criteria, axis=1),
        coverage=weights @ with_draft / total,
    )


def influence(peak: Peak, rows: Rows) -> FloatArray:
    """What each row adds to (theta, coverage), [rows, k + 1]: H⁻¹ s and the same of a ratio."""
    information = -np.tensordot(rows.weights, peak.curvature, axes=1)
    inverse = np.linalg.pinv(information, rcond=1e-12, hermitian=True)
    total = float(rows.weights @ rows.rounds)
    share = rows.drafted_rounds() / total
    covered = (rows.tested[:, 0] - share * rows.rounds) / total
    return np.column_stack([peak.scores @ inverse, covered])


def deletions(peak: Peak, rows: Rows) -> FloatArray:
    """How far (theta, coverage) moves without one unit of a row, sign turned, [rows, k + 1].

    `influence` with the unit's own part taken out; where the others tell nothing, `influence` itself.
    """
    moved = influence(peak, rows)
    information = -np.tensordot(rows.weights, peak.curvature, axes=1)
    k = len(peak.theta)
    if peak.law.separate:
        whole = np.diagonal(information)
        rest = whole + np.diagonal(peak.curvature, axis1=1, axis2=2)
        able = rest > _TELLS * whole
        moved[:, :k] = np.where(able, peak.scores / np.where(able, rest, 1.0), moved[:, :k])
        return moved
    others = information + peak.curvature  # [rows, k, k]
    scale = np.sqrt(np.maximum(np.diagonal(information), 1e-300))
    told = np.linalg.eigvalsh(others / scale / scale[:, np.newaxis])[:, 0] > _TELLS
    moved[told, :k] = np.linalg.solve(others[told], peak.scores[told, :, np.newaxis])[:, :, 0]
    return moved


def sandwich(moved: FloatArray, rows: Rows) -> FloatArray:
    """The covariance of what `moved` [rows, values] says of each unit, [values, values]."""
    units = max(rows.units, 2.0)
    return np.asarray((moved.T * rows.weights) @ moved * (units - 1.0) / units, dtype=np.float64)


def token_gradient(
    peak: Peak, gammas: Sequence[int], coverage: float
) -> tuple[FloatArray, FloatArray]:
    """Tokens per round at the peak, [gammas], and their gradient in (theta, coverage), [gammas, k + 1]."""
    k = len(peak.theta)
    steps = np.eye(k) * _STEP
    points = np.concatenate([peak.theta[np.newaxis], peak.theta + steps, peak.theta - steps])
    found = peak.law.tokens(points, gammas)
    slope = (found[1 : k + 1] - found[k + 1 :]) / (2.0 * _STEP)  # [k, gammas]
    gradient = np.column_stack([coverage * slope.T, found[0] - 1.0])
    return 1.0 + coverage * (found[0] - 1.0), gradient


def t_quantile(units: float, level: float) -> float:
    """Student's t with units − 1 degrees of freedom; the normal one for very many."""
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415 — `import analysis` loads numpy only

    if units > 1e6:
        return float(ndtri((1.0 + level) / 2.0))
    return float(stdtrit(max(units - 1.0, 1.0), (1.0 + level) / 2.0))


def percentiles(units: float, level: float) -> tuple[float, float]:
    """The quantiles of draws that end an interval, wider than the level for few units.

    Resampling n units shows 1 − 1/n of their variance; Φ(−√(n / (n − 1)) t) makes up for it (Hesterberg
    2015, the expanded percentile interval).

    >>> [round(end, 4) for end in percentiles(10, 0.95)]
    [0.0086, 0.9914]
    """
    from scipy.special import ndtr  # noqa: PLC0415

    tail = float(ndtr(-_inflation(units) * t_quantile(units, level)))
    return tail, 1.0 - tail


def _inflation(units: float) -> float:
    return math.sqrt(units / (units - 1.0)) if 1.0 < units < math.inf else 1.0

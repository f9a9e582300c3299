"""Intervals of a difference between two runs: the requests of each side are drawn again.

The same prompts on both sides are drawn together, others independently. The interval is the studentised
bootstrap (Efron 1982; Hall 1988): each draw is measured in its own standard error, which is the
linearised one of ratios of sums over requests (the sandwich variance that clusters by request). It
keeps its level with a dozen requests, where percentiles of the draws are too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from simulator import Estimate
from simulator._checks import FloatArray

FEWEST_DRAWN, MOST_DRAWN = 8, 2_000
"""Units of a side between which it is drawn again; outside, the linearised interval alone is used."""
DRAWS = 2_000
_CELLS_AT_ONCE = 4_000_000
_ROUNDING = 1e-12

Moments: TypeAlias = tuple[FloatArray, FloatArray]
Statistic: TypeAlias = Callable[[FloatArray], Moments]
"""Weights [draws, units] to values and variances, [draws, k] each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Logs:
    """log of a product of sums: Σ signs[k, j] log(weights @ columns[:, j]), with its variance."""

    columns: FloatArray  # [units, m]
    signs: FloatArray  # [k, m]

    def __call__(self, weights: FloatArray) -> Moments:
        """Values and variances, [draws, k]."""
        units, width = self.columns.shape
        sums = weights @ self.columns  # [draws, m]
        products = (self.columns[:, :, None] * self.columns[:, None, :]).reshape(units, -1)
        seconds = (weights @ products).reshape(-1, width, width)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.log(sums) @ self.signs.T
            scaled = seconds / (sums[:, :, None] * sums[:, None, :])
        variances = np.einsum("kj,djl,kl->dk", self.signs, scaled, self.signs)
        return values, np.maximum(variances, 0.0) * _correction(units)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioDifference:
    """Σ signs[r] × (weights @ above[:, r, k]) / (weights @ below[:, r, k]), with its variance."""

    above: FloatArray  # [units, ratios, k]
    below: FloatArray  # [units, ratios, k]
    signs: FloatArray  # [ratios]

    def __call__(self, weights: FloatArray) -> Moments:
        """Values and variances, [draws, k]."""
        units, ratios, width = self.above.shape
        flat = (units, ratios * width)
        top = (weights @ self.above.reshape(flat)).reshape(-1, ratios, width)
        bottom = (weights @ self.below.reshape(flat)).reshape(-1, ratios, width)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = top / bottom  # [draws, ratios, k]
        values = np.einsum("r,drk->dk", self.signs, ratio)
        variances = np.zeros_like(values)
        for i in range(ratios):
            for j in range(ratios):
                variances += (
                    self.signs[i] * self.signs[j] * self._cross(weights, ratio, bottom, i, j)
                )
        return values, np.maximum(variances, 0.0) * _correction(units)

    def _cross(
        self, weights: FloatArray, ratio: FloatArray, bottom: FloatArray, i: int, j: int
    ) -> FloatArray:
        above, below = self.above, self.below
        first, second = ratio[:, i], ratio[:, j]
        with np.errstate(divide="ignore", invalid="ignore"):
            total: FloatArray = (
                weights @ (above[:, i] * above[:, j])
                - second * (weights @ (above[:, i] * below[:, j]))
                - first * (weights @ (below[:, i] * above[:, j]))
                + first * second * (weights @ (below[:, i] * below[:, j]))
            ) / (bottom[:, i] * bottom[:, j])
        return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """Values [k] with variances [k] that no units stand behind: sums alone. Its units are 0."""

    values: FloatArray
    variances: FloatArray

    def __call__(self, weights: FloatArray) -> Moments:
        """The same values and variances in every draw."""
        shape = (weights.shape[0], self.values.size)
        return np.broadcast_to(self.values, shape), np.broadcast_to(self.variances, shape)


def intervals(
    samples: Sequence[tuple[Statistic, int]], *, rng: np.random.Generator, level: float
) -> tuple[Estimate, ...]:
    """Estimates of the sum of independent samples' statistics, each with the units behind it.

    Unknown (no interval) where a value or its variance is not finite. With fewer than 8 units on a
    side, or more than 2,000, the interval is the linearised one with Student's t (Welch 1947 for two
    samples).
    """
    observed = [statistic(np.ones((1, units))) for statistic, units in samples]
    values = np.sum([value[0] for value, _ in observed], axis=0)
    variances = np.array([variance[0] for _, variance in observed])  # [samples, k]
    fewest, most = min(n for _, n in samples), max(n for _, n in samples)
    drawn = reached = None
    if fewest >= FEWEST_DRAWN and most <= MOST_DRAWN:
        drawn, reached = _drawn(samples, values, rng)
    degrees = _welch(variances, [units for _, units in samples])
    found = []
    for k, value in enumerate(values):
        se = math.sqrt(float(variances[:, k].sum())) if np.isfinite(variances[:, k]).all() else None
        ends = within = None
        if se is not None and drawn is not None and reached is not None:
            ends = _studentised(drawn[:, k], level)
            within = (float(reached[0, k]), float(reached[1, k]))
        found.append(
            estimate(
                float(value),
                se,
                level=level,
                degrees=float(degrees[k]),
                studentised=ends,
                within=within,
            )
        )
    return tuple(found)


def estimate(
    value: float,
    se: float | None,
    *,
    level: float,
    degrees: float = math.inf,
    studentised: tuple[float, float] | None = None,
    within: tuple[float, float] | None = None,
) -> Estimate:
    """value with se × the given ends, or those of Student's t with `degrees` (normal if infinite).

    The ends stay `within` what any draw reached: a few draws with hardly any spread of their own, as
    single slow requests make them, would otherwise send an end far beyond every possible value.
    """
    from scipy.special import ndtri, stdtrit  # noqa: PLC0415 — scipy.stats would cost a second at import

    if se is None or not math.isfinite(value):
        return Estimate(value=value, level=level)
    if se <= _ROUNDING:
        return Estimate(value=value, se=0.0, interval=(value, value), level=level)
    if studentised is None:
        tail = 0.5 + level / 2.0
        end = float(ndtri(tail) if math.isinf(degrees) else stdtrit(degrees, tail))
        studentised = (-end, end)
    low, high = value - studentised[1] * se, value - studentised[0] * se
    if within is not None:
        low, high = max(low, within[0]), min(high, within[1])
    return Estimate(value=value, se=se, interval=(low, high), level=level)


def _drawn(
    samples: Sequence[tuple[Statistic, int]], values: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """How far each draw is from the data, in its own standard errors, [draws, k]; NaN without one.

    And the smallest and largest value of all draws, [2, k].
    """
    blocks, reached = [], np.stack([values, values])
    at_once = max(1, min(DRAWS, _CELLS_AT_ONCE // max(units for _, units in samples)))
    for start in range(0, DRAWS, at_once):
        draws = min(at_once, DRAWS - start)
        value, variance = np.zeros((draws, values.size)), np.zeros((draws, values.size))
        for statistic, units in samples:
            weights = rng.multinomial(units, np.full(units, 1.0 / units), size=draws).astype(float)
            more = statistic(weights)
            value, variance = value + more[0], variance + more[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            blocks.append((value - values) / np.sqrt(variance))
        finite = np.where(np.isfinite(value), value, values)
        reached[0] = np.minimum(reached[0], finite.min(axis=0))
        reached[1] = np.maximum(reached[1], finite.max(axis=0))
    return np.concatenate(blocks), reached


def _studentised(drawn: FloatArray, level: float) -> tuple[float, float] | None:
    """The quantiles that end the interval; None where too many draws have no spread of their own."""
    usable = drawn[np.isfinite(drawn)]
    tail = (1.0 - level) / 2.0
    if usable.size < (1.0 - tail / 4.0) * drawn.size:
        return None
    low, high = np.quantile(usable, [tail, 1.0 - tail])
    return float(low), float(high)


def _welch(variances: FloatArray, units: Sequence[int]) -> FloatArray:
    """Degrees of freedom of the summed variances, [k] (Satterthwaite 1946)."""
    counts = np.array([max(n - 1, 1) if n else np.inf for n in units])[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees: FloatArray = variances.sum(axis=0) ** 2 / (variances**2 / counts).sum(axis=0)
    return np.where(np.isnan(degrees), np.inf, degrees)


def _correction(units: int) -> float:
    return units / (units - 1) if units > 1 else math.nan

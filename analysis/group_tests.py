"""Tests over whole requests: ratios with their variance, differences of groups, a trend."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from analysis.fitting.spread import t_quantile
from simulator import AcceptanceTable, Estimate
from simulator._checks import FloatArray, IntArray

_LEAST_UNITS = 2
_WALD_UNITS = 40  # requests per group from which the Wald test keeps its false-alarm rate
_STUDENTISED_UNITS = 3


def ratio(above: FloatArray, below: FloatArray, level: float, *, plus: float = 0.0) -> Estimate:
    """Σ above / Σ below with the variance of a ratio over whole units."""
    if not below.sum():
        return Estimate(value=math.nan, level=level)
    value, variance = _ratio_variance(above, below)
    if len(above) < _LEAST_UNITS:
        return Estimate(value=plus + value, level=level)
    se = math.sqrt(variance)
    half = t_quantile(len(above), level) * se
    most = math.inf if plus else 1.0
    interval = (max(plus + value - half, plus), min(plus + value + half, most))
    return Estimate(value=plus + value, se=se, interval=interval, level=level)


def _ratio_variance(above: FloatArray, below: FloatArray) -> tuple[float, float]:
    value = float(above.sum() / below.sum())
    apart = above - value * below
    n = len(above)
    spread = float(apart @ apart) * n / max(n - 1, 1)
    return value, spread / float(below.sum()) ** 2


def difference_test(
    sums: Sequence[FloatArray], rng: np.random.Generator, permutations: int
) -> tuple[float, str, float]:
    """p-value, method and the smallest p-value possible; NaN with fewer than two groups.

    Permuted is the studentised statistic, which stays right where groups differ in spread and not in
    the mean (Janssen 1997, Chung and Romano 2013); a group of one or two units has no spread to speak of.
    """
    large = [s for s in sums if len(s)]
    if len(large) < 2:
        return math.nan, "none: there are not two groups", 0.0
    fewest = min(len(s) for s in large)
    if fewest >= _WALD_UNITS:
        return _welch(large), "wald", 0.0
    pooled = np.concatenate(large)
    starts = np.cumsum([0, *(len(s) for s in large[:-1])])
    statistic = _between if fewest < _STUDENTISED_UNITS else _apart
    seen = float(statistic(pooled[np.newaxis], starts)[0])
    as_large, block = 0, max(200_000 // len(pooled), 1)
    for done in range(0, permutations, block):
        draws = min(block, permutations - done)
        order = rng.permuted(np.tile(np.arange(len(pooled)), (draws, 1)), axis=1)
        as_large += int(np.sum(statistic(pooled[order], starts) >= seen * (1.0 - 1e-9)))
    ways = math.lgamma(len(pooled) + 1) - sum(math.lgamma(len(s) + 1) for s in large)
    least = max(math.exp(-ways), 1 / (permutations + 1))
    return (as_large + 1) / (permutations + 1), "permutation", least


def _between(orders: FloatArray, starts: IntArray) -> FloatArray:
    """Σ rounds · (accepted per round less that of all)² of each order, [orders].

    `orders` is [orders, units, (accepted, rounds)], groups begin at `starts`.
    """
    sums = np.add.reduceat(orders, starts, axis=1)  # [orders, groups, 2]
    total = orders.sum(axis=1, keepdims=True)
    mean = total[..., 0] / np.maximum(total[..., 1], 1.0)
    apart = sums[..., 0] - mean * sums[..., 1]
    return np.asarray((apart**2 / np.maximum(sums[..., 1], 1.0)).sum(axis=1), dtype=np.float64)


def _apart(orders: FloatArray, starts: IntArray) -> FloatArray:
    """Σ (accepted per round of a group less their mean)² / its variance of each order, [orders]."""
    accepted, rounds = orders[..., 0], orders[..., 1]
    sums = np.add.reduceat(orders, starts, axis=1)
    value = sums[..., 0] / np.maximum(sums[..., 1], 1.0)  # [orders, groups]
    sizes = np.diff(np.append(starts, orders.shape[1]))
    rest = accepted - np.repeat(value, sizes, axis=1) * rounds
    spread = np.add.reduceat(rest**2, starts, axis=1) * (sizes / (sizes - 1.0))
    variance = spread / np.maximum(sums[..., 1], 1.0) ** 2
    # Units of one group may be alike to the last token; a little of the rounds' own noise keeps 1 / 0 away.
    weight = 1.0 / (variance + 1e-6 / np.maximum(sums[..., 1], 1.0))
    center = (weight * value).sum(axis=1, keepdims=True) / weight.sum(axis=1, keepdims=True)
    return np.asarray((weight * (value - center) ** 2).sum(axis=1), dtype=np.float64)


def _welch(groups: Sequence[FloatArray]) -> float:
    """Welch's test of k means with unequal variances (1951), the means being ratios by unit."""
    from scipy.special import fdtrc  # noqa: PLC0415 — `import analysis` loads numpy only

    found = [_ratio_variance(g[:, 0], g[:, 1]) for g in groups]
    values = np.asarray([value for value, _ in found])
    variances = np.asarray([variance for _, variance in found])
    if np.any(variances <= 0.0):
        return 1.0 if np.ptp(values) == 0.0 else 0.0
    k, weights = len(groups), 1.0 / variances
    shares = weights / weights.sum()
    center = float(shares @ values)
    freedom = np.asarray([len(g) - 1.0 for g in groups])
    allowance = float(np.sum((1.0 - shares) ** 2 / freedom))
    statistic = float(weights @ (values - center) ** 2) / (k - 1)
    statistic /= 1.0 + 2.0 * (k - 2) / (k**2 - 1) * allowance
    return float(fdtrc(k - 1, (k**2 - 1) / (3.0 * allowance), statistic))


def trend_line(tables: Sequence[AcceptanceTable], level: float) -> Estimate | None:
    """The line through accepted per round of each unit: its change from the first to the last unit."""
    n = len(tables)
    if n < 3:
        return None
    rounds = np.asarray([t.rounds for t in tables], dtype=np.float64)
    accepted = np.asarray([sum(t.accepted) for t in tables], dtype=np.float64)
    place = np.linspace(0.0, 1.0, n)
    design = np.column_stack([np.ones(n), place])
    bread = np.linalg.pinv((design.T * rounds) @ design)
    line = bread @ (design.T @ accepted)
    apart = (accepted - rounds * (design @ line))[:, np.newaxis] * design
    variance = bread @ (apart.T @ apart) @ bread * n / (n - 2)
    se = math.sqrt(max(float(variance[1, 1]), 0.0))
    half = t_quantile(n - 1, level) * se
    slope = float(line[1])
    return Estimate(value=slope, se=se, interval=(slope - half, slope + half), level=level)

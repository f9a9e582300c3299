"""Intervals of what is computed from sums over prompts: whole prompts are drawn again, never rounds.

The rounds of one prompt are correlated (a hard text is hard throughout), so that an interval which
takes them as independent is too narrow. The prompts of a run are the independent units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from simulator import Estimate
from simulator._checks import FloatArray, Rng, as_count, as_generator

_DRAWS_AT_ONCE = 500
_JACKKNIFE_GROUPS = 200
_ROUNDING = 1e-12


def over_prompts(
    statistics: Callable[[FloatArray], FloatArray],
    prompts: int,
    *,
    rng: Rng,
    resamples: int = 2000,
    level: float = 0.95,
) -> tuple[Estimate, ...]:
    """Estimates with bootstrap intervals of statistics that are functions of weighted prompts.

    `statistics` maps weights of shape [draws, prompts] (how often each prompt counts) to values of
    shape [draws, k]; weights of 1 are the data. All k are computed from the same draws, so that
    ratios between them are paired. The interval is Efron's bias-corrected and accelerated one (BCa,
    1987), its acceleration from leaving out one prompt at a time, or one of 200 groups of them;
    where a resample has no value, or there is one prompt only, the interval is unknown.

    Raises ValueError without prompts, for a level outside (0, 1), or for fewer than 100 resamples.

    >>> seconds, tokens = np.array([1.0, 2.0, 4.0, 3.0]), np.array([10.0, 20.0, 30.0, 40.0])
    >>> over_prompts(lambda w: (w @ seconds / (w @ tokens))[:, np.newaxis], 4, rng=0)
    (0.100 [0.079, 0.127],)
    """
    prompts = as_count("prompts", prompts, least=1)
    resamples = as_count("resamples", resamples, least=100)
    generator = as_generator(rng)
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be a number between 0 and 1; got {level!r}.")
    observed = statistics(np.ones((1, prompts)))[0]  # [k]
    if prompts == 1:
        return tuple(Estimate(value=float(value)) for value in observed)
    drawn = np.concatenate(
        [statistics(weights) for weights in _resamples(prompts, resamples, generator)]
    )  # [resamples, k]
    left_out = np.concatenate([statistics(weights) for weights in _without_one(prompts)])
    return tuple(
        _estimate(float(observed[i]), drawn[:, i], left_out[:, i], level)
        for i in range(observed.size)
    )


def _resamples(prompts: int, resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Weights of prompts drawn with replacement, a block of draws at a time."""
    for start in range(0, resamples, _DRAWS_AT_ONCE):
        draws = min(_DRAWS_AT_ONCE, resamples - start)
        yield rng.multinomial(prompts, np.full(prompts, 1.0 / prompts), size=draws).astype(float)


def _without_one(prompts: int) -> Iterator[FloatArray]:
    groups = min(prompts, _JACKKNIFE_GROUPS)
    member = np.arange(prompts) % groups
    yield (member != np.arange(groups)[:, np.newaxis]).astype(float)


def _estimate(value: float, drawn: FloatArray, left_out: FloatArray, level: float) -> Estimate:
    if not (math.isfinite(value) and np.isfinite(drawn).all()):
        return Estimate(value=value, level=level)
    spread = float(drawn.std(ddof=1))
    if spread <= _ROUNDING * abs(value):  # the same in every draw but for the last bits
        return Estimate(value=value, se=0.0, interval=(value, value), level=level)
    low, high = np.quantile(drawn, _levels(value, drawn, left_out, level))
    return Estimate(value=value, se=spread, interval=(float(low), float(high)), level=level)


def _levels(value: float, drawn: FloatArray, left_out: FloatArray, level: float) -> FloatArray:
    """The two quantiles of the resamples that end the interval; plain percentiles if BCa has none."""
    from scipy.special import ndtr, ndtri  # noqa: PLC0415 — scipy.stats would cost a second at import

    tails = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    below = float(np.mean(drawn < value) + np.mean(drawn == value) / 2.0)
    if not (0.0 < below < 1.0 and np.isfinite(left_out).all()):
        return tails
    bias, ends = float(ndtri(below)), ndtri(tails)
    away = left_out.mean() - left_out
    scale = float(np.sum(away**2)) ** 1.5
    acceleration = float(np.sum(away**3)) / (6.0 * scale) if scale > 0.0 else 0.0
    moved = ends + bias
    stretch = 1.0 - acceleration * moved
    if np.any(stretch <= 0.0):
        return tails
    return np.asarray(ndtr(bias + moved / stretch), dtype=np.float64)

"""How many samples it takes to see that an output is not the target's, and what n samples can show."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from analysis.tokens._cells import cells, critical_value, rare_limit
from simulator._checks import as_count, as_nonnegative, as_probability
from simulator._rows import as_rows

MOST_SAMPLES = 10**15


def samples_needed(
    total_variation: float,
    target_probs: npt.ArrayLike,
    *,
    false_alarm_rate: float = 1e-6,
    power: float = 0.99,
) -> int:
    """Samples of one context with which check_lossless sees a deviation of this size.

    A total variation of δ between cells has a chi-square effect size w² = Σ (P' - P)² / P of 4 δ² at
    the least, whatever its shape, so n = λ / (4 δ²) with λ the noncentrality at which chi-square
    exceeds its limit with probability `power` (Cohen 1988, chapter 7). The number of cells grows
    with n and is found along with it. Deviations that favour unlikely tokens are seen earlier.

    `target_probs`: [vocabulary]. Raises ValueError for a total variation outside (0, 1], a power
    outside [0.5, 1), a false-alarm rate outside [1e-9, 0.05], or more than MOST_SAMPLES.

    >>> samples_needed(0.02, [0.5, 0.3, 0.2])
    45957
    """
    if as_probability("total_variation", total_variation) == 0.0:
        raise ValueError("total_variation must lie in (0, 1]; got 0, which no sample can show.")
    check_rates(false_alarm_rate, power)
    row = as_rows("target_probs", target_probs)
    if row.ndim != 1:
        raise ValueError(f"target_probs must have shape [vocabulary]; got {list(row.shape)}.")
    if row.max() == 1.0 and total_variation < 1.0:  # the others are impossible: one sighting tells
        return math.ceil(math.log1p(-power) / math.log1p(-total_variation))
    if row.max() == 1.0:
        return 1
    count = _samples(total_variation, 1, false_alarm_rate, power)
    while count <= MOST_SAMPLES:
        made = cells(row * count)
        rare = float(row[made.rare].sum())
        if made.count > 1:
            needed = _samples(total_variation, made.count - 1, false_alarm_rate, power)
            if needed <= count:
                return count
            count = needed
        elif _rare_power(count, rare, total_variation, false_alarm_rate) >= power:
            return count
        else:
            count += -(-count // 8)  # by an eighth
    raise ValueError(
        f"a total variation of {total_variation:g} takes more than {MOST_SAMPLES:.0e} samples."
    )


def smallest_visible(
    samples: int, degrees: int, *, false_alarm_rate: float = 1e-6, power: float = 0.99
) -> float:
    """The total variation between cells that `samples` show with probability `power`; NaN if none.

    The inverse of samples_needed for known degrees of freedom (cells less one, summed over contexts).

    >>> round(smallest_visible(45_957, 2), 6)
    0.02
    """
    samples, degrees = as_count("samples", samples), as_count("degrees", degrees)
    check_rates(false_alarm_rate, power)
    if degrees == 0 or samples == 0:
        return math.nan
    size = math.sqrt(_noncentrality(degrees, false_alarm_rate, power) / (4.0 * samples))
    return size if size <= 1.0 else math.nan


def rare_visible(
    samples: int, rare_expected: float, *, false_alarm_rate: float = 1e-6, power: float = 0.99
) -> float:
    """The rise in probability of rare or impossible tokens that `samples` show; NaN if none.

    `rare_expected` of the samples are expected to be such tokens.

    >>> round(rare_visible(1_000, 0.0), 4)  # 1 - 0.01^(1/1000): one sighting tells
    0.0046
    """
    from scipy.special import bdtri  # noqa: PLC0415 — keeps `import analysis` light

    samples = as_count("samples", samples)
    rare_expected = as_nonnegative("rare_expected", rare_expected)
    check_rates(false_alarm_rate, power)
    limit = rare_limit(rare_expected, false_alarm_rate / 2.0)
    if limit > samples:
        return math.nan
    return float(bdtri(limit - 1, samples, 1.0 - power)) - rare_expected / samples


def check_rates(false_alarm_rate: float, power: float) -> None:
    """ValueError for rates for which the limits were not verified."""
    if not 1e-9 <= as_probability("false_alarm_rate", false_alarm_rate) <= 0.05:
        raise ValueError(f"false_alarm_rate must lie in [1e-9, 0.05]; got {false_alarm_rate!r}.")
    if not 0.5 <= as_probability("power", power) < 1.0:
        raise ValueError(f"power must lie in [0.5, 1); got {power!r}.")


def _samples(size: float, degrees: int, false_alarm_rate: float, power: float) -> int:
    wanted = _noncentrality(degrees, false_alarm_rate, power) / (4.0 * size**2)
    return math.ceil(min(wanted, 10.0 * MOST_SAMPLES))


def _noncentrality(degrees: int, false_alarm_rate: float, power: float) -> float:
    from scipy.special import chndtrinc  # noqa: PLC0415 — keeps `import analysis` light

    limit = critical_value(degrees, false_alarm_rate / 2.0)  # the other half is for rare tokens
    return float(chndtrinc(limit, degrees, 1.0 - power))


def _rare_power(samples: int, share: float, size: float, false_alarm_rate: float) -> float:
    """Chance that rare tokens are seen too often if they are likelier by `size`."""
    from scipy.special import bdtrc  # noqa: PLC0415 — keeps `import analysis` light

    limit = rare_limit(samples * share, false_alarm_rate / 2.0)
    return float(bdtrc(limit - 1, samples, np.minimum(share + size, 1.0))) if share < size else 0.0

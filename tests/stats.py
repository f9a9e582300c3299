"""Does a sampled table follow an exact law? Three checks; each misses what another catches.

Independent of `analysis.checking`, as its oracle. Each check rejects a right engine with chance
<= 1e-8, as a bound and not as an approximation:

- mean: Bernstein's inequality, the theoretical sd and the largest possible deviation; for many
  rounds this is |z| <= 6.18 instead of the normal 5.73.
- pmf: Pearson's chi-square. With cells of 25 expected rounds its nominal p-value is too small by up
  to a factor of some hundreds out there (test_stats.py computes it), so the limit is 1e-11.
- support: an outcome of probability 0 never occurs.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import chisquare

FALSE_ALARM = 1e-8
CHI_SQUARE_LIMIT = 1e-11
FEWEST_EXPECTED = 25.0


def assert_all(table, law):
    assert_support(table, law)
    assert_mean(table, law)
    assert_pmf(table, law)


def assert_mean(table, law):
    deviation = accepted_per_round(table) - mean_and_sd(law)[0]
    limit = mean_limit(law, table.rounds)
    assert abs(deviation) <= limit, (
        f"accepted per round off by {deviation:+.3g} (limit {limit:.3g})"
    )


def assert_pmf(table, law):
    p = chi_square_p(table, law)
    assert p >= CHI_SQUARE_LIMIT, f"accepted lengths do not fit: chi-square p = {p:.3g}"


def assert_support(table, law):
    for n, count in enumerate(histogram(table)):
        possible = n < len(law.pmf) and law.pmf[n] > 0.0
        assert possible or count == 0, f"{count} rounds kept {n} tokens, which is impossible"


def histogram(table):
    """Rounds by number of accepted tokens, from the survivors of each depth."""
    return -np.diff([table.rounds, *table.accepted, 0])


def accepted_per_round(table):
    return float(histogram(table) @ np.arange(len(table.accepted) + 1)) / table.rounds


def mean_and_sd(law):
    lengths, weights = np.arange(len(law.pmf)), np.asarray(law.pmf)
    mean = float(weights @ lengths)
    return mean, math.sqrt(float(weights @ (lengths - mean) ** 2))


def mean_limit(law, rounds):
    """The deviation that the mean exceeds with chance <= FALSE_ALARM (Bernstein 1924)."""
    mean, sd = mean_and_sd(law)
    possible = np.flatnonzero(law.pmf)
    farthest = np.max(np.abs(possible - mean))
    exponent = math.log(2.0 / FALSE_ALARM)
    linear = farthest * exponent / 3.0
    return (linear + math.sqrt(linear**2 + 2.0 * rounds * sd**2 * exponent)) / rounds + 1e-12 * mean


def chi_square_p(table, law):
    """p-value of Pearson's test on merged cells; outcomes beyond the law's depths join its last."""
    counts = histogram(table)
    seen = np.zeros(len(law.pmf))
    np.add.at(seen, np.minimum(np.arange(counts.size), seen.size - 1), counts)
    expected = np.asarray(law.pmf) * table.rounds
    starts = merged_starts(expected)
    if len(starts) < 2:
        return 1.0
    return chisquare(np.add.reduceat(seen, starts), np.add.reduceat(expected, starts)).pvalue


def merged_starts(expected):
    """First index of each cell, so that every cell expects FEWEST_EXPECTED rounds or more."""
    starts, weight = [], 0.0
    for start in reversed(range(len(expected))):
        weight += expected[start]
        if weight >= FEWEST_EXPECTED:
            starts.append(start)
            weight = 0.0
    return [0, *reversed(starts[:-1])]

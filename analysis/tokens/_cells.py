"""Counts of tokens against expected counts: cells, Pearson's statistic, and how sure its limits are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, IntArray

FEWEST_EXPECTED = 25.0
"""A token that is expected this often is a cell of its own; rarer ones share cells."""
_EXPONENT = 1.375


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Which cell each token belongs to, [vocabulary], and which tokens are rare.

    `count` cells, each expecting FEWEST_EXPECTED or more unless there is only one. `rare`: the
    remainder that expects less than that together and shares the last cell.
    """

    label: IntArray
    count: int
    rare: npt.NDArray[np.bool_]


def cells(expected: FloatArray) -> Cells:
    """Cells of one context from its expected counts alone, so that the samples cannot choose them.

    Rare tokens are taken together from the most to the least likely, in cells that expect between
    25 and 75; what is left at the end joins the cell before it.
    """
    order = np.argsort(-expected, kind="stable")
    own = int(np.count_nonzero(expected >= FEWEST_EXPECTED))
    label = np.empty(expected.size, dtype=np.int64)
    label[order[:own]] = np.arange(own)
    tail = expected[order[own:]]
    rare = np.zeros(expected.size, dtype=np.bool_)
    if not tail.size:
        return Cells(label=label, count=own, rare=rare)
    # By where a token starts on the sum of those before it: each step of 50 holds at least 50 less
    # the token that sticks out of it, which is below 25.
    starts = np.cumsum(tail) - tail
    _, group = np.unique(np.floor(starts / (2.0 * FEWEST_EXPECTED)), return_inverse=True)
    groups = int(group[-1]) + 1
    last = group == groups - 1
    if float(tail[last].sum()) < FEWEST_EXPECTED:
        rare[order[own:]] = last
        if own + groups > 1:
            group = np.where(last, group - 1, group)
            groups -= 1
    label[order[own:]] = own + group
    return Cells(label=label, count=own + groups, rare=rare)


def pearson_limit(false_alarm_rate: float) -> float:
    """The nominal p-value that Pearson's statistic falls below with at most this chance.

    Cells that expect 25 have heavier tails than chi-square. The exact tail of sums of Poisson
    cells expecting 25, computed for 1 to 300 cells and rates from 0.05 to 1e-9, stays below the
    rate by a factor of 2.5 or more if the limit is rate^1.375 (the tests recompute it).
    """
    return float(false_alarm_rate**_EXPONENT)


def critical_value(degrees: int, false_alarm_rate: float) -> float:
    """Pearson's statistic beyond which a sample is rejected."""
    from scipy.special import chdtri  # noqa: PLC0415 — keeps `import analysis` light

    return float(chdtri(degrees, pearson_limit(false_alarm_rate)))


def rare_bound(seen: int, expected: float) -> float:
    """A bound of the chance that tokens expected that often in all are seen as often or more.

    exp(x - μ - x log(x / μ)), Chernoff's bound for sums of independent yes-or-no draws, whatever
    their probabilities; 1 up to the mean.
    """
    if seen <= expected:
        return 1.0
    if expected == 0.0:
        return 0.0
    return math.exp(seen - expected - seen * math.log(seen / expected))


def rare_limit(expected: float, false_alarm_rate: float) -> int:
    """The fewest sightings of rare tokens that are rejected."""
    seen = math.floor(expected) + 1
    while rare_bound(seen, expected) > false_alarm_rate:
        seen += 1
    return seen

"""Errors of a family of predictions, with intervals that draw whole groups again, never rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis.published.prediction import Family, Prediction
from analysis.runs.resampling import over_prompts
from simulator import Estimate
from simulator._checks import FloatArray

WITHIN = 0.1
LEAST_GROUPS = 5
"""Fewer groups say nothing of an interval."""
_RESAMPLES = 1000
_SEED = 20261130


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyErrors:
    """Relative errors (predicted / printed − 1) of the rows of a family that were in no fit.

    `median` shows the bias, `rms` the size with its interval over groups (unknown below five of them),
    `worst` is the error farthest from 0, `within` the share of at most 10 %. `guess_rms` is the rms error of
    the guesses that use nothing of the row.
    """

    n: int
    groups: int
    median: float
    rms: Estimate
    median_absolute: float
    worst: float
    within: float
    guess_rms: float | None


def family_errors(family: Family) -> FamilyErrors:
    """The errors of a family.

    rms = √(Σ e² / n); its interval by the bootstrap over groups (BCa, Efron 1987), because the rows of a
    group share a fitted number or a run. Raises ValueError for a family without a tested row.
    """
    tested = family.tested
    if not tested:
        raise ValueError(f"{family.name} must have a prediction in no fit; got none.")
    errors = np.array([each.error for each in tested])
    guesses = [each.guess / each.printed - 1.0 for each in tested if each.guess is not None]
    return FamilyErrors(
        n=len(tested),
        groups=len({each.group for each in tested}),
        median=float(np.median(errors)),
        rms=rms_over_groups(tested),
        median_absolute=float(np.median(np.abs(errors))),
        worst=float(errors[np.argmax(np.abs(errors))]),
        within=float(np.mean(np.abs(errors) <= WITHIN)),
        guess_rms=math.sqrt(math.fsum(e * e for e in guesses) / len(guesses))
        if len(guesses) == len(tested)
        else None,
    )


def rms_over_groups(tested: tuple[Prediction, ...]) -> Estimate:
    """Root of the mean squared error, its interval from groups drawn again; unknown below five groups."""
    names = sorted({each.group for each in tested})
    place = {name: i for i, name in enumerate(names)}
    squares, counts = np.zeros(len(names)), np.zeros(len(names))
    for each in tested:
        squares[place[each.group]] += each.error**2
        counts[place[each.group]] += 1.0

    def rms(weights: FloatArray) -> FloatArray:
        return np.sqrt(weights @ squares / (weights @ counts))[:, np.newaxis]

    if len(names) < LEAST_GROUPS:
        return Estimate(value=float(rms(np.ones((1, len(names))))[0, 0]))
    return over_prompts(rms, len(names), rng=_SEED, resamples=_RESAMPLES)[0]

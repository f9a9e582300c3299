"""Speedups of one deployment at many batches: its acceptance asked once, its times by arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from analysis.deployment.deployment import Deployment
from analysis.fitting.best import EQUAL, FLAT, BestFit, best_at
from analysis.fitting.result import MOST
from analysis.fitting.spread import Spread
from simulator import Estimate
from simulator._checks import FloatArray, IntArray, as_count, as_nonnegative

Preference: TypeAlias = Literal["gain", "sure", "short"]
PREFERENCES: tuple[Preference, ...] = ("gain", "sure", "short")
MOST_BATCH = 100_000
_POWER = 0.8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Priced:
    """A deployment with its tokens per round at every draft length that it can say something about.

    `gammas` begin with 0; `left_out` are those that were asked for and of which the acceptance says
    nothing. `spread` holds the error that all lengths share, `tokens` each length alone.
    """

    deployment: Deployment
    context: float
    gammas: tuple[int, ...]
    left_out: tuple[int, ...]
    spread: Spread
    tokens: tuple[Estimate, ...]

    def fits(self, batches: FloatArray) -> FloatArray:
        """1 where the batch fits beside the draft, else 0; the shape of `batches`."""
        most = self.deployment.most_requests(self.context)
        return (batches <= most).astype(np.float64)

    def rounds_s(self, batches: FloatArray) -> FloatArray:
        """The time of a round [s], [batches, gammas]; the first column is a plain step."""
        return self.deployment.round_s(self.gammas, batches[:, np.newaxis], self.context)

    def prices(self, batches: FloatArray) -> FloatArray:
        """Plain step / round, [batches, gammas]; 0 where the draft does not fit the memory."""
        rounds = self.rounds_s(batches)
        price = rounds[:, :1] / rounds
        price[:, 1:] *= self.fits(batches)[:, np.newaxis]
        return price

    def speedups(self, batches: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Value, low and high end of the speedup, [batches, gammas] each."""
        price = self.prices(batches)
        ends = np.asarray([each.interval or (each.value, each.value) for each in self.tokens])
        return price * self.spread.values, price * ends[:, 0], price * ends[:, 1]

    def best(self, price: FloatArray) -> BestFit:
        """The best gamma by value for a row of prices, with flat region and ties."""
        fit = self.deployment.acceptance
        some = price > 0.0
        spread, gammas, left_out = self.spread, self.gammas, self.left_out
        if not some.all():  # only plain decoding fits
            spread, left_out = Spread(values=np.ones(1)), (*self.gammas[1:], *left_out)
            gammas, price = (0,), np.ones(1)
        return best_at(
            spread, gammas, price, units=fit.units, power=_POWER, left_out=left_out,
            measured=fit.measured, unit=fit.unit,
        )  # fmt: skip


def priced(deployment: Deployment, gammas: Sequence[int], context: float) -> Priced:
    """The deployment, ready for any batch. ValueError for a refused fit and lengths out of range."""
    fit = deployment.acceptance
    most = MOST if fit.longest is None else min(MOST, fit.longest)
    asked = sorted({0, *(as_count("gammas", gamma, most=MOST) for gamma in gammas)})
    tried = tuple(gamma for gamma in asked if gamma <= most)
    spread = fit.spread(tried)
    return Priced(
        deployment=deployment,
        context=as_nonnegative("context", context),
        gammas=tried,
        left_out=tuple(gamma for gamma in asked if gamma > most),
        spread=spread,
        tokens=tuple(
            spread.estimate(row, bounds=(1.0, gamma + 1.0)) if gamma else Estimate(value=1.0)
            for gamma, row in zip(tried, np.eye(len(tried)), strict=True)
        ),
    )


def judged(
    values: FloatArray, lows: FloatArray, *, prefer: Preference, require_gain: float
) -> FloatArray:
    """What the preference compares, [..., gammas], larger is better; 0 for drafts that gain too little.

    `gain` the speedup, `sure` the low end of its interval, `short` the speedup cut at 99 % of the best, so
    that all of the flat region are equal and the shortest of them is taken.
    """
    base = lows if prefer == "sure" else values
    score = base.copy()
    if prefer == "short":
        np.minimum(score, FLAT * values.max(axis=-1, keepdims=True), out=score)
    drafts = score[..., 1:]
    drafts[base[..., 1:] < 1.0 + require_gain] = 0.0
    return score


def picked(score: FloatArray) -> IntArray:
    """The column of the largest score, [...]; of equal ones the first, which is the shortest draft."""
    most = score.max(axis=-1, keepdims=True)
    return np.asarray(np.argmax(score >= EQUAL * most, axis=-1))


def rising(batches: Sequence[int]) -> tuple[int, ...]:
    """The batch sizes, checked: at least one, whole, rising."""
    found = tuple(as_count("batches", batch, least=1, most=MOST_BATCH) for batch in batches)
    if not found:
        raise ValueError("batches must hold at least one batch size; got none.")
    for before, batch in pairwise(found):
        if batch <= before:
            raise ValueError(f"batches must rise; got {batch} after {before}.")
    return found

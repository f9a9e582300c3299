"""Which process the data speak for: every candidate with its reasons."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.fitting.chain import EasyHard
from analysis.fitting.laws import ByDepth, Constant, Decay, Law
from analysis.fitting.maximise import Peak, maximise
from analysis.fitting.mixed import HitOrMiss, Mixture
from analysis.fitting.rows import Rows

Criterion = Literal["bic", "aic", "held-out"]
LAWS: tuple[Law, ...] = (Constant(), Decay(), ByDepth(), Mixture(), HitOrMiss(), EasyHard())
PROCESSES: tuple[str, ...] = tuple(law.name for law in LAWS)
_FOLDS = 5
_ROUNDS_EACH = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One process on the data: whether it can be told from them, and how well it explains them.

    `criterion` is BIC or AIC (−2 log-likelihood with a penalty), or −2 × the held-out log-likelihood;
    the smallest is chosen. `reason` says why it was chosen, why not, or why it cannot be told.
    """

    name: str
    parameters: int = 0
    log_likelihood: float = math.nan
    criterion: float = math.nan
    chosen: bool = False
    reason: str = ""


def laws_named(names: Sequence[str] | None) -> tuple[Law, ...]:
    """The laws of these names, all by default; ValueError for a name that no law has."""
    if names is None:
        return LAWS
    for name in names:
        if name not in PROCESSES:
            raise ValueError(f"processes must be among {', '.join(PROCESSES)}; got {name!r}.")
    return tuple(law for law in LAWS if law.name in names)


def choose(
    laws: Sequence[Law], rows: Rows, *, by: Criterion
) -> tuple[tuple[Peak, ...], tuple[Candidate, ...]]:
    """The peaks that can be compared, the chosen one first, and all candidates with reasons."""
    candidates: list[Candidate] = []
    peaks: list[tuple[float, Peak]] = []
    for law in laws:
        obstacle = law.obstacle(rows)
        if obstacle is not None:
            candidates.append(Candidate(name=law.name, reason=f"cannot be told: {obstacle}"))
            continue
        few = _too_few(law, rows)
        if few is not None:
            candidates.append(Candidate(name=law.name, reason=f"cannot be told: {few}"))
            continue
        peak = maximise(law, rows)
        found = Candidate(name=law.name, parameters=len(peak.theta), log_likelihood=peak.value)
        if peak.edge is not None:
            candidates.append(dataclasses.replace(found, reason=f"cannot be told: {peak.edge}"))
            continue
        value = held_out(peak, rows) if by == "held-out" else criterion(peak, rows, by)
        candidates.append(dataclasses.replace(found, criterion=value))
        peaks.append((value, peak))
    peaks.sort(key=lambda pair: pair[0])
    ordered = tuple(peak for _, peak in peaks)
    if not ordered:
        return (), tuple(candidates)
    return ordered, tuple(_reasoned(c, candidates, ordered[0], by) for c in candidates)


def _too_few(law: Law, rows: Rows) -> str | None:
    """One p can always be told; another process needs some rounds for each of its parameters."""
    parameters, rounds = len(law.names(rows)), rows.drafted_rounds()
    needed = _ROUNDS_EACH * parameters
    if parameters == 1 or rounds >= needed:
        return None
    return f"needs {needed} rounds with a draft; there are {rounds:.0f}"


def penalty(parameters: int, rows: Rows, by: Criterion) -> float:
    """What each criterion adds to −2 log-likelihood.

    Rounds with a draft are BIC's sample size; of very few it asks no less than AIC.
    """
    if by == "aic":
        return 2.0 * parameters
    return parameters * max(math.log(max(rows.drafted_rounds(), 1.0)), 2.0)


def criterion(peak: Peak, rows: Rows, by: Criterion) -> float:
    """BIC or AIC of a peak."""
    return -2.0 * peak.value + penalty(len(peak.theta), rows, by)


def held_out(peak: Peak, rows: Rows) -> float:
    """−2 × the log-likelihood of each fifth of the requests under the fit of the others."""
    if rows.unit == "rounds":
        raise ValueError("choice must be bic or aic for pooled counts; got held-out.")
    fold = np.arange(len(rows.rounds)) % _FOLDS
    total = 0.0
    for k in range(min(_FOLDS, len(rows.rounds))):
        others, left = rows.subset(np.flatnonzero(fold != k)), np.flatnonzero(fold == k)
        theta = maximise(peak.law, others, start=peak.theta).theta
        if len(theta) != len(peak.theta):  # the deepest draft was in the part left out
            return math.inf
        part = rows.subset(left)
        total += float(part.weights @ peak.law.log_likelihood(theta[np.newaxis], part)[0])
    return -2.0 * total


def _reasoned(
    candidate: Candidate, all_of_them: Sequence[Candidate], best: Peak, by: Criterion
) -> Candidate:
    if math.isnan(candidate.criterion):
        return candidate
    label = {"bic": "BIC", "aic": "AIC", "held-out": "held-out −2 log-likelihood"}[by]
    others = [c for c in all_of_them if c.name != candidate.name and not math.isnan(c.criterion)]
    if candidate.name == best.law.name:
        second = min(others, key=lambda c: c.criterion, default=None)
        reason = (
            "the only one that can be told"
            if second is None
            else f"smallest {label}, by {second.criterion - candidate.criterion:.1f} before "
            f"{second.name}"
        )
        return dataclasses.replace(candidate, chosen=True, reason=reason)
    least = next(c for c in others if c.name == best.law.name)
    gap = candidate.criterion - least.criterion
    fits = "explains the rounds less well"
    if candidate.log_likelihood >= least.log_likelihood - 0.5:
        fits = "explains them no better than its extra parameters would by chance"
    return dataclasses.replace(candidate, reason=f"{label} larger by {gap:.1f}: {fits}")

"""`fit`: from counts to a process, its parameters and its predictions, with honest intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from analysis.fitting.choice import Candidate, Criterion, choose, laws_named
from analysis.fitting.goodness import goodness
from analysis.fitting.intake import Data, Intake, take_in
from analysis.fitting.laws import odds
from analysis.fitting.maximise import Peak
from analysis.fitting.ranged import fit_range
from analysis.fitting.result import Curve, Fit
from analysis.fitting.rows import Rows
from analysis.fitting.spread import (
    Resampled,
    Spread,
    percentiles,
    resample,
    sandwich,
    t_quantile,
    token_gradient,
)
from simulator import Estimate
from simulator._checks import FloatArray, Rng, as_count, as_generator

Intervals = Literal["auto", "resampling", "sandwich"]
_ROWS = 5_000  # draws × rows are held in memory
_WORK = 60_000  # rounds in order up to which drawing requests again takes a second or so


def fit(
    data: Data,
    *,
    gamma: int | None = None,
    processes: Sequence[str] | None = None,
    rng: Rng = 0,
    level: float = 0.95,
    choice: Criterion = "bic",
    intervals: Intervals = "auto",
    resamples: int = 400,
) -> Fit:
    """The process that explains the counts best, of those that the data can tell.

    `data`: an AcceptanceTable (pooled rounds), a sequence of CountedUnit (requests, with their rounds
    in order where known) or an Observation. Every process of `processes` (all by default: constant p,
    geometric decay, by depth, mixture over requests, hit or miss, easy/hard chain) is fitted by
    maximum likelihood to the same outcomes of rounds, given the draft lengths, and the one with the
    smallest BIC, AIC or held-out −2 log-likelihood is chosen. `gamma` is the longest draft where the
    data do not say it.

    `intervals`: "resampling" draws requests again and repeats the choice, "sandwich" takes the
    request-clustered variance; "auto" the former where it is quick. With pooled counts only, rounds
    are all that can be drawn again, and the intervals are lower bounds of the uncertainty.

    Drafts that the draft's confidence ended are refused (`Fit.refusal`); counts that do not say which
    depths were tested give a range of p. Raises ValueError for arguments out of range, units of which
    some have counts by depth and others only steps, and held-out choice with pooled counts.

    >>> from simulator import CountedUnit, AcceptanceTable
    >>> found = fit([
    ...     CountedUnit(counts=AcceptanceTable(rounds=20, drafted=40, tested=(20, k), accepted=(k, k // 2)))
    ...     for k in (4, 19, 8, 16, 12, 3, 18, 10)], rng=1)
    >>> found.unit, found.units, found.how
    ('requests', 8, 'resampling')
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be a number between 0 and 1; got {level!r}.")
    if choice not in {"bic", "aic", "held-out"}:
        raise ValueError(f"choice must be one of bic, aic, held-out; got {choice!r}.")
    if intervals not in {"auto", "resampling", "sandwich"}:
        raise ValueError(f"intervals must be auto, resampling or sandwich; got {intervals!r}.")
    as_count("resamples", resamples, least=100)
    generator, laws = as_generator(rng), laws_named(processes)
    taken = take_in(data, gamma=gamma)
    if taken.refusal is not None:
        return Fit(name="", refusal=taken.refusal, notes=taken.notes, level=level)
    if taken.totals is not None:
        return fit_range(taken.totals, notes=taken.notes, level=level)
    rows = taken.rows
    assert rows is not None  # noqa: S101 — one of the three is given
    peaks, candidates = choose(laws, rows, by=choice)
    if not peaks:
        why = "; ".join(f"{found.name}: {found.reason}" for found in candidates)
        return Fit(name="", refusal=f"No process can be told ({why}).", candidates=candidates)
    work = 0 if rows.kept is None else int(rows.kept.size)
    quick = work <= _WORK and len(rows.rounds) <= _ROWS
    drawn = None
    if intervals == "resampling" or (intervals == "auto" and quick):
        drawn = resample(peaks, rows, draws=resamples, by=choice, rng=generator)
    return _result(taken, rows, peaks, candidates, drawn, level)


def _result(
    taken: Intake,
    rows: Rows,
    peaks: tuple[Peak, ...],
    candidates: tuple[Candidate, ...],
    drawn: Resampled | None,
    level: float,
) -> Fit:
    best = peaks[0]
    total = float(rows.weights @ rows.rounds)
    coverage = rows.drafted_rounds() / total
    covariance = sandwich(best, rows)
    names = best.law.names(rows)
    natural = best.law.natural(best.theta[np.newaxis])[0]
    parameters = {
        name: _parameter(i, natural, best, rows, drawn, covariance, level)
        for i, name in enumerate(names)
    }
    notes = list(taken.notes)
    if 1 < rows.units < 20 and rows.unit != "rounds":
        notes.append(f"There are {int(rows.units)} {rows.unit} only: intervals may be too narrow.")
    if drawn is None:
        notes.append("The intervals take the chosen process as right: the choice is not repeated.")
    if coverage < 1.0:
        notes.append(
            f"{1.0 - coverage:.1%} of the rounds had no draft and emit one token; predictions keep "
            "their share, as if it did not depend on the draft length."
        )
    if best.pinned and best.law.name != "constant p":
        at = ", ".join(names[i] for i in best.pinned)
        notes.append(
            f"At the end of its range: {at}; its own uncertainty is not in the predictions."
        )
    covered = Estimate(
        value=coverage,
        se=float(np.sqrt(covariance[-1, -1])),
        interval=_around(coverage, float(np.sqrt(covariance[-1, -1])), rows.units, level),
        level=level,
    )
    return Fit(
        name=best.law.name,
        process=best.law.process(best.theta, rows.depths, coverage),
        candidates=candidates,
        parameters=parameters,
        coverage=covered,
        goodness=goodness(best, rows),
        notes=tuple(notes),
        how="sandwich" if drawn is None else "resampling",
        unit=rows.unit,
        units=round(rows.units),
        rounds=round(total),
        measured=rows.depths,
        longest=None if best.law.extrapolates else rows.depths,
        level=level,
        curve=_curve(peaks, rows, drawn, covariance, coverage, level),
    )


def _curve(
    peaks: tuple[Peak, ...],
    rows: Rows,
    drawn: Resampled | None,
    covariance: FloatArray,
    coverage: float,
    level: float,
) -> Curve:
    best = peaks[0]
    if best.pinned and best.law.name == "constant p":
        return _all_or_none_curve(best, rows, coverage, level)

    def curve(gammas: Sequence[int]) -> Spread:
        values, gradient = token_gradient(best, gammas, coverage)
        if drawn is None:
            spread = gradient @ covariance @ gradient.T
            return Spread(values=values, covariance=spread, units=rows.units, level=level)
        inside = [gamma for gamma in gammas if gamma <= rows.depths]
        outside = [gamma for gamma in gammas if gamma > rows.depths]
        draws = np.empty((len(drawn.coverage), len(gammas)))
        for group, beyond in ((inside, False), (outside, True)):
            if group:
                at = [i for i, gamma in enumerate(gammas) if (gamma > rows.depths) == beyond]
                draws[:, at] = drawn.tokens(peaks, group, beyond=beyond)
        return Spread(values=values, draws=draws, units=rows.units, level=level)

    return curve


def _parameter(
    i: int,
    natural: FloatArray,
    best: Peak,
    rows: Rows,
    drawn: Resampled | None,
    covariance: FloatArray,
    level: float,
) -> Estimate:
    """A parameter with its interval, which is made on the unbounded scale."""
    value = float(natural[i])
    if i in best.pinned:
        if best.law.name in {"constant p", "by depth"}:
            return _all_or_none(i, best, rows, level)
        return Estimate(value=value, level=level)
    if rows.units < 2.0:
        return Estimate(value=value, level=level)
    if drawn is not None:
        column = best.law.natural(drawn.thetas[0])
        moved = odds(column) if best.law.odds_only else drawn.thetas[0]
        tails = percentiles(rows.units, level)
        low, high = np.quantile(moved[:, i], tails, method="weibull")
        # Around the best point: the draws repeat the bias of a maximum, which would count twice.
        half, spread = float(high - low) / 2.0, float(moved[:, i].std(ddof=1))
    else:
        spread = float(np.sqrt(covariance[i, i]))
        half = t_quantile(rows.units, level) * spread
    ends = []
    for by in (-half, half, -1e-4, 1e-4):
        theta = best.theta.copy()
        theta[i] += by
        ends.append(float(best.law.natural(theta[np.newaxis])[0, i]))
    se = spread * abs(ends[3] - ends[2]) / 2e-4
    return Estimate(value=value, se=se, interval=(min(ends[:2]), max(ends[:2])), level=level)


def _all_or_none(i: int, best: Peak, rows: Rows, level: float) -> Estimate:
    """Every tested token was kept, or none: Wilson's interval of independent tokens."""
    tested, accepted = rows.weights @ rows.tested, rows.weights @ rows.accepted
    if best.law.name == "constant p":
        tested, accepted = tested.sum(keepdims=True), accepted.sum(keepdims=True)
    z2 = t_quantile(np.inf, level) ** 2
    far = z2 / (float(tested[i]) + z2)
    kept = bool(accepted[i] > 0)
    return Estimate(
        value=1.0 if kept else 0.0, interval=(1.0 - far, 1.0) if kept else (0.0, far), level=level
    )


def _all_or_none_curve(best: Peak, rows: Rows, coverage: float, level: float) -> Curve:
    """Predictions over Wilson's interval, for resampling shows nothing where all were kept, or none."""
    ends = _all_or_none(0, best, rows, level).interval
    assert ends is not None  # noqa: S101 — it has just been made
    thetas = odds(np.linspace(*ends, 33))[:, np.newaxis]

    def curve(gammas: Sequence[int]) -> Spread:
        tokens = 1.0 + coverage * (best.law.tokens(np.vstack([best.theta, thetas]), gammas) - 1.0)
        return Spread(values=tokens[0], draws=tokens, level=level, range_only=True)

    return curve


def _around(value: float, se: float, units: float, level: float) -> tuple[float, float]:
    half = t_quantile(units, level) * se
    return max(value - half, 0.0), min(value + half, 1.0)

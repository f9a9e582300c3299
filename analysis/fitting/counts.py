"""`fit`: from counts to a process, its parameters and its predictions, with honest intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from analysis.fitting.choice import Candidate, Criterion, choose, laws_named
from analysis.fitting.goodness import goodness
from analysis.fitting.intake import Data, Intake, take_in
from analysis.fitting.maximise import Peak
from analysis.fitting.parameters import around, parameter
from analysis.fitting.prediction import curve_of
from analysis.fitting.ranged import fit_range
from analysis.fitting.result import Fit
from analysis.fitting.rows import Rows
from analysis.fitting.spread import Resampled, deletions, resample, sandwich
from simulator import Estimate
from simulator._checks import Rng, as_count, as_generator

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
    covariance = sandwich(deletions(best, rows), rows)
    names = best.law.names(rows)
    natural = best.law.natural(best.theta[np.newaxis])[0]
    known = [parameter(i, natural, best, rows, drawn, covariance, level) for i in range(len(names))]
    if taken.rounding is not None:
        known = taken.rounding.widened(known, best, rows)
    parameters = dict(zip(names, known, strict=True))
    notes = list(taken.notes)
    if rows.units < 2.0:
        notes.append("There is one round only: nothing is known of the uncertainty.")
    elif rows.units < 20.0:
        notes.append(f"Only {_units(rows)}: the uncertainty may be larger than is shown.")
    if rows.units > 1.0 and rows.all_alike:
        notes.append(
            f"All {rows.units:.0f} {rows.unit} have the same counts, as copies of one have: their "
            "differences, which intervals are made of, are 0."
        )
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
        interval=around(coverage, float(np.sqrt(covariance[-1, -1])), rows.units, level),
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
        replayed=0 if taken.replay is None else taken.replay.gamma,
        curve=curve_of(
            peaks, rows, drawn,
            replay=taken.replay, rounding=taken.rounding, coverage=coverage, level=level,
        ),
    )  # fmt: skip


def _units(rows: Rows) -> str:
    of = {"intervals": " of the log", "stretches": " of one text"}.get(rows.unit, "")
    return f"{rows.units:.0f} {rows.unit}{of}"

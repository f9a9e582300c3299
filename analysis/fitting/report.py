"""A fit as a report: candidates with reasons, parameters, predictions over gamma, the best length."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.fitting.costs import RoundCosts
from analysis.fitting.result import Fit
from analysis.output import Cell, Report, Row, Section
from simulator import Estimate

Ends = tuple[float | None, float | None]


def fit_report(
    fitted: Fit,
    gammas: Iterable[int] = range(1, 17),
    *,
    costs: RoundCosts | None = None,
    parameters: tuple[tuple[str, Cell], ...] = (),
) -> Report:
    """What `specdec fit` says. Gammas that the process says nothing about stay empty and are noted.

    >>> from analysis.fitting import fit
    >>> from simulator import AcceptanceTable
    >>> found = fit(AcceptanceTable(rounds=1000, drafted=2000, tested=(1000, 700), accepted=(700, 490)))
    >>> report = fit_report(found, (1, 2), costs=RoundCosts(cost_ratio=0.1))
    >>> [section.name for section in report.sections]
    ['prediction', 'parameters', 'candidates']
    """
    asked = sorted(set(gammas))
    notes = list(fitted.notes)
    if fitted.refusal is not None:
        return Report(
            command="fit",
            parameters=parameters,
            sections=(_candidates(fitted),),
            headline=f"Not fitted: {fitted.refusal}",
            notes=tuple(notes),
        )
    unknown = [g for g in asked if fitted.longest is not None and g > fitted.longest]
    if unknown:
        notes.append(
            f"{fitted.name!r} says nothing beyond the {fitted.longest} measured depths: "
            f"γ from {unknown[0]} on is left out."
        )
    if any(fitted.extrapolates(g) for g in asked if g not in unknown):
        notes.append(
            f"Beyond γ = {fitted.measured} predictions are extrapolated."
            if fitted.measured
            else "The configured draft length is not given or known, so every prediction is extrapolated."
        )
    if fitted.goodness is not None:
        notes.append(fitted.goodness.sentence)
    headline = _headline(fitted)
    if costs is not None:
        headline += " " + fitted.best_gamma(costs, asked).sentence
    return Report(
        command="fit",
        parameters=parameters,
        sections=(
            Section(
                name="prediction",
                columns=PREDICTION,
                rows=fit_rows(fitted, [g for g in asked if g not in unknown], costs=costs),
            ),
            Section(
                name="parameters",
                columns=("parameter", "value", "low", "high"),
                rows=tuple(
                    (shown_parameter(name), value.value, *_ends(value))
                    for name, value in _all_parameters(fitted)
                ),
            ),
            _candidates(fitted),
        ),
        headline=headline,
        notes=tuple(notes),
    )


PREDICTION = (
    "gamma", "tokens_per_round", "low", "high", "speedup", "speedup_low", "speedup_high", "basis",
)  # fmt: skip


def fit_rows(
    fitted: Fit, gammas: Iterable[int], *, costs: RoundCosts | None = None
) -> tuple[Row, ...]:
    """A line per gamma with the columns of PREDICTION; speedups are empty without costs."""
    rows: list[Row] = []
    for gamma in gammas:
        tokens = fitted.tokens_per_round(gamma)
        known = costs is not None and (costs.longest is None or gamma <= costs.longest)
        gained = fitted.speedup(gamma, costs) if costs is not None and known else None
        basis = "extrapolated" if fitted.extrapolates(gamma) else "measured depth"
        if gamma <= fitted.replayed:
            basis = "replayed"
        speedup: Row = (None, None, None)
        if gained is not None:
            speedup = (gained.value, *_ends(gained))
        rows.append((gamma, tokens.value, *_ends(tokens), *speedup, basis))
    return tuple(rows)


def _headline(fitted: Fit) -> str:
    said = ", ".join(
        f"{shown_parameter(name)} {value}" for name, value in fitted.parameters.items()
    )
    return f"{fitted.name[0].upper()}{fitted.name[1:]}: {said}."


def shown_parameter(name: str) -> str:
    """The parameter's name for readers, who count the first drafted token as depth one."""
    if name.startswith("by_depth["):
        return f"p at depth {int(name[len('by_depth[') : -1]) + 1}"
    return name


def _all_parameters(fitted: Fit) -> list[tuple[str, Estimate]]:
    found = list(fitted.parameters.items())
    if fitted.coverage is not None and fitted.coverage.value < 1.0:
        found.append(("coverage", fitted.coverage))
    return found


def _candidates(fitted: Fit) -> Section:
    return Section(
        name="candidates",
        columns=("process", "chosen", "parameters", "log_likelihood", "criterion", "reason"),
        rows=tuple(
            (c.name, c.chosen, c.parameters, c.log_likelihood, c.criterion, c.reason)
            for c in fitted.candidates
        ),
    )


def _ends(value: Estimate) -> Ends:
    return (None, None) if value.interval is None else value.interval

"""The command that fits a process to counts and predicts other draft lengths."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.log_options import (
    AnyEngine,
    FitLevel,
    FitSource,
    Gammas,
    Layout,
    MethodName,
    ProcessNames,
    gammas_of,
)
from analysis.options import (
    KnownCostRatio,
    LoggedGamma,
    OutputFormat,
    Overhead,
    VerifyCostText,
    verify_costs,
)
from analysis.output import Cell, Format, emit
from analysis.run_options import FigureFile, ResamplingSeed

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.fitting import RoundCosts

_OWN = (
    "Speedups are priced with the run's own times: cost ratio {c:.3g}, overhead {o:.3g}, V as measured up to "
    "γ = {n}; --cost-ratio gives other costs. The intervals leave out the uncertainty of these times."
)
_NO_COST = (
    "No speedups: drafts that branch or often end early do not say what a round costs at another length; "
    "--cost-ratio gives a cost."
)


def fit_command(
    source: FitSource,
    predict_gamma: Gammas = "1:16",
    gamma: LoggedGamma = None,
    cost_ratio: KnownCostRatio = None,
    verify_cost: VerifyCostText = "1",
    overhead: Overhead = 0.0,
    process: ProcessNames = None,
    method: MethodName = None,
    engine: AnyEngine = None,
    layout: Layout = None,
    level: FitLevel = 0.95,
    seed: ResamplingSeed = 0,
    figure: FigureFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Let the counts choose how acceptance arises, and predict other draft lengths with intervals."""
    from analysis.cli_acceptance import fitted_source  # noqa: PLC0415
    from analysis.cli_sources import STDIN  # noqa: PLC0415
    from analysis.fitting.observed import cut_short  # noqa: PLC0415
    from analysis.fitting.report import fit_report  # noqa: PLC0415

    gammas = gammas_of(predict_gamma)
    costs = _costs(cost_ratio, verify_cost, overhead)
    found = fitted_source(
        source,
        gamma=gamma,
        engine=engine,
        layout=layout,
        method=method,
        processes=names_of(process),
        level=level,
        seed=seed,
    )
    fitted, observation, notes = found.fitted, found.observation, found.notes
    measured = costs is None and source.is_dir() and not fitted.refusal
    own = _of_run(source, seed) if measured else None
    if measured and own is None:
        notes = (*notes, _NO_COST)
    if own is not None:
        costs, notes = own, (*notes, _OWN.format(c=own.cost_ratio, o=own.overhead, n=own.longest))
    if figure is not None:
        from analysis.fitting.figures import prediction_over_gamma  # noqa: PLC0415
        from analysis.runs.figures import save  # noqa: PLC0415

        save(prediction_over_gamma(fitted, gammas, costs=costs), figure)
    parameters: tuple[tuple[str, Cell], ...] = (
        ("source", "stdin" if str(source) == STDIN else str(source)),
        ("gamma", observation.gamma),
        ("cost_ratio", cost_ratio),
        ("verify_cost", verify_cost if cost_ratio is not None else None),
        ("overhead", overhead if cost_ratio is not None else None),
        ("method", method),
        ("level", level),
        ("seed", seed),
    )
    report = fit_report(fitted, gammas, costs=costs, parameters=parameters)
    marked = () if fitted.refusal else cut_short(observation)
    emit(replace(report, notes=(*notes, *marked, *report.notes)), output)


def _of_run(folder: Path, seed: int) -> RoundCosts | None:
    from analysis.cli_runs import run_errors, summarized  # noqa: PLC0415
    from analysis.runs.own_costs import costs_of_run  # noqa: PLC0415
    from real_runs.runs.reading import read_run  # noqa: PLC0415

    with run_errors():
        return costs_of_run(summarized(read_run(folder), seed))


def names_of(processes: str | None) -> tuple[str, ...] | None:
    """The names in the text of --process; None without one."""
    return None if processes is None else tuple(name.strip() for name in processes.split(","))


def _costs(cost_ratio: float | None, verify_cost: str, overhead: float) -> RoundCosts | None:
    from analysis.fitting import RoundCosts  # noqa: PLC0415

    if cost_ratio is None:
        return None
    return RoundCosts(
        cost_ratio=cost_ratio, verify_cost=verify_costs(verify_cost), overhead=overhead
    )

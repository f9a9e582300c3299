"""How often a draft is accepted, from any source that the command line takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.cli_sources import curve_of, log_of, observation_of
from analysis.facts import with_facts

if TYPE_CHECKING:
    from analysis.fitting import Fit
    from simulator import Observation

_CURVE = "{n} printed means at different draft lengths are fitted as one curve."


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedSource:
    """The fit of a log, a run folder or a report, what it was fitted to, and what to know of both."""

    fitted: Fit
    observation: Observation
    notes: tuple[str, ...]


def fitted_source(
    source: Path,
    *,
    gamma: int | None = None,
    engine: str | None = None,
    layout: str | None = None,
    method: str | None = None,
    processes: tuple[str, ...] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> FittedSource:
    """Read a source and let its counts, its one mean or its means choose how acceptance arises.

    Arguments as `specdec fit` takes them. Raises the readers' errors and ValueError.
    """
    from analysis.cli_runs import run_errors  # noqa: PLC0415
    from analysis.fitting import fit  # noqa: PLC0415
    from analysis.fitting.observed import fit_of_curve, fit_of_mean  # noqa: PLC0415

    notes: tuple[str, ...]
    with run_errors():
        readings = log_of(source, engine=engine)
        several = curve_of(readings, layout, source) if processes is None else ()
        fitted = fit_of_curve([with_facts(each, method=method) for each in several], level=level)
        if fitted is not None:
            observation, notes = replace(several[0], gamma=None), (_CURVE.format(n=len(several)),)
        else:
            observation, notes = observation_of(
                source, gamma=gamma, engine=engine, layout=layout, readings=readings
            )
    observation = with_facts(observation, method=method)
    if fitted is None and processes is None:
        fitted = fit_of_mean(observation)
    if fitted is None:
        fitted = fit(observation, processes=processes, rng=seed, level=level)
    return FittedSource(fitted=fitted, observation=observation, notes=notes)

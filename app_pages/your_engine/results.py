"""What the page shows of a log, computed once per log and facts: calls into analysis, no formulas."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import streamlit as st

from analysis import imported
from analysis.doctor import Diagnosis
from analysis.fitting import Fit, RoundCosts, fit
from analysis.fitting import charts as fit_charts
from analysis.fitting.observed import cut_short, fit_of_mean
from analysis.fitting.report import fit_report
from analysis.fitting.result import Curve
from analysis.fitting.spread import Spread
from analysis.groups import Groups, by_label, over_time
from analysis.import_report import import_report
from analysis.log_summary import LogSummary
from analysis.output import Cell, Report
from app_pages import downloads
from app_pages.state import MAX_GAMMA, Settings
from app_pages.your_engine.sources import Facts, Given, key_of, observation, readings
from real_runs.engines import Reading
from simulator import Observation

GAMMAS = tuple(range(1, MAX_GAMMA + 1))
LEVEL = 0.95
SEED = 0
MAX_GROUPS = 12
ALONG = "time"
"""How the command line calls the order of the log, and therefore no label."""
LOG_FILE, SNAPSHOT_FILE = "engine.log", "before.prom"
_BY_LOG = {Given: key_of}


def reading_at(given: Given, place: int) -> Reading:
    """The reading at that place, of a log that has readings."""
    found = readings(given)
    assert not isinstance(found, str)  # noqa: S101 — the page shows the sentence instead
    return found[place]


def summary_of(reading: Reading, facts: Facts, settings: Settings) -> LogSummary:
    """Quantities with this page's costs. Raises ValueError where nothing follows."""
    return imported.summary_of(
        reading,
        observation(reading, facts),
        gamma=facts.gamma,
        cost_ratio=settings.cost_ratio,
        verify_cost=settings.verify_cost,
        overhead=settings.overhead,
    )


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_BY_LOG)
def diagnosis(given: Given, place: int, facts: Facts) -> Diagnosis:
    """The doctor's findings; the source is said above, so they name none."""
    return imported.diagnosis_of(observation(reading_at(given, place), facts))


@st.cache_resource(max_entries=32, show_spinner="Fitting …", hash_funcs=_BY_LOG)
def fitted(given: Given, place: int, facts: Facts) -> Fit:
    """The process that explains the counts, or the p of one printed mean. Raises ValueError."""
    seen = observation(reading_at(given, place), facts)
    found = fit_of_mean(seen)
    if found is None:
        found = fit(seen, rng=SEED, level=LEVEL)
    if found.refusal is not None or found.curve is None:
        return found
    notes = (*cut_short(seen), *found.notes)
    return dataclasses.replace(found, curve=_remembering(found.curve), notes=notes)


def _remembering(curve: Curve) -> Curve:
    """The same curve, asked once for all lengths: costs move much more often than counts."""
    known: dict[tuple[int, ...], Spread] = {}

    def ask(gammas: Sequence[int]) -> Spread:
        wanted = tuple(gammas)
        if wanted not in known:
            if len(known) > 4 * MAX_GAMMA:
                known.clear()
            known[wanted] = curve(wanted)
        return known[wanted]

    return ask


def costs_of(settings: Settings) -> RoundCosts:
    """The costs on the sliders."""
    return RoundCosts(
        cost_ratio=settings.cost_ratio,
        verify_cost=settings.verify_cost,
        overhead=settings.overhead,
    )


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=_BY_LOG)
def prediction(given: Given, place: int, facts: Facts, settings: Settings) -> Report:
    """What `specdec fit` says with these costs."""
    reading = reading_at(given, place)
    parameters: tuple[tuple[str, Cell], ...] = (
        ("source", LOG_FILE),
        ("gamma", reading.gamma if reading.gamma is not None else facts.gamma),
        ("cost_ratio", settings.cost_ratio),
        ("verify_cost", f"{settings.verify_cost:g}"),
        ("overhead", settings.overhead),
        ("method", facts.method),
        ("level", LEVEL),
        ("seed", SEED),
    )
    found = fitted(given, place, facts)
    return fit_report(found, GAMMAS, costs=costs_of(settings), parameters=parameters)


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=_BY_LOG)
def prediction_spec(
    given: Given, place: int, facts: Facts, settings: Settings | None
) -> dict[str, object]:
    """The prediction over draft lengths as Vega-Lite: the speedup, or without settings the tokens."""
    costs = None if settings is None else costs_of(settings)
    found = fitted(given, place, facts)
    return fit_charts.prediction_over_gamma(found, GAMMAS, costs=costs).to_dict(validate=False)


def prediction_png(given: Given, place: int, facts: Facts, settings: Settings | None) -> bytes:
    """The same for print."""
    from analysis import figures  # noqa: PLC0415 — matplotlib costs a second at import
    from analysis.fitting.figures import prediction_over_gamma  # noqa: PLC0415 — see above

    costs = None if settings is None else costs_of(settings)
    with downloads.DRAWING:
        return figures.png(prediction_over_gamma(fitted(given, place, facts), GAMMAS, costs=costs))


def labels_of(observed: Observation) -> dict[str, tuple[float, ...] | None]:
    """The labels that tell its units apart, each with limits where its values are many numbers."""
    values: dict[str, dict[str, None]] = {}
    for unit in observed.units:
        for name, value in unit.labels:
            values.setdefault(name, {})[value] = None
    found: dict[str, tuple[float, ...] | None] = {}
    for name, seen in values.items():
        if name == ALONG:
            continue
        if 2 <= len(seen) <= MAX_GROUPS:
            found[name] = None
        elif len(seen) > MAX_GROUPS and (limits := _quartiles(list(seen))):
            found[name] = limits
    return found


def _quartiles(values: list[str]) -> tuple[float, ...]:
    """Limits of four buckets of about as many values each; none where they are no numbers."""
    try:
        numbers = np.asarray([float(value) for value in values])
    except ValueError:
        return ()
    if not np.all(np.isfinite(numbers)):
        return ()
    ends = (float(f"{end:.2g}") for end in np.quantile(numbers, (0.25, 0.5, 0.75)))
    return tuple(sorted(set(ends)))


@st.cache_resource(max_entries=64, show_spinner="Comparing groups …", hash_funcs=_BY_LOG)
def groups(
    given: Given, place: int, facts: Facts, label: str | None, buckets: tuple[float, ...] | None
) -> Groups:
    """Acceptance by a label, or without one along the log. Raises ValueError where units have none."""
    seen = observation(reading_at(given, place), facts)
    if label is None:
        return over_time(seen.units, rng=SEED)
    return by_label(seen.units, label, buckets=buckets, rng=SEED)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=_BY_LOG)
def import_of(given: Given, facts: Facts, settings: Settings) -> Report:
    """What `specdec import` says of all readings. Raises ValueError where it would."""
    found = readings(given)
    assert not isinstance(found, str)  # noqa: S101 — see reading_at
    logs = tuple(
        imported.imported_log(
            reading, summary_of(reading, facts, settings), diagnosis(given, place, facts)
        )
        for place, reading in enumerate(found)
    )
    parameters: tuple[tuple[str, Cell], ...] = (
        ("source", LOG_FILE),
        ("before", None if given.before is None else SNAPSHOT_FILE),
        ("engine", None),
        ("layout", None),
        ("gamma", facts.gamma),
        ("cost_ratio", settings.cost_ratio),
        ("verify_cost", settings.verify_cost),
        ("overhead", settings.overhead),
        ("tps", facts.tokens_per_s),
        ("plain_tps", facts.plain_tokens_per_s),
        ("running", facts.running),
        ("method", facts.method),
        ("target", None),
        ("by", None),
    )
    return import_report(logs, parameters)

"""What can be taken along: what the commands print, the figure, a profile, and the commands."""

from __future__ import annotations

import json
import shlex

import streamlit as st

from analysis.output import Report, to_csv, to_json
from app_pages import downloads
from app_pages.plain_text import plain
from app_pages.state import Settings
from app_pages.your_engine import results as engine_results
from app_pages.your_engine.sources import Facts, Given, readings
from real_runs.engines import Reading
from real_runs.engines.speculation_profile.writing import speculation_profile
from simulator import Observation


def show(
    given: Given,
    place: int,
    facts: Facts,
    settings: Settings,
    *,
    observed: Observation,
    report: Report | None,
    by: str | None,
) -> None:
    """Draw the downloads and the commands."""
    reading = engine_results.reading_at(given, place)
    profile, no_profile = profile_of(observed)
    said, not_said = _imported(given, facts, settings)
    drawable = report is not None and bool(report.sections) and len(report.sections) > 1
    with st.container(horizontal=True, gap="small"):
        if said is not None:
            downloads.button(
                "What it says, JSON",
                lambda: to_json(said).encode(),
                file_name="specdec_import.json",
                words="Counts, quantities and findings: what `specdec import --format json` prints.",
            )
        if report is not None:
            downloads.button(
                "The fit, JSON",
                lambda: to_json(report).encode(),
                file_name="specdec_fit.json",
                words="Process, parameters and prediction: what `specdec fit --format json` prints.",
            )
        if drawable:
            downloads.button(
                "The prediction, CSV",
                lambda: to_csv(report).encode(),
                file_name="specdec_prediction.csv",
                words="A row per draft length with its interval.",
            )
            downloads.button(
                "The prediction, PNG",
                lambda: figure_png(given, place, facts, settings),
                file_name="specdec_prediction.png",
                words="Both charts, for print.",
            )
        if profile is not None:
            downloads.button(
                "speculation_profile.json",
                lambda: profile,
                file_name="speculation_profile.json",
                words="The counts as Model-Optimizer writes and reads them.",
            )
    for name, why in (("specdec_import.json", not_said), ("speculation_profile.json", no_profile)):
        if why:
            st.caption(plain(f"No {name}: {why}"))
    with st.expander("The same on the command line", icon=":material/terminal:"):
        alone = len(readings(given)) == 1
        lines = commands(given, facts, settings, reading, alone=alone, by=by)
        st.code(lines, language="bash", wrap_lines=True)


def _imported(given: Given, facts: Facts, settings: Settings) -> tuple[Report | None, str]:
    """The report of all readings, or why there is none: facts can fit one and contradict another."""
    try:
        return engine_results.import_of(given, facts, settings), ""
    except ValueError as error:
        return None, str(error)


def figure_png(given: Given, place: int, facts: Facts, settings: Settings) -> bytes:
    """The figure of `specdec fit --figure`."""
    from analysis import figures  # noqa: PLC0415 — matplotlib costs a second at import
    from analysis.fitting import figures as fit_figures  # noqa: PLC0415 — see above

    found = engine_results.fitted(given, place, facts)
    gammas = [g for g in engine_results.GAMMAS if found.longest is None or g <= found.longest]
    with downloads.DRAWING:
        drawn = fit_figures.prediction_over_gamma(
            found, gammas, costs=engine_results.costs_of(settings)
        )
        return figures.png(drawn)


def profile_of(observed: Observation) -> tuple[bytes | None, str]:
    """The counts as a speculation_profile.json, or why there is none."""
    try:
        profile = speculation_profile(observed)
    except ValueError as error:
        return None, str(error)
    return json.dumps(profile, indent=2, allow_nan=False).encode(), ""


def commands(
    given: Given,
    facts: Facts,
    settings: Settings,
    reading: Reading,
    *,
    alone: bool,
    by: str | None,
) -> str:
    """The commands that print what the page shows, the log being in a file of that name."""
    costs = [
        f"--cost-ratio {settings.cost_ratio:g}",
        f"--verify-cost {settings.verify_cost:g}",
        f"--overhead {settings.overhead:g}",
    ]
    gamma = [] if facts.gamma is None else [f"--gamma {facts.gamma}"]
    known = [
        f"{option} {value if isinstance(value, str) else format(value, '.12g')}"
        for option, value in (
            ("--method", facts.method),
            ("--tps", facts.tokens_per_s),
            ("--plain-tps", facts.plain_tokens_per_s),
            ("--running", facts.running),
        )
        if value is not None
    ]
    earlier = [] if given.before is None else [f"--before {engine_results.SNAPSHOT_FILE}"]
    grouped = [] if by is None else [f"--by {shlex.quote(by)}"]
    lines = [_command("import", [*earlier, *gamma, *costs, *known, *grouped])]
    if given.before is None:  # `fit` takes one file, and a difference needs two
        where = [f"--engine {shlex.quote(reading.engine)} --layout {shlex.quote(reading.layout)}"]
        how = [] if facts.method is None else [f"--method {facts.method}"]
        lines.append(_command("fit", [*([] if alone else where), *gamma, *how, *costs]))
    return "\n".join(lines)


def _command(name: str, options: list[str]) -> str:
    return " ".join([f"specdec {name} {engine_results.LOG_FILE}", *options])

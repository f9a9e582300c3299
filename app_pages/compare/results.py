"""The comparison behind the page, made once per pair of logs, and what can be taken along."""

from __future__ import annotations

import shlex

import streamlit as st

from analysis.compare import compare_runs
from analysis.comparison.report import comparison_report
from analysis.comparison.result import RunComparison
from analysis.output import Cell, to_json
from app_pages.compare.sides import Run, observed, reading_of
from app_pages.your_engine.sources import Given, key_of, readings

FILES = ("before.log", "after.log")
NAMES = ("the run before", "the run after")
LEVEL, POWER, SEED = 0.95, 0.8, 0


@st.cache_resource(max_entries=32, show_spinner="Comparing …", hash_funcs={Given: key_of})
def compared(before: Run, after: Run, gamma: int | None, regression: float | None) -> RunComparison:
    """The second run against the first. Raises ValueError where a side says too little."""
    return compare_runs(
        observed(before, NAMES[0], gamma),
        observed(after, NAMES[1], gamma),
        regression=regression,
        level=LEVEL,
        power=POWER,
        rng=SEED,
    )


def report_json(result: RunComparison, gamma: int | None, regression: float | None) -> bytes:
    """What `specdec compare --format json` prints, the sides under their names here."""
    parameters: tuple[tuple[str, Cell], ...] = (
        ("before", FILES[0]),
        ("after", FILES[1]),
        ("regression", regression),
        ("level", LEVEL),
        ("power", POWER),
        ("gamma", gamma),
        ("gamma_after", None),
        ("seed", SEED),
    )
    return to_json(comparison_report(result, parameters)).encode()


def command(before: Run, after: Run, gamma: int | None, regression: float | None) -> str:
    """The command that prints the same, the logs being in files of those names."""
    parts = ["specdec", "compare", *FILES]
    for run, suffix in ((before, ""), (after, "-after")):
        if len(readings(run.given)) > 1:
            reading = reading_of(run)
            parts += [f"--engine{suffix}", reading.engine, f"--layout{suffix}", reading.layout]
    if gamma is not None:
        parts += ["--gamma", str(gamma)]
    if regression is not None:
        parts += ["--regression", f"{regression:g}"]
    return shlex.join(parts)

"""Runs for the page: those that come with the package, and two uploaded files. Nothing is executed."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

import streamlit as st

import real_runs
from analysis.runs.foretelling import foretell
from analysis.runs.prediction import summarize_run
from analysis.runs.report import NamedRun
from real_runs.runs.errors import RunFolderError
from real_runs.runs.facts import facts_of, system_of
from real_runs.runs.measurement import Run
from real_runs.runs.reading import HEADER, REQUESTS, read_run
from real_runs.tree_settings import drafts_of, grows

MAX_MB = 10
EXAMPLES = Path(real_runs.__file__).with_name("data")
FIRST = "runs"
"""Folders of measured runs lie in folders of this one, those of FIRST named without it."""
SEED = 0
"""Of the resampling of prompts: the same run shows the same intervals."""


def examples() -> tuple[str, ...]:
    """Names of the runs that come with the package, those on all systems behind the plain ones."""
    found = [path.parent.relative_to(EXAMPLES) for path in EXAMPLES.glob(f"*/*/{HEADER}")]
    plain = sorted(path.name for path in found if path.parent.name == FIRST)
    return (*plain, *sorted(path.as_posix() for path in found if path.parent.name != FIRST))


def example(name: str) -> NamedRun:
    """A run that comes with the package. Raises ValueError if it is damaged or there is none."""
    if name not in examples():
        raise ValueError(f"the run must be one of {', '.join(examples())}; got {name!r}.")
    folder = EXAMPLES / (name if "/" in name else f"{FIRST}/{name}")
    header, requests = (folder / part for part in (HEADER, REQUESTS))
    return summarized(name, header.read_bytes(), requests.read_bytes())


def uploaded(files: dict[str, bytes]) -> NamedRun:
    """The run in uploaded files, by name.

    Raises ValueError if they are not the two of a run folder, or if what they say is no run.
    """
    missing = [name for name in (HEADER, REQUESTS) if name not in files]
    if missing:
        there = ", ".join(sorted(files)) or "none"
        raise ValueError(
            f"A run needs its two files {HEADER} and {REQUESTS}, under these names; "
            f"{' and '.join(missing)} is missing (got {there:.80})."
        )
    return summarized("your run", files[HEADER], files[REQUESTS])


@st.cache_data(max_entries=16, show_spinner="Reading the run and drawing its prompts again …")
def summarized(name: str, header: bytes, requests: bytes) -> NamedRun:
    """The run whose files have this content; ValueError naming file and line of what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / HEADER).write_bytes(header)
        (Path(folder) / REQUESTS).write_bytes(requests)
        try:
            run = dataclasses.replace(read_run(folder), name=name)
        except RunFolderError as error:  # its path is ours, and no business of the reader
            line = "" if error.line is None else f", line {error.line}"
            raise ValueError(f"{Path(error.source).name}{line}: {error.problem}") from None
    summary = summarize_run(
        run.requests, rng=SEED, from_heads=known_beforehand(run), grows=grows(run.settings)
    )
    return NamedRun(name=name, summary=summary, facts=facts_of(run), system=system_of(run))


def known_beforehand(run: Run) -> dict[int, tuple[float, ...]]:
    """What the heads of a run foretold of it; nothing without heads, and nothing of sampled text."""
    heads = run.header.heads
    if heads is None or run.settings.temperature > 0.0:
        return {}
    return foretell(drafts_of(run.settings), heads.accuracies)

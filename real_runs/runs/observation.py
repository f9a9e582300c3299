"""A measured run in the form that logs are read into: for fits, comparisons and the doctor."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from real_runs.runs.measurement import Run
from real_runs.runs.reading import read_run, read_steps
from simulator import Method, Observation, observation_of_requests

_METHODS: dict[str, Method] = {
    "draft_model": "draft_model",
    "prompt_lookup": "ngram",
    "medusa": "medusa",
    "eagle": "eagle",
    "lookahead": "lookahead",
}


def observation_of_run(folder: str | Path, *, gamma: int | None = None) -> Observation:
    """What a run folder says of one draft length, the largest if none is given.

    A unit is a prompt; its rounds are in order where it was measured once and the folder has its
    steps. Raises RunFolderError for a folder that cannot be read, ValueError for a gamma that was not
    measured.
    """
    run = read_run(folder)
    settings = run.settings
    found = observation_of_requests(
        run.requests,
        gamma=gamma,
        name=run.name,
        method=_METHODS.get(settings.drafter),
        target=settings.target,
        temperature=settings.temperature,
    )
    steps = _steps(run, Path(folder), found.gamma)
    units = tuple(replace(unit, steps=steps.get(unit.name, ())) for unit in found.units)
    return replace(found, units=units)


def _steps(run: Run, folder: Path, gamma: int | None) -> dict[str, tuple[tuple[int, int], ...]]:
    """The rounds in order of every prompt that was measured once, as (drafted, accepted) each."""
    wanted = {i: each.prompt for i, each in enumerate(run.requests) if each.gamma == gamma}
    times = Counter(wanted.values())
    return {
        wanted[i]: tuple(zip(record.longest, record.accepted, strict=True))
        for i, record in enumerate(read_steps(folder))
        if i in wanted and times[wanted[i]] == 1
    }

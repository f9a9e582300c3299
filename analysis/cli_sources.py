"""What a file or folder on the command line says, whichever kind it is."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.facts import with_facts

if TYPE_CHECKING:
    from real_runs.engines import Reading
    from simulator import Observation

STDIN = "-"
_HEAD = 4_096  # bytes that tell a report of ours from a log
_REPORT_KEYS = (b'"schema_version"', b'"command"')


def observation_of(
    source: Path,
    *,
    gamma: int | None,
    engine: str | None,
    layout: str | None,
    readings: tuple[Reading, ...] | None = None,
) -> tuple[Observation, tuple[str, ...]]:
    """The observation behind a log, a run folder of `measure`, or the JSON of `simulate`, with notes.

    Of a log with several readings, `engine` and `layout` choose one; without them the one that says
    most is taken, and a note names the others. `readings` are those of a log that was read already.
    `gamma` is the one wanted of a run folder, and what is known beside a log or a table. Raises
    ValueError for a choice that is not there and for a gamma that contradicts the source, the errors
    of the readers for what cannot be read.
    """
    if readings is None and source.is_dir():
        return _measured(source, gamma), ()
    if readings is None and is_report(source):
        from analysis.comparison.inputs import observation_of_table  # noqa: PLC0415
        from analysis.table_file import read_table  # noqa: PLC0415

        return _known(observation_of_table(read_table(source)), gamma, source), ()
    if readings is None:
        readings = read_source(source, engine=engine)
    reading, notes = chosen(readings, layout, source)
    return _known(reading.observation, gamma, source), notes


def is_report(source: Path) -> bool:
    """Whether a file is the JSON of one of our commands; a pipe is none, for it is read only once."""
    if not source.is_file():
        return False
    with source.open("rb") as stream:
        head = stream.read(_HEAD)
    return head.lstrip().startswith(b"{") and all(key in head for key in _REPORT_KEYS)


def log_of(source: Path, *, engine: str | None) -> tuple[Reading, ...] | None:
    """The readings of a log; None of a run folder and of the JSON of `simulate`."""
    if source.is_dir() or is_report(source):
        return None
    return read_source(source, engine=engine)


def curve_of(
    readings: tuple[Reading, ...] | None, layout: str | None, source: Path
) -> tuple[Observation, ...]:
    """The observations of a log without counts that prints several, such as lengths by draft length.

    Empty where there is one reading, or one with counts.
    """
    found = () if readings is None else of_layout(readings, layout, str(source))
    if len(found) < 2 or any(reading.counts is not None for reading in found):
        return ()
    return tuple(reading.observation for reading in found)


def _known(observation: Observation, gamma: int | None, source: Path) -> Observation:
    """With the draft length that is given or stated, which can make every depth known."""
    stated = observation.gamma
    if gamma is not None and stated is not None and gamma != stated:
        raise ValueError(f"{source}: gamma must be {stated}, as the source says; got {gamma}.")
    gamma = stated if gamma is None else gamma
    if gamma is None:
        return observation
    try:
        return with_facts(observation, gamma=gamma)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def read_source(
    source: Path, *, engine: str | None = None, before: Path | None = None
) -> tuple[Reading, ...]:
    """The readings of a log; - is stdin. `before` is an earlier snapshot of the same counters."""
    from real_runs.engines import read_log  # noqa: PLC0415

    if str(source) != STDIN:
        return read_log(source, engine=engine, name=str(source), before=before)
    if sys.stdin is None:
        raise ValueError("stdin is closed; there is nothing to read.")
    return read_log(sys.stdin.buffer, engine=engine, name="stdin", before=before)


def of_layout(
    readings: tuple[Reading, ...], layout: str | None, source: str
) -> tuple[Reading, ...]:
    """The readings of that layout, all of them without one; ValueError if there are none."""
    found = tuple(reading for reading in readings if layout in {None, reading.layout})
    if not found:
        raise ValueError(f"{source} has only: {_options(readings)}; got --layout {layout!r:.60}.")
    return found


def chosen(
    readings: tuple[Reading, ...], layout: str | None, source: Path
) -> tuple[Reading, tuple[str, ...]]:
    """The reading of that layout, or the one that says most, with a note on the others.

    Readings of one engine mostly count the same tokens; those of two engines do not, and one must be
    chosen. Raises ValueError naming them, also for a layout that is not there.
    """
    from real_runs.engines.choosing import most_telling  # noqa: PLC0415

    found = of_layout(readings, layout, str(source))
    if len({reading.engine for reading in found}) > 1:
        raise ValueError(f"{source} has several readings, choose one of: {_options(readings)}.")
    best = most_telling(found)
    others = [each for each in found if each is not best]
    if not others:
        return best, ()
    return best, (
        f"{source} holds several readings; {best.title} is taken, not {_options(others)}.",
    )


def _options(readings: Iterable[Reading]) -> str:
    return "; ".join(f"--engine {each.engine} --layout {each.layout!r}" for each in readings)


def _measured(folder: Path, gamma: int | None) -> Observation:
    from real_runs.runs.observation import observation_of_run  # noqa: PLC0415

    try:
        return observation_of_run(folder, gamma=gamma)
    except ValueError as error:
        if str(error).startswith(str(folder)):  # the errors of the folder name it themselves
            raise
        raise ValueError(f"{folder}: {error}") from None

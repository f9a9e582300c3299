"""A run folder read back: run.json, and the lines of requests.jsonl and steps.jsonl."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from real_runs.runs.errors import NewerSchemaError, RunFolderError
from real_runs.runs.from_json import from_json
from real_runs.runs.header import SCHEMA_VERSION, Header
from real_runs.runs.measurement import RequestRecord, Run, StepRecord
from real_runs.runs.sealing import SealError, parse, unseal

_T = TypeVar("_T")

HEADER, REQUESTS, STEPS = "run.json", "requests.jsonl", "steps.jsonl"
LONGEST_LINE = 1 << 24
"""[bytes] of a line: a request of a million tokens has less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A whole line without its line end, its number from 1 on, and where the next one begins."""

    number: int
    text: bytes
    end: int


def read_run(folder: str | Path) -> Run:
    """The run in a folder: finished, interrupted, or still being written.

    A line that was not finished is no part of it. Raises RunFolderError naming the file and line of
    what is damaged, foreign, or written by a newer version.
    """
    folder = Path(folder)
    header = read_header(folder)
    return Run(
        name=folder.resolve().name, header=header, records=tuple(read_requests(folder, header))
    )


def read_header(folder: Path, unknown: Callable[[str], None] = lambda _: None) -> Header:
    """What run.json says; members that it should not have go to `unknown`."""
    path = folder / HEADER
    if not path.is_file():
        raise RunFolderError(folder, problem=f"this is no run folder; it has no {HEADER}.")
    return read_sealed(path, Header, newest=SCHEMA_VERSION, unknown=unknown)


def read_sealed(
    path: Path,
    kind: type[_T],
    *,
    newest: int,
    most: int = LONGEST_LINE,
    unknown: Callable[[str], None] = lambda _: None,
) -> _T:
    """The one sealed record of a file; members that it should not have go to `unknown`.

    Raises RunFolderError for one that is damaged, foreign, of more than `most` [bytes], or of a
    schema_version outside [1, newest].
    """
    with path.open("rb") as stream:
        text = stream.read(most + 1)
    if len(text) > most:
        raise RunFolderError(path, problem=f"must have at most {most:,} bytes.")
    try:
        _check_version(path, parse(text).get("schema_version"), newest)
        return from_json(kind, unseal(text.removesuffix(b"\n")), unknown)
    except RunFolderError:
        raise
    except SealError as error:
        raise RunFolderError(path, problem=f"this file {error}") from None
    except ValueError as error:
        raise RunFolderError(path, problem=str(error)) from None


def _check_version(path: Path, version: object, newest: int) -> None:
    """What is no whole number is left to the reader of all members."""
    if type(version) is not int:
        return
    if version > newest:
        raise NewerSchemaError(
            path,
            problem=f"written by a newer version of specdec (schema {version}; this one reads up to "
            f"{newest}); update specdec.",
        )
    if version < 1:
        raise RunFolderError(path, problem=f"schema_version must be at least 1; got {version}.")


def read_requests(folder: Path, header: Header) -> Iterator[RequestRecord]:
    """The finished requests, in the order of the tasks; RunFolderError if they are not."""
    path = folder / REQUESTS
    for line in read_lines(path):
        record = read_line(RequestRecord, line, path)
        check_task(record, header, line, path)
        yield record


def check_task(record: RequestRecord, header: Header, line: Line, path: Path) -> None:
    """RunFolderError unless line n is the request of task n - 1."""
    index = line.number - 1
    if index >= len(header.tasks):
        raise RunFolderError(
            path,
            line=line.number,
            problem=f"there must be at most one line per task; the run has {len(header.tasks)}.",
        )
    task = header.tasks[index]
    wanted = (index, task.prompt, task.gamma, task.repeat)
    found = (record.task, record.prompt, record.gamma, record.repeat)
    if found != wanted:
        raise RunFolderError(
            path,
            line=line.number,
            problem=f"must be the request of task, prompt, gamma, repeat = {wanted}; got {found}.",
        )


def read_steps(folder: Path) -> Iterator[StepRecord]:
    """The rounds of the requests, in the same order."""
    path = folder / STEPS
    for line in read_lines(path):
        yield read_line(StepRecord, line, path)


def read_line(
    kind: type[_T], line: Line, path: Path, unknown: Callable[[str], None] = lambda _: None
) -> _T:
    """The record of a sealed line; RunFolderError naming file and line."""
    try:
        return from_json(kind, unseal(line.text), unknown)
    except SealError as error:
        raise RunFolderError(path, line=line.number, problem=f"this line {error}") from None
    except ValueError as error:
        raise RunFolderError(path, line=line.number, problem=str(error)) from None


def read_lines(path: Path) -> Iterator[Line]:
    """Whole lines of a file, one by one; a last one without its line end is not given.

    A file that is not there has none. Raises RunFolderError for a line that is too long, and for what
    is no file: a pipe would be waited for, a device never ends.
    """
    if path.exists() and not path.is_file():
        raise RunFolderError(path, problem="must be a file; it is something else.")
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        return
    with stream:
        number, end = 0, 0
        while text := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(text) > LONGEST_LINE:
                raise RunFolderError(
                    path, line=number, problem=f"must have at most {LONGEST_LINE:,} bytes."
                )
            if not text.endswith(b"\n"):
                return
            end += len(text)
            yield Line(number=number, text=text[:-1], end=end)

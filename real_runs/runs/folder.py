"""The folder of a run while it is written: what is done stays done, whatever happens to the process.

    run.json         what is measured, on what, in which order, and how far it is (replaced as a whole)
    steps.jsonl      one line per request: its rounds
    requests.jsonl   one line per request, written after the other: it commits both

Every line is appended whole and brought to the disk before the next request begins. A process that is
killed leaves at most an unfinished line, or a line of steps without its request; both are taken away
when the run is continued, and the request is made again.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from real_runs.runs.errors import RunFolderError
from real_runs.runs.header import SCHEMA_VERSION, Header, Session, Status
from real_runs.runs.lock import LOCK, only_process
from real_runs.runs.measurement import RequestRecord, StepRecord
from real_runs.runs.reading import (
    HEADER,
    REQUESTS,
    STEPS,
    read_header,
    read_lines,
    read_requests,
    read_run,
)
from real_runs.runs.sealing import checksum_of, seal

__all__ = ["RunWriter", "open_run", "read_run"]

_NEW_HEADER = f"{HEADER}.new"


class RunWriter:
    """Appends requests to a run that this process has locked; `records` are those that are done."""

    def __init__(self, folder: Path, header: Header, records: tuple[RequestRecord, ...]) -> None:
        self.folder = folder
        self.header = header
        self.records = list(records)
        if self.remaining:  # before there is any other file: what is here is a run from now on
            session = Session(started=utc_now(), ended=None, before=len(records))
            self._set("running", (*header.sessions, session))
        self._handles = {name: _open(folder / name) for name in (STEPS, REQUESTS)}

    @property
    def remaining(self) -> range:
        """The tasks that are still to be measured."""
        return range(len(self.records), len(self.header.tasks))

    def committed(self) -> int:
        """Requests in the folder: one more than `records` if Ctrl-C came right behind its line."""
        return sum(1 for _ in read_lines(self.folder / REQUESTS))

    def append(self, record: RequestRecord, steps: StepRecord) -> None:
        """Commit a request. Raises OSError where it cannot be written; nothing of it stays then."""
        sizes = {handle: os.fstat(handle).st_size for handle in self._handles.values()}
        line = seal(dataclasses.asdict(steps))
        record = dataclasses.replace(record, steps_sha256=checksum_of(line.encode()))
        try:
            _write(self._handles[STEPS], line)
            _write(self._handles[REQUESTS], seal(dataclasses.asdict(record)))
        except OSError:
            for handle, size in sizes.items():
                with suppress(OSError):  # what stays is taken away when the run is continued
                    os.ftruncate(handle, size)
            raise
        self.records.append(record)

    def close(self) -> None:
        """Say in run.json how far the run is, and let go of the files."""
        for handle in self._handles.values():
            os.close(handle)
        if self.header.status == "complete":
            return
        *before, last = self.header.sessions or (Session(started=utc_now(), ended=None, before=0),)
        sessions = (*before, dataclasses.replace(last, ended=utc_now()))
        if not self.remaining:
            self._set("complete", sessions)
        else:
            with suppress(OSError):  # a full disk has been reported; "running" is as true
                self._set("interrupted", sessions)

    def _set(self, status: Status, sessions: tuple[Session, ...]) -> None:
        self.header = dataclasses.replace(
            self.header, schema_version=SCHEMA_VERSION, status=status, sessions=sessions
        )
        _replace_header(self.folder, self.header)


@contextmanager
def open_run(folder: str | Path, header: Header, *, resume: bool = False) -> Iterator[RunWriter]:
    """Begin a run in a new or empty folder, or continue the one that is there.

    A run that is complete is opened too and has no remaining task. Raises ValueError if another
    process writes there, if the run that is there has other settings, or is unfinished and `resume`
    is not set, if the folder cannot be written; RunFolderError if it holds something else or a damaged
    run; OSError if it cannot be made.
    """
    folder = Path(folder)
    check_place(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with only_process(folder):
        records: tuple[RequestRecord, ...] = ()
        if (folder / HEADER).exists():
            found = read_header(folder)
            _refuse_other(folder, found, header)
            header = found
            records = tuple(read_requests(folder, header))
            if len(records) < len(header.tasks) and not resume:
                raise ValueError(
                    f"{folder} holds an unfinished run, {len(records)} of {len(header.tasks)} "
                    "requests; add --resume to continue it, or choose another folder."
                )
            _take_away_the_unfinished(folder, records)
        else:
            header = dataclasses.replace(header, status="running", sessions=())
        try:
            writer = RunWriter(folder, header, records)
        except OSError as error:
            raise ValueError(
                f"{folder} must be writable; {error.strerror or error}, and nothing was measured."
            ) from error
        try:
            yield writer
        finally:
            writer.close()


def check_place(folder: Path) -> None:
    """RunFolderError for a place that holds something else than a run."""
    if folder.exists() and not folder.is_dir():
        raise RunFolderError(folder, problem="must be a folder; it is a file.")
    if folder.is_dir() and not (folder / HEADER).exists():
        # Without run.json nothing was measured: what a process left that was killed before it.
        others = {entry.name for entry in folder.iterdir()} - {LOCK, _NEW_HEADER}
        if others:
            raise RunFolderError(
                folder, problem=f"this is no run folder and it is not empty: it has {min(others)}."
            )


def _refuse_other(folder: Path, found: Header, wanted: Header) -> None:
    """ValueError naming what differs between the run that is there and the one that is asked for."""
    differences = []
    for part in ("settings", "prompts", "target", "draft", "heads", "environment"):
        old, new = getattr(found, part), getattr(wanted, part)
        if old == new:
            continue
        if old is None or new is None:
            differences.append(f"{part} was {old and old.name}, is {new and new.name}")
            continue
        for field in dataclasses.fields(old):
            before, now = getattr(old, field.name), getattr(new, field.name)
            if before != now:
                differences.append(f"{part}.{field.name} was {before!s:.60}, is {now!s:.60}")
    if differences:
        raise ValueError(
            f"{folder} holds a run with other settings ({'; '.join(differences)}); choose another "
            "folder or the same settings."
        )
    if found.tasks != wanted.tasks:
        raise RunFolderError(folder / HEADER, problem="its tasks are not those of its settings.")


def _take_away_the_unfinished(folder: Path, records: tuple[RequestRecord, ...]) -> None:
    """Cut off what follows the last committed request, in both files."""
    end = 0
    for line in read_lines(folder / REQUESTS):
        end = line.end
    _truncate(folder / REQUESTS, end)
    end, found = 0, 0
    path = folder / STEPS
    for line, record in zip(read_lines(path), records, strict=False):
        if checksum_of(line.text) != record.steps_sha256:
            raise RunFolderError(
                path, line=line.number, problem=f"does not belong to request {record.task}."
            )
        end, found = line.end, found + 1
    if found < len(records):
        raise RunFolderError(
            path, problem=f"must have a line for each of {len(records)} requests; it has {found}."
        )
    _truncate(path, end)


def _truncate(path: Path, end: int) -> None:
    if path.exists() and path.stat().st_size > end:
        os.truncate(path, end)


def _open(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)


def _write(handle: int, line: str) -> None:
    """Append a line and bring it to the disk."""
    rest = memoryview(line.encode() + b"\n")
    while rest:
        rest = rest[os.write(handle, rest) :]
    os.fsync(handle)


def _replace_header(folder: Path, header: Header) -> None:
    """Put a new run.json in the place of the old one: at every moment there is one of the two."""
    new = folder / _NEW_HEADER
    with new.open("wb") as stream:
        stream.write(seal(dataclasses.asdict(header), between="\n").encode() + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
    new.replace(folder / HEADER)
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def utc_now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")

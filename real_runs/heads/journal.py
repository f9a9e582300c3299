"""A folder of work that may be stopped at any time: a sealed header, and a journal of what is done.

The header says what the work is and is written once, before anything else. The journal gets lines
that carry their checksum, appended whole. A process that is killed leaves at most an unfinished
line, which is taken away when the work goes on.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from real_runs.runs.errors import RunFolderError
from real_runs.runs.lock import only_process
from real_runs.runs.reading import read_line, read_lines, read_sealed
from real_runs.runs.sealing import seal

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SCHEMA_VERSION = 1

_Header = TypeVar("_Header", bound="DataclassInstance")
_Record = TypeVar("_Record", bound="DataclassInstance")


class Journal(Generic[_Record]):
    """The records of a file that this process has locked; `append` commits more of them."""

    def __init__(self, path: Path, kind: type[_Record]) -> None:
        end = 0
        self.records: list[_Record] = []
        for line in read_lines(path):
            self.records.append(read_line(kind, line, path))
            end = line.end
        if path.exists() and path.stat().st_size > end:
            os.truncate(path, end)
        self._path = path

    def append(self, records: Sequence[_Record]) -> None:
        """Write lines and bring them to the disk. Raises OSError where that cannot be done."""
        lines = "".join(seal(dataclasses.asdict(record)) + "\n" for record in records)
        with self._path.open("ab") as stream:
            size = stream.tell()
            try:
                stream.write(lines.encode())
                stream.flush()
                os.fsync(stream.fileno())
            except OSError:
                with suppress(OSError):  # what stays is taken away when the work goes on
                    os.truncate(self._path, size)
                raise
        self.records.extend(records)


def read_header(path: Path, kind: type[_Header], what: str) -> _Header:
    """The header of a folder; `what` says in the error what the folder should have been.

    Raises RunFolderError for one that is missing, damaged or newer than this version.
    """
    if not path.is_file():
        raise RunFolderError(path.parent, problem=f"this is no {what}; it has no {path.name}.")
    return read_sealed(path, kind, newest=SCHEMA_VERSION)


def read_journal(path: Path, kind: type[_Record]) -> list[_Record]:
    """The whole lines of a journal. Raises RunFolderError naming the line that is damaged."""
    return [read_line(kind, line, path) for line in read_lines(path)]


@contextmanager
def open_journal(
    path: Path, kind: type[_Record], *, header: _Header, header_path: Path
) -> Iterator[Journal[_Record]]:
    """Begin a work in its folder, or continue the one that is there.

    Raises ValueError if another process writes there or the work that is there is another one;
    RunFolderError for damaged files; OSError if the folder cannot be written.
    """
    folder = path.parent
    if folder.exists() and not folder.is_dir():
        raise RunFolderError(folder, problem="must be a folder; it is a file.")
    folder.mkdir(parents=True, exist_ok=True)
    with only_process(folder):
        if header_path.exists():
            _refuse_other(
                folder, read_header(header_path, type(header), "folder of this kind"), header
            )
        elif path.exists():
            raise RunFolderError(folder, problem=f"has {path.name} without {header_path.name}.")
        else:
            write_header(header_path, header)
        yield Journal(path, kind)


def _refuse_other(folder: Path, found: _Header, wanted: _Header) -> None:
    before, now = dataclasses.asdict(found), dataclasses.asdict(wanted)
    differences = [
        f"{name} was {before[name]!s:.60}, is {now[name]!s:.60}"
        for name in before
        if before[name] != now[name]
    ]
    if differences:
        raise ValueError(
            f"{folder} holds work with other settings ({'; '.join(differences)}); choose another "
            "folder or the same settings."
        )


def write_header(path: Path, header: DataclassInstance) -> None:
    """Write a header, sealed; a reader sees all of it or the one before."""
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as stream:
        stream.write(seal(dataclasses.asdict(header), between="\n").encode() + b"\n")
        stream.flush()
        os.fsync(stream.fileno())
    new.replace(path)

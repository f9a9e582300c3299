"""Tables with a header, comma, semicolon or tab between cells: each row is an object."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from real_runs.engines.counts.printed import MOST_DIGITS
from real_runs.engines.counts.skips import Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.errors import MetricsFormatError
from real_runs.engines.text.lines import Readable, all_lines
from real_runs.engines.text.objects import Objects
from real_runs.engines.text.opening import MOST_COLUMNS, MOST_READ

_DELIMITERS = (b",", b"\t", b";")
_INTEGER = re.compile(rf"[+-]?\d{{1,{MOST_DIGITS}}}", re.ASCII)
_DECIMAL = re.compile(
    r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,3})?", re.ASCII
)
_MOST_COMMENTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The names of the columns, what stands between cells, and the line that says so."""

    names: tuple[str, ...]
    delimiter: str
    line: int


def header_of(head: bytes, keys: frozenset[str], *, source: str) -> Header | None:
    """The header that a text begins with, behind comments with #; None if it is no table of ours.

    One of its columns has one of the `keys` as its name, and none has a number. MetricsFormatError
    for more than 1,000 columns or a header of more than 1 MB.
    """
    number, row, ended = 1, *_partition(head)
    while ended and (not row.strip() or row.startswith(b"#")) and number < _MOST_COMMENTS:
        number, row, ended = number + 1, *_partition(ended)
    delimiter = max(_DELIMITERS, key=row.count)
    if not any(key.encode() in row for key in keys) or delimiter not in row:
        return None
    if row.count(delimiter) >= MOST_COLUMNS:
        cells = [cell.strip(b' "') for cell in row.split(delimiter, MOST_COLUMNS)[:-1]]
    else:
        cells = [
            cell.encode() for cell in _cells(row.decode("utf-8", "replace"), delimiter.decode())
        ]
    names = [cell.decode("utf-8", "replace") for cell in cells]
    if not keys.intersection(names) or any(_DECIMAL.fullmatch(name) for name in names):
        return None
    if row.count(delimiter) >= MOST_COLUMNS:
        _refuse(source, number, f"the table has more than {MOST_COLUMNS:,} columns")
    if len(row) >= MOST_READ - 16:
        _refuse(source, number, "the header of the table is longer than 1 MB")
    return Header(names=tuple(names), delimiter=delimiter.decode(), line=number)


def take_table(stream: Readable, header: Header, objects: Objects, skips: Skips) -> int:
    """Give each row behind the header to the formats that know a column; the number of lines."""
    number = 0
    shapes = objects.expected_in(" ".join(header.names))
    for number, row in all_lines(stream):
        if number <= header.line:
            continue
        if row is None:
            skips.record(number, "the row is longer than 64 KiB", expected=shapes)
            continue
        cells = _cells(row, header.delimiter)
        if not any(cells) or tuple(cells) == header.names:
            continue
        if len(cells) != len(header.names):
            columns = f"{counted(len(cells), 'cell')} under {counted(len(header.names), 'column')}"
            skips.record(number, f"the row has {columns}", expected=shapes)
            continue
        objects.take(dict(_filled(header.names, cells)), number)
    return number


def _filled(names: tuple[str, ...], cells: list[str]) -> Iterator[tuple[str, object]]:
    for name, cell in zip(names, cells, strict=True):
        if cell:
            yield name, as_scalar(cell)


def as_scalar(text: str) -> object:
    """The number, or the text itself; a number too long to be one of ours stays text.

    >>> as_scalar("12"), as_scalar("0.50"), as_scalar("12 ms")
    (12, 0.5, '12 ms')
    """
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    return text


def _cells(row: str, delimiter: str) -> list[str]:
    try:
        (cells,) = csv.reader([row], delimiter=delimiter, skipinitialspace=True)
    except (csv.Error, ValueError):
        return row.split(delimiter)
    return [cell.strip() for cell in cells]


def _partition(text: bytes) -> tuple[bytes, bytes]:
    row, _, rest = text.partition(b"\n")
    return row.removesuffix(b"\r"), rest


def _refuse(source: str, line: int, problem: str) -> None:
    raise MetricsFormatError(source, line=line, problem=f"{problem}; expected fewer.")

"""Recorded arrivals from a file: when each request came, and its tokens; CSV or JSON lines."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from analysis.serving.trace_columns import (
    ROWS,
    Columns,
    TraceFileError,
    columns_of,
    time_of,
    tokens_of,
    unit_of,
)
from simulator.serving import RecordedArrivals

MOST_ROWS = 1_000_000
LARGEST = 500_000_000  # bytes
_LONGEST_LINE = 10_000_000  # bytes; traces may carry hashes of their prompts' blocks
_DELIMITERS = ",;\t"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Recorded arrivals, and how the column of their times was read, for people."""

    arrivals: RecordedArrivals
    unit: str


def read_arrivals(source: Path | BinaryIO, *, name: str | None = None) -> RecordedArrivals:
    r"""The requests of a trace: CSV with a header (cells between commas, semicolons or tabs), or JSON lines.

    Columns are found by their usual names, in any spelling of capitals: `arrival_s` or `timestamp` (Azure's
    TIMESTAMP with dates), `prompt_tokens`, `ContextTokens`, `input_tokens` or `input_length`,
    `output_tokens`, `GeneratedTokens` or `output_length`. Times are seconds, dates in ISO form (without a
    zone: UTC), or milliseconds where the name ends in _ms; `timestamp` of JSON lines is milliseconds, as
    in Mooncake's traces. The first arrival becomes 0. Other columns are not looked at.

    At most 1,000,000 requests and 500 MB are read, line by line. Raises TraceFileError naming file and line
    for a column that is missing, anything that is no time or no count of 1 to 1,000,000 tokens, and
    arrivals that fall; OSError if the file cannot be opened.

    >>> trace = read_arrivals(io.BytesIO(
    ...     b"TIMESTAMP,ContextTokens,GeneratedTokens\n"
    ...     b"2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.6805900,396,109\n"))
    >>> trace.arrival_s, trace.prompt_tokens, trace.output_tokens
    ((0.0, 4.0), (374, 396), (44, 109))
    """
    return read_trace(source, name=name).arrivals


def read_trace(source: Path | BinaryIO, *, name: str | None = None) -> Trace:
    r"""`read_arrivals`, and the unit that its times were taken to be in: nothing in a file says it for sure.

    >>> read_trace(io.BytesIO(b'{"timestamp": 500, "input_length": 9, "output_length": 5}\n')).unit
    'timestamp was read as milliseconds (call it timestamp_s if it is seconds)'
    """
    with ExitStack() as stack:
        if isinstance(source, Path):
            shown = str(source) if name is None else name
            stream: BinaryIO = stack.enter_context(source.open("rb"))
        else:
            shown, stream = name or "trace", source
        return _read(stream, shown)


def _read(stream: BinaryIO, name: str) -> Trace:
    arrivals: list[float] = []
    prompts: list[int] = []
    outputs: list[int] = []
    columns: Columns | None = None
    unit = ""
    before = -math.inf
    for number, row, header in _rows(stream, name):
        if columns is None:
            columns = columns_of(tuple(row), name, header or number, is_json=header is None)
            unit = unit_of(columns, row.get(columns.arrival))
        if len(arrivals) == MOST_ROWS:
            raise TraceFileError(f"{name}: a trace must have at most {MOST_ROWS:,} requests.")
        now = time_of(row.get(columns.arrival), columns, name, number)
        if now < before:
            raise TraceFileError(
                f"{name}, line {number}: arrivals must not fall; sort the trace by {columns.arrival}."
            )
        before = now
        arrivals.append(now)
        prompts.append(tokens_of(row.get(columns.prompt), columns.prompt, name, number))
        outputs.append(tokens_of(row.get(columns.output), columns.output, name, number))
    if not arrivals:
        raise TraceFileError(f"{name} has no requests; expected columns for {ROWS}.")
    recorded = RecordedArrivals(
        arrival_s=tuple(time - arrivals[0] for time in arrivals),
        prompt_tokens=tuple(prompts),
        output_tokens=tuple(outputs),
    )
    return Trace(arrivals=recorded, unit=unit)


def _rows(stream: BinaryIO, name: str) -> Iterator[tuple[int, dict[str, object], int | None]]:
    """Rows by column in lower case, with their line and that of the header; JSON lines have none."""
    lines = _lines(stream, name)
    first = next(((n, text) for n, text in lines if text.strip()), None)
    if first is None:
        return
    top, text = first
    if text.lstrip().startswith("["):
        raise TraceFileError(
            f"{name}, line {top}: is a list in JSON; write an object on each line (jq -c '.[]')."
        )
    if text.lstrip().startswith("{"):
        yield top, _object(text, name, top), None
        for number, text in lines:
            if text.strip():
                yield number, _object(text, name, number), None
        return
    delimiter = max(_DELIMITERS, key=text.count)
    header = [_key(cell) for cell in _cells(text, delimiter, name, top)]
    for number, text in lines:
        if not text.strip():
            continue
        cells = _cells(text, delimiter, name, number)
        if len(cells) != len(header):
            raise TraceFileError(
                f"{name}, line {number}: expected {len(header)} cells as in the header; got {len(cells)}."
            )
        yield number, dict(zip(header, cells, strict=True)), top


def _lines(stream: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    read, number = 0, 0
    while line := stream.readline(_LONGEST_LINE + 1):
        number += 1
        read += len(line)
        if len(line) > _LONGEST_LINE:
            raise TraceFileError(
                f"{name}, line {number}: a line must have at most {_LONGEST_LINE:,} bytes."
            )
        if read > LARGEST:
            raise TraceFileError(f"{name}: a trace must have at most {LARGEST:,} bytes.")
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise TraceFileError(
                f"{name}, line {number}: is not text (UTF-8); unpack or convert it."
            ) from None


def _object(text: str, name: str, number: int) -> dict[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise TraceFileError(
            f"{name}, line {number}: expected an object in JSON, one on each line."
        )
    return {_key(key): value for key, value in found.items()}


def _key(name: str) -> str:
    return name.strip().lower().replace(" ", "_")


def _cells(text: str, delimiter: str, name: str, number: int) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(text), delimiter=delimiter), [])
    except csv.Error:
        raise TraceFileError(f"{name}, line {number}: is not a row of a CSV file.") from None

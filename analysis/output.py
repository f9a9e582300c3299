"""One report, three forms: tables on a terminal, strict JSON, CSV. Data on stdout, the rest on stderr."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import os
import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from simulator import AcceptanceTable


SCHEMA_VERSION = 1
KEPT = "\n\t"
"""What breaks lines and columns stays when texts from logs are made printable."""
_LONGEST = 120
"""Characters of an echoed parameter; JSON has all of it."""

Cell: TypeAlias = str | int | float | bool | None
Row: TypeAlias = tuple[Cell, ...]


class Format(StrEnum):
    """How a command prints its data."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A named table: one cell per column in every row.

    On a terminal `too_wide` columns are left out, and the rows of a `grouped` table stand under the
    value of their first column. A `hidden` section is for programs: people get it as sentences.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    too_wide: tuple[str, ...] = ()
    grouped: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a command has to say.

    `parameters` echo the input, the seed included. CSV prints the first section only. `headline` is
    one sentence for people, `notes` are what a reader must know to use the numbers. `table` holds
    the counts behind the sections, so that another command can read them back.
    """

    command: str
    parameters: tuple[tuple[str, Cell], ...]
    sections: tuple[Section, ...]
    headline: str = ""
    notes: tuple[str, ...] = ()
    table: AcceptanceTable | None = None


def emit(report: Report, output: Format) -> None:
    """Print the report: data on stdout, headline, notes and parameters on stderr.

    A reader who closes stdout early (`| head`) is no error. Control characters, which names in a log can
    hold, are replaced. Raises ValueError without a stdout.
    """
    if sys.stdout is None:
        raise ValueError("stdout is closed; there is nowhere to print to.")
    report = _safe(report)
    try:
        _print_data(report, output)
        sys.stdout.flush()  # keeps the remarks below the data when both go to one screen
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if output is not Format.JSON and sys.stderr is not None:
        from analysis.terminal import wrapped  # noqa: PLC0415 — JSON does without rich

        for line in _remarks(report, output):
            print(wrapped(line), file=sys.stderr)  # noqa: T201


def _safe(report: Report) -> Report:
    return dataclasses.replace(
        report,
        parameters=tuple((name, _safe_cell(value)) for name, value in report.parameters),
        sections=tuple(
            dataclasses.replace(
                section, rows=tuple(tuple(map(_safe_cell, row)) for row in section.rows)
            )
            for section in report.sections
        ),
        headline=_safe_text(report.headline),
        notes=tuple(map(_safe_text, report.notes)),
    )


def _safe_cell(cell: Cell) -> Cell:
    return _safe_text(cell) if isinstance(cell, str) else cell


def _safe_text(text: str) -> str:
    from simulator._printable import printable  # noqa: PLC0415 — `--help` needs no numpy

    return printable(text, keep=KEPT)


def _print_data(report: Report, output: Format) -> None:
    match output:
        case Format.JSON:
            print(to_json(report))  # noqa: T201 — printing is what this module is for
        case Format.CSV:
            sys.stdout.write(to_csv(report))
        case Format.TABLE:
            from analysis.terminal import tables  # noqa: PLC0415 — JSON and CSV do without rich

            sys.stdout.write(tables(report))


def to_json(report: Report) -> str:
    """Strict JSON (null for NaN and infinities) with a schema version."""
    document: dict[str, object] = {
        "schema_version": SCHEMA_VERSION,
        "command": report.command,
        "parameters": {name: _finite(value) for name, value in report.parameters},
        "headline": report.headline,
        "notes": list(report.notes),
    }
    for section in report.sections:
        document[section.name] = [
            {name: _finite(cell) for name, cell in zip(section.columns, row, strict=True)}
            for row in section.rows
        ]
    if report.table is not None:
        document["table"] = dataclasses.asdict(report.table)
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)


def to_csv(report: Report) -> str:
    """The first section under a header line; unknown values are empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(report.sections[0].columns)
    writer.writerows([_finite(cell) for cell in row] for row in report.sections[0].rows)
    return buffer.getvalue()


def _remarks(report: Report, output: Format) -> list[str]:
    echo = ", ".join(
        f"{name} {value:g}" if isinstance(value, float) else f"{name} {_shortened(str(value))}"
        for name, value in report.parameters
        if value is not None
    )
    lines = [report.headline, *(f"note: {note}" for note in report.notes)]
    if output is Format.CSV and len(report.sections) > 1:
        names = ", ".join(section.name for section in report.sections[1:])
        lines.append(f"note: CSV holds {report.sections[0].name}; JSON also has {names}.")
    return ["", *(line for line in lines if line), *([f"[{echo}]"] if echo else [])]


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def as_text(cell: Cell) -> str:
    """A cell as people read it: four decimals (one from a thousand on), nothing for unknown.

    >>> as_text(2.77310), as_text(200_000), as_text(12950.2011), as_text(None), as_text(1.2e-9)
    ('2.7731', '200,000', '12,950.2', '', '1.2e-09')
    """
    match cell:
        case None:
            return ""
        case bool():
            return "yes" if cell else "no"
        case int():
            return f"{cell:,}"
        case float():
            return _float_text(cell)
    return cell


def _float_text(value: float) -> str:
    if math.isnan(value):
        return ""
    if value == 0.0 or 5e-5 <= abs(value) < 1e3:
        return f"{value:.4f}"
    if 1e3 <= abs(value) < 1e9:
        return f"{value:,.1f}"
    return f"{value:.4g}"


def _finite(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell

"""Step times as a table: batch, tokens, context and a time in each row, the columns in any order."""

from __future__ import annotations

import csv
from collections.abc import Mapping

from real_runs.engines.errors import MetricsFormatError
from real_runs.engines.text.lines import all_lines
from real_runs.engines.text.opening import Opening
from real_runs.engines.text.tables import Header, as_scalar, header_of
from real_runs.step_times.result import BadRowError, Gathered, StepTimesRead

_NAMES = {
    "batch": ("batch", "batch_size", "requests"),
    "tokens": ("tokens", "width", "num_tokens"),
    "context": ("context", "context_tokens", "context_length"),
    "weight": ("weight", "count"),
    "draft_steps": ("draft_steps",),
    "draft_tokens": ("draft_tokens",),
    "draft": ("draft",),
}
_UNITS = {
    "seconds": 1.0, "time_s": 1.0, "s": 1.0, "milliseconds": 1e3, "time_ms": 1e3, "ms": 1e3,
    "microseconds": 1e6, "time_us": 1e6, "us": 1e6, "nanoseconds": 1e9, "time_ns": 1e9, "ns": 1e9,
}  # fmt: skip
"""How many make a second: 4.5 ms are exactly 4.5 / 1000 s."""
KEYS = frozenset(name for names in _NAMES.values() for name in names) | frozenset(_UNITS)
EXPECTED = (
    "a CSV with the columns batch, tokens, context and seconds (or ms, us, ns), the JSON of "
    "benchmarks/gpu.py, lines of SGLang's bench_speculative.py, or the folder of a run"
)
_YES, _NO = ("1", "true", "yes", "draft"), ("0", "false", "no", "target", "")


def table_header(opening: Opening, source: str) -> Header | None:
    """The header of a table of step times, in small letters; None if the text begins with none."""
    head = opening.head
    if b"\n" not in head and b"\r" in head:
        head = head.replace(b"\r", b"\n")
    return header_of(head.lower(), KEYS, source=source)


def read_rows(opening: Opening, header: Header, source: str, context: float) -> StepTimesRead:
    """The times in a table.

    `count` or `weight` says how many times a row stands for; `draft` marks passes of the draft,
    `draft_steps` and `draft_tokens` what it does within the time. Columns of other names are not read.
    Rows that give no time are counted. MetricsFormatError for a missing or a doubled column.
    """
    columns, per_second = _columns(header, source)
    gathered = Gathered(source)
    names = tuple(columns)
    for number, row in all_lines(opening):
        if number <= header.line or (row is not None and not row.strip(' \t",;')):
            continue
        try:
            _take(gathered, number, row, header, columns, per_second, context)
        except BadRowError as reason:
            gathered.skip(number, str(reason))
    gathered.refuse_if_empty(f"numbers under {', '.join(columns)}")
    others = [name for index, name in enumerate(header.names) if index not in columns.values()]
    notes = list(gathered.notes)
    if others:
        shown = ", ".join(name[:20] for name in others[:4]) + (", …" if len(others) > 4 else "")
        notes.append(f"Columns that are not read: {shown}.")
    if "context" not in names:
        notes.append(f"There is no column for the context; it is taken as {context:g} tokens.")
    return StepTimesRead(
        source=source,
        kind="csv",
        samples=tuple(gathered.samples),
        context_known="context" in names,
        skipped=tuple(gathered.kept),
        notes=tuple(notes),
    )


def _columns(header: Header, source: str) -> tuple[dict[str, int], float]:
    """Where each quantity stands, and how many units of the time make a second."""
    places: dict[str, int] = {}
    per_second = 1.0
    for index, name in enumerate(header.names):
        plain = name.strip()
        wanted = "seconds" if plain in _UNITS else _quantity(plain)
        if wanted is None:
            continue
        if wanted in places:
            raise MetricsFormatError(
                source,
                line=header.line,
                problem=f"two columns are {wanted} ({header.names[places[wanted]][:20]} and "
                f"{name[:20]}); expected one.",
            )
        places[wanted] = index
        per_second = _UNITS.get(plain, per_second)
    missing = [name for name in ("batch", "tokens", "seconds") if name not in places]
    if missing:
        raise MetricsFormatError(
            source,
            line=header.line,
            problem=f"the table has no {_columns_called(missing)}; expected {EXPECTED}.",
        )
    return places, per_second


def _columns_called(missing: list[str]) -> str:
    return f"column {missing[0]}" if len(missing) == 1 else f"columns {' and '.join(missing)}"


def _quantity(name: str) -> str | None:
    return next((wanted for wanted, names in _NAMES.items() if name in names), None)


def _take(
    gathered: Gathered,
    number: int,
    row: str | None,
    header: Header,
    columns: Mapping[str, int],
    per_second: float,
    context: float,
) -> None:
    if row is None:
        raise BadRowError("the row is longer than 64 KiB")
    cells = _cells(row, header.delimiter)
    if tuple(cell.lower() for cell in cells) == header.names:
        return  # files of several runs were joined
    if len(cells) != len(header.names):
        raise BadRowError(f"the row has {len(cells)} cells under {len(header.names)} columns")
    draft = False
    values: dict[str, float] = {"context": context}
    for name, index in columns.items():
        text = cells[index]
        if name == "draft":
            if text.lower() not in (*_YES, *_NO):
                raise BadRowError(f"draft must be 0 or 1; got {text[:20]!r}")
            draft = text.lower() in _YES
        elif text or name in {"batch", "tokens", "seconds", "context"}:
            value = as_scalar(text)
            if not isinstance(value, (int, float)) or abs(value) > 1e300:
                raise BadRowError(f"{name} must be a number; got {text[:20]!r}")
            values[name] = float(value) / (per_second if name == "seconds" else 1.0)
    gathered.add(number, draft=draft, **values)


def _cells(row: str, delimiter: str) -> list[str]:
    try:
        (cells,) = csv.reader([row], delimiter=delimiter, skipinitialspace=True)
    except (csv.Error, ValueError):
        raise BadRowError("the row is no CSV") from None
    return [cell.strip() for cell in cells]

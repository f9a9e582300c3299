"""What the cells of a trace mean: which columns are meant, and their times and counts of tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from analysis.table_file import TableFileError
from simulator.serving.lengths import MOST_TOKENS


class TraceFileError(TableFileError):
    """A trace that cannot be used: names the file, the line and what is wrong."""


_LONGEST_CELL = 100
_ARRIVAL = {
    "arrival_s": 1.0, "arrived_at": 1.0, "arrival_time": 1.0, "arrival_time_s": 1.0, "timestamp_s": 1.0,
    "arrival_ms": 1e-3, "arrival_time_ms": 1e-3, "timestamp_ms": 1e-3, "timestamp": None,
}  # fmt: skip
_PROMPT = (
    "prompt_tokens", "contexttokens", "context_tokens", "input_tokens", "input_length", "prompt_len",
    "num_prefill_tokens", "request_tokens",
)  # fmt: skip
_OUTPUT = (
    "output_tokens", "generatedtokens", "generated_tokens", "output_length", "completion_tokens",
    "output_len", "num_decode_tokens", "response_tokens",
)  # fmt: skip
ROWS = (
    "arrival (arrival_s, timestamp), prompt (prompt_tokens, ContextTokens, input_length) and output "
    "(output_tokens, GeneratedTokens, output_length)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """How this file calls the three columns; `scale` turns its times into seconds."""

    arrival: str
    prompt: str
    output: str
    scale: float


def unit_of(columns: Columns, first: object) -> str:
    """How the times are read, by the first of them."""
    if isinstance(first, str) and not math.isnan(_date(first.strip())):
        return f"{columns.arrival} was read as dates"
    said = f"{columns.arrival} was read as {'seconds' if columns.scale == 1.0 else 'milliseconds'}"
    if _ARRIVAL[columns.arrival] is not None:
        return said
    other, name = (
        ("milliseconds", "timestamp_ms") if columns.scale == 1.0 else ("seconds", "timestamp_s")
    )
    return f"{said} (call it {name} if it is {other})"


def columns_of(names: Sequence[str], file: str, number: int, *, is_json: bool) -> Columns:
    """The columns among these names, in lower case; TraceFileError naming those that are missing."""
    arrival = next((each for each in _ARRIVAL if each in names), None)
    prompt = next((each for each in _PROMPT if each in names), None)
    output = next((each for each in _OUTPUT if each in names), None)
    if arrival is None or prompt is None or output is None:
        missing = [
            what
            for what, found in (("arrival", arrival), ("prompt", prompt), ("output", output))
            if found is None
        ]
        raise TraceFileError(
            f"{file}, line {number}: no column for {' and '.join(missing)} in {', '.join(names)!r:.80}; "
            f"expected one each for {ROWS}."
        )
    scale = _ARRIVAL[arrival]
    if scale is None:  # `timestamp` alone: traces of JSON lines print milliseconds
        scale = 1e-3 if is_json else 1.0
    return Columns(arrival=arrival, prompt=prompt, output=output, scale=scale)


def time_of(value: object, columns: Columns, file: str, number: int) -> float:
    """A cell as seconds; TraceFileError for anything that is no time."""
    seconds = math.nan
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = float(value) * columns.scale if abs(value) < 1e18 else math.nan
    elif isinstance(value, str) and len(value) <= _LONGEST_CELL:
        try:
            seconds = float(value) * columns.scale
        except ValueError:
            seconds = _date(value.strip())
    if not (math.isfinite(seconds) and abs(seconds) < 1e12):
        raise TraceFileError(
            f"{file}, line {number}: {columns.arrival} must be seconds, milliseconds (where the name ends "
            f"in _ms) or an ISO date; got {value!r:.60}."
        )
    return seconds


def _date(text: str) -> float:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return math.nan
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def tokens_of(value: object, column: str, file: str, number: int) -> int:
    """A cell as a number of tokens; TraceFileError for anything else."""
    count: float = 0
    if isinstance(value, int | float) and not isinstance(value, bool):
        count = value
    elif isinstance(value, str) and len(value) <= _LONGEST_CELL and value.strip().isdecimal():
        count = int(value)
    if not (1 <= count <= MOST_TOKENS and count == int(count)):
        raise TraceFileError(
            f"{file}, line {number}: {column} must be a whole number of 1 to {MOST_TOKENS:,} tokens; "
            f"got {value!r:.60}."
        )
    return int(count)

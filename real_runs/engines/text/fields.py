"""Values of JSON, CSV and YAML objects, checked: counts, numbers, lists and histograms."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from real_runs.engines.counts.printed import MOST_DEPTHS, MOST_DIGITS, Printed, as_printed
from real_runs.engines.counts.skips import NoCounts
from real_runs.engines.text.objects import JsonObject

MOST_ROUNDS = 1_000_000
"""The longest list of rounds of one request; longer ones are no request."""

LONGEST_SHOWN = 40

FINEST = 12
"""Digits behind the point that a number in full digits is taken to have."""

_WHOLE = re.compile(r"(\d{1,18})(?:\.0{0,18})?", re.ASCII)


def count_at(record: JsonObject, name: str) -> int | None:
    """The count under a name; None if there is none, NoCounts if it is not a count.

    >>> count_at({"num_drafts": "2189.0"}, "num_drafts")
    2189
    """
    value = record.get(name)
    return None if value is None or value == "" else as_whole(name, value)


def number_at(record: JsonObject, name: str) -> float | None:
    """The finite number under a name; None if there is none, NoCounts if it is not one.

    >>> number_at({"wall_time": 1.5}, "wall_time")
    1.5
    """
    value = record.get(name)
    return None if value is None or value == "" else as_number(name, value)


def text_at(record: JsonObject, name: str) -> str | None:
    """The text under a name, cut to 200 characters; None if there is none or it is no text."""
    value = record.get(name)
    return value[:200] if isinstance(value, str) else None


def as_whole(name: str, value: object) -> int:
    """The value as a count: a whole number, or one written in text or as 12.0."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0 or value >= 10**MOST_DIGITS:
            raise NoCounts(f"{name} is not a count ({shown(value)})")
        return value
    if isinstance(value, float) and value.is_integer() and 0 <= value < 2**53:
        return int(value)
    if isinstance(value, str) and (match := _WHOLE.fullmatch(value.strip())):
        return int(match[1])
    raise NoCounts(f"{name} is not a count ({shown(value)})")


def as_number(name: str, value: object) -> float:
    """The value as a finite number of at least 0."""
    number = math.nan
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300:
        number = float(value)
    elif isinstance(value, str) and len(value) <= LONGEST_SHOWN:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
    if not (math.isfinite(number) and number >= 0.0):
        raise NoCounts(f"{name} is not a number of at least 0 ({shown(value)})")
    return number


def as_decimal(name: str, value: object) -> Printed:
    """The number with the rounding of its digits, as `printed.as_printed` has it of text.

    >>> as_decimal("mean", 2.925)
    Printed(units=2925, scale=1000)
    """
    number = as_number(name, value)
    text = value.strip() if isinstance(value, str) else repr(value)
    if "e" in text.lower() or len(text.partition(".")[2]) > FINEST:
        text = f"{number:.{FINEST}f}"  # the last digits of a float are those of its own rounding
    return as_printed(name, text.removeprefix("+").rstrip("."))


def at_finest(values: Sequence[Printed]) -> tuple[Printed, ...]:
    """The same numbers, each as finely rounded as the finest: JSON leaves out zeros at the end.

    >>> at_finest((as_decimal("a", 0.816), as_decimal("b", 0.75)))[1]
    Printed(units=750, scale=1000)
    """
    scale = max((value.scale for value in values), default=1)
    return tuple(
        Printed(units=value.units * (scale // value.scale), scale=scale) for value in values
    )


def decimal_at(record: JsonObject, name: str) -> Printed | None:
    """The number under a name with its rounding; None if there is none."""
    value = record.get(name)
    return None if value is None or value == "" else as_decimal(name, value)


def counts_at(record: JsonObject, name: str, *, most: int = MOST_ROUNDS) -> tuple[int, ...]:
    """The list of counts under a name; empty if there is none, NoCounts if it is no such list."""
    value = record.get(name)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise NoCounts(f"{name} is not a list of counts")
    if len(value) > most:
        raise NoCounts(f"{name} has more than {most:,} entries")
    return tuple(as_whole(f"{name}[{index}]", entry) for index, entry in enumerate(value))


def histogram_at(record: JsonObject, name: str, *, first: int = 0) -> tuple[int, ...] | None:
    """Rounds by length under a name, a list or an object with lengths as keys; None if neither.

    The result begins at the length `first`, 1 where the source counts the bonus token. Lengths
    that an object leaves out have no rounds.

    >>> histogram_at({"h": {"0": 6, "2": 1}}, "h")
    (6, 0, 1)
    """
    value = record.get(name)
    if value is None:
        return None
    if isinstance(value, list):
        by_length = dict(enumerate(counts_at(record, name, most=MOST_DEPTHS + 2)))
    elif isinstance(value, Mapping):
        if len(value) > MOST_DEPTHS + 2:
            raise NoCounts(f"{name} has more than {MOST_DEPTHS + 2} lengths")
        by_length = {
            as_whole(f"a length in {name}", key): as_whole(f"{name}[{shown(key)}]", rounds)
            for key, rounds in value.items()
        }
    else:
        raise NoCounts(f"{name} is neither a list nor an object of counts")
    lengths = [length for length, rounds in by_length.items() if rounds]
    if not lengths:
        return ()
    if min(lengths) < first or max(lengths) > MOST_DEPTHS + first:
        raise NoCounts(
            f"{name} has rounds of length {min(lengths) if min(lengths) < first else max(lengths)}, "
            f"outside {first} to {MOST_DEPTHS + first}",
            finding="length_outside_range",
        )
    return tuple(by_length.get(length, 0) for length in range(first, max(lengths) + 1))


def shown(value: object) -> str:
    """The value as a reason may quote it: short, whatever it is."""
    if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS:
        return "a number of very many digits"
    text = value if isinstance(value, str) else f"{type(value).__name__}"
    if isinstance(value, (int, float)):
        text = str(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"

"""Numbers as they were printed: the value, and everything that would be printed the same."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

Given: TypeAlias = "float | str | Sequence[float | str]"

_NUMBER = re.compile(r"[+-]?\d{1,20}(?:\.\d{0,20})?%?")
_LONGEST_TEXT = 100_000
MOST_DEPTHS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One value per depth (a scalar has one), with the smallest and the largest that it can be."""

    values: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]

    @classmethod
    def exact(cls, values: Sequence[float]) -> Known:
        """Values without rounding."""
        return cls(values=tuple(values), lows=tuple(values), highs=tuple(values))

    def through(self, function: Callable[[float], float], *, falling: bool = False) -> Known:
        """Every value through a monotone function; the ends change places where it falls."""
        low, high = (self.highs, self.lows) if falling else (self.lows, self.highs)
        return Known(
            values=tuple(map(function, self.values)),
            lows=tuple(map(function, low)),
            highs=tuple(map(function, high)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """The numbers of an input, and whether a fraction was assumed where the engine prints percent."""

    known: Known
    fraction_for_percent: bool = False


def read_values(value: Given, *, half_width: float | None, percent: bool) -> Read:
    """The numbers given, as fractions where they were percent.

    A text carries its own rounding: "0.645" is anything in 0.645 ± 0.0005, "64.5%" too; a text without
    decimals and a number are taken as exact unless `half_width` says otherwise. With `percent`, the
    unit of the name, numbers above 1 are percent and others fractions, which is said.

    Raises ValueError for what is no finite number, and for more than 1,000 of them.
    """
    if half_width is not None and not (half_width >= 0.0 and math.isfinite(half_width)):
        raise ValueError(f"half_width must be a finite number of at least 0; got {half_width!r}.")
    parts = _parts(value)
    if not 1 <= len(parts) <= MOST_DEPTHS:
        raise ValueError(f"value must have 1 to {MOST_DEPTHS:,} numbers; got {len(parts)}.")
    read = [_number(part, half_width) for part in parts]
    unmarked = percent and not any(marked for *_, marked in read)
    scaled = unmarked and max(number for number, *_ in read) > 1.0
    numbers, halves = [], []
    for number, half, marked in read:
        scale = 100.0 if marked or scaled else 1.0
        numbers.append(number / scale)
        halves.append(half / scale)
    return Read(
        known=Known(
            values=tuple(numbers),
            lows=tuple(n - h for n, h in zip(numbers, halves, strict=True)),
            highs=tuple(n + h for n, h in zip(numbers, halves, strict=True)),
        ),
        fraction_for_percent=unmarked and not scaled,
    )


def _parts(value: Given) -> list[float | str]:
    if isinstance(value, str):
        if len(value) > _LONGEST_TEXT:
            raise ValueError(f"value must be a text of at most {_LONGEST_TEXT:,} characters.")
        return [part.strip() for part in value.strip().strip("[](){}").split(",")]
    if isinstance(value, Sequence) or hasattr(value, "tolist"):
        listed = value.tolist() if hasattr(value, "tolist") else list(value)
        return list(listed) if isinstance(listed, list) else [listed]
    return [value]


def _number(part: float | str, half_width: float | None) -> tuple[float, float, bool]:
    """The number, half a unit of its last digit, and whether it is marked as percent."""
    if isinstance(part, str):
        if not _NUMBER.fullmatch(part):
            raise ValueError(
                "value must be numbers such as 0.645, 64.5% or 0.805,0.632,0.483; "
                f"got {part[:40]!r}."
            )
        marked = part.endswith("%")
        number = Decimal(part.rstrip("%"))
        exponent = number.as_tuple().exponent
        assert isinstance(exponent, int)  # noqa: S101 — the pattern admits no NaN
        if half_width is not None:
            return float(number), half_width, marked
        rounded = exponent < 0 or marked
        return float(number), 0.5 * 10.0**exponent if rounded else 0.0, marked
    if isinstance(part, bool) or not isinstance(part, (int, float)):
        raise ValueError(f"value must be a number, a text or a list of these; got {part!r:.40}.")
    if not math.isfinite(part):
        raise ValueError(f"value must be finite; got {part!r}.")
    return float(part), half_width or 0.0, False

"""Durations and counts as people read them."""

from __future__ import annotations

import math

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))

_LEAST = 1e-15


def duration(seconds: float) -> str:
    """Three digits in the unit that suits, from a thousandth of a ps on: 0.0065184 s are 6.52 ms.

    >>> duration(0.0065184), duration(5.346e-10), duration(0.0), duration(-12.0)
    ('6.52 ms', '535 ps', '0', '-12 s')
    """
    if abs(seconds) < _LEAST:
        return "0"
    rounded = abs(float(f"{seconds:.3g}"))  # 999.9 µs are 1 ms
    size, unit = next((each for each in _UNITS if rounded >= each[0]), _UNITS[-1])
    return f"{most_three(seconds / size)} {unit}"


def most_three(value: float) -> str:
    """Three digits, more only before the point: no powers of ten where whole numbers do.

    >>> most_three(215.68), most_three(1234.5), most_three(0.51444), most_three(math.inf)
    ('216', '1,234', '0.514', 'inf')
    """
    return _most(3, value)


def most_four(value: float) -> str:
    """Four digits, more only before the point.

    >>> most_four(215.6789), most_four(1234.5), most_four(0.02157), most_four(999.96), most_four(math.inf)
    ('215.7', '1,234', '0.02157', '1,000', 'inf')
    """
    return _most(4, value)


def _most(digits: int, value: float) -> str:
    short = f"{value:.{digits}g}"
    whole = math.isfinite(value) and 1000.0 <= abs(float(short)) < 1e12
    return f"{value:,.0f}" if whole else short


def whole_number(value: float) -> int | float:
    """Whole numbers as such: a batch is no 1.0000.

    >>> whole_number(8.0), whole_number(8.5)
    (8, 8.5)
    """
    return int(value) if float(value).is_integer() else value


def counted(count: float, thing: str) -> str:
    """A number and what it counts, in the plural unless there is one.

    >>> counted(1, "cell"), counted(3600, "cell")
    ('1 cell', '3,600 cells')
    """
    return f"{count:,g} {thing}" if count == 1 else f"{count:,.10g} {thing}s"

"""Numbers as logs print them: counts in full, ratios to a few digits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from real_runs.engines.counts.skips import NoCounts

MOST_DIGITS = 18
"""Longer numbers are no counts of tokens, and Python's own parser refuses the really long ones."""

MOST_DEPTHS = 256
"""Beyond every engine's draft; bounds the work that a hostile line can ask for."""

LEEWAY = 1e-7
"""llama.cpp divides in single precision, which can push a tie over by this much."""

COUNT = r"(-?\d(?:[\d,]*\d)?)"
"""A count in a pattern, with thousands separators and without the comma behind it.

It takes a minus sign, for `as_count` to refuse: a negative count is there, and is wrong.
"""

_COUNT = re.compile(r"\d{1,3}(?:,\d{3})+|\d+", re.ASCII)
_DECIMAL = re.compile(r"(\d+)(?:\.(\d+))?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """A decimal as printed, `units` / `scale`: the true ratio is within half a unit, ends included.

    >>> Printed(units=805, scale=1000).counts(87, 87)
    (70, 70)
    """

    units: int
    scale: int

    @property
    def value(self) -> float:
        """The ratio as printed."""
        return self.units / self.scale

    @property
    def half_width(self) -> float:
        """Half a unit of the last printed digit."""
        return 0.5 / self.scale

    def counts(self, fewest: int, most: int) -> tuple[int, int]:
        """The smallest and the largest count that print like this out of `fewest` to `most` rounds."""
        low = -(-(2 * self.units - 1) * fewest // (2 * self.scale))
        return max(low, 0), (2 * self.units + 1) * most // (2 * self.scale)


def as_count(name: str, text: str) -> int:
    """The count in `text`, thousands separators allowed; NoCounts if it is none.

    >>> as_count("Accepted", "1,234")
    1234
    """
    if len(text) > 2 * MOST_DIGITS or len(text.replace(",", "")) > MOST_DIGITS:
        raise NoCounts(f"{name} has more than {MOST_DIGITS} digits")
    if _COUNT.fullmatch(text) is None:
        raise NoCounts(f"{name} is not a count ({text})")
    return int(text.replace(",", ""))


def as_printed(name: str, text: str) -> Printed:
    """The decimal in `text` with the width of its rounding; NoCounts if it is none.

    >>> as_printed("Mean acceptance length", "2.92")
    Printed(units=292, scale=100)
    """
    if len(text) > MOST_DIGITS:
        raise NoCounts(f"{name} has more than {MOST_DIGITS} digits")
    printed = _parsed(text)
    if printed is None:
        raise NoCounts(f"{name} is not a number ({text})")
    return printed


@lru_cache(maxsize=4096)  # of three digits there are a thousand, and a log repeats them all day
def _parsed(text: str) -> Printed | None:
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return None
    whole, decimals = match.group(1), match.group(2) or ""
    return Printed(units=int(whole + decimals), scale=10 ** len(decimals))


def as_survival(name: str, text: str) -> tuple[Printed, ...]:
    """The comma-separated decimals in `text`, the first drafted token first; NoCounts if not so.

    An empty list is one: llama.cpp prints no position before it accepted a token.
    """
    parts = text.split(",", MOST_DEPTHS) if text.strip() else []
    if len(parts) > MOST_DEPTHS:
        raise NoCounts(f"{name} lists more than {MOST_DEPTHS} positions")
    survival = tuple(as_printed(name, part.strip()) for part in parts)
    if survival and survival[-1].scale < survival[0].scale:
        raise NoCounts(f"{name} ends within a number")
    return survival


def as_fraction(printed: Printed, *, accepted: int, drafted: int) -> Printed | None:
    """accepted / drafted as a fraction, printed as one or in percent; None if neither agrees.

    Which of the two it is, the counts say: engines write 64.5%, 64.5 and 0.645.

    >>> as_fraction(Printed(units=645, scale=10), accepted=167, drafted=259)
    Printed(units=645, scale=1000)
    """
    for fraction in (printed, Printed(units=printed.units, scale=printed.scale * 100)):
        if abs(accepted / drafted - fraction.value) <= fraction.half_width + LEEWAY:
            return fraction
    return None

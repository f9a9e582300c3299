"""Which of two quantities SGLang's "accept rate" is: its releases print both under that name."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from real_runs.engines.counts.printed import MOST_DEPTHS, Printed
from real_runs.engines.counts.wording import listed

Quantity: TypeAlias = Literal["fraction_with_bonus", "accepted_fraction"]

FIRST_WITHOUT_BONUS = (0, 5, 11)
"""The first release whose accept rate leaves out the bonus token."""

MOST_SEEN = 1 << 16
_SLACK = 1e-9  # of dividing decimals in binary
_FORMULAS: dict[Quantity, str] = {
    "fraction_with_bonus": "accept len / window, with the bonus token (SGLang up to 0.5.10)",
    "accepted_fraction": "(accept len - 1) / (window - 1), without it (SGLang from 0.5.11)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What the rate is, of which window, and why; both None where nothing tells."""

    quantity: Quantity | None
    window: int | None
    reason: str


class RateWindows:
    """Narrows down the windows for which all lines of a log print what they print.

    With accept length l and rate r, each within its rounding, the window is l / r under the old
    meaning and 1 + (l - 1) / r under the new one.

    >>> windows = RateWindows()
    >>> windows.add(Printed(units=217, scale=100), Printed(units=39, scale=100))
    >>> windows.meaning().quantity, windows.meaning().window
    ('accepted_fraction', 4)
    """

    def __init__(self) -> None:
        self.lines = 0
        self._longest = 1.0
        self._seen: set[tuple[Printed, Printed]] = set()
        self._ranges: dict[Quantity, tuple[float, float]] = {
            "fraction_with_bonus": (1.0, MOST_DEPTHS + 1.0),
            "accepted_fraction": (1.0, MOST_DEPTHS + 0.0),
        }

    def add(self, length: Printed, rate: Printed) -> None:
        """Keep the windows that agree with one more line."""
        self.lines += 1
        if (length, rate) in self._seen:  # of two digits there are few, and a log repeats them
            return
        if len(self._seen) < MOST_SEEN:
            self._seen.add((length, rate))
        self._longest = max(self._longest, length.value - length.half_width)
        least, most = rate.value - rate.half_width, rate.value + rate.half_width
        for quantity, (low, high) in self._ranges.items():
            kept = length.value - (quantity == "accepted_fraction")
            fewest = (kept - length.half_width) / most
            largest = (kept + length.half_width) / least if least > 0.0 else high
            self._ranges[quantity] = (max(low, fewest), min(high, largest))

    def windows(self, quantity: Quantity) -> tuple[int, ...]:
        """The windows with which the rate can be `quantity` in every line."""
        low, high = self._ranges[quantity]
        root = quantity == "accepted_fraction"
        whole = range(math.ceil(low - _SLACK) + root, math.floor(high + _SLACK) + root + 1)
        return tuple(window for window in whole if window >= max(2.0, self._longest - _SLACK))

    def meaning(self, *, window: int | None = None, version: str | None = None) -> Meaning:
        """What all lines say together, with the configured window and the version where known."""
        fitting = {quantity: self.windows(quantity) for quantity in self._ranges}
        if window is not None and any(window in windows for windows in fitting.values()):
            fitting = {
                quantity: (window,) if window in windows else ()
                for quantity, windows in fitting.items()
            }
        agreeing = [quantity for quantity, windows in fitting.items() if windows]
        how = "by arithmetic" if window is None else "by arithmetic with the configured window"
        if len(agreeing) > 1 and version is not None:
            agreeing, how = [of_version(version)], f"by the version, {version}"
        if not agreeing:
            reason = (
                "The accept rate is left out: no one window explains it in every line, with the bonus "
                "token or without (drafts of changing length, or several servers in one log)."
            )
            return Meaning(quantity=None, window=None, reason=reason)
        if len(agreeing) > 1:
            both = " or ".join(f"{_FORMULAS[each]} of {_any(fitting[each])}" for each in agreeing)
            reason = f"The accept rate is left out: it can be {both}; the version would tell."
            return Meaning(quantity=None, window=None, reason=reason)
        (quantity,) = agreeing
        only = fitting[quantity]
        reason = f"The accept rate is {_FORMULAS[quantity]}, {how}: window {_any(only)}."
        if version is not None and of_version(version) != quantity:
            reason += f" The version of the log, {version}, should print the other one."
        return Meaning(quantity=quantity, window=only[0] if len(only) == 1 else None, reason=reason)


def of_version(version: str) -> Quantity:
    """What the accept rate of SGLang's log is in a release.

    >>> of_version("0.5.10.post1"), of_version("0.5.11")
    ('fraction_with_bonus', 'accepted_fraction')
    """
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
    return "accepted_fraction" if numbers >= FIRST_WITHOUT_BONUS else "fraction_with_bonus"


def _any(windows: tuple[int, ...]) -> str:
    return listed(windows).replace(" and ", " or ") if windows else "none"

"""What a format is: a collector, and what stands in the lines or the JSON objects that it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from real_runs.engines.counts.skips import Skips
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from real_runs.engines.text.objects import JsonObject, Where

__all__ = [
    "Cumulative",
    "JsonObject",
    "LineCollector",
    "LineFormat",
    "ObjectCollector",
    "ObjectFormat",
    "Where",
]


class LineCollector(Protocol):
    """What the module of a format of lines offers."""

    def take(self, line: Line) -> None:
        """Add what a line with one of the markers counts, or record why it is skipped."""

    def readings(self, lines: int) -> list[Reading]:
        """What was counted in a log of so many lines; empty if nothing was."""


@runtime_checkable
class Cumulative(Protocol):
    """What a collector of counters since the start offers besides."""

    def start_here(self) -> bool:
        """Count from here on, what was taken being the state before; False if nothing was."""


class ObjectCollector(Protocol):
    """What the module of a format of JSON objects offers."""

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add what an object with one of the keys counts, or record why it is skipped."""

    def readings(self, lines: int) -> list[Reading]:
        """What was counted in a text of so many lines; empty if nothing was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFormat:
    """A format of lines; its collector gets every line that contains one of the `markers`.

    `shapes` shows what is expected, for the error when nothing is found. A `fallback` gets the lines
    that no other format knows, and is heard where no other gave a reading. The collector of
    `cumulative` counters has a `start_here()`: what was taken before it is the state before.
    """

    engine: str
    collector: Callable[[str, Skips], LineCollector]
    markers: tuple[str, ...]
    shapes: str
    fallback: bool = False
    cumulative: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectFormat:
    """A format of JSON objects; its collector gets every object that has one of the `keys`.

    The objects may be a whole file, lines of one, nested in others, or fragments within lines of a log.
    """

    engine: str
    collector: Callable[[str, Skips], ObjectCollector]
    keys: tuple[str, ...]
    shapes: str

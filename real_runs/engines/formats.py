"""All formats that are read: one entry each, found by what stands in its lines or its JSON objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from real_runs.engines import llamacpp, vllm
from real_runs.engines.lines import Line
from real_runs.engines.reading import Reading
from real_runs.engines.skips import Skips

JsonObject: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The line on which a JSON object begins, and the objects around it, outermost first."""

    line: int
    parents: tuple[JsonObject, ...] = ()


class LineCollector(Protocol):
    """What the module of a format of lines offers."""

    def take(self, line: Line) -> None:
        """Add what a line with one of the markers counts, or record why it is skipped."""

    def readings(self, lines: int) -> list[Reading]:
        """What was counted in a log of so many lines; empty if nothing was."""


class ObjectCollector(Protocol):
    """What the module of a format of JSON objects offers."""

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add what an object with one of the keys counts, or record why it is skipped."""

    def readings(self, lines: int) -> list[Reading]:
        """What was counted in a text of so many lines; empty if nothing was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFormat:
    """A format of lines; its collector gets every line that contains one of the `markers`.

    `shapes` shows what is expected, for the error when nothing is found.
    """

    engine: str
    collector: Callable[[str, Skips], LineCollector]
    markers: tuple[str, ...]
    shapes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectFormat:
    """A format of JSON objects; its collector gets every object that has one of the `keys`.

    The objects may be a whole file, lines of one, nested in others, or fragments within lines of a log.
    """

    engine: str
    collector: Callable[[str, Skips], ObjectCollector]
    keys: tuple[str, ...]
    shapes: str


FORMATS: tuple[LineFormat | ObjectFormat, ...] = (
    LineFormat(
        engine="llama.cpp",
        collector=llamacpp.LlamaCpp,
        markers=llamacpp.MARKERS,
        shapes=llamacpp.SHAPES,
    ),
    LineFormat(
        engine="vllm", collector=vllm.IntervalLines, markers=vllm.MARKERS, shapes=vllm.SHAPES
    ),
)

ENGINES = tuple(dict.fromkeys(each.engine for each in FORMATS))
"""The engines that can be named, by the name that readings carry."""

"""JSON objects, wherever they stand: each one with a known key goes to the formats that know it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.text.fragments import fragments
from real_runs.engines.text.json_text import whole_object
from real_runs.engines.text.lines import Line

JsonObject: TypeAlias = Mapping[str, object]

DEEPEST = 32
"""Objects nested deeper than this are not looked at; those of engines stand 2 to 6 deep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The line on which a JSON object begins, and the objects around it, outermost first.

    Within a whole document of several lines, the line is that on which the document begins.
    """

    line: int
    parents: tuple[JsonObject, ...] = ()


class ObjectCollector(Protocol):
    """What the module of a format of JSON objects offers."""

    def take_object(self, value: JsonObject, where: Where) -> None:
        """Add what an object with one of the keys counts, or record why it is skipped.

        A NoCounts that it raises is recorded as the skip of the object's line.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Taker:
    """A collector, the keys of its objects, and what is expected of them in an error."""

    collector: ObjectCollector
    keys: tuple[str, ...]
    shapes: str


class Objects:
    """Gives objects to the collectors that know one of their keys."""

    def __init__(self, takers: Sequence[Taker], skips: Skips) -> None:
        self._skips = skips
        self._takers: dict[str, list[Taker]] = {}
        for taker in takers:
            for key in taker.keys:
                self._takers.setdefault(key, []).append(taker)

    @property
    def keys(self) -> frozenset[str]:
        """All keys that some collector knows."""
        return frozenset(self._takers)

    @property
    def markers(self) -> tuple[str, ...]:
        """What stands in a line that may hold such an object: its keys in quotes of either kind."""
        return tuple(quote + key + quote for key in self._takers for quote in "\"'")

    def take_line(self, line: Line) -> None:
        """Give every object within a line of a log."""
        try:
            values = (
                [whole_object(line.text)]
                if line.long
                else fragments(line.text, bare=not line.joined)
            )
            for value in values:
                self.take(value, line.number)
        except NoCounts as reason:
            expected = self.expected_in(line.text)
            self._skips.record(line.number, str(reason), expected=expected)

    def take(self, value: object, line: int) -> None:
        """Give a value's objects, those nested in it too, outer ones first."""
        known = self._takers.keys()
        for found, parents in objects_in(value):
            keys = known & found.keys()
            if not keys:
                continue
            where = Where(line=line, parents=parents)
            takers = (taker for key in found if key in keys for taker in self._takers[key])
            for taker in dict.fromkeys(takers):
                with self._skips.guard(line, expected=taker.shapes):
                    taker.collector.take_object(found, where)

    def expected_in(self, text: str) -> str:
        """The shapes of the formats that have a key in the text."""
        shapes = (
            each.shapes for key, takers in self._takers.items() for each in takers if key in text
        )
        return " or ".join(dict.fromkeys(shapes))


def objects_in(value: object) -> Iterator[tuple[JsonObject, tuple[JsonObject, ...]]]:
    """All objects in a value with the objects around them, in the order of the text, to depth 32.

    >>> [len(parents) for _, parents in objects_in([{"a": {"b": 1}}, {"c": []}])]
    [0, 1, 0]
    """
    waiting: list[tuple[object, tuple[JsonObject, ...], int]] = [(value, (), 0)]
    while waiting:
        found, parents, depth = waiting.pop()
        inner: list[object] = []
        if isinstance(found, dict):
            yield found, parents
            parents = (*parents, found)
            inner = [each for each in found.values() if isinstance(each, (dict, list))]
        elif isinstance(found, list):
            inner = [each for each in found if isinstance(each, (dict, list))]
        if depth < DEEPEST:
            waiting += [(each, parents, depth + 1) for each in reversed(inner)]

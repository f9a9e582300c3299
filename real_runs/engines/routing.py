"""From the text to the collectors: whole JSON first, then line by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from real_runs.engines.counts.skips import Skips
from real_runs.engines.formats import (
    Cumulative,
    LineCollector,
    LineFormat,
    ObjectCollector,
    ObjectFormat,
)
from real_runs.engines.overlap import told_of_overlap
from real_runs.engines.reading import Reading
from real_runs.engines.text.fragments import blocks
from real_runs.engines.text.json_text import JsonText, is_whole
from real_runs.engines.text.lines import BLOCK, LONGEST_LINE, Line, MarkedLines
from real_runs.engines.text.logged import logged_lines
from real_runs.engines.text.objects import Objects, Taker
from real_runs.engines.text.opening import MOST_READ, Opening, check_first_line
from real_runs.engines.text.tables import header_of, take_table
from real_runs.engines.text.yaml_subset import read_yaml

_MOST_ROUTES = 1000
_MOST_SHARED = 300
"""Lines that a fallback gets beside a known format: enough to be heard where that one reads nothing."""
_OVERLONG = f"the line is longer than {LONGEST_LINE // 1024} KiB"


class _Route(NamedTuple):
    """Who takes lines with some markers, and what they expect; `known` to more than fallbacks."""

    takes: tuple[Callable[[Line], None], ...]
    fallbacks: tuple[Callable[[Line], None], ...]
    shapes: tuple[str, ...]
    has_objects: bool
    known: bool


class Found:
    """One collector for each format, and what it was given of one text."""

    def __init__(self, formats: Sequence[LineFormat | ObjectFormat], source: str) -> None:
        self.skips = Skips()
        self._all: list[LineCollector | ObjectCollector] = []
        self._fallbacks: list[LineCollector] = []
        self._shared = 0
        self._takers: dict[str, list[tuple[LineCollector, LineFormat]]] = {}
        takers = []
        for each in formats:
            if isinstance(each, LineFormat):
                collector = each.collector(source, self.skips)
                (self._fallbacks if each.fallback else self._all).append(collector)
                for marker in dict.fromkeys(each.markers):
                    self._takers.setdefault(marker, []).append((collector, each))
            else:
                objects = each.collector(source, self.skips)
                self._all.append(objects)
                takers.append(Taker(collector=objects, keys=each.keys, shapes=each.shapes))
        self.objects = Objects(takers, self.skips)
        self._object_markers = frozenset(self.objects.markers)
        self.markers = (*self._takers, *self.objects.markers)
        self.weak = frozenset(
            marker
            for marker, owners in self._takers.items()
            if all(each.fallback for _, each in owners)
        ).difference(self.objects.markers)
        self._routes: dict[tuple[str, ...], _Route] = {}

    def take(self, line: Line) -> None:
        """Give a line to every format that has one of its markers."""
        route = self._routes.get(line.markers) or self._route_of(line.markers)
        if line.cut or line.long:
            self._take_overlong(line, route)
            return
        for take in route.takes:
            take(line)
        if route.has_objects:
            self.objects.take_line(line)
        self._share(line, route)

    def _take_overlong(self, line: Line, route: _Route) -> None:
        """Say that a line is too long for a log; its objects may fill it."""
        if not route.known:
            return  # names and values of some program in a line that is no line of a log
        if route.shapes or line.cut:
            shapes = list(route.shapes)
            if route.has_objects:
                shapes.append(self.objects.expected_in(line.text))
            self.skips.record(line.number, _OVERLONG, expected=" or ".join(shapes))
        if route.has_objects and not line.cut:
            self.objects.take_line(line)
        self._shared += route.has_objects or bool(route.shapes)

    def _share(self, line: Line, route: _Route) -> None:
        """Give a line to the fallbacks too, at the beginning of a text and before anything is skipped."""
        self._shared += route.known
        if not route.fallbacks or self._shared > _MOST_SHARED:
            return
        self.skips.settle()
        if not self.skips.total:
            for take in route.fallbacks:
                take(line)

    def _route_of(self, markers: tuple[str, ...]) -> _Route:
        """Who takes lines with these markers; remembered, for a log has few kinds of them."""
        owners = [taker for marker in markers for taker in self._takers.get(marker, ())]
        unique = {id(collector): (collector, each) for collector, each in owners}.values()
        takes = [collector.take for collector, each in unique if not each.fallback]
        has_objects = not self._object_markers.isdisjoint(markers)
        route = _Route(
            takes=tuple(takes),
            fallbacks=tuple(collector.take for collector, each in unique if each.fallback),
            shapes=tuple(each.shapes for _, each in unique),
            has_objects=has_objects,
            known=has_objects or bool(takes),
        )
        if len(self._routes) < _MOST_ROUTES:
            self._routes[markers] = route
        return route

    def offer(self, text: bytes) -> None:
        """Give the rows of a JSON text to the fallbacks, for objects that nobody knows by a key."""
        if not self._fallbacks or len(text) > MOST_READ:
            return
        for number, row in enumerate(text.decode("utf-8", "replace").splitlines(), start=1):
            markers = tuple(marker for marker in self.weak if marker in row)
            if markers and len(row) <= LONGEST_LINE:
                for last in self._fallbacks:
                    last.take(Line(number=number, text=row, markers=markers))

    @property
    def markers_of_logs(self) -> frozenset[str]:
        """What stands in the lines of known formats."""
        return frozenset(self.markers).difference(self.weak)

    def start_here(self) -> bool:
        """Let all cumulative counters start from what was taken so far; False if that is nothing."""
        starts = [each.start_here() for each in self._all if isinstance(each, Cumulative)]
        return any(starts)

    def readings(self, lines: int) -> list[Reading]:
        """The readings of all formats, in their order; those of a fallback where there are no others.

        What a known format refused, a fallback does not read either.
        """
        found = told_of_overlap([each.readings(lines) for each in self._all])
        if found or self.skips.total:
            return found
        found = [each for last in self._fallbacks for each in last.readings(lines)]
        if found and self._shared > _MOST_SHARED:
            note = (
                f"Only what stands before {_MOST_SHARED} lines like those of known formats is read."
            )
            found = [replace(each, notes=(*each.notes, note)) for each in found]
        return found


def take_all(opening: Opening, found: Found, source: str) -> int:
    """Give everything in the text to the collectors; the number of its lines."""
    start, keys = 0, found.objects.keys
    header = header_of(opening.head, keys, source=source) if keys else None
    if header is not None:
        return take_table(opening, header, found.objects, found.skips)
    if opening.head.lstrip().startswith((b"{", b"[")) and keys:
        start = _take_json(opening, found, source)
    else:
        marked = any(marker.encode() in opening.head for marker in found.markers)
        check_first_line(opening, marked=marked, source=source)
        if opening.whole:
            _take_yaml(opening.head, found)
            _take_blocks(opening, found)
    lines = MarkedLines(opening, markers=found.markers, start=start, weak=found.weak)
    for line in lines:
        found.take(line)
    return lines.read


def _take_json(opening: Opening, found: Found, source: str) -> int:
    """Take the JSON values that the text begins with and leave the rest; the number of their lines."""
    json = JsonText(source)
    first = opening.head.partition(b"\n")
    if first[2].strip() and is_whole(first[0]):
        return 0  # one object a line
    looks_like_json = True
    while looks_like_json and (block := opening.read(BLOCK)):
        looks_like_json = json.add(block)
    lines = json.text.count(b"\n")
    cut = not json.text.endswith(b"\n")
    text = bytes(json.text[: MOST_READ + 1])
    values, rest = json.values()
    if not rest:
        log = logged_lines(values, keys=found.objects.keys, markers=found.markers_of_logs)
        if log:
            opening.unread(log)
            return 0
        found.offer(text)
    for value in values:
        found.objects.take(value, 1)
    opening.unread(rest)
    whole = looks_like_json and not rest
    return lines + cut if whole else lines - rest.count(b"\n")


def _take_yaml(text: bytes, found: Found) -> None:
    """Take a text that is nested YAML and nothing else; pairs without a block are those of a log."""
    if not any(key.encode() in text for key in found.objects.keys):
        return
    if any(marker.encode() in text for marker in found.objects.markers):
        return  # names in quotes are those of JSON, which the lines are searched for
    try:
        value = read_yaml(text.decode("utf-8", "replace"))
    except ValueError:
        return
    if any(isinstance(each, dict) for each in value.values()):
        found.objects.take(value, 1)


def _take_blocks(opening: Opening, found: Found) -> None:
    """Take the JSON of several rows that stands within a text; blank rows are left in its place."""
    if not any(marker.encode() in opening.head for marker in found.objects.markers):
        return
    text = opening.head.decode("utf-8", "replace")
    left, at = [], 0
    for begin, end, value in blocks(text):
        found.objects.take(value, text.count("\n", 0, begin) + 1)
        left += [text[at:begin], "\n" * text.count("\n", begin, end)]
        at = end
    if at:
        opening.replace("".join((*left, text[at:])).encode())

"""Samples of a Prometheus text exposition, and how far each series grew from snapshot to snapshot."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MOST_SERIES = 20_000
"""Series of one log; an engine has some hundred, for each of its ranks."""
MOST_LABELS = 64

_LABELS = r"\{((?:[^\"{}]|\"(?:[^\"\\]|\\.)*+\")*+)\}"
_NUMBER = r"[-+]?(?:[0-9.]{1,40}(?:[eE][-+]?[0-9]{1,3})?|[Nn]a[Nn]|Inf)(?![\w.])"
_SAMPLE = rf"\w*+)(?:{_LABELS})?[ \t]*+\|?[ \t]*+({_NUMBER})"
_LABEL = re.compile(r"(\w{1,100})=\"((?:[^\"\\]|\\.)*+)\"")
_COMMENT = re.compile(r"#\s*+(?:HELP|TYPE|UNIT)\b")
_ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
_ESCAPE = re.compile(r"\\[\\\"n]")

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One line of an exposition: the series, by name and labels in order, and its value as printed."""

    name: str
    labels: Labels
    text: str

    @property
    def value(self) -> float:
        """The value as a number; NaN for what only looks like one."""
        try:
            return float(self.text)
        except ValueError:
            return math.nan

    def label(self, name: str) -> str:
        """The value of a label; empty if the series has none of that name."""
        return next((value for key, value in self.labels if key == name), "")


class Samples:
    """Finds the samples of one engine, whose names begin with `prefix`, in lines of any kind."""

    def __init__(self, prefix: str) -> None:
        self._pattern = re.compile(rf"(?<![\w:])({re.escape(prefix)}{_SAMPLE}")

    def __call__(self, text: str) -> Iterator[Sample]:
        """The samples in a line; none in the comments of an exposition.

        >>> (sample,) = Samples("vllm:")('vllm:spec_total{engine="0"} 3.0 17567')
        >>> sample.name, sample.label("engine"), sample.value
        ('vllm:spec_total', '0', 3.0)
        """
        if _COMMENT.search(text):
            return
        for name, labels, value in self._pattern.findall(text):
            pairs = _LABEL.findall(labels)[:MOST_LABELS]
            named = sorted((key, _ESCAPE.sub(_unescaped, each)) for key, each in pairs)
            yield Sample(name=name, labels=tuple(named), text=value)


def _unescaped(match: re.Match[str]) -> str:
    return _ESCAPES[match[0]]


@dataclass(slots=True)
class Series:
    """One series: its last value, and how far it grew since the first snapshot."""

    name: str
    labels: Labels
    last: float
    first_snapshot: int
    last_snapshot: int
    grown: float = 0.0
    reset: bool = False

    def label(self, name: str) -> str:
        """The value of a label; empty if there is none of that name."""
        return next((value for key, value in self.labels if key == name), "")


@dataclass(slots=True)
class Snapshots:
    """Series over the snapshots of a text: one begins where a series comes again.

    A reset is seen where a value fell, or where a `_created` time of the same labels changed; what
    stands after it was counted from 0. A series that comes up later than the first snapshot was
    counted from 0 too. `doubled` names a series that came twice with none of another name between:
    that is no later snapshot.
    """

    number: int = 0
    lines: list[int] = field(default_factory=list)
    series: dict[tuple[str, Labels], Series] = field(default_factory=dict)
    too_many: bool = False
    doubled: str = ""
    _current: dict[tuple[str, Labels], float] = field(default_factory=dict)
    _created: dict[Labels, dict[str, float]] = field(default_factory=dict)
    _created_now: dict[Labels, dict[str, float]] = field(default_factory=dict)
    _name: str = ""
    _of_name: set[Labels] = field(default_factory=set)

    def add(self, line: int, sample: Sample) -> None:
        """Add a sample of `line`; lines come in order."""
        value = sample.value
        if not math.isfinite(value):
            return
        self._look_for_doubled(sample)
        key = (sample.name, sample.labels)
        created = sample.name.endswith("_created")
        origin = _without_position(sample.labels)
        seen = self._created_now.get(origin, {}) if created else {}
        if key in self._current or f"{sample.name} {sample.labels}" in seen:
            self.close()
        if not self._current and not self._created_now:
            self.lines.append(line)
        if len(self._current) + len(self._created_now) >= MOST_SERIES:
            self.too_many = True
        elif created:
            self._created_now.setdefault(origin, {})[f"{sample.name} {sample.labels}"] = value
        else:
            self._current[key] = value

    def _look_for_doubled(self, sample: Sample) -> None:
        if sample.name != self._name:
            self._name, self._of_name = sample.name, set()
        if sample.labels in self._of_name:
            self.doubled = self.doubled or sample.name
        if len(self._of_name) < MOST_SERIES:
            self._of_name.add(sample.labels)

    def close(self) -> None:
        """End the snapshot: what comes now is a later one."""
        if not (self._current or self._created_now):
            return
        restarted = {
            origin
            for origin, times in self._created_now.items()
            if any(
                self._created.get(origin, {}).get(name, time) != time
                for name, time in times.items()
            )
        }
        fell = {
            _without_position(key[1])
            for key, value in self._current.items()
            if key in self.series and value < self.series[key].last
        }
        for key, value in self._current.items():
            self._grow(key, value, reset=_without_position(key[1]) in restarted | fell)
        self._created.update(self._created_now)
        self._current, self._created_now = {}, {}
        self.number += 1

    def _grow(self, key: tuple[str, Labels], value: float, *, reset: bool) -> None:
        before = self.series.get(key)
        if before is None:
            if len(self.series) >= MOST_SERIES:
                self.too_many = True
                return
            late = self.number > 0
            before = Series(
                name=key[0],
                labels=key[1],
                last=0.0 if late else value,
                first_snapshot=self.number,
                last_snapshot=self.number,
            )
            self.series[key] = before
        before.grown += value if reset else value - before.last
        before.reset |= reset
        before.last, before.last_snapshot = value, self.number

    def start_here(self) -> None:
        """Count growth from the last snapshot on."""
        self.close()
        for series in self.series.values():
            series.grown, series.reset = 0.0, False
            series.first_snapshot = series.last_snapshot = 0
        self.number = min(self.number, 1)
        self.lines = self.lines[-1:]
        self._name = ""


def _without_position(labels: Labels) -> Labels:
    """The process that a series is of: a restart resets all its positions."""
    return tuple(pair for pair in labels if pair[0] != "position")

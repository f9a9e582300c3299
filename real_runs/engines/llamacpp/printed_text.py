"""Everything that llama.cpp prints as text: requests, statistics, and the examples' block."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from real_runs.engines.counts.skips import Skips
from real_runs.engines.llamacpp import adaptive as llamacpp_adaptive
from real_runs.engines.llamacpp import examples as llamacpp_examples
from real_runs.engines.llamacpp import requests as llamacpp_requests
from real_runs.engines.llamacpp import scripts as llamacpp_scripts
from real_runs.engines.llamacpp import statistics as llamacpp_statistics
from real_runs.engines.llamacpp.usual import UsualLines
from real_runs.engines.overlap import told_of_overlap
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line

SHAPES = "'draft acceptance = ...', 'statistics ...: #calls = ...' or 'n_drafted = ...' (llama.cpp)"
MARKERS = (
    *llamacpp_requests.MARKERS,
    *llamacpp_statistics.MARKERS,
    *llamacpp_examples.MARKERS,
    *llamacpp_adaptive.MARKERS,
    *llamacpp_scripts.MARKERS,
)

_OVERLAP = "Requests and statistics of one server count the same tokens: never add the two."


_Layout: TypeAlias = (
    llamacpp_requests.RequestLines
    | llamacpp_statistics.StatisticsLines
    | llamacpp_examples.ExampleBlocks
    | llamacpp_adaptive.AdaptiveLines
    | llamacpp_scripts.ScriptLines
)


class LlamaCpp:
    """Reads the llama.cpp lines of one log."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._requests = llamacpp_requests.RequestLines(source, skips)
        self._usual = UsualLines(skips, self._requests)
        self._statistics = llamacpp_statistics.StatisticsLines(source, skips)
        self._examples = llamacpp_examples.ExampleBlocks(source, skips)
        self._adaptive = llamacpp_adaptive.AdaptiveLines(source, skips)
        self._scripts = llamacpp_scripts.ScriptLines(source, skips)
        self._layouts: tuple[tuple[_Layout, tuple[str, ...]], ...] = (
            (self._requests, llamacpp_requests.MARKERS),
            (self._statistics, llamacpp_statistics.MARKERS),
            (self._examples, llamacpp_examples.MARKERS),
            (self._adaptive, llamacpp_adaptive.MARKERS),
            (self._scripts, llamacpp_scripts.MARKERS),
        )

    def take(self, line: Line) -> None:
        """Hand the line to the layouts whose marker it has."""
        if self._usual.take(line):
            return
        for collector, markers in self._layouts:
            if any(marker in line.text for marker in markers):
                if collector is self._requests:
                    self._usual.settle()
                collector.take(line)

    def readings(self, lines: int) -> list[Reading]:
        """A Reading of the requests, one per implementation of the statistics, and of all else."""
        self._usual.settle()
        requests = self._requests.readings(lines)
        statistics = self._statistics.readings(lines)
        if requests and statistics:
            requests, statistics = _with_shared_clock(requests, statistics)
            requests, statistics = _overlapping(requests), _overlapping(statistics)
        others = (self._examples, self._adaptive, self._scripts)
        return told_of_overlap(
            [[*requests, *statistics], *(each.readings(lines) for each in others)]
        )


def _overlapping(readings: list[Reading]) -> list[Reading]:
    return [replace(reading, notes=(*reading.notes, _OVERLAP)) for reading in readings]


def _with_shared_clock(
    requests: list[Reading], statistics: list[Reading]
) -> tuple[list[Reading], list[Reading]]:
    """Both clocks for both, where the statistics count exactly the tokens of the requests."""
    if _tokens(requests) != _tokens(statistics):
        return requests, statistics
    (request,) = requests
    times = [reading.clock.draft_s for reading in statistics]
    known = [seconds for seconds in times if seconds is not None]
    draft_s = sum(known) if len(known) == len(times) else None
    requests = [replace(request, clock=replace(request.clock, draft_s=draft_s))]
    if len(statistics) == 1:
        (only,) = statistics
        clock = replace(only.clock, decode_s=request.clock.decode_s)
        statistics = [replace(only, clock=clock, emitted=request.emitted)]
    return requests, statistics


def _tokens(readings: list[Reading]) -> tuple[int, int]:
    """Drafted and accepted tokens of all readings."""
    observed = [reading.observation for reading in readings]
    return sum(each.drafted or 0 for each in observed), sum(each.accepted or 0 for each in observed)

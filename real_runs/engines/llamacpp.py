"""Everything that llama.cpp prints as text: requests, statistics, and the examples' block."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from real_runs.engines import llamacpp_examples, llamacpp_requests, llamacpp_statistics
from real_runs.engines.lines import Line
from real_runs.engines.reading import Reading
from real_runs.engines.skips import Skips

SHAPES = "'draft acceptance = ...', 'statistics ...: #calls = ...' or 'n_drafted = ...' (llama.cpp)"
MARKERS = (
    *llamacpp_requests.MARKERS,
    *llamacpp_statistics.MARKERS,
    *llamacpp_examples.MARKERS,
)

_OVERLAP = "Requests and statistics of one server count the same tokens: never add the two."


_Layout: TypeAlias = (
    llamacpp_requests.RequestLines
    | llamacpp_statistics.StatisticsLines
    | llamacpp_examples.ExampleBlocks
)


class LlamaCpp:
    """Reads the llama.cpp lines of one log."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._requests = llamacpp_requests.RequestLines(source, skips)
        self._statistics = llamacpp_statistics.StatisticsLines(source, skips)
        self._examples = llamacpp_examples.ExampleBlocks(source, skips)
        self._layouts: tuple[tuple[_Layout, tuple[str, ...]], ...] = (
            (self._requests, llamacpp_requests.MARKERS),
            (self._statistics, llamacpp_statistics.MARKERS),
            (self._examples, llamacpp_examples.MARKERS),
        )

    def take(self, line: Line) -> None:
        """Hand the line to the layouts whose marker it has."""
        for collector, markers in self._layouts:
            if any(marker in line.text for marker in markers):
                collector.take(line)

    def readings(self, lines: int) -> list[Reading]:
        """A Reading of the requests, one per implementation of the statistics, one of the blocks."""
        requests = self._requests.readings(lines)
        statistics = self._statistics.readings(lines)
        if requests and statistics:
            requests, statistics = _overlapping(requests), _overlapping(statistics)
        return [*requests, *statistics, *self._examples.readings(lines)]


def _overlapping(readings: list[Reading]) -> list[Reading]:
    return [replace(reading, notes=(*reading.notes, _OVERLAP)) for reading in readings]

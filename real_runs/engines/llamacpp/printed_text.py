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
from real_runs.engines.llamacpp.statistics import OPEN_END
from real_runs.engines.llamacpp.usual import UsualLines
from real_runs.engines.overlap import told_of_overlap
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from simulator import AcceptanceTable, AcceptanceTotals, Counts

SHAPES = "'draft acceptance = ...', 'statistics ...: #calls = ...' or 'n_drafted = ...' (llama.cpp)"
MARKERS = (
    *llamacpp_requests.MARKERS,
    *llamacpp_statistics.MARKERS,
    *llamacpp_examples.MARKERS,
    *llamacpp_adaptive.MARKERS,
    *llamacpp_scripts.MARKERS,
)

_OVERLAP = "Requests and statistics of one server count the same tokens: never add the two."
_LENT = "Drafts have {} tokens at most: the requests, which are the same rounds, list so many positions."

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
            requests, statistics = _completed(requests, statistics)
            requests, statistics = _overlapping(requests), _overlapping(statistics)
        others = (self._examples, self._adaptive, self._scripts)
        return told_of_overlap(
            [[*requests, *statistics], *(each.readings(lines) for each in others)]
        )


def _overlapping(readings: list[Reading]) -> list[Reading]:
    return [replace(reading, notes=(*reading.notes, _OVERLAP)) for reading in readings]


def _completed(
    requests: list[Reading], statistics: list[Reading]
) -> tuple[list[Reading], list[Reading]]:
    """Both clocks and one draft length for both, where the statistics count exactly the requests' tokens."""
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
        only = _as_long_as(request.counts, only)
        statistics = [replace(only, clock=clock, emitted=request.emitted)]
    return requests, statistics


def _as_long_as(of_requests: Counts | None, statistics: Reading) -> Reading:
    """The statistics with the longest draft that lines of the same rounds list positions for."""
    counts = statistics.counts
    if of_requests is None or not isinstance(counts, AcceptanceTotals):
        return statistics
    if isinstance(of_requests, AcceptanceTable):
        longest: int | None = of_requests.depths
    else:
        longest = of_requests.longest_draft
    known = counts.accepted_by_depth
    if longest is None or known is None or not len(known) <= longest:
        return statistics
    if counts.longest_draft is not None or of_requests.rounds != counts.rounds:
        return statistics
    deeper = longest - len(known)
    totals = replace(
        counts,
        longest_draft=longest,
        accepted_by_depth=(*known, *(0,) * deeper),
    )
    notes = [_LENT.format(longest) if note == OPEN_END else note for note in statistics.notes]
    return replace(statistics, counts=totals.to_table() or totals, notes=tuple(notes))


def _tokens(readings: list[Reading]) -> tuple[int, int]:
    """Drafted and accepted tokens of all readings."""
    observed = [reading.observation for reading in readings]
    return sum(each.drafted or 0 for each in observed), sum(each.accepted or 0 for each in observed)

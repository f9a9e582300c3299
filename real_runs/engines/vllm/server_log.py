"""Everything that a vLLM server logs as text: interval lines, the cumulative line of V0, throughput."""

from __future__ import annotations

from real_runs.engines.counts.skips import Skips
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from real_runs.engines.vllm import interval as vllm_interval
from real_runs.engines.vllm import throughput as vllm_throughput
from real_runs.engines.vllm import v0 as vllm_v0
from real_runs.engines.vllm.usual import UsualLines

MARKERS = (*vllm_interval.MARKERS, *vllm_v0.MARKERS, vllm_throughput.MARKER)
SHAPES = f"{vllm_interval.SHAPES} or {vllm_v0.SHAPES}"


class ServerLines:
    """Reads the lines of vLLM servers in one log; throughput goes to the counts printed beside it."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._throughputs = vllm_throughput.Throughputs()
        self._intervals = vllm_interval.IntervalLines(source, skips, self._throughputs)
        self._usual = UsualLines(skips, self._intervals, self._throughputs)
        self._cumulative = vllm_v0.CumulativeLines(source, skips, self._throughputs)

    def take(self, line: Line) -> None:
        """Hand the line to the layouts whose marker it has."""
        if self._usual.take(line):
            return
        self._usual.settle()
        if vllm_throughput.MARKER in line.text:
            self._throughputs.take(line.text)
        if any(marker in line.text for marker in vllm_interval.MARKERS):
            self._intervals.take(line)
        if any(marker in line.text for marker in vllm_v0.MARKERS):
            self._cumulative.take(line)

    def readings(self, lines: int) -> list[Reading]:
        """A Reading of the intervals and one of the cumulative lines, as far as there are any."""
        self._usual.settle()
        self._throughputs.close()
        return [*self._intervals.readings(lines), *self._cumulative.readings(lines)]

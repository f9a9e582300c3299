"""Everything that SGLang prints as text: decode lines, and the results of its benchmarks."""

from __future__ import annotations

from real_runs.engines.counts.skips import Skips
from real_runs.engines.reading import Reading
from real_runs.engines.sglang import bench as sglang_bench
from real_runs.engines.sglang import decode as sglang_decode
from real_runs.engines.sglang.state import Told
from real_runs.engines.text.lines import Line

SHAPES = "'Decode batch, ... accept len: ...', 'Accept length: ...' or 'acc_length=...' (SGLang)"
MARKERS = (*sglang_decode.MARKERS, *sglang_bench.MARKERS, *Told.markers)


class SGLang:
    """Reads the SGLang lines of one log, and what they tell of the server's settings."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._told = Told()
        self._decode = sglang_decode.DecodeLines(source, skips, self._told)
        self._bench = sglang_bench.BenchLines(source, skips, self._told)

    def take(self, line: Line) -> None:
        """Hand the line to those whose marker it has."""
        if any(marker in line.text for marker in sglang_decode.MARKERS):
            self._decode.take(line)
            return
        if any(marker in line.text for marker in Told.markers):
            self._told.take(line.text)
        if any(marker in line.text for marker in sglang_bench.MARKERS):
            self._bench.take(line)

    def readings(self, lines: int) -> list[Reading]:
        """A Reading of the decode lines, and one per run of a benchmark."""
        return [*self._decode.readings(lines), *self._bench.readings(lines)]

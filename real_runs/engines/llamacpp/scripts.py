"""Lines of llama.cpp's bench scripts, one per request: "name pred= 192 draft= 180 acc= 146 ..."."""

from __future__ import annotations

import re

from real_runs.engines.counts.pool import Extras, Layout, Pool, unit_of
from real_runs.engines.counts.printed import COUNT, as_count, as_printed
from real_runs.engines.counts.ratios import Ratios, agreeing_fraction, check_counts
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.llamacpp.timings import ROUNDS, request_totals
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from simulator import Clock

SHAPE = "'... pred= ... draft= ... acc= ... rate=... tok/s=...' (llama.cpp bench script)"
MARKERS = ("pred=",)

_LAYOUT = Layout(
    engine="llama.cpp",
    name="bench script",
    unit="request",
    averaged_over="one request",
    definition="rate is accepted / drafted of one request.",
)
_LINE = re.compile(rf"\bpred=\s*+{COUNT}\s++draft=\s*+{COUNT}\s++acc=\s*+{COUNT}")
LONGEST_TASK = 64
_RATE = re.compile(r"\brate=\s*+(\d[\w.+-]*+)")
_SPEED = re.compile(r"\btok/s=\s*+(\d[\w.+-]*+)")


class ScriptLines:
    """Sums the requests of a bench script, each a unit with its task as a label."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._skips = skips
        self._pool = Pool(_LAYOUT, source)
        self._seconds = 0.0
        self._emitted = self._timed = self._records = 0

    def take(self, line: Line) -> None:
        """Add the request of the line, or note why it counts nothing."""
        with self._skips.guard(line.number, expected=SHAPE):
            match = _LINE.search(line.text)
            if match is None:
                raise NoCounts("the line has no 'pred=', 'draft=' and 'acc=' in a row")
            self._add(line, match)

    def _add(self, line: Line, match: re.Match[str]) -> None:
        before = line.text[max(0, match.start() - 200) : match.start()].split()
        task = before[-1][:LONGEST_TASK] if before else ""
        names = ("pred", "draft", "acc")
        predicted, drafted, accepted = (
            as_count(*each) for each in zip(names, match.groups(), strict=True)
        )
        record = request_totals(predicted=predicted, drafted=drafted, accepted=accepted)
        check_counts(accepted=accepted, drafted=drafted, of="in this request")
        rest = line.text[match.end() :]
        rate, speed = _RATE.search(rest), _SPEED.search(rest)
        fraction = None
        if rate is not None:
            printed = as_printed("rate", rate[1])
            fraction = agreeing_fraction(printed, accepted=accepted, drafted=drafted)
        per_second = 0.0 if speed is None else as_printed("tok/s", speed[1]).value
        seconds = predicted / per_second if per_second else None
        labels = (("task", task),) if task else ()
        unit = unit_of(record, name=task, labels=labels, decode_s=seconds)
        self._pool.add(line.number, record, Ratios(fraction=fraction), unit=unit)
        self._records += 1
        self._emitted += predicted - 1
        if seconds is not None:
            self._timed += 1
            self._seconds += seconds

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all requests; empty if none gave counts."""
        notes = [ROUNDS]
        clock = Clock()
        if self._timed and self._timed == self._records:
            clock = Clock(decode_s=self._seconds)
            notes.append("Decoding time is predicted tokens / (tok/s), summed over requests.")
        extras = Extras(clock=clock, emitted=self._emitted)
        return self._pool.readings(lines, notes=tuple(notes), extras=extras)

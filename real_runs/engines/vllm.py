"""vLLM's interval line "SpecDecoding metrics: ..." (V1, vllm/v1/spec_decode/metrics.py)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from real_runs.engines.lines import Line
from real_runs.engines.pool import Pool
from real_runs.engines.printed import COUNT, Printed, as_count, as_printed, as_survival
from real_runs.engines.ratios import agreeing_fraction, check_counts, reported
from real_runs.engines.reading import Reading
from real_runs.engines.recovery import without_rounds
from real_runs.engines.rounding import Claim
from real_runs.engines.skips import NoCounts, Skips

ENGINE = "vllm"
SHAPE = (
    "'SpecDecoding metrics: Mean acceptance length: ..., Accepted: ... tokens, Drafted: ... tokens, "
    "Per-position acceptance rate: ..., Avg Draft acceptance rate: ...%' (vLLM)"
)
SHAPES = "'SpecDecoding metrics: ...' (vLLM)"
MARKERS = ("Decoding metrics:", "Speculative metrics:")

_INTERVAL = "SpecDecoding metrics:"
_OTHERS = {
    "DiffusionDecoding metrics:": "diffusion decoding gives these counters other meanings",
    "Speculative metrics:": "vLLM V0 counts acceptances after a rejection",
}
_DEFINITION = (
    "accepted / drafted of one interval; rounds without a draft (an n-gram that was not found) are "
    "not counted at all."
)
_NUMBER = r"([\d.]++|nan)"
_FIELDS = {
    "Accepted": re.compile(rf"Accepted:\s*+{COUNT}\s*+tokens\b(?!/)"),
    "Drafted": re.compile(rf"Drafted:\s*+{COUNT}\s*+tokens\b(?!/)"),
    "Draft acceptance rate": re.compile(rf"raft acceptance rate:\s*+{_NUMBER}"),
    "Mean acceptance length": re.compile(rf"Mean acceptance length:\s*+{_NUMBER}"),
    "Per-position acceptance rate": re.compile(
        r"Per-position acceptance \w++:\s*+((?:[\d.]++|nan)(?:,\s*+(?:[\d.]++|nan))*+)"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Interval:
    layout: str
    accepted: int
    drafted: int
    fraction: Printed
    length: Printed | None = None
    survival: tuple[Printed, ...] = ()


class IntervalLines:
    """Sums the interval lines of one log, of all its processes and data-parallel ranks."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._pool = Pool("interval")
        self._layouts: dict[str, None] = {}
        self._last: _Interval | None = None

    def take(self, line: Line) -> None:
        """Add what the line counts, or note why it counts nothing."""
        for marker, reason in _OTHERS.items():
            if marker in line.text:
                with self._skips.guard(line.number, expected=SHAPE):
                    raise NoCounts(f"'{marker}' is not imported because {reason}")
        for text in line.text.split(_INTERVAL)[1:]:
            with self._skips.guard(line.number, expected=SHAPE):
                self._add(line, text)

    def _add(self, line: Line, text: str) -> None:
        if line.cut:
            raise NoCounts("the line is longer than 64 KiB")
        interval = self._parsed(line.number, text)
        claim = Claim(
            drafted=interval.drafted,
            accepted=interval.accepted,
            length=interval.length,
            survival=interval.survival,
            longest=len(interval.survival) or None,
        )
        self._pool.add(line.number, without_rounds(claim, full_drafts=True))
        self._layouts[interval.layout] = None
        self._last = interval

    def _parsed(self, line: int, text: str) -> _Interval:
        found = {name: pattern.search(text) for name, pattern in _FIELDS.items()}
        accepted_text, drafted_text, rate, length, survival = found.values()
        if accepted_text is None or drafted_text is None:
            raise NoCounts(_missing(found))
        accepted = as_count("Accepted", accepted_text[1])
        drafted = as_count("Drafted", drafted_text[1])
        check_counts(self._source, line, accepted=accepted, drafted=drafted, of="interval")
        if rate is None:
            raise NoCounts(_missing(found))
        fraction = agreeing_fraction(
            as_printed("Draft acceptance rate", rate[1]), accepted=accepted, drafted=drafted
        )
        if length is None and survival is None and rate.start() < accepted_text.start():
            return _Interval(
                layout="rate and counts only (0.8)",
                accepted=accepted,
                drafted=drafted,
                fraction=fraction,
            )
        if length is None or survival is None:
            raise NoCounts(_missing(found))
        return _Interval(
            layout=_layout(text, rate_first=rate.start() < length.start()),
            accepted=accepted,
            drafted=drafted,
            fraction=fraction,
            length=as_printed("Mean acceptance length", length[1]),
            survival=as_survival("Per-position acceptance rate", survival[1]),
        )

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of everything summed; empty if no line gave counts."""
        if self._last is None:
            return []
        return [
            Reading(
                engine=ENGINE,
                layout="interval line, " + " and ".join(self._layouts),
                source=self._source,
                counts=self._pool.counts,
                printed=reported(
                    fraction=self._last.fraction,
                    length=self._last.length,
                    survival=self._last.survival,
                    averaged_over="one interval (10 s unless configured)",
                ),
                definition=_DEFINITION,
                lines=lines,
                used=self._pool.used,
                notes=tuple(self._pool.notes()),
            )
        ]


def _layout(text: str, *, rate_first: bool) -> str:
    if not rate_first:
        return "length first (0.10.2 on)"
    if "Accepted throughput:" in text:
        return "rate first with throughput (0.10)"
    return "rate first (0.9)"


def _missing(found: dict[str, re.Match[str] | None]) -> str:
    name = next(name for name, match in found.items() if match is None)
    return f"the line has no '{name}'"

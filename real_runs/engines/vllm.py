"""vLLM's interval line "SpecDecoding metrics: ..." (V1, vllm/v1/spec_decode/metrics.py)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from real_runs.engines.lines import Line
from real_runs.engines.pool import Layout, Pool
from real_runs.engines.printed import COUNT, Printed, as_count, as_printed, as_survival
from real_runs.engines.ratios import Ratios, agreeing_fraction, check_counts
from real_runs.engines.reading import Reading
from real_runs.engines.recovery import without_rounds
from real_runs.engines.rounding import Claim
from real_runs.engines.skips import NoCounts, Skips
from real_runs.engines.wording import counted

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
_LAYOUT = Layout(
    engine=ENGINE,
    name="interval line",
    unit="interval",
    averaged_over="one interval (10 s unless configured)",
    definition="accepted / drafted of one interval; rounds without a draft are not counted.",
)
_NUMBER = r"(?:-?[\d.]++|nan)"
_FIELDS = {
    "Accepted": re.compile(rf"Accepted:\s*+{COUNT}\s*+tokens\b(?!/)"),
    "Drafted": re.compile(rf"Drafted:\s*+{COUNT}\s*+tokens\b(?!/)"),
    "Draft acceptance rate": re.compile(rf"raft acceptance rate:\s*+({_NUMBER})"),
    "Mean acceptance length": re.compile(rf"Mean acceptance length:\s*+({_NUMBER})"),
    "Per-position acceptance rate": re.compile(
        rf"Per-position acceptance \w++:\s*+({_NUMBER}(?:,\s*+{_NUMBER})*+)"
    ),
}


_RATIOS = ("Draft acceptance rate", "Mean acceptance length", "Per-position acceptance rate")
_PERCENT = re.compile(rf"raft acceptance rate:\s*+{_NUMBER}\s*+%")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Interval:
    accepted: int
    drafted: int
    ratios: Ratios


class IntervalLines:
    """Sums the interval lines of one log, of all its processes and data-parallel ranks."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._pool = Pool(_LAYOUT, source)
        self._ratios = Ratios()
        self._ratio_lines = 0

    def take(self, line: Line) -> None:
        """Add what the line counts, or note why it counts nothing."""
        for marker, reason in _OTHERS.items():
            if marker in line.text:
                self._skips.record(
                    line.number, f"'{marker}' is not imported because {reason}", expected=SHAPE
                )
        for text in line.text.split(_INTERVAL)[1:]:
            with self._skips.guard(line.number, expected=SHAPE):
                if _without_counts(text):
                    self._ratios = _only_ratios(text)
                    self._ratio_lines += 1
                else:
                    self._add(line.number, _parsed(text))

    def _add(self, line: int, interval: _Interval) -> None:
        claim = Claim(
            drafted=interval.drafted,
            accepted=interval.accepted,
            length=interval.ratios.length,
            survival=interval.ratios.survival,
            longest=len(interval.ratios.survival) or None,
        )
        self._pool.add(line, without_rounds(claim, full_drafts=True), interval.ratios)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of everything summed; of ratios alone if no line has counts, or empty."""
        if not self._ratio_lines:
            return self._pool.readings(lines)
        left_out = f"{counted(self._ratio_lines, 'interval')} with ratios and no counts"
        summed = self._pool.readings(lines, notes=(f"Left out: {left_out}.",))
        return summed or [self._of_ratios(lines)]

    def _of_ratios(self, lines: int) -> Reading:
        """The last line with ratios: without counts they cannot be averaged."""
        notes = ["Ratios only: without counts there is no sampling error, and no sum over lines."]
        if self._ratio_lines > 1:
            notes.append(f"The last of {self._ratio_lines} intervals is shown.")
        return Reading(
            engine=ENGINE,
            layout="interval line without counts",
            source=self._source,
            counts=None,
            printed=self._ratios.reported(_LAYOUT.averaged_over),
            definition=_LAYOUT.definition,
            lines=lines,
            used=1,
            notes=tuple(notes),
        )


def _without_counts(text: str) -> bool:
    """True for a line copied without its counts; a line that breaks off is something else."""
    counts = ("Accepted:", "Drafted:")
    whole = all(_FIELDS[name].search(text) for name in _RATIOS)
    return whole and not any(name in text for name in counts)


def _only_ratios(text: str) -> Ratios:
    rate, length, survival = (
        match[1] for match in (_FIELDS[name].search(text) for name in _RATIOS) if match is not None
    )
    fraction = as_printed("Draft acceptance rate", rate)
    if fraction.value > 1.0 or _PERCENT.search(text):
        fraction = Printed(units=fraction.units, scale=fraction.scale * 100)
    ratios = Ratios(
        fraction=fraction,
        length=as_printed("Mean acceptance length", length),
        survival=as_survival("Per-position acceptance rate", survival),
    )
    if not ratios.consistent:
        raise NoCounts("the printed ratios contradict each other")
    return ratios


def _parsed(text: str) -> _Interval:
    found = {name: pattern.search(text) for name, pattern in _FIELDS.items()}
    accepted_text, drafted_text, rate, length, survival = found.values()
    if accepted_text is None or drafted_text is None:
        _refuse(found)
    accepted = as_count("Accepted", accepted_text[1])
    drafted = as_count("Drafted", drafted_text[1])
    check_counts(accepted=accepted, drafted=drafted, of="in this interval")
    if rate is None:
        _refuse(found)
    fraction = agreeing_fraction(
        as_printed("Draft acceptance rate", rate[1]), accepted=accepted, drafted=drafted
    )
    if length is None and survival is None and rate.start() < accepted_text.start():
        # vLLM 0.8 prints the rate and the counts, and no more.
        return _Interval(accepted=accepted, drafted=drafted, ratios=Ratios(fraction=fraction))
    if length is None or survival is None:
        _refuse(found)
    ratios = Ratios(
        fraction=fraction,
        length=as_printed("Mean acceptance length", length[1]),
        survival=as_survival("Per-position acceptance rate", survival[1]),
    )
    return _Interval(accepted=accepted, drafted=drafted, ratios=ratios)


def _refuse(found: dict[str, re.Match[str] | None]) -> NoReturn:
    name = next(name for name, match in found.items() if match is None)
    raise NoCounts(f"the line has no '{name}'")

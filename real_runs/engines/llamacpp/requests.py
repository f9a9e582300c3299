"""The acceptance line that llama.cpp's server prints per request (tools/server/server-context.cpp)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from real_runs.engines.counts.batch import Batch
from real_runs.engines.counts.pool import Extras, Layout, Pool, unit_of
from real_runs.engines.counts.printed import COUNT, Printed, as_count, as_printed, as_survival
from real_runs.engines.counts.ratios import Ratios, agreeing_fraction, check_counts
from real_runs.engines.counts.recovery import Recovered, without_rounds
from real_runs.engines.counts.rounding import Claim
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.llamacpp.eval_times import EvalTime, EvalTimes
from real_runs.engines.llamacpp.timings import request_totals
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from simulator import Clock, CountedUnit

SHAPE = (
    "'draft acceptance = ... ( ... accepted / ... generated), mean len = ...' (llama.cpp server)"
)
MARKERS = ("draft acceptance", "acc per pos", "eval time")

_LAYOUT = Layout(
    engine="llama.cpp",
    name="acceptance per request",
    unit="request",
    averaged_over="one request",
    definition=(
        "accepted / drafted of one request, with drafts shorter than the limit among them; rounds "
        "without a draft are not counted."
    ),
)
_TIMED = (
    "Decoding time is the eval time of the requests, summed as if each ran alone; target passes without a "
    "draft are in it."
)
_PASSES = (
    "Rounds of {} are not printed: tokens - accepted - 1 (of the prefill) of each, target passes "
    "without a draft among them."
)
_HEAD = re.compile(r"draft acceptance(?: rate)?\s*+=")
_RATE = re.compile(r"\s*+([-+\w.]++)")
_ACCEPTED = re.compile(rf"\(\s*+{COUNT}\s*+accepted\b")
_GENERATED = re.compile(rf"/\s*+{COUNT}\s*+generated\b")
_LENGTH = re.compile(r"(?:mean acceptance length|mean len)\s*+=")
_LENGTH_VALUE = re.compile(r"(?:mean acceptance length|mean len)\s*+=\s*+(\d++\.\d\d++)")
_SURVIVAL = re.compile(r"(?:acceptance rate per position|acc per pos)\s*+=")
_SURVIVAL_VALUES = re.compile(r"(?:rate per position|acc per pos)\s*+=\s*+\(([^()]*+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    line: int
    accepted: int
    drafted: int
    ratios: Ratios
    task: str = ""
    timing: EvalTime | None = None


class RequestLines:
    """Sums the acceptance lines of one log, one per finished request."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._skips = skips
        self._pool = Pool(_LAYOUT, source)
        self.times = EvalTimes()
        self._waiting: _Request | None = None  # its positions may follow on a line of their own
        self._records = self._timed = self._tokens = self._passes = self._undrafted = 0
        self._seconds = 0.0

    def take(self, line: Line) -> None:
        """Add what the line counts, or note why it counts nothing."""
        before, *requests = _HEAD.split(line.text)
        if "eval time" in line.text:
            with self._skips.guard(line.number, expected=SHAPE):
                self.times.take(line.text)
        for text in requests:
            self.settle()
            with self._skips.guard(line.number, expected=SHAPE):
                request = _parsed(line.number, text)
                task, timing = self.times.of(before)
                self._waiting = replace(request, task=task, timing=timing)
        if not requests and "acc per pos" in line.text:
            with self._skips.guard(line.number, expected=SHAPE):
                self._join(line)

    def _join(self, line: Line) -> None:
        """Give the positions on a line of their own to the acceptance line before it."""
        request = self._waiting
        if request is None or request.ratios.survival:
            raise NoCounts("no acceptance line before this list of positions")
        ratios = replace(request.ratios, survival=_survival(line.text))
        self._waiting = replace(request, ratios=ratios)

    def wait_with(self, line: Line, *, task: str, timing: EvalTime | None) -> None:
        """Let the one request of a line wait, whose time is known; the one before it is settled."""
        self.settle()
        _, text = _HEAD.split(line.text)
        self._waiting = replace(_parsed(line.number, text), task=task, timing=timing)

    def settle(self) -> None:
        """Add the request that waits for its positions."""
        request, self._waiting = self._waiting, None
        if request is None:
            return
        with self._skips.guard(request.line, expected=SHAPE):
            record, passes = _recovered(request)
            timing = request.timing
            seconds = None if timing is None else timing.seconds
            unit = unit_of(record, name=request.task, decode_s=seconds)
            self._pool.add(request.line, record, request.ratios, unit=unit)
            self._records += 1
            self._passes += passes
            if timing is not None:
                self._add_time(timing, request.accepted, record.totals.rounds or 0)

    def has_room_for(self, depths: int) -> bool:
        """Whether requests of so many positions can be added beside the others."""
        return self._pool.has_room_for(depths)

    def add_many(
        self,
        lines: Sequence[int],
        records: Batch,
        *,
        tasks: Sequence[str],
        timings: Sequence[EvalTime | None],
    ) -> None:
        """Add many requests of as many positions, as `settle` does with each."""
        self._records += len(lines)
        rounds = np.where(records.known, records.fewest, 0).tolist()
        for timing, accepted, counted_rounds in zip(
            timings, records.accepted.tolist(), rounds, strict=True
        ):
            if timing is not None:
                self._add_time(timing, accepted, counted_rounds)
        units = (
            CountedUnit(
                counts=counts, name=task, decode_s=None if timing is None else timing.seconds
            )
            for counts, task, timing in zip(records.counts(), tasks, timings, strict=True)
        )
        self._pool.add_many(lines, records, units)

    def _add_time(self, timing: EvalTime, accepted: int, rounds: int) -> None:
        """Add the time of a request of so many rounds, 0 where they are not known."""
        self._timed += 1
        self._tokens += timing.tokens - 1
        self._seconds += timing.seconds
        if rounds:
            self._undrafted += max(timing.tokens - 1 - accepted - rounds, 0)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of everything summed; empty if no line gave counts."""
        self.settle()
        notes = []
        if self._passes:
            notes.append(_PASSES.format(counted(self._passes, "request")))
        extras = Extras()
        if self._timed and self._timed == self._records:
            extras = Extras(clock=Clock(decode_s=self._seconds), emitted=self._tokens)
            notes.append(_TIMED)
        if self._undrafted:
            notes.append(
                f"{counted(self._undrafted, 'round')} more had no draft, by the tokens of the requests: not "
                "counted among the rounds."
            )
        return self._pool.readings(lines, notes=tuple(notes), extras=extras)


def _recovered(request: _Request) -> tuple[Recovered, bool]:
    """The totals of a request, and whether its rounds are all its target passes."""
    ratios, timing = request.ratios, request.timing
    if ratios.length is None and not ratios.survival and timing is not None:
        totals = request_totals(
            predicted=timing.tokens, drafted=request.drafted, accepted=request.accepted
        )
        return totals, True
    claim = Claim(
        drafted=request.drafted,
        accepted=request.accepted,
        length=ratios.length,
        survival=ratios.survival,
        # The server lists as many positions as its longest draft can have.
        longest=len(ratios.survival) or None,
        none_empty=True,
    )
    return without_rounds(claim, full_drafts=False), False


def _parsed(line: int, text: str) -> _Request:
    """What stands behind "draft acceptance ="."""
    accepted = as_count("accepted", _needed(_ACCEPTED, text, "accepted"))
    drafted = as_count("generated", _needed(_GENERATED, text, "generated"))
    check_counts(accepted=accepted, drafted=drafted, of="in this request")
    value = _RATE.match(text)  # no search: it would find the next number of the line
    if value is None:
        raise NoCounts("the line has no 'draft acceptance'")
    fraction = agreeing_fraction(
        as_printed("draft acceptance", value[1]), accepted=accepted, drafted=drafted
    )
    ratios = Ratios(fraction=fraction, length=_length(text), survival=_survival(text))
    return _Request(line=line, accepted=accepted, drafted=drafted, ratios=ratios)


def _needed(pattern: re.Pattern[str], text: str, name: str) -> str:
    match = pattern.search(text)
    if match is None:
        raise NoCounts(f"the line has no '{name}'")
    return match[1]


def _length(text: str) -> Printed | None:
    if _LENGTH.search(text) is None:
        return None
    return as_printed("mean length", _needed(_LENGTH_VALUE, text, "mean length"))


def _survival(text: str) -> tuple[Printed, ...]:
    if _SURVIVAL.search(text) is None:
        return ()
    whole = _SURVIVAL_VALUES.search(text)
    if whole is None:
        raise NoCounts("the list of positions is cut short")
    return as_survival("list of positions", whole[1])

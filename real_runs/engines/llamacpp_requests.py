"""The acceptance line that llama.cpp's server prints per request (tools/server/server-context.cpp)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from real_runs.engines.lines import Line
from real_runs.engines.pool import Pool
from real_runs.engines.printed import COUNT, Printed, as_count, as_printed, as_survival
from real_runs.engines.ratios import agreeing_fraction, check_counts, reported
from real_runs.engines.reading import Reading
from real_runs.engines.recovery import without_rounds
from real_runs.engines.rounding import Claim
from real_runs.engines.skips import NoCounts, Skips

SHAPE = (
    "'draft acceptance = ... ( ... accepted / ... generated), mean len = ...' (llama.cpp server)"
)
MARKERS = ("draft acceptance", "acc per pos")

_DEFINITION = (
    "accepted / drafted of one request; drafts can be shorter than the limit (p-min, end of text), so "
    "it cannot be compared between such settings."
)
_HEAD = re.compile(r"draft acceptance(?: rate)?\s*+=")
_RATE = re.compile(r"\s*+([\d.]++)")
_ACCEPTED = re.compile(rf"\(\s*+{COUNT}\s*+accepted\b")
_GENERATED = re.compile(rf"/\s*+{COUNT}\s*+generated\b")
_LENGTH = re.compile(r"(?:mean acceptance length|mean len)\s*+=")
_LENGTH_VALUE = re.compile(r"(?:mean acceptance length|mean len)\s*+=\s*+(\d++\.\d\d++)")
_SURVIVAL = re.compile(r"(?:acceptance rate per position|acc per pos)\s*+=")
_SURVIVAL_VALUES = re.compile(r"(?:rate per position|acc per pos)\s*+=\s*+\(([\d., ]*+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    line: int
    accepted: int
    drafted: int
    fraction: Printed
    length: Printed | None
    survival: tuple[Printed, ...]


class RequestLines:
    """Sums the acceptance lines of one log, one per finished request."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._pool = Pool("request")
        self._waiting: _Request | None = None  # its positions may follow on a line of their own
        self._last: _Request | None = None

    def take(self, line: Line) -> None:
        """Add what the line counts, or note why it counts nothing."""
        _, *requests = _HEAD.split(line.text)
        for text in requests:
            self._settle()
            with self._skips.guard(line.number, expected=SHAPE):
                self._waiting = self._parsed(line, text)
        if not requests and "acc per pos" in line.text:
            with self._skips.guard(line.number, expected=SHAPE):
                self._join(line)

    def _parsed(self, line: Line, text: str) -> _Request:
        if line.cut:
            raise NoCounts("the line is longer than 64 KiB")
        accepted = as_count("accepted", _needed(_ACCEPTED, text, "accepted"))
        drafted = as_count("generated", _needed(_GENERATED, text, "generated"))
        check_counts(self._source, line.number, accepted=accepted, drafted=drafted, of="request")
        rate = as_printed("draft acceptance", _needed(_RATE, text, "draft acceptance"))
        return _Request(
            line=line.number,
            accepted=accepted,
            drafted=drafted,
            fraction=agreeing_fraction(rate, accepted=accepted, drafted=drafted),
            length=_length(text),
            survival=_survival(text),
        )

    def _join(self, line: Line) -> None:
        """Give the positions on a line of their own to the acceptance line before it."""
        if self._waiting is None or self._waiting.survival:
            raise NoCounts("no acceptance line before this list of positions")
        self._waiting = replace(self._waiting, survival=_survival(line.text))

    def _settle(self) -> None:
        request, self._waiting = self._waiting, None
        if request is None:
            return
        claim = Claim(
            drafted=request.drafted,
            accepted=request.accepted,
            length=request.length,
            survival=request.survival,
            # The server lists as many positions as its longest draft can have.
            longest=len(request.survival) or None,
            none_empty=True,
        )
        with self._skips.guard(request.line, expected=SHAPE):
            self._pool.add(request.line, without_rounds(claim, full_drafts=False))
            self._last = request

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of everything summed; empty if no line gave counts."""
        self._settle()
        if self._last is None:
            return []
        return [
            Reading(
                engine="llama.cpp",
                layout="acceptance per request",
                source=self._source,
                counts=self._pool.counts,
                printed=reported(
                    fraction=self._last.fraction,
                    length=self._last.length,
                    survival=self._last.survival,
                    averaged_over="one request",
                ),
                definition=_DEFINITION,
                lines=lines,
                used=self._pool.used,
                notes=tuple(self._pool.notes()),
            )
        ]


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

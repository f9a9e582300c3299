"""The acceptance line that llama.cpp's server prints per request (tools/server/server-context.cpp)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from real_runs.engines.lines import Line
from real_runs.engines.pool import Layout, Pool
from real_runs.engines.printed import COUNT, Printed, as_count, as_printed, as_survival
from real_runs.engines.ratios import Ratios, agreeing_fraction, check_counts
from real_runs.engines.reading import Reading
from real_runs.engines.recovery import without_rounds
from real_runs.engines.rounding import Claim
from real_runs.engines.skips import NoCounts, Skips

SHAPE = (
    "'draft acceptance = ... ( ... accepted / ... generated), mean len = ...' (llama.cpp server)"
)
MARKERS = ("draft acceptance", "acc per pos")

_LAYOUT = Layout(
    engine="llama.cpp",
    name="acceptance per request",
    unit="request",
    averaged_over="one request",
    definition="accepted / drafted of one request, with drafts shorter than the limit among them.",
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


class RequestLines:
    """Sums the acceptance lines of one log, one per finished request."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._skips = skips
        self._pool = Pool(_LAYOUT, source)
        self._waiting: _Request | None = None  # its positions may follow on a line of their own

    def take(self, line: Line) -> None:
        """Add what the line counts, or note why it counts nothing."""
        _, *requests = _HEAD.split(line.text)
        for text in requests:
            self._settle()
            with self._skips.guard(line.number, expected=SHAPE):
                self._waiting = _parsed(line.number, text)
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

    def _settle(self) -> None:
        request, self._waiting = self._waiting, None
        if request is None:
            return
        claim = Claim(
            drafted=request.drafted,
            accepted=request.accepted,
            length=request.ratios.length,
            survival=request.ratios.survival,
            # The server lists as many positions as its longest draft can have.
            longest=len(request.ratios.survival) or None,
            none_empty=True,
        )
        with self._skips.guard(request.line, expected=SHAPE):
            self._pool.add(request.line, without_rounds(claim, full_drafts=False), request.ratios)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of everything summed; empty if no line gave counts."""
        self._settle()
        return self._pool.readings(lines)


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

"""llama.cpp's cumulative "statistics <implementation>: ..." lines (common/speculative.cpp)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from real_runs.engines.lines import Line
from real_runs.engines.printed import (
    COUNT,
    MOST_DEPTHS,
    MOST_DIGITS,
    Printed,
    as_count,
    as_printed,
    as_survival,
)
from real_runs.engines.ratios import check_counts, reported
from real_runs.engines.reading import Reading
from real_runs.engines.recovery import Recovered, with_rounds
from real_runs.engines.rounding import Claim
from real_runs.engines.skips import NoCounts, Skips

SHAPE = (
    "'statistics draft: #calls = ..., #gen drafts = ..., #acc drafts = ..., #gen tokens = ..., "
    "#acc tokens = ...' (llama.cpp server)"
)
MARKERS = ("#calls",)

MOST_IMPLEMENTATIONS = 32

_DEFINITION = (
    "none is printed; #acc tokens / #gen tokens is accepted / drafted since the server started, "
    "rounds without a draft not counted."
)
_NAME = re.compile(r"(?<![\w.+-])([\w.+-]++)\s*+:?\s*+#calls")
_CALLS = re.compile(r"#calls(?:\(b,g,a\))?\s*+=\s*+\d++\s++\d++\s++(\d++)")
_LENGTH = re.compile(r"#mean acc len\s*+=\s*+(\d++\.\d\d++)")
_SURVIVAL = re.compile(r"#acc rate/pos\s*+=\s*+\(([\d., ]*+)\)")
_NEVER = Printed(units=0, scale=10**MOST_DIGITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statistics:
    line: int
    drafts: int
    judged: int
    kept_any: int
    drafted: int
    accepted: int
    length: Printed | None
    survival: tuple[Printed, ...]


@dataclass(slots=True)
class _Implementation:
    """The last line of one implementation that gave counts, and what came before it."""

    last: _Statistics
    recovered: Recovered
    lines: int = 1
    falls: int = 0
    fell_last: int = 0


class StatisticsLines:
    """Keeps the last statistics line of every implementation in one log."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._implementations: dict[str, _Implementation] = {}

    def take(self, line: Line) -> None:
        """Keep what the line counts so far, or note why it counts nothing."""
        name = _NAME.search(line.text)
        if name is None or "#gen " not in line.text:
            return
        with self._skips.guard(line.number, expected=SHAPE):
            if line.cut:
                raise NoCounts("the line is longer than 64 KiB")
            statistics = _parsed(self._source, line)
            self._keep(name[1], statistics, _recovered(statistics))

    def _keep(self, name: str, statistics: _Statistics, recovered: Recovered) -> None:
        before = self._implementations.get(name)
        if before is None:
            if len(self._implementations) == MOST_IMPLEMENTATIONS:
                raise NoCounts(f"more than {MOST_IMPLEMENTATIONS} implementations")
            self._implementations[name] = _Implementation(last=statistics, recovered=recovered)
            return
        if statistics.drafted < before.last.drafted or statistics.accepted < before.last.accepted:
            before.falls += 1
            before.fell_last = statistics.line
        before.last, before.recovered = statistics, recovered
        before.lines += 1

    def readings(self, lines: int) -> list[Reading]:
        """One Reading per implementation, in the order of their first lines."""
        return [
            Reading(
                engine="llama.cpp",
                layout=f"statistics of {name}",
                source=self._source,
                counts=found.recovered.totals,
                printed=reported(
                    fraction=None,
                    length=found.last.length,
                    survival=found.last.survival,
                    averaged_over="all requests since the server started",
                ),
                definition=_DEFINITION,
                lines=lines,
                used=1,
                notes=tuple(_notes(found)),
            )
            for name, found in self._implementations.items()
        ]


def _parsed(source: str, line: Line) -> _Statistics:
    text = line.text
    drafted, accepted = _count("gen tokens", text), _count("acc tokens", text)
    check_counts(source, line.number, accepted=accepted, drafted=drafted, of="server so far")
    drafts = _count("gen drafts", text)
    calls, length, survival = _CALLS.search(text), _LENGTH.search(text), _SURVIVAL.search(text)
    if survival is None and "#acc rate/pos" in text:
        raise NoCounts("the list of positions is cut short")
    return _Statistics(
        line=line.number,
        drafts=drafts,
        judged=drafts if calls is None else as_count("#calls", calls[1]),
        kept_any=_count("acc drafts", text),
        drafted=drafted,
        accepted=accepted,
        length=None if length is None else as_printed("#mean acc len", length[1]),
        survival=() if survival is None else as_survival("#acc rate/pos", survival[1]),
    )


def _count(name: str, text: str) -> int:
    match = re.search(rf"#{name}\s*+=\s*+{COUNT}", text)
    if match is None:
        raise NoCounts(f"the line has no '#{name}'")
    return as_count(f"#{name}", match[1])


def _recovered(line: _Statistics) -> Recovered:
    if line.judged == 0:
        raise NoCounts("drafts were made, and none of them was judged")
    if line.judged != line.drafts:
        # Tokens of drafts that were never judged are in drafted: no depth can be told from it.
        return with_rounds(
            Claim(
                drafted=line.drafted,
                accepted=line.accepted,
                length=line.length,
                kept_any=line.kept_any,
            ),
            line.judged,
        )
    # The list ends at the deepest accepted token, so deeper drafts have zeros to come.
    depths = max(len(line.survival), -(-line.drafted // line.judged))
    survival = line.survival
    if survival and depths <= MOST_DEPTHS:
        survival += (_NEVER,) * (depths - len(survival))
    elif survival:
        survival = ()
    claim = Claim(
        drafted=line.drafted,
        accepted=line.accepted,
        length=line.length,
        survival=survival,
        kept_any=line.kept_any,
        none_empty=True,
    )
    return with_rounds(claim, line.judged)


def _notes(found: _Implementation) -> list[str]:
    last, totals = found.last, found.recovered.totals
    notes = [f"Cumulative counters: line {last.line} counts, the last of {found.lines}."]
    if found.falls:
        notes.append(
            f"The counters fell {found.falls} times, last in line {found.fell_last} (a restart, or "
            "several servers in one log): what came before is not counted."
        )
    if last.judged != last.drafts:
        notes.append(
            f"{last.drafts} drafts were made and {last.judged} judged: rounds are the judged ones, "
            "drafted tokens are those of all, and counts per depth are left out."
        )
    notes.append(f"{last.kept_any} rounds kept at least one token.")
    if totals.depth_bounds is not None:
        notes.append(
            "The list of positions ends at the deepest accepted token, so drafts can have been longer: "
            "the configured draft length, given as gamma, would settle p."
        )
    if totals.accepted_by_depth_bounds is not None:
        notes.append("Counts per depth are bounds: more than one count prints like this.")
    return notes

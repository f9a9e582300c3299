"""llama.cpp's cumulative "statistics <implementation>: ..." lines (common/speculative.cpp)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from real_runs.engines.counts.recovery import Recovered
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.counts.wording import counted
from real_runs.engines.llamacpp.counters import Counters, read_counters, recover
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from simulator import Clock, Method

SHAPE = (
    "'statistics draft: #calls = ..., #gen drafts = ..., #acc drafts = ..., #gen tokens = ..., "
    "#acc tokens = ...' (llama.cpp server)"
)
MARKERS = ("#calls",)

MOST_IMPLEMENTATIONS = 32
LONGEST_NAME = 64

OPEN_END = (
    "The list of positions ends at the deepest accepted token, so drafts can have been longer: "
    "the configured draft length, given as gamma, would settle p."
)
"""What statistics leave open, unless requests that count the same tokens say how long drafts can be."""
_DEFINITION = "none is printed; #acc tokens / #gen tokens is accepted / drafted since the start."
_METHODS: tuple[tuple[str, Method], ...] = (
    ("eagle", "eagle"),
    ("mtp", "mtp"),
    ("ngram", "ngram"),
    ("lookup", "ngram"),
    ("dflash", "block"),
)
_NAME = re.compile(r"(?<![\w.+-])([\w.+-]++)\s*+:?\s*+#calls")


@dataclass(slots=True)
class _Implementation:
    """The last line of one implementation that gave counts, and what came before it."""

    last: Counters
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
            if len(name[1]) > LONGEST_NAME:
                raise NoCounts(f"the name before '#calls' has more than {LONGEST_NAME} characters")
            counters = read_counters(line.number, line.text)
            self._keep(name[1], counters, recover(counters))

    def _keep(self, name: str, counters: Counters, recovered: Recovered) -> None:
        before = self._implementations.get(name)
        if before is None:
            if len(self._implementations) == MOST_IMPLEMENTATIONS:
                raise NoCounts(f"more than {MOST_IMPLEMENTATIONS} implementations")
            self._implementations[name] = _Implementation(last=counters, recovered=recovered)
            return
        if counters.drafted < before.last.drafted or counters.accepted < before.last.accepted:
            before.falls += 1
            before.fell_last = counters.line
        before.last, before.recovered = counters, recovered
        before.lines += 1

    def readings(self, lines: int) -> list[Reading]:
        """One Reading per implementation, in the order of their first lines."""
        return [
            Reading(
                engine="llama.cpp",
                layout=f"statistics of {name}",
                source=self._source,
                counts=found.recovered.totals,
                printed=found.last.ratios.reported("all requests since the server started"),
                definition=_DEFINITION,
                lines=lines,
                used=1,
                notes=tuple(_notes(found)),
                clock=Clock(draft_s=found.last.draft_s),
                method=_method(name),
            )
            for name, found in self._implementations.items()
        ]


def _method(name: str) -> Method | None:
    """How an implementation drafts, by its name."""
    plain = name.lower().replace("_", "-")
    known = (method for part, method in _METHODS if part in plain)
    return next(known, "draft_model" if plain in {"draft", "draft-simple"} else None)


def _notes(found: _Implementation) -> list[str]:
    last, totals = found.last, found.recovered.totals
    notes = [_which_line(found)]
    if found.falls:
        times = "once, in" if found.falls == 1 else f"{found.falls} times, last in"
        notes.append(
            f"The counters fell {times} line {found.fell_last} (a restart, or several servers in one "
            "log): what came before is not counted."
        )
    notes += _rounds(last)
    notes.append(f"{counted(last.kept_any, 'round')} kept at least one token.")
    if last.draft_s is not None:
        notes.append(f"Drafting took {last.draft_s:.4g} s in all.")
    if totals.depth_bounds is not None:
        notes.append(OPEN_END)
    if totals.accepted_by_depth_bounds is not None:
        notes.append("Counts per depth are bounds: more than one count prints like this.")
    return notes


def _which_line(found: _Implementation) -> str:
    if found.lines == 1:
        return f"Cumulative counters: line {found.last.line} counts, the only one."
    return f"Cumulative counters: line {found.last.line} counts, the last of {found.lines}."


def _rounds(last: Counters) -> list[str]:
    """Where the rounds come from, and which ones are not among them."""
    notes = ["Rounds are the drafts judged, the last number of #calls(b,g,a)."]
    if last.judged is None:
        notes = ["Rounds are the drafts made, #gen drafts: how many were judged is not printed."]
    elif last.judged != last.drafts:
        notes.append(
            f"Drafts: {last.drafts} made, {last.judged} judged; drafted tokens are those of all, and "
            "counts per depth are left out."
        )
    if last.calls is not None and last.calls > last.drafts:
        notes.append(
            f"Only {last.drafts} of {last.calls} calls made a draft: tokens per round and speedup are "
            "those of rounds with a draft."
        )
    return notes

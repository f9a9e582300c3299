"""How long a pass took, over the decode lines of a log, without the lines that follow an idle time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from real_runs.engines.counts.wording import counted
from simulator import Clock

IDLE = 3.0
"""A line whose pass takes that many times the median one has idle time in it."""

_PER_BIN = 0.01  # natural logarithm: a bin is one percent wide


@dataclass(slots=True)
class _Bin:
    """Lines with pass times within one percent: their sums."""

    lines: int = 0
    running: float = 0.0
    tokens: float = 0.0
    seconds: float = 0.0

    def add(self, running: float, tokens: float, seconds: float) -> None:
        self.lines += 1
        self.running += running
        self.tokens += tokens
        self.seconds += seconds


class Pace:
    """Sums running requests, tokens and seconds per pass, over lines of equally many passes.

    Of one line, a pass emits running × accept length tokens, in that number / throughput seconds. In
    bins by that time, a log of any length takes some thousand numbers.

    >>> pace = Pace()
    >>> pace.add("", running=2, length=2.5, tokens_per_s=500.0)
    >>> pace.clock.s_per_round, pace.clock.running
    (0.01, 2.0)
    """

    def __init__(self) -> None:
        self._first: dict[str, tuple[float, float, float]] = {}
        self._bins: dict[int, _Bin] = {}

    def add(self, rank: str, *, running: float, length: float, tokens_per_s: float) -> None:
        """Add a line of a rank; the first one of every rank counts only if no other comes."""
        if not (running > 0 and length > 0 and tokens_per_s > 0):
            return
        tokens = running * length
        seconds = tokens / tokens_per_s
        if rank not in self._first and len(self._first) < 1024:
            self._first[rank] = (running, tokens, seconds)
            return
        place = round(math.log(seconds) / _PER_BIN)
        found = self._bins.get(place)
        if found is None:
            found = self._bins[place] = _Bin()
        found.add(running, tokens, seconds)

    @property
    def _kept(self) -> _Bin:
        """The sums over the lines without idle time; of the first lines if there are no others."""
        kept = _Bin()
        if not self._bins:
            for first in self._first.values():
                kept.add(*first)
            return kept
        limit = self._median + math.log(IDLE) / _PER_BIN
        for place, each in self._bins.items():
            if place <= limit:
                kept.lines += each.lines
                kept.running += each.running
                kept.tokens += each.tokens
                kept.seconds += each.seconds
        return kept

    @property
    def _median(self) -> int:
        half, seen = sum(each.lines for each in self._bins.values()) / 2, 0
        for place in sorted(self._bins):
            seen += self._bins[place].lines
            if seen >= half:
                return place
        raise AssertionError  # half of the lines lie somewhere

    @property
    def clock(self) -> Clock:
        """Seconds per pass, tokens per second and running requests: means over passes."""
        kept = self._kept
        if not kept.lines:
            return Clock()
        return Clock(
            tokens_per_s=kept.tokens / kept.seconds,
            running=kept.running / kept.lines,
            s_per_round=kept.seconds / kept.lines,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Which lines the clock leaves out."""
        kept, ranks = self._kept.lines, len(self._first)
        if not kept:
            return ()
        how = "Seconds per round = running requests × accept len / gen throughput"
        if not self._bins:
            return (f"{how}; a first line, which may have idle time in it.",)
        idle = sum(each.lines for each in self._bins.values()) - kept
        first = "the first line" if ranks == 1 else f"the first lines of {ranks} ranks"
        slow = (
            f" and {counted(idle, 'line')} of more than {IDLE:g} times the median" if idle else ""
        )
        which = (
            "which has idle time in it"
            if ranks == 1 and not idle
            else "which have idle time in them"
        )
        return (f"{how}, over {counted(kept, 'line')}: without {first}{slow}, {which}.",)

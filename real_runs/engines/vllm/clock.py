"""What the lines beside vLLM's counts say about time, over all intervals of a log."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from real_runs.engines.counts.many import Flags, Ints
from real_runs.engines.counts.wording import counted
from real_runs.engines.vllm.columns import NOT_KNOWN, Intervals
from real_runs.engines.vllm.throughput import Throughput, Throughputs
from simulator import Clock

_IDLE = "an interval can hold idle time and prefill, so the time of a round is at most what follows"
_UNEXPLAINED = 0.02
"""Throughput is printed to 0.1 tokens per second: what is said of the rest must be beyond that."""


Floats = NDArray[np.float64]


@dataclass(slots=True)
class _Sum:
    intervals: int = 0
    rounds: float = 0.0
    rate: float = 0.0
    running: float = 0.0
    running_known: bool = True

    def add_many(
        self, which: Flags, per_s: Floats, rounds: Ints, accepted: Ints, running: Ints
    ) -> None:
        """Add the intervals `which`, one after the other: sums of floats depend on the order."""
        rate = rounds * per_s * rounds / np.maximum(rounds + accepted, 1)
        self.intervals += int(which.sum())
        self.rounds = _added(self.rounds, rounds[which])
        self.rate = _added(self.rate, rate[which])
        self.running = _added(self.running, (rounds * np.maximum(running, 0))[which])
        self.running_known &= bool((running[which] != NOT_KNOWN).all())


@dataclass(slots=True)
class IntervalClock:
    """Sums of throughput over the intervals with drafts.

    Tokens per second follow what the text happens to be: where more is accepted, they rise, and so
    does the weight of an interval in any mean over tokens. Rounds per second do not. So the mean is that
    of rounds per second, Σ rounds × (tokens per second / tokens per round) / Σ rounds, times the
    tokens per round of the whole: an interval that was half idle has half the rounds and half the
    weight.
    """

    busy: _Sum = field(default_factory=_Sum)
    ended: _Sum = field(default_factory=_Sum)
    timed_rounds: int = 0
    timed_s: float = 0.0
    generated: float = 0.0
    explained: int = 0

    def add(self, line: Throughput, *, rounds: int, accepted: int) -> None:
        """Add an interval of so many rounds; one at whose end nothing runs counts only among its like."""
        if not (rounds and line.tokens_per_s):
            return
        into = self.ended if line.running == 0 else self.busy
        into.intervals += 1
        into.rounds += rounds
        into.rate += rounds * line.tokens_per_s * rounds / (rounds + accepted)
        into.running += rounds * (line.running or 0)
        into.running_known &= line.running is not None

    def add_seconds(self, *, rounds: int, seconds: float) -> None:
        """Add an interval whose length follows from drafted tokens and their throughput."""
        self.timed_rounds += rounds
        self.timed_s += seconds

    def add_tokens(self, line: Throughput, *, seconds: float, of_rounds: int) -> None:
        """Add the tokens that an interval generated, beside those of the rounds it counts."""
        self.generated += line.tokens_per_s * seconds
        self.explained += of_rounds

    def add_many(self, found: Intervals) -> None:
        """Add many intervals, each as the three above do."""
        rounds, accepted = found.records.fewest, found.records.accepted
        per_s, running, seconds = found.tokens_per_s, found.running, found.seconds
        counts = (rounds > 0) & (per_s > 0.0)
        for into, which in ((self.ended, running == 0), (self.busy, running != 0)):
            into.add_many(counts & which, per_s, rounds, accepted, running)
        timed = found.records.known & (seconds == seconds)  # noqa: PLR0124 — not NaN
        self.timed_rounds += int(rounds[timed].sum())
        self.timed_s = _added(self.timed_s, seconds[timed])
        told = found.has_beside & (seconds == seconds)  # noqa: PLR0124
        self.generated = _added(self.generated, (per_s * seconds)[told])
        self.explained += int((rounds + accepted)[told].sum())

    def clock(self, *, tokens_per_round: float, beside: Throughputs) -> Clock:
        """The clock of all intervals; empty where no throughput stands beside counts."""
        chosen = self._chosen
        if chosen is None or not tokens_per_round >= 1.0:
            return Clock()
        running = None
        if chosen is self.busy and chosen.running_known:
            running = chosen.running / chosen.rounds
        return Clock(
            tokens_per_s=tokens_per_round * chosen.rate / chosen.rounds,
            running=running,
            plain_tokens_per_s=self._plain(running, beside),
        )

    def notes(self, clock: Clock, beside: Throughputs) -> list[str]:
        """What the clock rests on."""
        notes = []
        chosen = self._chosen
        if clock.tokens_per_s is not None and chosen is not None:
            which = (
                "" if chosen is self.busy else " at whose end nothing ran, which are partly idle"
            )
            notes.append(
                f"Tokens per second are those of {counted(chosen.intervals, 'interval')} with "
                f"drafts{which}, by rounds: {_IDLE}."
            )
        if self.timed_rounds:
            rate = self.timed_rounds / self.timed_s
            notes.append(
                "Drafted tokens over their throughput give the length of the intervals: "
                f"{self.timed_s:.4g} s in all, {rate:.3g} rounds per second of all requests together."
            )
        if self.generated > (1.0 + _UNEXPLAINED) * self.explained:
            more = round(self.generated - self.explained)
            notes.append(
                f"The throughput gives about {more} tokens more than the {self.explained} of the rounds "
                "counted: rounds without a draft, and the first token of each request."
            )
        if clock.plain_tokens_per_s is not None and clock.running is not None:
            lines = beside.undrafted[round(clock.running)][1]
            notes.append(
                f"{counted(lines, 'interval')} without a draft and with as many requests: the "
                f"highest, {clock.plain_tokens_per_s:g} tokens per second, is taken as plain decoding."
            )
        return notes

    @property
    def _chosen(self) -> _Sum | None:
        return next((each for each in (self.busy, self.ended) if each.intervals), None)

    def _plain(self, running: float | None, beside: Throughputs) -> float | None:
        """The throughput of intervals without a draft, if they can have been busy.

        A round takes at least as long as a plain step, so plain decoding makes at least as many steps a
        second as speculation makes rounds; an interval below that was mostly idle.
        """
        chosen = self._chosen
        if running is None or chosen is None:
            return None
        highest, _ = beside.undrafted.get(round(running), (0.0, 0))
        return highest if highest >= chosen.rate / chosen.rounds else None


def _added(first: float, numbers: Floats | Ints) -> float:
    """The sum from the first to the last, in this order."""
    return float(np.cumsum(np.append(first, numbers))[-1])

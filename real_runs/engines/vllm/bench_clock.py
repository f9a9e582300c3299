"""The times of benchmark runs: of one run with speculation, and of a run without it beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class RunClock:
    """Throughput of all requests, mean time per output token of one, most requests at a time."""

    tokens_per_s: float | None = None
    s_per_token: float | None = None
    running: float | None = None

    @property
    def complete(self) -> bool:
        """Whether both times are there."""
        return self.tokens_per_s is not None and self.s_per_token is not None

    @property
    def empty(self) -> bool:
        """Whether neither time is there."""
        return self.tokens_per_s is None and self.s_per_token is None


def clock_of_runs(
    runs: Sequence[RunClock], plain: Sequence[RunClock]
) -> tuple[Clock, tuple[str, ...]]:
    """The clock of the only run, and notes; several runs have no common clock.

    A run without speculation counts as plain decoding where it is the only one with as many requests at
    a time.
    """
    if len(runs) != 1 or runs[0].empty:
        several = len(runs) > 1 and not all(run.empty for run in runs)
        return Clock(), ("Several runs have no common clock: their times are left out.",) * several
    (run,) = runs
    notes = [
        (
            "Times are those of the whole run: the throughput includes prefill, the running requests are "
            "the most allowed, and the time per token is a mean over requests."
        )
    ]
    beside = [each for each in plain if each.running == run.running]
    if len(beside) == 1:
        notes.append(
            "A run without speculation and with as many requests is taken as plain decoding."
        )
    base = beside[0] if len(beside) == 1 else RunClock()
    clock = Clock(
        tokens_per_s=run.tokens_per_s or None,
        running=run.running,
        s_per_token=run.s_per_token or None,
        plain_tokens_per_s=base.tokens_per_s,
        plain_s_per_token=base.s_per_token,
    )
    return clock, tuple(notes)

"""Clocks around a drafter: what it takes for a proposal, and what heads take at all."""

from __future__ import annotations

import numpy as np

from real_runs.timing import Stopwatch
from simulator._checks import IntArray
from simulator.models import Draft, Drafter, KeepGoing, Logits, PassReader
from simulator.rules import Picked
from simulator.sampling import Sampling


def timed_drafter(drafter: Drafter, watch: Stopwatch, *, heads: bool = False) -> Drafter:
    """The drafter with its proposals timed; it reads the target's passes if the drafter does.

    Of `heads` on the target's states everything is timed as forwards of the draft, which the drafter
    counts itself, in `forwards`: there is no model whose calls could be timed from outside.
    """
    if isinstance(drafter, PassReader):
        return TimedReader(drafter, watch, heads=heads)
    return TimedDrafter(drafter, watch, heads=heads)


class TimedDrafter:
    """A drafter whose proposals are timed."""

    def __init__(self, drafter: Drafter, watch: Stopwatch, *, heads: bool = False) -> None:
        self._drafter = drafter
        self._watch = watch
        self._heads = heads

    @property
    def picked(self) -> Picked:
        """As the drafter's."""
        return self._drafter.picked

    def start(self, prompt: IntArray, sampling: Sampling) -> None:
        """As the drafter's; prefill."""
        self._drafter.start(prompt, sampling)
        self._watch.prompt_read()

    def propose(self, length: int, keep_going: KeepGoing, rng: np.random.Generator) -> Draft:
        """As the drafter's, timed."""
        watch = self._watch
        made = self._forwards()
        before = watch.now()
        draft = self._drafter.propose(length, keep_going, rng)
        elapsed = watch.now() - before
        watch.proposal_ns += elapsed
        if draft.parents is not None:
            watch.proposed = draft.parents[: draft.judged]
        if self._heads:
            watch.forwards += self._forwards() - made
            watch.forward_ns += elapsed
        return draft

    def settle(self, tokens: IntArray) -> None:
        """As the drafter's; with heads timed as theirs."""
        if not self._heads:
            self._drafter.settle(tokens)
            return
        before = self._watch.now()
        self._drafter.settle(tokens)
        self._watch.forward_ns += self._watch.now() - before

    def _forwards(self) -> int:
        """What heads have counted so far."""
        return int(self._drafter.forwards) if self._heads else 0  # type: ignore[attr-defined]


class TimedReader(TimedDrafter):
    """A drafter that learns from the target's passes, whose proposals are timed."""

    _drafter: PassReader  # type: ignore[assignment]  # a Drafter as well

    def read_pass(self, logits: Logits, kept: IntArray) -> None:
        """As the drafter's; with heads timed as theirs."""
        if not self._heads:
            self._drafter.read_pass(logits, kept)
            return
        before = self._watch.now()
        self._drafter.read_pass(logits, kept)
        self._watch.forward_ns += self._watch.now() - before

"""Clocks around a target and a drafter, from outside: the loop itself knows of no time.

Each call costs two readings of a nanosecond counter. On an accelerator, which works on after the
call has returned, the clock is read only when all work is done.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns

import numpy as np

from real_runs.runs.measurement import StepRecord
from simulator._checks import IntArray
from simulator.generation import Round
from simulator.models import Draft, Drafter, KeepGoing, Logits, Target
from simulator.rules import Picked
from simulator.sampling import Sampling


class Stopwatch:
    """Collects the times of one request.

    Decoding begins when the last call that reads the prompt has returned. `rounds` holds one entry
    per pass of the target: its width and time, the draft's forwards and their time since the pass
    before, and the time of the drafter's proposal.
    """

    def __init__(self, synchronize: Callable[[], None] | None = None) -> None:
        self._synchronize = synchronize
        self.reset()

    def reset(self) -> None:
        """Forget everything: a new request begins now."""
        self.width: list[int] = []
        self.verify_ns: list[int] = []
        self.draft_steps: list[int] = []
        self.draft_ns: list[int] = []
        self.propose_ns: list[int] = []
        self.forwards = 0
        self.forward_ns = 0
        self.proposal_ns = 0
        self.begun = self.now()
        self.prefilled = self.begun

    def now(self) -> int:
        """The clock [ns], read when the accelerator has done its work."""
        if self._synchronize is not None:
            self._synchronize()
        return perf_counter_ns()

    def prompt_read(self) -> None:
        """The prompt has been read by one of the models; what it took belongs to prefill."""
        self.prefilled = self.now()
        self.forwards = self.forward_ns = self.proposal_ns = 0

    def target_pass(self, width: int, nanoseconds: int) -> None:
        """A pass of the target ends a round."""
        self.width.append(width)
        self.verify_ns.append(nanoseconds)
        self.draft_steps.append(self.forwards)
        self.draft_ns.append(self.forward_ns)
        self.propose_ns.append(self.proposal_ns)
        self.forwards = self.forward_ns = self.proposal_ns = 0

    def finish(self) -> tuple[int, int]:
        """Times of prefill and of decoding [ns]; what the draft did after the last pass is added."""
        ended = self.now()
        if self.width:
            self.draft_steps[-1] += self.forwards
            self.draft_ns[-1] += self.forward_ns
            self.propose_ns[-1] += self.proposal_ns
        return self.prefilled - self.begun, ended - self.prefilled

    def steps(self, task: int, rounds: tuple[Round, ...]) -> StepRecord:
        """The rounds of the request with the counts that the loop returned."""
        return StepRecord(
            task=task,
            drafted=tuple(entry.drafted for entry in rounds),
            tested=tuple(entry.tested for entry in rounds),
            accepted=tuple(entry.accepted for entry in rounds),
            emitted=tuple(entry.emitted for entry in rounds),
            width=tuple(self.width),
            verify_ns=tuple(self.verify_ns),
            draft_steps=tuple(self.draft_steps),
            draft_ns=tuple(self.draft_ns),
            propose_ns=tuple(self.propose_ns),
        )


class TimedTarget:
    """A target whose passes are timed as the target's."""

    def __init__(self, target: Target, watch: Stopwatch) -> None:
        self._target = target
        self._watch = watch

    @property
    def vocabulary(self) -> int:
        """As the target's."""
        return self._target.vocabulary

    @property
    def context(self) -> int | None:
        """As the target's."""
        return self._target.context

    def start(self, prompt: IntArray) -> Logits:
        """As the target's; prefill."""
        logits = self._target.start(prompt)
        self._watch.prompt_read()
        return logits

    def extend(self, tokens: IntArray) -> Logits:
        """As the target's, timed as a pass over that many tokens."""
        before = self._watch.now()
        logits = self._target.extend(tokens)
        self._watch.target_pass(len(tokens), self._watch.now() - before)
        return logits

    def rollback(self, count: int) -> None:
        """As the target's."""
        self._target.rollback(count)


class TimedDraftModel:
    """The model inside a drafter, its passes timed as forwards of the draft."""

    def __init__(self, model: Target, watch: Stopwatch) -> None:
        self._model = model
        self._watch = watch

    @property
    def vocabulary(self) -> int:
        """As the model's."""
        return self._model.vocabulary

    @property
    def context(self) -> int | None:
        """As the model's."""
        return self._model.context

    def start(self, prompt: IntArray) -> Logits:
        """As the model's; prefill."""
        return self._model.start(prompt)

    def extend(self, tokens: IntArray) -> Logits:
        """As the model's, timed as one forward."""
        before = self._watch.now()
        logits = self._model.extend(tokens)
        self._watch.forwards += 1
        self._watch.forward_ns += self._watch.now() - before
        return logits

    def rollback(self, count: int) -> None:
        """As the model's."""
        self._model.rollback(count)


class TimedDrafter:
    """A drafter whose proposals are timed."""

    def __init__(self, drafter: Drafter, watch: Stopwatch) -> None:
        self._drafter = drafter
        self._watch = watch

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
        before = self._watch.now()
        draft = self._drafter.propose(length, keep_going, rng)
        self._watch.proposal_ns += self._watch.now() - before
        return draft

    def settle(self, tokens: IntArray) -> None:
        """As the drafter's."""
        self._drafter.settle(tokens)

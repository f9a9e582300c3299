"""Clocks around a target and a draft model, from outside: the loop itself knows of no time.

Each call costs two readings of a nanosecond counter. On an accelerator, which works on after the
call has returned, the clock is read only when all work is done.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns

from real_runs.passed_on import PassedOn
from real_runs.runs.measurement import StepRecord
from simulator._checks import IntArray
from simulator._inputs import depths_of
from simulator.generation import Round
from simulator.models import Logits, Target, TreeTarget


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
        self.trees: list[IntArray | None] = []
        self.proposed: IntArray | None = None
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
        self.trees.append(self.proposed)
        self.proposed = None
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
            depth=self._depths(rounds),
        )

    def _depths(self, rounds: tuple[Round, ...]) -> tuple[int, ...]:
        """The depth of every round's tree, which is as long as its draft where that is a chain."""
        if all(tree is None for tree in self.trees):
            return ()
        return tuple(
            entry.drafted if tree is None else max(depths_of(tree), default=0)
            for tree, entry in zip(self.trees, rounds, strict=True)
        )


def timed_target(target: Target, watch: Stopwatch) -> Target:
    """The target with its passes timed; it reads trees if the target does."""
    if hasattr(target, "extend_tree"):
        return TimedTreeTarget(target, watch)
    return TimedTarget(target, watch)


class TimedTarget(PassedOn):
    """A target whose passes are timed as the target's."""

    def __init__(self, target: Target, watch: Stopwatch) -> None:
        super().__init__(target)
        self._watch = watch

    def start(self, prompt: IntArray) -> Logits:
        """As the target's; prefill."""
        logits = super().start(prompt)
        self._watch.prompt_read()
        return logits

    def extend(self, tokens: IntArray) -> Logits:
        """As the target's, timed as a pass over that many tokens."""
        before = self._watch.now()
        logits = super().extend(tokens)
        self._watch.target_pass(len(tokens), self._watch.now() - before)
        return logits


class TimedTreeTarget(TimedTarget):
    """A target that reads trees, whose passes are timed as the target's."""

    _target: TreeTarget

    def extend_tree(self, tokens: IntArray, parents: IntArray) -> Logits:
        """As the target's, timed as a pass over that many tokens."""
        before = self._watch.now()
        logits = self._target.extend_tree(tokens, parents)
        self._watch.target_pass(len(tokens), self._watch.now() - before)
        return logits

    def keep(self, rows: IntArray) -> None:
        """As the target's."""
        self._target.keep(rows)


class TimedDraftModel(PassedOn):
    """The model inside a drafter, its passes timed as forwards of the draft."""

    def __init__(self, model: Target, watch: Stopwatch) -> None:
        super().__init__(model)
        self._watch = watch

    def extend(self, tokens: IntArray) -> Logits:
        """As the model's, timed as one forward."""
        before = self._watch.now()
        logits = super().extend(tokens)
        self._watch.forwards += 1
        self._watch.forward_ns += self._watch.now() - before
        return logits

"""One request of our loop and one of the peer's on the same models, and the way between their counts."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from real_runs.drafters.prompt_lookup import PromptLookup
from real_runs.measure import Bench
from real_runs.peers.alike import (
    EarliestLookup,
    EndingDrafter,
    PromptWithoutItsLast,
    counts_of,
    counts_to_the_end,
)
from real_runs.peers.result import END, PROMPT, SEARCH, Stage, Turn
from real_runs.runs.header import Settings
from real_runs.settings import chain_of, rule_of, sampling_of
from real_runs.timed_drafter import timed_drafter
from real_runs.timing import Stopwatch, timed_target
from simulator._checks import IntArray
from simulator.decoding import decode
from simulator.generation import Generation
from simulator.models import Drafter, Target

if TYPE_CHECKING:
    from real_runs.models.causal import CausalTarget
    from real_runs.peers.generating import Generating, ModelClock


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The two loops on the same models."""

    settings: Settings
    target: Target
    drafter: Drafter
    timed: tuple[Target, Drafter]
    watch: Stopwatch
    clocks: tuple[ModelClock, ModelClock | None]
    peer: Generating

    @classmethod
    def of(
        cls, bench: Bench, settings: Settings, target: CausalTarget, draft: CausalTarget | None
    ) -> Pair:
        """Both on loaded models."""
        from real_runs.peers.generating import Generating, ModelClock  # noqa: PLC0415 — torch

        watch = Stopwatch(bench.synchronize)
        drafter = bench.make_drafter(watch)
        clocks = (
            ModelClock(target.model, bench.synchronize),
            None if draft is None else ModelClock(draft.model, bench.synchronize),
        )
        return cls(
            settings=settings,
            target=target,
            drafter=drafter,
            timed=(timed_target(target, watch), timed_drafter(drafter, watch)),
            watch=watch,
            clocks=clocks,
            peer=Generating(
                target,
                draft,
                temperature=settings.temperature,
                stop_tokens=settings.stop_tokens,
                longest_ngram=PromptLookup().longest_ngram,
                clocks=clocks,
            ),
        )

    def both(
        self, prompt: IntArray, gamma: int, seed: tuple[int, ...], *, ours_first: bool
    ) -> tuple[Turn, Turn]:
        """One request, answered by both: ours, the peer's."""
        most = self.settings.max_tokens
        ours = self.ours(prompt, gamma, seed, most) if ours_first else None
        state = int(np.random.SeedSequence(seed).generate_state(1)[0])
        peer = self.peer.turn(prompt, gamma=gamma, max_tokens=most, seed=state)
        return ours or self.ours(prompt, gamma, seed, most), peer

    def ours(self, prompt: IntArray, gamma: int, seed: tuple[int, ...], most: int) -> Turn:
        """One request of our loop."""
        clock, draft_clock = self.clocks
        target, drafter = self.timed
        with ExitStack() as stack:
            stack.enter_context(clock.running())
            if draft_clock is not None:
                stack.enter_context(draft_clock.running())
            self.watch.reset()
            text = self._decode(prompt, target, drafter, gamma, seed, most)
            first_ns, rest_ns = self.watch.finish()
        return Turn(
            tokens=text.tokens,
            first_tokens=1,
            first_ns=first_ns,
            total_ns=first_ns + rest_ns,
            target_passes=clock.passes,
            target_ns=clock.nanoseconds,
            draft_passes=0 if draft_clock is None else draft_clock.passes,
            draft_ns=0 if draft_clock is None else draft_clock.nanoseconds,
            counts=counts_of(text),
        )

    def stages(self, prompt: IntArray, gamma: int, seed: tuple[int, ...]) -> tuple[Stage, ...]:
        """Our loop, unclocked, with more and more of what the peer does."""
        copied = self.settings.drafter == "prompt_lookup"
        most = self.settings.max_tokens + 1  # the prompt's last token is emitted again
        target = PromptWithoutItsLast(self.target, int(prompt[-1]))

        def counted(drafter: Drafter) -> Generation:
            return self._decode(prompt[:-1], target, drafter, gamma, seed, most)

        stages = [Stage(name=PROMPT, counts=counts_of(counted(self.drafter)))]
        drafter = self.drafter
        if copied:
            drafter = EarliestLookup()
            stages.append(Stage(name=SEARCH, counts=counts_of(counted(drafter))))
        ending = EndingDrafter(
            drafter, limit=most, stop_tokens=self.settings.stop_tokens, copied=copied
        )
        stages.append(Stage(name=END, counts=counts_to_the_end(counted(ending))))
        return tuple(stages)

    def _decode(
        self,
        prompt: IntArray,
        target: Target,
        drafter: Drafter,
        gamma: int,
        seed: tuple[int, ...],
        most: int,
    ) -> Generation:
        return decode(
            prompt,
            target=target,
            max_tokens=most,
            rng=np.random.default_rng(seed),
            drafter=drafter,
            chain=chain_of(self.settings, gamma),
            rule=rule_of(self.settings),
            sampling=sampling_of(self.settings),
            stop_tokens=self.settings.stop_tokens,
            record="rounds",
        )

"""transformers' own loops on loaded models: assisted generation and prompt lookup, clocked and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from time import perf_counter_ns
from typing import Any

import torch
from transformers import GenerationConfig

from real_runs.engines.assisted.hook import record_assisted
from real_runs.models.causal import CausalTarget
from real_runs.models.loading import quiet
from real_runs.peers.alike import assisted_counts
from real_runs.peers.result import Turn
from simulator._checks import IntArray


class ModelClock:
    """Counts a model's forward passes and their time [ns] while it is on, whoever calls them."""

    def __init__(self, model: Any, synchronize: Callable[[], None] | None) -> None:
        self._model = model
        self._synchronize = synchronize
        self._begun = 0
        self.passes = 0
        self.nanoseconds = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count from 0 what happens inside."""
        self.passes = self.nanoseconds = 0
        handles = [
            self._model.register_forward_pre_hook(self._before),
            self._model.register_forward_hook(self._after),
        ]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def now(self) -> int:
        """The clock [ns], read when the accelerator has done its work."""
        if self._synchronize is not None:
            self._synchronize()
        return perf_counter_ns()

    def _before(self, *_: Any) -> None:
        self._begun = self.now()

    def _after(self, *_: Any) -> None:
        self.passes += 1
        self.nanoseconds += self.now() - self._begun


class FirstArrival:
    """A streamer of transformers that notes when the first tokens behind the prompt arrive."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._calls = 0
        self.at = 0
        self.tokens = 0

    def put(self, value: torch.Tensor) -> None:
        """Tokens as they arrive; the first call brings the prompt."""
        self._calls += 1
        if self._calls == 2:
            self.at = self._now()
            self.tokens = int(value.numel())

    def end(self) -> None:
        """Nothing is left to do."""


class Generating:
    """`generate` with a draft model, or with prompt lookup where there is none.

    The schedule is constant and the confidence threshold 0; what else the models' own settings say
    (penalties, filters) is put aside while it runs, and put back.
    """

    def __init__(
        self,
        target: CausalTarget,
        draft: CausalTarget | None,
        *,
        temperature: float,
        stop_tokens: tuple[int, ...],
        longest_ngram: int,
        clocks: tuple[ModelClock, ModelClock | None],
    ) -> None:
        self._target = target
        self._draft = draft
        self._temperature = temperature
        self._stop_tokens = stop_tokens
        self._longest_ngram = longest_ngram
        self._clocks = clocks

    def turn(self, prompt: IntArray, *, gamma: int, max_tokens: int, seed: int) -> Turn:
        """One request. Raises ValueError where `generate` drafted in no round."""
        clock, draft_clock = self._clocks
        ids = torch.from_numpy(prompt)[None].to(self._target.device)
        mask = torch.ones_like(ids)
        devices: list[int] | None = [] if self._target.device.type == "cpu" else None
        with ExitStack() as stack:
            stack.enter_context(quiet())
            stack.enter_context(_settings(self._target.model, self._config(gamma, max_tokens)))
            if self._draft is not None:
                stack.enter_context(_settings(self._draft.model, _draft_config(gamma)))
            stack.enter_context(torch.random.fork_rng(devices=devices))
            torch.manual_seed(seed)
            stack.enter_context(clock.running())
            if draft_clock is not None:
                stack.enter_context(draft_clock.running())
            recorder = stack.enter_context(record_assisted(self._target.model))
            arrival = FirstArrival(clock.now)
            stack.enter_context(torch.inference_mode())
            assistant = {} if self._draft is None else {"assistant_model": self._draft.model}
            begun = clock.now()
            texts = self._target.model.generate(
                ids, attention_mask=mask, streamer=arrival, **assistant
            )
            ended = clock.now()
        if len(recorder.requests) != 1 or not recorder.requests[0].rounds:
            raise ValueError("transformers' generate must draft in rounds; none was recorded.")
        return Turn(
            tokens=tuple(texts[0, len(prompt) :].tolist()),
            first_tokens=arrival.tokens,
            first_ns=arrival.at - begun,
            total_ns=ended - begun,
            target_passes=clock.passes,
            target_ns=clock.nanoseconds,
            draft_passes=0 if draft_clock is None else draft_clock.passes,
            draft_ns=0 if draft_clock is None else draft_clock.nanoseconds,
            counts=assisted_counts(recorder.requests[0].rounds),
        )

    def _config(self, gamma: int, max_tokens: int) -> GenerationConfig:
        lookup: dict[str, Any] = {}
        if self._draft is None:
            lookup = {
                "prompt_lookup_num_tokens": gamma,
                "max_matching_ngram_size": self._longest_ngram,
            }
        sampled: dict[str, Any] = {"do_sample": False}
        if self._temperature > 0.0:
            sampled = {
                "do_sample": True,
                "temperature": self._temperature,
                "top_k": 0,  # else 50
                "top_p": 1.0,
            }
        return GenerationConfig(
            max_new_tokens=max_tokens,
            eos_token_id=list(self._stop_tokens) or None,
            pad_token_id=0,
            **sampled,
            **lookup,
        )


def _draft_config(gamma: int) -> GenerationConfig:
    return GenerationConfig(
        num_assistant_tokens=gamma,
        num_assistant_tokens_schedule="constant",
        assistant_confidence_threshold=0.0,
    )


@contextmanager
def _settings(model: Any, config: GenerationConfig) -> Iterator[None]:
    """The model with other settings of generation inside."""
    before = model.generation_config
    model.generation_config = config
    try:
        yield
    finally:
        model.generation_config = before

"""Rounds of transformers' assisted generation, which returns no statistics: recorded as they happen.

`generate(assistant_model=...)`, `prompt_lookup_num_tokens`, early exit and the like all go through one
loop (`GenerationMixin._assisted_decoding`, transformers 5.24). Each round it asks a candidate generator
for a draft (`get_candidates`) and tells it the outcome (`update_candidate_strategy`); both are watched
on the generator of each call, and nothing is changed. The loop takes one sequence at a time.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from real_runs.engines.assisted.rounds import AssistedRequest, as_round
from simulator import Clock, CountedUnit, LengthRule, Method, Observation

_BUILDS = "_get_candidate_generator"
"""What makes the candidate generator of a call; on the instance it hides the one of the class."""

_METHODS: tuple[tuple[str, Method], ...] = (
    ("PromptLookup", "ngram"),
    ("MTP", "mtp"),
    ("DFlash", "block"),
    ("EarlyExit", "other"),
    ("SinglePosition", "other"),
    ("Assisted", "draft_model"),
    ("Universal", "draft_model"),
)


class Generator(Protocol):
    """What the loop of transformers asks of a candidate generator."""

    def get_candidates(self, input_ids: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The tokens so far with a draft behind them, and its logits."""

    def update_candidate_strategy(self, input_ids: Any, scores: Any, num_matches: Any) -> None:
        """Called with what was kept, after the texts were cut at a stop token or the limit."""


class AssistedRecorder:
    """Collects a request for every candidate generator that it watches."""

    def __init__(self) -> None:
        self.requests: list[AssistedRequest] = []

    def watch(self, generator: Generator) -> None:
        """Record the rounds of a generator from here on; what it returns stays as it is."""
        request = AssistedRequest(
            method=_method_of(generator),
            gamma=_gamma_of(generator),
            length_rule=_rule_of(generator),
        )
        self.requests.append(request)
        inner_candidates, inner_update = (
            generator.get_candidates,
            generator.update_candidate_strategy,
        )
        asked: list[tuple[int, list[int]]] = []  # tokens before the draft, and the draft
        begun = 0.0

        def get_candidates(input_ids: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
            nonlocal begun
            begun = time.perf_counter()
            candidates, logits = inner_candidates(input_ids, *args, **kwargs)
            before = int(input_ids.shape[1])
            asked[:] = [(before, [int(token) for token in candidates[0, before:].tolist()])]
            return candidates, logits

        def update_candidate_strategy(input_ids: Any, scores: Any, num_matches: Any) -> None:
            before, draft = asked.pop() if asked else (int(input_ids.shape[1]), [])
            arrived = [int(token) for token in input_ids[0, before:].tolist()]
            request.rounds.append(
                as_round(int(scores.shape[1]) - 1, int(num_matches), draft, arrived)
            )
            request.seconds += time.perf_counter() - begun
            inner_update(input_ids, scores, num_matches)

        generator.get_candidates = get_candidates  # type: ignore[method-assign]
        generator.update_candidate_strategy = update_candidate_strategy  # type: ignore[method-assign]

    @property
    def units(self) -> tuple[CountedUnit, ...]:
        """A unit for each call of `generate` that had a round, in order."""
        return tuple(
            request.as_unit(f"generate {number}")
            for number, request in enumerate(self.requests, start=1)
            if request.rounds
        )

    def observation(self, *, name: str = "transformers") -> Observation:
        """All requests together, as the analysis takes them.

        Raises ValueError if no round was recorded: plain generation, or another way of assisting.
        """
        requests = [request for request in self.requests if request.rounds]
        if not requests:
            raise ValueError(
                "no round was recorded; expected generate() with an assistant model or prompt lookup "
                "inside of the with block."
            )
        tables = [request.table for request in requests]
        counts = sum(tables[1:], start=tables[0])
        gammas = {request.gamma for request in requests}
        methods = {request.method for request in requests}
        seconds = sum(request.seconds for request in requests)
        return Observation(
            name=name,
            engine="transformers",
            version=getattr(sys.modules.get("transformers"), "__version__", None),
            method=methods.pop() if len(methods) == 1 else "other",
            gamma=gammas.pop() if len(gammas) == 1 else None,
            rounds=counts.rounds,
            drafted=counts.drafted,
            accepted=sum(counts.accepted),
            emitted=counts.emitted,
            length_rule=counts.length_rule,
            counts=counts,
            unit="request",
            units=self.units,
            clock=Clock(
                decode_s=seconds,
                tokens_per_s=counts.emitted / seconds if seconds else None,
                running=1.0,
            ),
        )


@contextmanager
def record_assisted(model: Any) -> Iterator[AssistedRecorder]:
    """Record the rounds of every `model.generate(...)` within the block that drafts.

    The texts are those of `generate` without it. The first pass of transformers reads the prompt and
    judges a draft at once, so it is a round, and the first token of a text belongs to it; only
    requests of one sequence are drafted for. For counts that predict other draft lengths set
    `num_assistant_tokens_schedule="constant"` and `assistant_confidence_threshold=0` in the
    assistant's generation_config: the table's length rule is else "scheduled" or "confidence".

    Raises ValueError for a model that builds no candidate generator.
    """
    inner: Callable[..., Generator] | None = getattr(model, _BUILDS, None)
    if inner is None:
        raise ValueError(
            "model must be a generating model of transformers, with _get_candidate_generator; "
            f"got {type(model).__name__}."
        )
    recorder = AssistedRecorder()

    def build(*args: Any, **kwargs: Any) -> Generator:
        generator = inner(*args, **kwargs)
        recorder.watch(generator)
        return generator

    before = vars(model).get(_BUILDS)  # of an enclosing block
    setattr(model, _BUILDS, build)
    try:
        yield recorder
    finally:
        if before is None:
            delattr(model, _BUILDS)
        else:
            setattr(model, _BUILDS, before)


def _method_of(generator: object) -> Method:
    name = type(generator).__name__
    return next((method for part, method in _METHODS if name.startswith(part)), "other")


def _gamma_of(generator: object) -> int | None:
    for name in ("num_output_tokens", "num_assistant_tokens"):
        number = getattr(generator, name, None)
        if isinstance(number, (int, float)) and number >= 1:
            return None if _schedule_of(generator) not in {None, "constant"} else int(number)
    return None


def _schedule_of(generator: object) -> str | None:
    config = getattr(generator, "assistant_generation_config", None)
    return getattr(config, "num_assistant_tokens_schedule", None)


def _rule_of(generator: object) -> LengthRule:
    """What decides how long drafts are: confidence first, for it biases the counts most."""
    if type(generator).__name__.startswith("PromptLookup"):
        return "fixed"  # where the text ends or nothing is found they are shorter: then "scheduled"
    threshold = getattr(generator, "assistant_confidence_threshold", None)
    if threshold:
        return "confidence"
    schedule = _schedule_of(generator)
    if schedule is None:
        return "unknown"
    return "fixed" if schedule == "constant" else "scheduled"

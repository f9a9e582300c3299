"""Measuring: plain decoding and every gamma on the same prompts, in random order, into a run folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from real_runs.models.identity import ModelIdentity
from real_runs.prompts import PromptSet
from real_runs.runs.errors import RunInterruptedError, RunStoppedError
from real_runs.runs.folder import RunWriter, open_run
from real_runs.runs.header import (
    SCHEMA_VERSION,
    Environment,
    Header,
    HeadsFacts,
    Settings,
    Task,
    TreeCosts,
)
from real_runs.runs.measurement import RequestRecord, Run, StepRecord, hash_tokens
from real_runs.runs.near_ties import Pairs
from real_runs.runs.reading import read_run, read_steps
from real_runs.settings import (
    HEADED,
    chain_of,
    check_settings,
    check_size,
    is_greedy,
    plain_rule,
    rule_of,
    sampling_of,
)
from real_runs.timed_drafter import timed_drafter
from real_runs.timing import Stopwatch, timed_target
from simulator._checks import IntArray
from simulator.decoding import decode
from simulator.models import Drafter, Target

WARM_UP_TOKENS = 32
"""Tokens of each request before the clock counts, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The models of a run, and what is recorded of them.

    `make_drafter` builds the drafter on models whose forwards the stopwatch takes; `encode` makes
    tokens of a prompt; `synchronize` waits for an accelerator.
    """

    target: Target
    make_drafter: Callable[[Stopwatch], Drafter]
    encode: Callable[[str], IntArray]
    target_facts: ModelIdentity
    draft_facts: ModelIdentity | None
    environment: Environment
    synchronize: Callable[[], None] | None = None
    heads_facts: HeadsFacts | None = None


def measure(
    bench: Bench,
    settings: Settings,
    prompts: PromptSet,
    folder: str | Path,
    *,
    argv: tuple[str, ...] = (),
    resume: bool = False,
    progress: Callable[[float], None] | None = None,
    tree_costs: TreeCosts | None = None,
) -> Run:
    """Make every request of a run that is not in the folder yet, and return the whole run.

    Requests of all draft lengths are mixed in an order drawn from the seed, so that a machine that
    becomes slower with time slows all of them alike. Before the first one every length runs once
    unrecorded. `progress` takes the share done; `tree_costs` are recorded.

    Raises what `open_run` raises; ValueError for prompts that do not fit; RunStoppedError when the
    folder cannot be written any more and RunInterruptedError on Ctrl-C: both say what is kept.
    """
    encoded = encode_all(bench, settings, prompts)
    header = Header(
        schema_version=SCHEMA_VERSION,
        status="running",
        argv=argv,
        settings=settings,
        prompts=prompts.facts,
        target=bench.target_facts,
        draft=bench.draft_facts,
        environment=bench.environment,
        tasks=plan_tasks(settings, tuple(encoded)),
        sessions=(),
        heads=bench.heads_facts,
        tree_costs=tree_costs,
    )
    with open_run(folder, header, resume=resume) as writer:
        try:
            _work(bench, settings, encoded, writer, progress)
        except KeyboardInterrupt:
            raise RunInterruptedError(
                folder, "interrupted", writer.committed(), len(header.tasks)
            ) from None
    return read_run(folder)


def plan_tasks(settings: Settings, prompts: tuple[str, ...]) -> tuple[Task, ...]:
    """Every prompt with every draft length, as often as asked for, in an order drawn from the seed."""
    tasks = [
        Task(prompt=prompt, gamma=gamma, repeat=repeat)
        for repeat in range(settings.repeats)
        for prompt in prompts
        for gamma in (0, *settings.gammas)
    ]
    order = np.random.default_rng(settings.seed).permutation(len(tasks))
    return tuple(tasks[index] for index in order)


def encode_all(bench: Bench, settings: Settings, prompts: PromptSet) -> dict[str, IntArray]:
    """The tokens of every prompt by its id.

    Raises ValueError naming the prompt that has no token, or that leaves no room in the target's or
    the draft's context for the answer and the longest draft: a draft that is cut at the context's
    end is no measurement of its length.
    """
    check_settings(settings)
    check_size(settings, len(prompts.prompts))
    # A window reaches further than what is judged, and a pass without it is another one.
    reach = max(*settings.gammas, settings.window + settings.ngram)
    ahead = settings.max_tokens + reach
    encoded = {}
    for prompt in prompts.prompts:
        try:
            tokens = encoded[prompt.id] = bench.encode(prompt.prompt)
        except ValueError as error:
            raise ValueError(f"prompt {prompt.id} cannot be read: {error}") from None
        if tokens.size == 0:
            raise ValueError(f"prompt {prompt.id} must have a token; it has none.")
        for facts in (bench.target_facts, bench.draft_facts):
            if facts is None or facts.context is None or tokens.size + ahead <= facts.context:
                continue
            raise ValueError(
                f"prompt {prompt.id} has {tokens.size} tokens; with {settings.max_tokens} more and "
                f"a draft of {reach} it must fit the context of {facts.name}, "
                f"{facts.context} tokens."
            )
    return encoded


def _work(
    bench: Bench,
    settings: Settings,
    encoded: dict[str, IntArray],
    writer: RunWriter,
    progress: Callable[[float], None] | None,
) -> None:
    """Make the requests that are missing, one after the other, and commit each."""
    if not writer.remaining:
        return
    maker = _RequestMaker(bench, settings, encoded)
    pairs = Pairs(bench.target, encoded) if is_greedy(settings) else None
    if pairs is not None:
        for record, steps in zip(writer.records, read_steps(writer.folder), strict=True):
            pairs.add(record, steps)
    for gamma in (0, *settings.gammas):
        maker.make(0, Task(prompt=next(iter(encoded)), gamma=gamma, repeat=0), most=WARM_UP_TOKENS)
    total = len(writer.header.tasks)
    for index in writer.remaining:
        record, steps = maker.make(index, writer.header.tasks[index], most=settings.max_tokens)
        if pairs is not None:
            record = replace(record, mismatches=pairs.compare(record, steps))
            pairs.add(record, steps)
        try:
            writer.append(record, steps)
        except OSError as error:
            reason = f"cannot write any more ({error.strerror or error})"
            raise RunStoppedError(writer.folder, reason, len(writer.records), total) from error
        if progress is not None:
            progress((index + 1) / total)


class _RequestMaker:
    """Makes requests with the clock running."""

    def __init__(self, bench: Bench, settings: Settings, encoded: dict[str, IntArray]) -> None:
        self._settings = settings
        self._encoded = encoded
        self._numbers = {prompt: number for number, prompt in enumerate(encoded)}
        self._watch = Stopwatch(bench.synchronize)
        self._target = timed_target(bench.target, self._watch)
        self._drafter = timed_drafter(
            bench.make_drafter(self._watch), self._watch, heads=settings.drafter in HEADED
        )

    def make(self, index: int, task: Task, *, most: int) -> tuple[RequestRecord, StepRecord]:
        """One request of at most `most` tokens, its random numbers drawn from its own seed."""
        settings, drafts = self._settings, task.gamma > 0
        prompt = self._encoded[task.prompt]
        seed = (settings.seed, self._numbers[task.prompt], task.gamma, task.repeat)
        rng = np.random.default_rng(seed)
        self._watch.reset()
        text = decode(
            prompt,
            target=self._target,
            max_tokens=min(most, settings.max_tokens),
            rng=rng,
            drafter=self._drafter if drafts else None,
            chain=chain_of(settings, task.gamma) if drafts else None,
            rule=rule_of(settings) if drafts else plain_rule(settings),
            sampling=sampling_of(settings),
            stop_tokens=settings.stop_tokens,
            record="rounds",
            allow_lossy=settings.allow_lossy,
        )
        prefill_ns, decode_ns = self._watch.finish()
        steps = self._watch.steps(index, text.rounds)
        record = RequestRecord(
            task=index,
            prompt=task.prompt,
            gamma=task.gamma,
            repeat=task.repeat,
            seed=seed,
            prompt_tokens=prompt.size,
            table=text.table,
            prefill_ns=prefill_ns,
            decode_ns=decode_ns,
            passes=steps.passes(),
            draft_steps=sum(steps.draft_steps),
            draft_ns=sum(steps.draft_ns),
            tokens=text.tokens,
            tokens_sha256=hash_tokens(text.tokens),
        )
        return record, steps

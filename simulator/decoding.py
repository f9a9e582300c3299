"""The one draft-verify-keep loop: on toy models in tests, on torch models for real."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np
import numpy.typing as npt

from simulator._checks import IntArray, Rng, as_count, as_generator
from simulator._inputs import check_draft, check_logits, depths_of
from simulator._judging import forget, judge_draft, run_pass
from simulator._request import (
    Record,
    as_prompt,
    as_stops,
    checked_chain,
    length_rule_of,
    pass_reader,
)
from simulator._tally import Tally
from simulator.drafts import Chain
from simulator.generation import Generation, Round
from simulator.models import Draft, Drafter, Target
from simulator.rules import Rule, speculative_sampling
from simulator.sampling import Sampling
from simulator.stopping import ConfidenceThreshold, Heuristic
from simulator.tree_verification import TreeVerdict


def decode(
    prompt: npt.ArrayLike,
    *,
    target: Target,
    max_tokens: int,
    rng: Rng,
    drafter: Drafter | None = None,
    chain: Chain | None = None,
    rule: Rule | None = None,
    sampling: Sampling | None = None,
    stop_tokens: Collection[int] = (),
    record: Record = "table",
    allow_lossy: bool = False,
) -> Generation:
    """Generate up to `max_tokens` tokens behind a prompt [n >= 1], in rounds of draft and verification.

    Prefill emits the first token and belongs to no round. A round feeds the last token and the draft
    to the target in one pass, keeps what `rule` (speculative sampling unless given) accepts and one
    token more, and makes the target forget the rest. A draft may be a tree (`Draft.parents`), of which
    one path is kept; `chain.gamma` is then the depth that the drafter is asked for.

    Drafts keep their full length up to the end: tokens behind `max_tokens` or a stop token are thrown
    away and counted as discarded, and only where the target's context ends are drafts cut. Without
    drafter and chain it is plain decoding through the same loop.

    `record="rounds"` keeps every round. `record="every_position"` judges a draft at every position
    of the text and keeps one token each time: slow, but from a drafter without chance `replay` then
    gives the exact counts of every shorter gamma.

    Raises ValueError for a prompt that does not fit, for a rule that is lossy with this drafter
    unless `allow_lossy`, for an oracle, which no real loop has, and for a drafter or a target that
    gives what `simulator.models` does not allow.

    >>> from simulator import MarkovChain, ToyDrafter, greedy
    >>> target = MarkovChain(transitions=((0.1, 0.9), (0.8, 0.2)))
    >>> text = decode([0], target=target, drafter=ToyDrafter(target, picked="chosen"),
    ...               chain=Chain(gamma=3), rule=greedy(), max_tokens=9, rng=0)
    >>> text.tokens, text.table.accepted, text.table.discarded
    ((1, 0, 1, 0, 1, 0, 1, 0, 1), (2, 2, 2), 0)
    """
    tokens = as_prompt(prompt, target)
    max_tokens = as_count("max_tokens", max_tokens, least=1)
    generator = as_generator(rng)
    rule = speculative_sampling() if rule is None else rule
    sampling = Sampling() if sampling is None else sampling
    chain = checked_chain(drafter, chain, rule, record, allow_lossy=allow_lossy)
    stops = as_stops(stop_tokens)

    first = _first_token(target, tokens, rule, sampling, generator)
    if drafter is not None:
        drafter.start(tokens, sampling)
        drafter.settle(np.array([first], dtype=np.int64))
    text = [first]
    chains_only = "record='every_position'" if record == "every_position" else ""
    reader = pass_reader(drafter)
    tally = Tally(chain, length_rule_of(drafter, chain))
    rounds: list[Round] = []
    length = _first_length(chain)
    ended: Literal["limit", "stop", "context"] | None = "stop" if first in stops else None
    while ended is None and len(text) < max_tokens:
        room = _room(target, tokens.size + len(text))
        if room < 0:
            ended = "context"
            break
        draft = _propose(
            drafter, chain, min(length, room), room, generator, target.vocabulary, chains_only
        )
        logits = run_pass(target, text[-1], draft)
        judged = judge_draft(logits, draft, rule, sampling, generator)
        accepted, tested, emitted = _up_to_a_stop(draft, judged, stops)
        if record == "every_position":
            emitted = emitted[:1]
        emitted = emitted[: max_tokens - len(text)]
        if emitted[-1] in stops:
            ended = "stop"
        tally.add(draft.judged, tested, accepted, len(emitted), longest=_longest(draft))
        if record != "table":
            rounds.append(
                Round(
                    start=len(text),
                    drafted=draft.judged,
                    tested=tested,
                    accepted=accepted,
                    emitted=len(emitted),
                )
            )
        text += emitted
        # The cache keeps the token that was fed and the emitted ones but the last, not yet read.
        rows = np.array([0, *(node + 1 for node in judged.path)][: len(emitted)], dtype=np.int64)
        if reader is not None:
            reader.read_pass(logits, rows)
        forget(target, draft, rows)
        if drafter is not None:
            drafter.settle(np.array(emitted, dtype=np.int64))
        if isinstance(chain.stop, Heuristic):
            all_kept = accepted == _longest(draft)
            length = chain.stop.after(length, all_kept=all_kept, gamma=chain.gamma)
    return Generation(
        tokens=tuple(text),
        table=tally.table(),
        ended="limit" if ended is None else ended,
        rounds=tuple(rounds),
        record=record,
    )


def _first_length(chain: Chain) -> int:
    return chain.stop.first(gamma=chain.gamma) if isinstance(chain.stop, Heuristic) else chain.gamma


def _room(target: Target, length: int) -> int:
    """Drafted tokens that a pass behind `length` tokens of text can hold; -1: not even the last one."""
    return np.iinfo(np.int64).max if target.context is None else target.context - length


def _up_to_a_stop(
    draft: Draft, judged: TreeVerdict, stops: frozenset[int]
) -> tuple[int, int, list[int]]:
    """Accepted and tested depths, and the emitted tokens, of which none follows a stop token."""
    accepted, tested = len(judged.path), judged.tested
    emitted = [*draft.tokens[list(judged.path)].tolist(), judged.next_token]
    stop = next((i for i, token in enumerate(emitted) if token in stops), None)
    if stop is None:
        return accepted, tested, emitted
    if stop < accepted:  # nothing behind an accepted stop token is tested
        accepted = tested = stop + 1
    return accepted, tested, emitted[: stop + 1]


def _longest(draft: Draft) -> int:
    """Tokens that the draft can have accepted: its length, or the depth of its tree."""
    if draft.parents is None:
        return int(draft.tokens.size)
    return max(depths_of(draft.parents[: draft.judged]), default=0)


def _propose(
    drafter: Drafter | None,
    chain: Chain,
    length: int,
    room: int,
    rng: np.random.Generator,
    vocabulary: int,
    chains_only: str,
) -> Draft:
    if drafter is None or length == 0:
        return Draft(tokens=np.empty(0, dtype=np.int64))
    stop = chain.stop
    if not isinstance(stop, ConfidenceThreshold):
        draft = drafter.propose(length, lambda _: True, rng)
        check_draft(draft, length, vocabulary, chains_only=chains_only)
        return draft if draft.parents is None else _fitting(draft, room)
    last = [1.0]

    def keep_going(confidence: float) -> bool:
        last[0] = confidence
        return stop.goes_on(confidence)

    draft = drafter.propose(length, keep_going, rng)
    check_draft(draft, length, vocabulary, chains_only="a chain that stops by confidence")
    if stop.drops_last and draft.tokens.size and not stop.goes_on(last[0]):
        probs = None if draft.probs is None else draft.probs[:-1]
        return Draft(tokens=draft.tokens[:-1], probs=probs)
    return draft


def _fitting(draft: Draft, room: int) -> Draft:
    """The draft, without its passengers where they would stand behind the end of the context."""
    parents = draft.parents
    if parents is None or not draft.passengers or max(depths_of(parents)) <= room:
        return draft
    judged = draft.judged
    return Draft(
        tokens=draft.tokens[:judged],
        probs=None if draft.probs is None else draft.probs[:judged],
        parents=parents[:judged],
    )


def _first_token(
    target: Target, prompt: IntArray, rule: Rule, sampling: Sampling, rng: np.random.Generator
) -> int:
    """The token that prefill emits: what the rule emits behind an empty draft."""
    logits = target.start(prompt)[None]
    check_logits(logits, 1, target.vocabulary)
    nothing = Draft(tokens=np.empty(0, dtype=np.int64))
    return judge_draft(logits, nothing, rule, sampling, rng).next_token

"""The one draft-verify-keep loop: on toy models in tests, on torch models for real."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np
import numpy.typing as npt

from simulator._checks import IntArray, Rng, as_count, as_generator
from simulator._inputs import check_draft, check_logits
from simulator._request import Record, as_prompt, as_stops, checked_chain, how_picked
from simulator._rows import LogitRows, ProbabilityRows
from simulator._tally import Tally
from simulator.drafts import Chain
from simulator.generation import Generation, Round
from simulator.models import Draft, Drafter, Target
from simulator.rules import Rule, speculative_sampling
from simulator.sampling import Sampling
from simulator.stopping import ConfidenceThreshold, Heuristic
from simulator.verification import judge


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
    token more, and makes the target forget the rest. Drafts keep their full length up to the end:
    tokens behind `max_tokens` or a stop token are thrown away and counted as discarded, and only
    where the target's context ends are drafts cut. Without drafter and chain it is plain decoding
    through the same loop.

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
    dropped = drafter is not None and how_picked(drafter, chain) == "dropped"
    tally = Tally(chain, "confidence" if dropped else chain.length_rule)
    rounds: list[Round] = []
    length = _first_length(chain)
    ended: Literal["limit", "stop", "context"] | None = "stop" if first in stops else None
    while ended is None and len(text) < max_tokens:
        room = _room(target, tokens.size + len(text))
        if room < 0:
            ended = "context"
            break
        draft = _propose(drafter, chain, min(length, room), generator, target.vocabulary)
        logits = target.extend(np.array([text[-1], *draft.tokens.tolist()], dtype=np.int64))
        check_logits(logits, draft.tokens.size + 1, target.vocabulary)
        accepted, following = _judge(logits, draft, rule, sampling, generator)
        tested = min(accepted + 1, draft.tokens.size)
        emitted = [*draft.tokens[:accepted].tolist(), following]
        stop = next((i for i, token in enumerate(emitted) if token in stops), None)
        if stop is not None:
            if stop < accepted:  # nothing behind an accepted stop token is tested
                accepted = tested = stop + 1
            emitted = emitted[: stop + 1]
        if record == "every_position":
            emitted = emitted[:1]
        emitted = emitted[: max_tokens - len(text)]
        if emitted[-1] in stops:
            ended = "stop"
        tally.add(draft.tokens.size, tested, accepted, len(emitted))
        if record != "table":
            rounds.append(
                Round(
                    start=len(text),
                    drafted=draft.tokens.size,
                    tested=tested,
                    accepted=accepted,
                    emitted=len(emitted),
                )
            )
        text += emitted
        # The cache keeps the token that was fed and the emitted ones but the last, not yet read.
        target.rollback(draft.tokens.size + 1 - len(emitted))
        if drafter is not None:
            drafter.settle(np.array(emitted, dtype=np.int64))
        if isinstance(chain.stop, Heuristic):
            all_kept = accepted == draft.tokens.size
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


def _propose(
    drafter: Drafter | None,
    chain: Chain,
    length: int,
    rng: np.random.Generator,
    vocabulary: int,
) -> Draft:
    if drafter is None or length == 0:
        return Draft(tokens=np.empty(0, dtype=np.int64))
    stop = chain.stop
    if not isinstance(stop, ConfidenceThreshold):
        draft = drafter.propose(length, lambda _: True, rng)
        check_draft(draft, length, vocabulary)
        return draft
    last = [1.0]

    def keep_going(confidence: float) -> bool:
        last[0] = confidence
        return stop.goes_on(confidence)

    draft = drafter.propose(length, keep_going, rng)
    check_draft(draft, length, vocabulary)
    if stop.drops_last and draft.tokens.size and not stop.goes_on(last[0]):
        probs = None if draft.probs is None else draft.probs[:-1]
        return Draft(tokens=draft.tokens[:-1], probs=probs)
    return draft


def _judge(
    logits: npt.NDArray[np.float32] | npt.NDArray[np.float64],
    draft: Draft,
    rule: Rule,
    sampling: Sampling,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Accepted tokens and the one behind them, of one round."""
    if rule.name == "greedy":
        return _judge_greedy(logits, draft.tokens.tolist())
    size = draft.tokens.size
    verdict = judge(
        LogitRows(logits, sampling, "the target's logits"),
        _draft_rows(draft, logits.shape[1]),
        draft.tokens[None],
        rule=rule,
        rng=rng,
        where=(np.arange(size + 1)[None], np.arange(size)[None]),
    )
    return int(verdict.lengths[0]), int(verdict.next_token[0])


def _judge_greedy(
    logits: npt.NDArray[np.float32] | npt.NDArray[np.float64], drafted: list[int]
) -> tuple[int, int]:
    """What `judge` says under the greedy rule, without its arrays: a plain step has little time to lose."""
    best = logits.argmax(axis=1)
    if not np.isfinite(logits[np.arange(best.size), best]).all():
        raise ValueError(
            "the target's logits must not be NaN or plus infinity, and some token must be possible; "
            f"row {int(np.argmin(np.isfinite(logits[np.arange(best.size), best])))} breaks this."
        )
    wanted = best.tolist()
    accepted = 0
    while accepted < len(drafted) and drafted[accepted] == wanted[accepted]:
        accepted += 1
    return accepted, wanted[accepted]


def _draft_rows(draft: Draft, vocabulary: int) -> ProbabilityRows | None:
    if draft.probs is None and draft.tokens.size:
        return None
    return ProbabilityRows(np.empty((0, vocabulary)) if draft.probs is None else draft.probs)


def _first_token(
    target: Target, prompt: IntArray, rule: Rule, sampling: Sampling, rng: np.random.Generator
) -> int:
    """The token that prefill emits: what the rule emits behind an empty draft."""
    logits = target.start(prompt)[None]
    check_logits(logits, 1, target.vocabulary)
    nothing = Draft(tokens=np.empty(0, dtype=np.int64))
    return _judge(logits, nothing, rule, sampling, rng)[1]

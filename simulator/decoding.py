"""The one draft-verify-keep loop: on toy models in tests, on torch models for real."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from simulator._checks import IntArray, Rng, as_count, as_generator
from simulator._rows import LogitRows, ProbabilityRows
from simulator._tally import Tally
from simulator.acceptance import AcceptanceTable
from simulator.drafts import Chain
from simulator.models import Draft, Drafter, Target
from simulator.rules import Picked, Rule, speculative_sampling
from simulator.sampling import Sampling
from simulator.stopping import ConfidenceThreshold, Heuristic, Oracle
from simulator.verification import judge

Record: TypeAlias = Literal["table", "rounds", "every_position"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round of a text: where it began, and what became of its draft.

    `start` is the index in `Generation.tokens` of its first emitted token. `tested` is smaller than
    `drafted` behind a rejection and behind an accepted stop token; `emitted` tokens arrived.
    """

    start: int
    drafted: int
    tested: int
    accepted: int
    emitted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A generated text: `tokens` (the first one comes from prefill), its counts, its rounds if recorded.

    `ended` says why it stopped: the limit, a stop token, or the end of the model's context.
    """

    tokens: tuple[int, ...]
    table: AcceptanceTable
    ended: Literal["limit", "stop", "context"]
    rounds: tuple[Round, ...] = ()
    record: Record = "table"


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
    unless `allow_lossy`, and for an oracle, which no real loop has.

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
    chain = _checked_chain(drafter, chain, rule, record, allow_lossy=allow_lossy)
    stops = frozenset(stop_tokens)

    first = _first_token(target.start(tokens), rule, sampling, generator)
    if drafter is not None:
        drafter.start(tokens, sampling)
        drafter.settle(np.array([first], dtype=np.int64))
    text = [first]
    dropped = drafter is not None and _picked(drafter, chain) == "dropped"
    tally = Tally(chain, "confidence" if dropped else chain.length_rule)
    rounds: list[Round] = []
    length = _first_length(chain)
    ended: Literal["limit", "stop", "context"] | None = "stop" if first in stops else None
    while ended is None and len(text) < max_tokens:
        room = _room(target, tokens.size + len(text))
        if room < 0:
            ended = "context"
            break
        draft = _propose(drafter, chain, min(length, room), generator)
        logits = target.extend(np.array([text[-1], *draft.tokens.tolist()], dtype=np.int64))
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


def replay(generation: Generation, *, gamma: int) -> AcceptanceTable:
    """The counts that drafts of at most `gamma` tokens have on a text judged at every position.

    Exact for a drafter and a rule without chance; for drawn drafts the same in distribution only
    where positions are independent. Raises ValueError for a text recorded otherwise, and for a
    gamma above the recorded one.
    """
    if generation.record != "every_position":
        raise ValueError(
            f'generation must be recorded with record="every_position"; got {generation.record!r}.'
        )
    if generation.table.length_rule == "confidence":
        raise ValueError(
            "generation must have drafts whose length does not depend on the draft's confidence; "
            "shorter ones would have ended elsewhere."
        )
    depths = generation.table.depths
    chain = Chain(gamma=as_count("gamma", gamma, most=depths))
    tally = Tally(chain, chain.length_rule)
    position = 1
    while position < len(generation.tokens):
        judged = generation.rounds[position - 1]
        accepted = min(judged.accepted, gamma)
        emitted = min(accepted + 1, len(generation.tokens) - position)
        tally.add(min(judged.drafted, gamma), min(judged.tested, gamma), accepted, emitted)
        position += emitted
    return tally.table()


def as_prompt(prompt: npt.ArrayLike, target: Target) -> IntArray:
    """A prompt as token numbers [n >= 1] that the target knows and has room for; ValueError otherwise."""
    tokens = np.asarray(prompt)
    if tokens.ndim != 1 or tokens.size == 0 or tokens.dtype.kind not in "iu":
        raise ValueError(
            "prompt must be one token number or more in one dimension; "
            f"got {tokens.dtype} of shape {list(tokens.shape)}."
        )
    if not (tokens.min() >= 0 and tokens.max() < target.vocabulary):
        raise ValueError(
            f"prompt must hold tokens in [0, {target.vocabulary - 1}]; "
            f"got {tokens.min()} to {tokens.max()}."
        )
    if target.context is not None and tokens.size > target.context:
        raise ValueError(
            f"prompt must fit into the target's context of {target.context} tokens; "
            f"got {tokens.size}."
        )
    return tokens.astype(np.int64)


def _checked_chain(
    drafter: Drafter | None, chain: Chain | None, rule: Rule, record: Record, *, allow_lossy: bool
) -> Chain:
    if (drafter is None) != (chain is None):
        missing = "drafter" if drafter is None else "chain"
        raise ValueError(f"drafter and chain must be given together; {missing} is missing.")
    if record not in ("table", "rounds", "every_position"):
        raise ValueError(f"record must be 'table', 'rounds' or 'every_position'; got {record!r}.")
    if drafter is None or chain is None:
        return Chain(gamma=0)
    if isinstance(chain.stop, Oracle):
        raise ValueError("chain must not stop by an oracle: it knows what no drafter knows.")
    picked = _picked(drafter, chain)
    if not (allow_lossy or rule.is_lossless(picked)):
        raise ValueError(
            f"rule must be lossless for drafts that are {picked}; {rule.name} is not "
            "(allow_lossy=True runs it all the same)."
        )
    return chain


def _picked(drafter: Drafter, chain: Chain) -> Picked:
    drops = isinstance(chain.stop, ConfidenceThreshold) and chain.stop.drops_last
    return "dropped" if drops and drafter.picked == "drawn" else drafter.picked


def _first_length(chain: Chain) -> int:
    return chain.stop.first(gamma=chain.gamma) if isinstance(chain.stop, Heuristic) else chain.gamma


def _room(target: Target, length: int) -> int:
    """Drafted tokens that a pass behind `length` tokens of text can hold; -1: not even the last one."""
    return np.iinfo(np.int64).max if target.context is None else target.context - length


def _propose(drafter: Drafter | None, chain: Chain, length: int, rng: np.random.Generator) -> Draft:
    if drafter is None or length == 0:
        return Draft(tokens=np.empty(0, dtype=np.int64))
    stop = chain.stop
    if not isinstance(stop, ConfidenceThreshold):
        return drafter.propose(length, lambda _: True, rng)
    last = [1.0]

    def keep_going(confidence: float) -> bool:
        last[0] = confidence
        return stop.goes_on(confidence)

    draft = drafter.propose(length, keep_going, rng)
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
        LogitRows(logits, sampling),
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
        raise ValueError("the target's logits must not be NaN or plus infinity; they are.")
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
    logits: npt.NDArray[np.float32] | npt.NDArray[np.float64],
    rule: Rule,
    sampling: Sampling,
    rng: np.random.Generator,
) -> int:
    """The token that prefill emits: what the rule emits behind an empty draft."""
    nothing = Draft(tokens=np.empty(0, dtype=np.int64))
    return _judge(logits[None], nothing, rule, sampling, rng)[1]

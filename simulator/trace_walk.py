"""Walking recorded texts with drafts of another length: what is known of a round that begins anywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator._checks import IntArray, as_count
from simulator.drafts import MAX_GAMMA
from simulator.request_counts import RoundsInOrder, SimulatedRequests
from simulator.trace import TraceReplay

_KEPT, _REJECTED, _UNTESTED = 1, 0, -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """What a round that begins at a position does, all texts in one array, shape [positions] each.

    A round covers accepted + 1 positions, fewer at the end of its text. `known` is False where it
    needs a token that was never tested; `accepted` then are the tokens before that one. `first` and
    `behind` [texts] say where texts begin and end.
    """

    drafted: IntArray
    tested: IntArray
    accepted: IntArray
    known: npt.NDArray[np.bool_]
    first: IntArray
    behind: IntArray


def replay_texts(trace: TraceReplay, *, gamma: int) -> SimulatedRequests:
    """The counts of the recorded texts under drafts of at most `gamma` tokens, one request per text.

    From a record of every position the same as `replay`. From a record of rounds exact at its own
    draft length; at another one, rounds that need a token that was never tested are counted as
    `untested`, one such token each, and the next round begins behind that token: which of the two
    possible ways the text really went is not known. Raises ValueError for a gamma above the recorded
    one of an every-position record.

    >>> trace = TraceReplay(texts=(((2, 2), (2, 0), (2, 1)),))  # kept, kept, bonus; no; kept, no
    >>> replay_texts(trace, gamma=1).table.accepted, replay_texts(trace, gamma=1).untested
    ((2,), array([1]))
    """
    outcomes = outcomes_of(trace, gamma)
    texts = np.arange(outcomes.first.size)
    return walk(outcomes, gamma, texts, np.asarray(trace.lengths), None, record_steps=True)


def simulate_trace(
    trace: TraceReplay,
    gamma: int,
    requests: int,
    tokens: int,
    generator: np.random.Generator,
    record_steps: bool,  # noqa: FBT001
) -> SimulatedRequests:
    """Requests of recorded texts drawn at random, one behind the other until `tokens` are there."""
    outcomes = outcomes_of(trace, gamma)
    texts = generator.integers(outcomes.first.size, size=requests)
    needed = np.full(requests, tokens, dtype=np.int64)
    return walk(outcomes, gamma, texts, needed, generator, record_steps=record_steps)


def simulate_trace_rounds(
    trace: TraceReplay, gamma: int, rounds: int, requests: int, generator: np.random.Generator
) -> SimulatedRequests:
    """The same with as many rounds of each request, however many tokens these give."""
    outcomes = outcomes_of(trace, gamma)
    texts = generator.integers(outcomes.first.size, size=requests)
    endless = np.full(requests, np.iinfo(np.int64).max, dtype=np.int64)
    return walk(outcomes, gamma, texts, endless, generator, record_steps=False, rounds=rounds)


def outcomes_of(trace: TraceReplay, gamma: int) -> Outcomes:
    """What is known of rounds with drafts of gamma tokens, at every position."""
    gamma = as_count("gamma", gamma, most=trace.gamma if trace.every_position else MAX_GAMMA)
    sizes = [len(steps) for steps in trace.texts]
    drafted, accepted = np.concatenate(
        [np.array(steps, dtype=np.int64).T.reshape(2, -1) for steps in trace.texts], axis=1
    )
    lengths = np.asarray(trace.lengths)
    text = np.repeat(np.arange(len(sizes)), sizes)
    stopped = np.array(trace.stopped or (False,) * len(sizes))
    if trace.every_position:
        behind = np.cumsum(lengths)
        position = np.arange(drafted.size)
        tested = np.minimum(accepted + 1, drafted)
        # Nothing behind an accepted stop token was tested.
        at_stop = stopped[text] & (position + accepted >= behind[text])
        tested = np.where(at_stop, accepted, tested)
        return Outcomes(
            drafted=np.minimum(drafted, gamma),
            tested=np.minimum(tested, gamma),
            accepted=np.minimum(accepted, gamma),
            known=np.ones(drafted.size, dtype=np.bool_),
            first=behind - lengths,
            behind=behind,
        )
    # Every text gets room for what its last round kept beyond the end, and one position more.
    covered = np.bincount(text, weights=accepted + 1).astype(np.int64)
    room = covered + 1
    first = np.cumsum(room) - room
    begun = np.cumsum(accepted + 1) - (accepted + 1)  # with all texts close together
    starts = begun - (np.cumsum(covered) - covered)[text] + first[text]
    behind = first + lengths
    at_stop = stopped[text] & (starts + accepted >= behind[text])
    if gamma == trace.gamma:
        return _as_recorded(drafted, accepted, at_stop, starts, first, behind, int(room.sum()))
    rejected = (accepted < drafted) & ~at_stop
    return _from_verdicts(accepted, rejected, starts, first, behind, int(room.sum()), gamma)


def _as_recorded(
    drafted: IntArray,
    accepted: IntArray,
    at_stop: npt.NDArray[np.bool_],
    starts: IntArray,
    first: IntArray,
    behind: IntArray,
    size: int,
) -> Outcomes:
    placed = np.zeros((3, size), dtype=np.int64)
    tested = np.where(at_stop, accepted, np.minimum(accepted + 1, drafted))
    placed[:, starts] = drafted, tested, accepted
    return Outcomes(
        drafted=placed[0],
        tested=placed[1],
        accepted=placed[2],
        known=np.ones(size, dtype=np.bool_),
        first=first,
        behind=behind,
    )


def _from_verdicts(
    accepted: IntArray,
    rejected: npt.NDArray[np.bool_],
    starts: IntArray,
    first: IntArray,
    behind: IntArray,
    size: int,
    gamma: int,
) -> Outcomes:
    verdicts = np.full(size, _UNTESTED, dtype=np.int8)
    position = np.arange(size)
    inside = np.zeros(size + 1, dtype=np.int64)
    inside[starts] += 1
    np.subtract.at(inside, starts + accepted, 1)
    verdicts[np.cumsum(inside[:-1]) > 0] = _KEPT
    verdicts[(starts + accepted)[rejected]] = _REJECTED
    ends = np.where(verdicts == _KEPT, size, position)
    run = np.minimum.accumulate(ends[::-1])[::-1] - position  # kept tokens from here on
    kept = np.minimum(run, gamma)
    end_of_text = np.repeat(behind, np.diff(np.append(first, size)))
    whole = kept == gamma
    turned_down = ~whole & (verdicts[np.minimum(position + kept, size - 1)] == _REJECTED)
    # A draft that was kept up to the end of the text is known as far as the text goes.
    over = position + kept >= end_of_text
    return Outcomes(
        drafted=np.full(size, gamma, dtype=np.int64),
        tested=kept + turned_down,
        accepted=kept,
        known=whole | turned_down | over,
        first=first,
        behind=behind,
    )


def walk(
    outcomes: Outcomes,
    gamma: int,
    texts: IntArray,
    needed: IntArray,
    generator: np.random.Generator | None,
    *,
    record_steps: bool,
    rounds: int | None = None,
) -> SimulatedRequests:
    """Walk each request through its texts until `needed` tokens are there, for so many rounds at most.

    `texts` and `needed` [requests]. Without a generator a request ends with its text.
    """
    requests = texts.size
    ended = np.zeros((requests, gamma + 1), dtype=np.int64)
    rejected = np.zeros((requests, gamma + 1), dtype=np.int64)
    undrafted, drafted, discarded, untested, untested_tokens = np.zeros(
        (5, requests), dtype=np.int64
    )
    here, behind = outcomes.first[texts], outcomes.behind[texts]
    left = needed.copy()
    going = np.arange(requests)
    recorded: list[tuple[IntArray, IntArray, IntArray]] = []
    shortened = False
    walked = 0
    while going.size and walked != rounds:
        walked += 1
        at = here[going]
        accepted, known = outcomes.accepted[at], outcomes.known[at]
        room = np.minimum(left[going], behind[going] - at)
        arrived = np.minimum(accepted + 1, room)
        untested[going] += ~known
        untested_tokens[going] += np.where(known, 0, arrived)
        sure, of = going[known], at[known]
        kept, length = accepted[known], outcomes.drafted[of]
        ended[sure, kept] += 1
        rejected[sure, kept] += outcomes.tested[of] > kept
        drafted[sure] += length
        undrafted[sure] += (length == 0) & (gamma > 0)
        discarded[sure] += kept + 1 - arrived[known]
        shortened |= bool((length < gamma).any())
        if record_steps:
            recorded.append((sure, length, kept))
        here[going] += arrived
        left[going] -= arrived
        going = going[left[going] > 0]
        if generator is not None:
            anew = going[here[going] >= behind[going]]
            drawn = generator.integers(outcomes.first.size, size=anew.size)
            here[anew], behind[anew] = outcomes.first[drawn], outcomes.behind[drawn]
    reached = ended[:, ::-1].cumsum(axis=1)[:, ::-1]
    return SimulatedRequests(
        gamma=gamma,
        tokens=needed - left,
        rounds=np.ascontiguousarray(reached[:, 0]),
        undrafted=undrafted,
        drafted=drafted,
        discarded=discarded,
        tested=reached[:, 1:] + rejected[:, :gamma],
        accepted=reached[:, 1:].copy(),
        ended=ended,
        untested=untested,
        untested_tokens=untested_tokens,
        length_rule="scheduled" if shortened else "fixed",
        in_order=_in_order(recorded) if record_steps else None,
    )


def _in_order(recorded: list[tuple[IntArray, IntArray, IntArray]]) -> RoundsInOrder:
    request, drafted, accepted = (np.concatenate(column) for column in zip(*recorded, strict=True))
    order = np.argsort(request, kind="stable")
    return RoundsInOrder(request=request[order], drafted=drafted[order], accepted=accepted[order])

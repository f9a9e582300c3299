"""Whole requests: rounds until a number of tokens is there, many requests at a time.

Every position of a text is a token that was kept, one that was rejected and corrected, or a bonus, so
tokens + gamma steps over all requests side by side walk every text to its end, whatever its rounds.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simulator._checks import IntArray, Rng, as_count, as_generator
from simulator._positions import TEXTS_AT_ONCE, Flags, Positions, Source
from simulator.processes import AcceptanceByDepth
from simulator.request_counts import RoundsInOrder, SimulatedRequests, counted
from simulator.strategies import Strategy, chain_of
from simulator.trace import TraceReplay
from simulator.trace_walk import simulate_trace

MAX_TOKENS = 10**6
"""Tokens that `simulate_requests` agrees to walk in one request."""
MAX_POSITIONS = 10**11
"""Positions that it agrees to walk in all."""
MAX_CELLS = 5 * 10**7
"""Counts by request and depth that it agrees to hold (24 bytes each), and rounds in order."""
_FEW_DEPTHS = 12  # up to here a pass per depth is faster than sorting rounds into cells
_CHUNK = 1 << 20  # positions of a chunk of requests, a few bytes each: they stay in a core's cache


def simulate_requests(
    strategy: Strategy, *, requests: int, tokens: int, rng: Rng, record_steps: bool = False
) -> SimulatedRequests:
    """Simulate `requests` requests, each in rounds until `tokens` tokens are there.

    The last round may overshoot; what it kept beyond the end is counted as discarded, so that every
    round has the same law. The token of prefill belongs to no round and is not among `tokens`. The
    same `rng` gives the same counts, and with fewer requests the first of them. `record_steps` keeps
    the rounds in order.

    A `TraceReplay` gives each request a recorded text drawn at random, and another one where it
    ends; rounds that need a token that was never tested are counted as `untested` and not made up.

    Raises ValueError for requests or tokens below 1 or beyond the limits, for drafts that may end
    early, and for trees.

    >>> from simulator import EasyHardChain, draft_model
    >>> chain = EasyHardChain(p_easy=0.9, p_hard=0.3, stay_easy=0.9, stay_hard=0.7)
    >>> run = simulate_requests(draft_model(acceptance=chain, gamma=4), requests=2000, tokens=256, rng=0)
    >>> run.tokens_per_round
    2.9036 ± 0.0053
    >>> run.table.discarded == run.table.rounds + sum(run.table.accepted) - 2000 * 256
    True
    """
    requests = as_count("requests", requests, least=1)
    tokens = as_count("tokens", tokens, least=1, most=MAX_TOKENS)
    draft, process = chain_of(strategy, "simulate_requests")
    if not draft.is_fixed:
        raise ValueError(
            f"simulate_requests takes drafts of fixed length; got {draft}: "
            "simulate counts rounds under every stopping rule, with requests as streams."
        )
    gamma = draft.gamma
    if requests * (tokens + gamma) > MAX_POSITIONS:
        raise ValueError(
            f"requests × (tokens + gamma) must be at most {MAX_POSITIONS:.0e}; "
            f"got {requests} × {tokens + gamma}."
        )
    held = max(requests * (gamma + 1), requests * tokens if record_steps else 0)
    if held > MAX_CELLS:
        what = "requests × tokens" if record_steps else "requests × (gamma + 1)"
        raise ValueError(
            f"{what} must be at most {MAX_CELLS:.0e} to be held in memory; got {held}."
        )
    generator = as_generator(rng)
    if isinstance(process, TraceReplay):
        return simulate_trace(process, gamma, requests, tokens, generator, record_steps)
    source = Source(process, gamma, generator)
    positions = tokens + gamma
    kept_below = _ranks(process, gamma) if isinstance(process, AcceptanceByDepth) else None
    chunk = max(_CHUNK // positions // TEXTS_AT_ONCE, 1) * TEXTS_AT_ONCE
    parts = []
    for first in range(0, requests, chunk):
        texts = min(chunk, requests - first)
        source.begin(texts)
        drawn = source.next(texts, positions)
        parts.append(_count(drawn, tokens, gamma, kept_below, record_steps))
    return SimulatedRequests.joined(parts)


def _ranks(process: AcceptanceByDepth, gamma: int) -> npt.NDArray[np.uint16]:
    """A token is kept if its rank is below this, by what is left of the draft: shape [gamma + 1]."""
    chances = process.conditional(gamma)
    below = np.searchsorted(sorted(set(chances)), chances) + 1
    return np.append(below, 0)[::-1].astype(np.uint16)


def _count(
    drawn: Positions,
    tokens: int,
    gamma: int,
    kept_below: npt.NDArray[np.uint16] | None,
    record_steps: bool,  # noqa: FBT001
) -> SimulatedRequests:
    left = _walk(drawn, gamma, kept_below)
    ends = left[1:] == gamma  # the next position is the first of a round
    positions, texts = ends.shape
    discarded = _cut(ends, left, gamma, tokens)
    missed: IntArray = np.zeros(texts, dtype=np.int64)
    plain = None
    if drawn.found is not None and gamma:
        plain = (left[:-1] == gamma) & ~drawn.found & ends
        missed = plain.sum(axis=0, dtype=np.int64)
    in_order = None
    if record_steps:
        text, position = np.divmod(np.flatnonzero(np.ascontiguousarray(ends.T)), positions)
        accepted = gamma - left[position, text].astype(np.int64)
        drafted = np.full(text.size, gamma, dtype=np.int64)
        if plain is not None:
            drafted[plain[position, text]] = 0
        in_order = RoundsInOrder(request=text, drafted=drafted, accepted=accepted)
    return counted(
        tokens=np.full(texts, tokens, dtype=np.int64),
        ended=_histogram(left[:-1], ends, gamma),
        undrafted=missed,
        discarded=discarded,
        in_order=in_order,
    )


def _walk(
    drawn: Positions, gamma: int, kept_below: npt.NDArray[np.uint16] | None
) -> npt.NDArray[np.unsignedinteger]:
    """How many tokens of the draft are still to come at every position, [positions + 1, texts].

    gamma where a round begins, 0 at its bonus. Behind a token that was kept it is one less, behind
    one that was not, and behind the bonus, it is gamma: min((left - 1) | lost, gamma) in whole
    numbers that wrap around at 0, with all bits of `lost` set where the token was not kept.
    """
    verdicts = drawn.ranks if drawn.kept is None else drawn.kept
    assert verdicts is not None  # noqa: S101 — one of the two is always drawn
    positions, texts = verdicts.shape
    small = np.dtype(np.uint8 if gamma < 255 else np.uint16)
    left = np.full((positions + 1, texts), gamma, dtype=small)
    one, most = np.ones(texts, dtype=small), np.full(texts, gamma, dtype=small)
    lost = np.empty(texts, dtype=small)
    if drawn.ranks is None and drawn.found is None:
        every = verdicts.astype(small)  # [positions, texts]
        every -= small.type(1)
        for now, following, lost in zip(left, left[1:], every, strict=False):
            np.subtract(now, one, following)
            np.bitwise_or(following, lost, following)
            np.minimum(following, most, out=following)
        return left
    right = np.zeros(texts, dtype=np.bool_)
    for i in range(positions):
        now, following = left[i], left[i + 1]
        if kept_below is not None:
            kept = verdicts[i] < kept_below.take(now)
        else:
            kept = _kept_of_draft(drawn, i, now == gamma, right)
        np.subtract(kept, one, out=lost, dtype=small)
        np.subtract(now, one, following)
        np.bitwise_or(following, lost, following)
        np.minimum(following, most, out=following)
    return left


def _kept_of_draft(drawn: Positions, i: int, fresh: Flags, right: Flags) -> Flags:
    """Whether tokens are kept that depend on the draft they are of; `right` goes on to the next position."""
    assert drawn.kept is not None and drawn.kept_wrong is not None  # noqa: S101, PT018
    assert drawn.right is not None and drawn.found is not None  # noqa: S101, PT018
    np.copyto(right, drawn.right[i], where=fresh)
    kept = np.where(right, drawn.kept[i], drawn.kept_wrong[i])
    return np.asarray(kept & (drawn.found[i] | ~fresh))


def _cut(ends: Flags, left: npt.NDArray[np.unsignedinteger], gamma: int, tokens: int) -> IntArray:
    """Take away the rounds that begin behind the end of a text; how far the last one overshoots."""
    positions, texts = ends.shape
    overshoot: IntArray = np.zeros(texts, dtype=np.int64)
    running = np.ones(texts, dtype=np.bool_)
    for i in range(tokens, positions):
        running &= left[i] != gamma
        if not running.any():
            ends[i:] = False
            break
        overshoot += running
        ends[i] &= running
    return overshoot


def _histogram(left: npt.NDArray[np.unsignedinteger], ends: Flags, gamma: int) -> IntArray:
    """Rounds of each text by number of accepted tokens, shape [texts, gamma + 1]."""
    positions, texts = ends.shape
    if gamma >= _FEW_DEPTHS:
        position, text = np.divmod(np.flatnonzero(ends), texts)
        cells = text * (gamma + 1) + (gamma - left[position, text].astype(np.int64))
        counts = np.bincount(cells, minlength=texts * (gamma + 1))
        return counts.reshape(texts, gamma + 1)
    ended = np.zeros((texts, gamma + 1), dtype=np.int64)
    for depth in range(gamma + 1):
        here = ((left == gamma - depth) & ends).view(np.uint8)
        for first in range(0, positions, 255):  # so many ones still fit into a byte
            ended[:, depth] += np.add.reduce(here[first : first + 255], axis=0, dtype=np.uint8)
    return ended

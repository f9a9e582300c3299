"""The Monte Carlo engine for drafts that may end before gamma: every drafted token is drawn, and counted.

Where the draft decides (confidence, oracle) rounds are exchangeable, and the engine goes depth by
depth over those that still draft, as `simulator.engine` does. Only counts are kept: how many of
them still have every token kept, and how many draft on behind a token that will be rejected.

Where the past decides (heuristic) the rounds of a request follow each other. How many tokens of a
full draft the target would keep does not depend on the length, so these are drawn first, for a
block of rounds of all requests at once; then the lengths are followed round by round, all requests
side by side. One generator per depth makes the counts independent of the block size, and the first
n rounds of longer requests those of requests of n rounds.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, IntArray, as_count
from simulator.acceptance import AcceptanceTable
from simulator.flips import Progress, count_flips
from simulator.processes import ConfidentAcceptance
from simulator.stopping import ConfidenceThreshold, Heuristic
from simulator.strategies import Strategy

MAX_ROUNDS = 10**9
"""Rounds of drafts that may end early that `simulate` agrees to run."""
MAX_STREAMS = 10**6
"""Requests side by side: their lengths are held in memory."""
_CHUNK = 1 << 16  # tokens or rounds at a time


def simulate_stopped(
    strategy: Strategy,
    rounds: int,
    streams: int,
    generator: np.random.Generator,
    progress: Progress | None,
) -> AcceptanceTable:
    """The counts of `rounds` rounds under the stopping rule of the strategy's draft."""
    as_count("rounds", rounds, most=MAX_ROUNDS)
    stop = strategy.draft.stop
    if isinstance(stop, Heuristic):
        as_count("streams", streams, most=MAX_STREAMS)
        return _heuristic(strategy, stop, rounds // streams, streams, generator, progress)
    if isinstance(stop, ConfidenceThreshold):
        return _confidence(strategy, stop, rounds, generator, progress)
    return _oracle(strategy, rounds, generator, progress)


def _oracle(
    strategy: Strategy, rounds: int, generator: np.random.Generator, progress: Progress | None
) -> AcceptanceTable:
    accepted: list[int] = []
    alive = rounds
    for depth, p in enumerate(strategy.conditional_acceptance):
        alive = count_flips(generator, p, alive)
        accepted.append(alive)
        if progress is not None:
            progress((depth + 1) / strategy.draft.gamma)
    return AcceptanceTable(
        rounds=rounds,
        drafted=sum(accepted),
        tested=tuple(accepted),
        accepted=tuple(accepted),
        length_rule=strategy.draft.length_rule,
    )


def _confidence(
    strategy: Strategy,
    stop: ConfidenceThreshold,
    rounds: int,
    generator: np.random.Generator,
    progress: Progress | None,
) -> AcceptanceTable:
    law = strategy.acceptance
    assert isinstance(law, ConfidentAcceptance)  # noqa: S101 — Strategy refuses anything else
    tested: list[int] = []
    accepted: list[int] = []
    drafted = 0
    whole, doomed = rounds, 0  # rounds still drafting: all tokens kept so far, or one rejected
    for depth in range(strategy.draft.gamma):
        high, high_kept, low_kept = _draw_tokens(generator, law, stop, whole)
        high_doomed = _draw_confidences(generator, law, stop, doomed)
        if stop.drops_last:
            tested.append(high)
            accepted.append(high_kept)
            drafted += high + high_doomed
        else:
            tested.append(whole)
            accepted.append(high_kept + low_kept)
            drafted += whole + doomed
        whole, doomed = high_kept, high - high_kept + high_doomed
        if progress is not None:
            progress((depth + 1) / strategy.draft.gamma)
    return AcceptanceTable(
        rounds=rounds,
        drafted=drafted,
        tested=tuple(tested),
        accepted=tuple(accepted),
        length_rule=strategy.draft.length_rule,
    )


def _draw_tokens(
    generator: np.random.Generator, law: ConfidentAcceptance, stop: ConfidenceThreshold, n: int
) -> tuple[int, int, int]:
    """Of n tokens: those confident enough to draft on, how many of these are kept, and of the others."""
    chances = np.asarray(law.accepted)
    high = high_kept = low_kept = 0
    for start in range(0, n, _CHUNK):
        uniforms = generator.random((min(_CHUNK, n - start), 2))  # by token: chunks change nothing
        levels = _levels(law, uniforms[:, 0])
        confident = _is_confident(law, stop)[levels]
        kept = uniforms[:, 1] < chances[levels]
        high += int(np.count_nonzero(confident))
        high_kept += int(np.count_nonzero(confident & kept))
        low_kept += int(np.count_nonzero(~confident & kept))
    return high, high_kept, low_kept


def _draw_confidences(
    generator: np.random.Generator, law: ConfidentAcceptance, stop: ConfidenceThreshold, n: int
) -> int:
    """Of n tokens that nobody will test, those confident enough to draft on."""
    high = 0
    for start in range(0, n, _CHUNK):
        levels = _levels(law, generator.random(min(_CHUNK, n - start)))
        high += int(np.count_nonzero(_is_confident(law, stop)[levels]))
    return high


def _levels(law: ConfidentAcceptance, uniforms: FloatArray) -> IntArray:
    """The level that each uniform number falls on; never one of weight 0."""
    running = np.cumsum(law.weights)
    return np.searchsorted(running / running[-1], uniforms, side="right")


def _is_confident(law: ConfidentAcceptance, stop: ConfidenceThreshold) -> npt.NDArray[np.bool_]:
    return np.array([stop.goes_on(level) for level in law.levels])


def _heuristic(
    strategy: Strategy,
    stop: Heuristic,
    rounds: int,
    streams: int,
    generator: np.random.Generator,
    progress: Progress | None,
) -> AcceptanceTable:
    gamma = strategy.draft.gamma
    conditional = strategy.conditional_acceptance
    generators = [
        np.random.default_rng(seed) for seed in generator.integers(0, 1 << 63, size=(gamma, 2))
    ]
    tested, accepted = (np.zeros(gamma + 1, dtype=np.int64) for _ in range(2))  # by depth, from 1
    drafted = 0
    length = np.full(streams, stop.first(gamma=gamma))
    block = max(_CHUNK // streams, 1)
    for start in range(0, rounds, block):
        size = min(block, rounds - start)
        keepable = _keepable(generators, conditional, size * streams).reshape(size, streams)
        lengths = np.empty_like(keepable)
        for row in range(size):
            lengths[row] = length
            longer = np.minimum(length + stop.step_up, gamma)
            shorter = np.maximum(length - stop.step_down, 1)
            length = np.where(keepable[row] >= length, longer, shorter)
        tested += _reached(np.minimum(keepable + 1, lengths), gamma)
        accepted += _reached(np.minimum(keepable, lengths), gamma)
        drafted += int(lengths.sum())
        if progress is not None:
            progress((start + size) / rounds)
    return AcceptanceTable(
        rounds=rounds * streams,
        drafted=drafted,
        tested=tuple(int(count) for count in tested[1:]),
        accepted=tuple(int(count) for count in accepted[1:]),
        length_rule=strategy.draft.length_rule,
    )


def _keepable(
    generators: list[np.random.Generator], conditional: tuple[float, ...], n: int
) -> IntArray:
    """Tokens that the target would keep of n full drafts, shape [n]: one flip per surviving draft."""
    keepable = np.zeros(n, dtype=np.int64)
    alive = np.arange(n)
    for depth, (generator, p) in enumerate(zip(generators, conditional, strict=True), start=1):
        alive = alive[generator.random(alive.size) < p]
        if not alive.size:
            break
        keepable[alive] = depth
    return keepable


def _reached(values: IntArray, gamma: int) -> IntArray:
    """How many values are at least i, for i = 0..gamma."""
    counts = np.bincount(values.ravel(), minlength=gamma + 1)
    return counts[::-1].cumsum()[::-1]

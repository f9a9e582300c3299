"""The Monte Carlo engine for candidates side by side: the tokens of every candidate are flipped.

Which candidate is the longest is a matter of single rounds, so that these are kept apart, a block at a
time. One generator per token of the tree makes the counts independent of the size of the block.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simulator._checks import IntArray
from simulator.acceptance import AcceptanceTable
from simulator.flips import Progress, count_flips, flip
from simulator.parallel_candidates import ParallelCandidates
from simulator.strategies import Strategy

_CHUNK = 1 << 15  # rounds at a time: what is held of them stays in a core's cache


def walk_parallel(
    strategy: Strategy,
    rounds: int,
    generator: np.random.Generator,
    progress: Progress | None = None,
) -> IntArray:
    """Rounds that found candidates, then those that kept each node, shape [1 + nodes]."""
    law, gamma = _law(strategy), strategy.draft.gamma
    hits = rounds if law.hit == 1.0 else count_flips(generator, law.hit, rounds)
    ended = np.zeros((law.candidates, gamma + 1), dtype=np.int64)  # by candidate and its length
    done = 0
    for longest, winner in _blocks(law, gamma, hits, generator):
        cells = winner * (gamma + 1) + longest
        ended += np.bincount(cells, minlength=ended.size).reshape(ended.shape)
        done += longest.size
        if progress is not None:
            progress(done / hits)
    kept = ended[:, ::-1].cumsum(axis=1)[:, ::-1]  # rounds in which a candidate had that length
    return np.append(hits, kept[:, 1:].ravel())


def follow_parallel(strategy: Strategy, rounds: int, generator: np.random.Generator) -> IntArray:
    """Accepted tokens of each round, shape [rounds], by the draws of `walk_parallel`."""
    law, gamma = _law(strategy), strategy.draft.gamma
    found = np.arange(rounds)
    if law.hit < 1.0:
        found = np.flatnonzero(flip(generator, law.hit, rounds))
    lengths = np.zeros(rounds, dtype=np.int64)
    start = 0
    for longest, _ in _blocks(law, gamma, found.size, generator):
        lengths[found[start : start + longest.size]] = longest
        start += longest.size
    return lengths


def count_parallel(strategy: Strategy, rounds: int, generator: np.random.Generator) -> IntArray:
    """Rounds that found candidates, then those that kept each depth, shape [1 + gamma], as binomials.

    Rounds with equally many tokens so far are one count, of which candidate after candidate takes
    those that it outdoes.
    """
    law, gamma = _law(strategy), strategy.draft.gamma
    hits = int(generator.binomial(rounds, law.hit))
    ended = [hits, *[0] * gamma]  # by the longest candidate so far
    conditional = law.conditional(gamma)
    for _ in range(law.candidates):
        for best in reversed(range(gamma)):  # from long to short: none is looked at twice
            alive = ended[best]
            for depth, p in enumerate(conditional, start=1):
                if not alive:
                    break
                kept = int(generator.binomial(alive, p))
                if depth > best:
                    ended[depth - 1] -= kept
                    ended[depth] += kept
                alive = kept
    return np.array(ended[::-1], dtype=np.int64).cumsum()[::-1]


def parallel_table(strategy: Strategy, rounds: int, by_depth: IntArray) -> AcceptanceTable:
    """The table of rounds of which by_depth[0] found candidates and by_depth[i] kept i tokens."""
    counts = tuple(by_depth.tolist())
    return AcceptanceTable(
        rounds=rounds,
        drafted=counts[0] * strategy.draft.nodes,
        tested=counts[:-1],
        accepted=counts[1:],
        length_rule=strategy.draft.length_rule,
    )


def _law(strategy: Strategy) -> ParallelCandidates:
    assert isinstance(strategy.acceptance, ParallelCandidates)  # noqa: S101 — the engine asks first
    return strategy.acceptance


def _blocks(
    law: ParallelCandidates, gamma: int, rounds: int, generator: np.random.Generator
) -> Iterator[tuple[IntArray, IntArray]]:
    """The longest candidate's length and its number, the first of equals, for a block of rounds each."""
    conditional = law.conditional(gamma)
    seeds = generator.integers(0, 1 << 63, size=(law.candidates, gamma, 2))
    generators = [[np.random.default_rng(seed) for seed in row] for row in seeds]
    for start in range(0, rounds, _CHUNK):
        size = min(_CHUNK, rounds - start)
        longest, winner = (np.zeros(size, dtype=np.int64) for _ in range(2))
        for candidate, own in enumerate(generators):
            alive = np.arange(size)
            for depth, (one, p) in enumerate(zip(own, conditional, strict=True), start=1):
                alive = alive[one.random(alive.size) < p]
                if not alive.size:
                    break
                longer = alive[longest[alive] < depth]
                longest[longer] = depth
                winner[longer] = candidate
        yield longest, winner

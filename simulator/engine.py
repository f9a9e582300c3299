"""The Monte Carlo engine: flips the tokens that are really tested, and counts.

A round tests its first token, then the next one only if that was kept. Rounds are exchangeable, so
the engine goes depth by depth over all surviving rounds and flips once per tested token: nothing is
drawn for tokens behind a rejection, and no formula for the outcome is used. Drafts that end early
are the business of `simulator.stopped`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from simulator._checks import IntArray, Rng, as_count, as_generator
from simulator._streams import simulate_streams
from simulator.acceptance import AcceptanceTable
from simulator.flips import Progress, count_flips, flip
from simulator.mixtures import TEXT_PROCESSES
from simulator.parallel_candidates import ParallelCandidates
from simulator.parallel_walk import (
    count_parallel,
    follow_parallel,
    parallel_table,
    walk_parallel,
)
from simulator.stopped import simulate_stopped
from simulator.strategies import Strategy, chain_of, described
from simulator.tree_walk import count, expected_draws, follow, tree_table, walk
from simulator.trees import Tree

MAX_FLIPS = 10**11
"""Tokens that `simulate` agrees to flip; beyond it `simulate_counts` has the same distribution."""
_SAMPLE = 1 << 22  # flips timed to say how long a refused run would take
MAX_LENGTHS = 10**8
"""Rounds whose lengths `simulate_lengths` agrees to hold (8 bytes each)."""
MAX_COUNTED = 2**62
"""Rounds that `simulate_counts` can draw: its binomials are 64-bit."""


def simulate(
    strategy: Strategy,
    *,
    rounds: int,
    rng: Rng,
    progress: Progress | None = None,
    streams: int = 1,
) -> AcceptanceTable:
    """Flip every tested token of `rounds` rounds and return the counts by depth.

    Depth i flips once for each round that survived so far, with the conditional acceptance of that
    depth; in a tree every node with children draws, once for each round that kept it, which child is
    kept. Memory does not grow with `rounds`, and the same `rng` gives the same counts. `progress` is
    called with the share done.

    A stopping rule that looks back (`Heuristic`) needs to know which rounds follow each other:
    `rounds` are those of `streams` requests side by side, rounds / streams each, and every request
    begins anew. The same holds for acceptance that differs between requests or along the text
    (`BetaMixture`, `EasyHardChain`, `HitMiss`, `TraceReplay`): one request has one p, or one text.
    Otherwise rounds are independent and `streams` changes nothing. The table of a draft that may end
    early carries its `length_rule`.

    Raises ValueError for rounds below 1, rounds that are no multiple of streams, more than
    `MAX_FLIPS` expected flips, more than 10^9 rounds of drafts that may end early, and a trace in
    which tokens that these drafts test were never tested.

    >>> from simulator import draft_model
    >>> table = simulate(draft_model(p=0.7, gamma=4), rounds=200_000, rng=0)
    >>> table.tokens_per_round
    2.7778 ± 0.0035
    """
    rounds = as_count("rounds", rounds, least=1)
    streams = as_count("streams", streams, least=1)
    if rounds % streams:
        raise ValueError(
            "rounds must be a multiple of streams, so that every request has as many; "
            f"got {rounds} rounds and {streams} streams."
        )
    generator = as_generator(rng)
    if strategy.is_tree:
        return _simulate_tree(strategy, rounds, generator, progress)
    if not strategy.draft.is_fixed:
        return simulate_stopped(strategy, rounds, streams, generator, progress)
    gamma, (_, process) = strategy.draft.gamma, chain_of(strategy, "simulate")
    if isinstance(process, TEXT_PROCESSES):
        as_count("rounds × (gamma + 1)", rounds * (gamma + 1), most=MAX_FLIPS)
        return simulate_streams(process, gamma, rounds, streams, generator, progress)
    conditional = strategy.conditional_acceptance
    expected = _expected_flips(rounds, conditional)
    if expected > MAX_FLIPS:
        seconds = _timed(lambda: count_flips(np.random.default_rng(0), 0.7, _SAMPLE))
        raise ValueError(_too_many(rounds, expected, seconds / _SAMPLE))
    accepted: list[int] = []
    alive, done = rounds, 0.0
    for p in conditional:
        share = alive / expected
        report = None if progress is None else _part_of(progress, done, share)
        done += share
        alive = count_flips(generator, p, alive, report)
        accepted.append(alive)
    return _table(strategy, rounds, accepted)


def simulate_lengths(strategy: Strategy, *, rounds: int, rng: Rng) -> IntArray:
    """Accepted tokens of each round, shape [rounds], for plots and for requests made of rounds.

    Draws as `simulate` does: the same `rng` gives the same counts. Raises ValueError for rounds
    outside [1, MAX_LENGTHS] and for drafts that may end early.

    >>> from simulator import draft_model
    >>> simulate_lengths(draft_model(p=0.7, gamma=4), rounds=8, rng=1)
    array([0, 4, 0, 2, 4, 0, 2, 0])
    """
    rounds = as_count("rounds", rounds, least=1, most=MAX_LENGTHS)
    _refuse_stops("simulate_lengths", strategy)
    generator = as_generator(rng)
    if isinstance(strategy.acceptance, ParallelCandidates):
        return follow_parallel(strategy, rounds, generator)
    if strategy.is_tree:
        return follow(strategy, rounds, generator)
    lengths = np.zeros(rounds, dtype=np.int64)
    survivors: IntArray | None = None  # [alive] indices of rounds; None while all are alive
    for depth, p in enumerate(strategy.conditional_acceptance, start=1):
        kept = flip(generator, p, rounds if survivors is None else survivors.size)
        survivors = np.flatnonzero(kept) if survivors is None else survivors[kept]
        lengths[survivors] = depth
    return lengths


def simulate_counts(strategy: Strategy, *, rounds: int, rng: Rng) -> AcceptanceTable:
    """The counts of `simulate` drawn directly: accepted[i] ~ Binomial(tested[i], p[i]).

    In a tree the children of a node are one multinomial. The same distribution as flipping, in
    O(gamma) or O(nodes) time for any number of rounds. Raises ValueError
    for rounds outside [1, MAX_COUNTED] and for drafts that may end early.

    >>> from simulator import draft_model
    >>> table = simulate_counts(draft_model(p=0.7, gamma=4), rounds=10**9, rng=0)
    >>> round(table.tokens_per_round.value, 3)
    2.773
    """
    rounds = as_count("rounds", rounds, least=1, most=MAX_COUNTED)
    _refuse_stops("simulate_counts", strategy)
    generator = as_generator(rng)
    if isinstance(strategy.acceptance, ParallelCandidates):
        return parallel_table(strategy, rounds, count_parallel(strategy, rounds, generator))
    if strategy.is_tree:
        return tree_table(strategy, count(strategy, rounds, generator))
    accepted: list[int] = []
    alive = rounds
    for p in strategy.conditional_acceptance:
        alive = int(generator.binomial(alive, p))
        accepted.append(alive)
    return _table(strategy, rounds, accepted)


def simulate_nodes(strategy: Strategy, *, rounds: int, rng: Rng) -> IntArray:
    """Rounds of `simulate` that kept each node of the strategy's tree, shape [nodes].

    The same `rng` gives the same counts. Raises ValueError for a chain, for a dynamic tree, of which
    nodes differ between rounds, for rounds below 1 and more than `MAX_FLIPS` expected draws.

    >>> from simulator import Tree, medusa
    >>> strategy = medusa(accuracies=((0.5, 0.25), (0.5,)), tree=Tree.from_paths([(0,), (1,), (0, 0)]))
    >>> simulate_nodes(strategy, rounds=10_000, rng=0)
    array([4956, 2469, 2492])
    """
    rounds = as_count("rounds", rounds, least=1)
    if not isinstance(strategy.draft, Tree):
        raise ValueError(
            f"simulate_nodes takes one tree for all rounds; got {described(strategy)}."
        )
    _refuse_draws(strategy, rounds)
    generator = as_generator(rng)
    if isinstance(strategy.acceptance, ParallelCandidates):
        return walk_parallel(strategy, rounds, generator)[1:]
    nodes = np.zeros(1 + strategy.nodes, dtype=np.int64)
    for kind in walk(strategy, rounds, generator):  # all kinds have the same tree
        nodes += kind
    return nodes[1:]


def _simulate_tree(
    strategy: Strategy, rounds: int, generator: np.random.Generator, progress: Progress | None
) -> AcceptanceTable:
    _refuse_draws(strategy, rounds)
    law, gamma = strategy.acceptance, strategy.draft.gamma
    if not isinstance(law, ParallelCandidates):
        return tree_table(strategy, walk(strategy, rounds, generator, progress))
    kept = walk_parallel(strategy, rounds, generator, progress)
    by_depth = kept[1:].reshape(law.candidates, gamma).sum(axis=0)
    return parallel_table(strategy, rounds, np.append(kept[0], by_depth))


def _refuse_draws(strategy: Strategy, rounds: int) -> None:
    expected = expected_draws(strategy, rounds)
    if expected > MAX_FLIPS:
        few = 1 << 14
        seconds = _timed(lambda: _simulate_tree(strategy, few, np.random.default_rng(0), None))
        raise ValueError(_too_many(rounds, expected, seconds / expected_draws(strategy, few)))


def _refuse_stops(function: str, strategy: Strategy) -> None:
    if not strategy.draft.is_fixed:
        raise ValueError(
            f"{function} takes drafts of fixed length; got {strategy.draft}: "
            "simulate counts rounds under every stopping rule."
        )


def _table(strategy: Strategy, rounds: int, accepted: list[int]) -> AcceptanceTable:
    return AcceptanceTable(
        rounds=rounds,
        drafted=rounds * strategy.draft.nodes,
        tested=(rounds, *accepted)[: len(accepted)],
        accepted=tuple(accepted),
    )


def _part_of(progress: Progress, done: float, share: float) -> Progress:
    """Progress of one depth as progress of the whole run."""
    return lambda part: progress(min(done + share * part, 1.0))


def _expected_flips(rounds: int, conditional: tuple[float, ...]) -> float:
    """Tokens a run will test on average: only for the limit and the progress bar."""
    alive, flips = float(rounds), 0.0
    for p in conditional:
        flips += alive
        alive *= p
    return max(flips, 1.0)


def _timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _too_many(rounds: int, expected: float, seconds_each: float) -> str:
    return (
        f"rounds must ask for at most {MAX_FLIPS:.0e} flipped tokens; got {rounds}, which would flip "
        f"about {expected:.1e} and take about {expected * seconds_each / 3600:.2g} hours here: "
        "simulate_counts (on the command line --counts) draws the same counts at once."
    )

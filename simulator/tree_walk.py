"""The Monte Carlo engine for trees: draws which child, if any, is kept, for every round at every node.

Rounds are exchangeable, so the engine goes node by node over all rounds that reached it and draws
once for each: at the root for all of them, at a kept node for those that kept it, at a leaf for none.
The counts are all that a table needs; `simulate_lengths` follows single rounds through the same draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from simulator._checks import IntArray
from simulator.acceptance import AcceptanceTable
from simulator.choices import Chosen, choose, count_choices, multinomial
from simulator.flips import Progress
from simulator.parallel_candidates import ParallelCandidates
from simulator.strategies import Strategy
from simulator.tree_acceptance import RoundKind

Draw: TypeAlias = Callable[[Sequence[float], int], IntArray]
"""How often each of these chances came up among n, and nothing of them last."""


def walk(
    strategy: Strategy,
    rounds: int,
    generator: np.random.Generator,
    progress: Progress | None = None,
) -> tuple[IntArray, ...]:
    """Rounds that reached the root, then each node, for every kind: shape [kinds][nodes + 1]."""
    expected = expected_draws(strategy, rounds)
    done = 0

    def draw(chances: Sequence[float], n: int) -> IntArray:
        nonlocal done
        start, done = done, done + n
        report = None if progress is None else _part_of(progress, start, n, expected)
        return count_choices(generator, chances, n, report)

    return _reached(strategy.kinds, rounds, draw)


def count(strategy: Strategy, rounds: int, generator: np.random.Generator) -> tuple[IntArray, ...]:
    """What `walk` returns, drawn directly: the children of each node are one multinomial."""

    def draw(chances: Sequence[float], n: int) -> IntArray:
        return multinomial(generator, chances, n)

    return _reached(strategy.kinds, rounds, draw)


def follow(strategy: Strategy, rounds: int, generator: np.random.Generator) -> IntArray:
    """Accepted tokens of each round, shape [rounds], by the draws of `walk`."""
    lengths = np.zeros(rounds, dtype=np.int64)
    kinds = strategy.kinds
    drawn = [np.arange(rounds)]
    if len(kinds) > 1:
        drawn = _split(drawn[0], choose(generator, _shares(kinds), rounds), len(kinds))
    for kind, members in zip(kinds, drawn, strict=True):
        at = {0: members}  # rounds that stand at a node + 1; each is taken out when its turn comes
        depths = (0, *kind.tree.depths)
        for node, children in enumerate(kind.tree.children):
            here = at.pop(node)
            if not children:
                continue
            chosen = choose(generator, [kind.rates[child] for child in children], here.size)
            for child, kept in zip(children, _split(here, chosen, len(children)), strict=True):
                lengths[kept] = depths[child + 1]
                at[child + 1] = kept
    return lengths


def tree_table(strategy: Strategy, reached: Sequence[IntArray]) -> AcceptanceTable:
    """The table of rounds that reached these nodes.

    A round tests a depth if the node it stands at has children; behind a leaf there is nothing to test.
    """
    gamma = strategy.draft.gamma
    tested, accepted = ([0] * (gamma + 1) for _ in range(2))  # by depth, the root first
    drafted = 0
    for kind, counts in zip(strategy.kinds, reached, strict=True):
        depths = (0, *kind.tree.depths)
        for depth, children, rounds in zip(
            depths, kind.tree.children, counts.tolist(), strict=True
        ):
            accepted[depth] += rounds
            tested[depth] += rounds if children else 0
        drafted += int(counts[0]) * kind.tree.nodes
    return AcceptanceTable(
        rounds=accepted[0],
        drafted=drafted,
        tested=tuple(tested[:gamma]),
        accepted=tuple(accepted[1:]),
        length_rule=strategy.draft.length_rule,
    )


def expected_draws(strategy: Strategy, rounds: int) -> float:
    """Draws that a run will take on average: only for the limit and the progress bar."""
    law = strategy.acceptance
    draws = 0.0
    if isinstance(law, ParallelCandidates):
        alive = rounds * law.hit * law.candidates
        draws = rounds * float(law.hit < 1.0)
        for p in law.conditional(strategy.draft.gamma):
            draws += alive
            alive *= p
        return max(draws, 1.0)
    kinds = strategy.kinds
    draws = rounds * float(len(kinds) > 1)
    for kind in kinds:
        reach = [rounds * kind.share]
        for parent, rate in zip(kind.tree.parents, kind.rates, strict=True):
            reach.append(reach[parent + 1] * rate)
        draws += sum(n for n, children in zip(reach, kind.tree.children, strict=True) if children)
    return max(draws, 1.0)


def _reached(kinds: tuple[RoundKind, ...], rounds: int, draw: Draw) -> tuple[IntArray, ...]:
    members = draw(_shares(kinds), rounds) if len(kinds) > 1 else np.array([rounds])
    found = []
    for kind, rounds_of_kind in zip(kinds, members, strict=True):
        reached = np.zeros(kind.tree.nodes + 1, dtype=np.int64)
        reached[0] = rounds_of_kind
        for node, children in enumerate(kind.tree.children):
            if children:
                counts = draw([kind.rates[child] for child in children], int(reached[node]))
                reached[1:][list(children)] = counts[:-1]
        found.append(reached)
    return tuple(found)


def _shares(kinds: tuple[RoundKind, ...]) -> list[float]:
    """Chances of all kinds but the last, which has what is left."""
    return [kind.share for kind in kinds[:-1]]


def _split(members: IntArray, chosen: Chosen, parts: int) -> list[IntArray]:
    """The members that chose 0, 1, … below `parts`, each in order."""
    return [members[chosen == part] for part in range(parts)]


def _part_of(progress: Progress, start: int, n: int, expected: float) -> Progress:
    """Progress of one node as progress of the whole run."""
    return lambda part: progress(min((start + n * part) / expected, 1.0))

"""Trees grown node by node, always the most probable next one."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from analysis.trees.rates import Rates, limits, rate_rows
from simulator import Tree
from simulator._checks import FloatArray
from simulator.trees import MAX_NODES


@dataclass(frozen=True, slots=True, kw_only=True)
class GrownTree:
    """A tree, the paths of its nodes in the order in which they were added, and what each added.

    `gains[i]`: probability that order[i] is accepted; the first n paths are the tree grown to n nodes.
    """

    tree: Tree
    order: tuple[tuple[int, ...], ...]
    gains: tuple[float, ...]

    @property
    def values(self) -> FloatArray:
        """Expected tokens per round after 0, 1, … nodes, shape [nodes + 1]."""
        return np.concatenate(([1.0], 1.0 + np.cumsum(self.gains)))

    @property
    def tokens_per_round(self) -> float:
        """Expected tokens per round of the whole tree."""
        return float(self.values[-1])


def grow_tree(
    rates: Rates,
    nodes: int,
    *,
    max_depth: int | None = None,
    max_width: int | None = None,
    gaps: bool = False,
) -> GrownTree:
    """Add the most probable node next to the tree, `nodes` times: Medusa's rule (section 2.3.3).

    A new node raises the expected tokens per round by the product of the rates on its path. Next to
    the tree are the first child of a node and the sibling behind its last child, as in Medusa's own
    script; with `gaps` the largest rate that is left counts as next. Of equal nodes the one that became
    possible first is taken. Arguments and errors as in `best_tree`.

    Where rates fall with rank, or with `gaps`, a node is never more probable than those it needs, so
    the tree is the best of its size. Elsewhere it may fall short, as a child hides behind a worse one:
    `best_tree` finds the best, at a higher price.

    >>> grown = grow_tree([[0.6, 0.3], [0.5, 0.1]], 4)
    >>> grown.order, grown.values.round(2)
    (((0,), (1,), (0, 0), (1, 0)), array([1.  , 1.6 , 1.9 , 2.2 , 2.35]))
    """
    rows, depth = limits(rate_rows(rates, gaps=gaps), nodes, max_depth, max_width, most=MAX_NODES)
    order: list[tuple[int, ...]] = []
    gains: list[float] = []
    came = 0
    # Probability, when it became possible, positions on the way, ranks on the way, the parent's.
    beside: list[tuple[float, int, tuple[int, ...], tuple[int, ...], float]] = []

    def offer(above: tuple[int, ...], ranks: tuple[int, ...], reached: float, k: int) -> None:
        nonlocal came
        level = len(above) + 1
        if level <= depth and k < len(rows.row(level)):
            gain = reached * rows.row(level)[k]
            entry = (-gain, came, (*above, k), (*ranks, rows.rank(level, k)), reached)
            heapq.heappush(beside, entry)
            came += 1

    offer((), (), 1.0, 0)
    while len(order) < nodes:
        gain, _, positions, ranks, reached = heapq.heappop(beside)
        order.append(ranks)
        gains.append(-gain)
        offer(positions[:-1], ranks[:-1], reached, positions[-1] + 1)
        offer(positions, ranks, -gain, 0)
    return GrownTree(tree=Tree.from_paths(order), order=tuple(order), gains=tuple(gains))

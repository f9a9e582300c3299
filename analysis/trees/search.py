"""The best tree of every size, by dynamic programming over nodes, children and levels.

Sequoia (Chen et al. 2024, arXiv 2402.12374), algorithm 1 and its version with bounded depth, taken
from the deepest level up: what a subtree is worth depends on its nodes and on its level alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.trees.rates import RateRows, Rates, limits, rate_rows
from simulator import Tree
from simulator._checks import FloatArray, IntArray

MAX_SEARCHED = 1024
"""The most nodes that a search takes: its time grows with their square."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestTree:
    """A tree that no other of as many nodes beats, and its expected tokens per round."""

    tree: Tree
    tokens_per_round: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """Best subtrees whose root sits on one level, given that this root is accepted.

    `values[m]`: expected accepted tokens of m nodes, the root one of them, -inf where m do not fit;
    shape [n + 1]. `children[y]`: children of the root in the best way to place y nodes below it,
    `taken[k, y]`: nodes of the (k + 1)-th child's subtree where y nodes are below the first k + 1.
    """

    values: FloatArray
    children: IntArray
    taken: IntArray


def best_tree(
    rates: Rates,
    nodes: int,
    *,
    max_depth: int | None = None,
    max_width: int | None = None,
    gaps: bool = False,
) -> BestTree:
    """The tree of exactly `nodes` drafted tokens with the most expected tokens per round.

    F(T) = 1 + Σ_nodes Π of the rates on the path (Sequoia, proposition 3.4; Medusa, section 2.3.3).
    `rates` is a vector by position that holds at every depth, shape [rank], or one per depth, shape
    [depth][rank], or a `RankAcceptance`. `max_depth` bounds the longest path, `max_width` the
    children of one node; both count as given or as far as rates reach.

    The k-th child of a node stands only beside the k - 1 before it, whatever the rates: so are
    positions, where a child is what was drawn k-th, and rates that do not fall with k need the search.
    With `gaps` a node may take any ranks: so are chosen candidates (top-k accuracies of Medusa or
    EAGLE), of which the best go first. The two differ only where a later rank has the larger rate.

    Time grows as nodes² · width · depth, without a max_depth on a vector as nodes² · width. Raises
    ValueError for rates outside [0, 1] or with a sum above 1, for more nodes than find room.

    >>> best = best_tree([0.6, 0.3], 3)
    >>> best.tree.paths, round(best.tokens_per_round, 12)
    (((0,), (1,), (0, 0)), 2.26)
    >>> best_tree([0.6, 0.3], 3, max_depth=2, max_width=1)
    Traceback (most recent call last):
    ...
    ValueError: nodes must be at most the 2 that rates, max_depth and max_width leave room for; got 3.
    """
    rows, depth = limits(
        rate_rows(rates, gaps=gaps), nodes, max_depth, max_width, most=MAX_SEARCHED
    )
    levels = search(rows, nodes, depth)
    tree = Tree.from_paths(_paths(levels, rows, nodes))
    return BestTree(tree=tree, tokens_per_round=float(levels[0].values[nodes + 1]))


def tree_values(
    rates: Rates,
    nodes: int,
    *,
    max_depth: int | None = None,
    max_width: int | None = None,
    gaps: bool = False,
) -> FloatArray:
    """Expected tokens per round of the best trees of 0 to `nodes` nodes, shape [nodes + 1].

    Arguments and errors as in `best_tree`; one search gives all sizes.

    >>> tree_values([0.6, 0.3], 4).round(3)
    array([1.   , 1.6  , 1.96 , 2.26 , 2.476])
    """
    rows, depth = limits(
        rate_rows(rates, gaps=gaps), nodes, max_depth, max_width, most=MAX_SEARCHED
    )
    return search(rows, nodes, depth)[0].values[1:]


def values_by_depth(rows: RateRows, nodes: int, depth: int) -> FloatArray:
    """Values of the best trees of 0 to `nodes` nodes no deeper than d, shape [depth + 1, nodes + 1].

    Row d is -inf where so many nodes do not fit into d levels.
    """
    if rows.repeats:  # what holds at every depth holds for the levels left: one search has all
        levels = _bounded(rows, nodes, depth)[::-1]
        return np.array([level.values[1:] for level in levels])
    return np.array([_bounded(rows, nodes, d)[0].values[1:] for d in range(depth + 1)])


def search(rows: RateRows, nodes: int, depth: int) -> list[_Level]:
    """Levels from the text's last token down; level i says what is best below a node at depth i.

    One level that stands for all where the rates repeat and no depth is too deep.
    """
    if rows.repeats and depth >= nodes:
        return [_unbounded(rows.row(1), nodes)]
    return _bounded(rows, nodes, depth)


def _bounded(rows: RateRows, nodes: int, depth: int) -> list[_Level]:
    leaf = np.full(nodes + 2, -np.inf)
    leaf[1] = 1.0
    nothing = np.zeros((0, nodes + 1), dtype=np.int64)
    levels = [_Level(values=leaf, children=nothing.sum(axis=0), taken=nothing)]
    for level in range(depth, 0, -1):
        levels.append(_above(rows.row(level), levels[-1].values, nodes))
    return levels[::-1]


def _above(row: tuple[float, ...], below: FloatArray, nodes: int) -> _Level:
    """A level from the one below it: children are added one position after the other."""
    so_far = np.full(nodes + 1, -np.inf)  # [y], y nodes below the first k children's parent
    so_far[0] = 0.0
    best, children = so_far.copy(), np.zeros(nodes + 1, dtype=np.int64)
    taken = np.zeros((min(len(row), nodes), nodes + 1), dtype=np.int64)
    for k, rate in enumerate(row[:nodes]):
        so_far, taken[k] = _one_more(so_far, rate, below[: nodes + 1])
        better = so_far > best
        best[better], children[better] = so_far[better], k + 1
    return _Level(values=np.concatenate(([-np.inf], 1.0 + best)), children=children, taken=taken)


def _one_more(
    so_far: FloatArray, rate: float, below: FloatArray
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """max over m of so_far[y - m] + rate · below[m], and that m, for every y: a max-plus convolution."""
    size = so_far.size
    gain = np.full(size, -np.inf)
    fits = np.isfinite(below)
    gain[fits] = rate * below[fits]
    padded = np.concatenate((np.full(size - 1, -np.inf), so_far))
    shifted = np.lib.stride_tricks.sliding_window_view(padded, size)[:, ::-1]  # [y, m]: y - m left
    sums = shifted + gain
    taken = sums.argmax(axis=1)
    return sums[np.arange(size), taken], taken


def _unbounded(row: tuple[float, ...], nodes: int) -> _Level:
    """One level for all depths: subtrees by size, since smaller ones are what a larger one is made of."""
    width = min(len(row), nodes)
    rates = np.array(row[:width])
    values = np.full(nodes + 2, -np.inf)
    values[1] = 1.0
    so_far = np.full((width + 1, nodes + 1), -np.inf)  # [k, y]: y nodes below the first k children
    so_far[0, 0] = 0.0
    children = np.zeros(nodes + 1, dtype=np.int64)
    taken = np.zeros((width, nodes + 1), dtype=np.int64)
    for y in range(1, nodes + 1):
        sums = so_far[:-1, y - 1 :: -1] + np.outer(rates, values[1 : y + 1])  # [k, m - 1]
        most = sums.argmax(axis=1)
        so_far[1:, y] = sums[np.arange(width), most]
        taken[:, y] = most + 1
        children[y] = so_far[:, y].argmax()
        values[y + 1] = 1.0 + so_far[children[y], y]
    return _Level(values=values, children=children, taken=taken)


def _paths(levels: list[_Level], rows: RateRows, nodes: int) -> list[tuple[int, ...]]:
    """Ranks on the way to every node of the best tree, read off the choices."""
    paths: list[tuple[int, ...]] = []
    open_nodes: list[tuple[tuple[int, ...], int]] = [((), nodes)]  # a path, and nodes below it
    while open_nodes:
        path, left = open_nodes.pop()
        level = levels[min(len(path), len(levels) - 1)]
        for k in range(int(level.children[left]) - 1, -1, -1):
            size = int(level.taken[k, left])
            child = (*path, rows.rank(len(path) + 1, k))
            paths.append(child)
            open_nodes.append((child, size - 1))
            left -= size
    return paths

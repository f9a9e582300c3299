"""Trees whose nodes are drawn level by level, from one distribution for each depth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, IntArray
from simulator.trees import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A tree as arrays [nodes]: whom each node follows, its depth less 1, its rank.

    `families` numbers the parents that have children, `siblings` a node among its parent's children.
    """

    parents: IntArray
    levels: IntArray
    ranks: IntArray
    families: IntArray
    siblings: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnNodes:
    """Columns that were drawn, whom each follows, and its depth less 1, all [nodes]."""

    places: IntArray
    parents: IntArray
    levels: IntArray


def layout_of(tree: Tree, depth: int) -> Layout:
    """The nodes of a tree down to this depth; what they follow comes before them, so stays too.

    >>> layout = layout_of(Tree.from_paths([(0,), (2,), (0, 0), (2, 1)]), 2)
    >>> layout.ranks, layout.families, layout.siblings
    (array([0, 2, 0, 1]), array([0, 0, 1, 2]), array([0, 1, 0, 0]))
    """
    levels = np.array(tree.depths, dtype=np.int64) - 1
    stays = levels < depth
    parents = _renumbered(np.array(tree.parents, dtype=np.int64), stays)
    counts: dict[int, int] = {}
    siblings = []
    for parent in parents.tolist():
        siblings.append(counts.get(parent, 0))
        counts[parent] = siblings[-1] + 1
    return Layout(
        parents=parents,
        levels=levels[stays],
        ranks=np.array(tree.ranks, dtype=np.int64)[stays],
        families=np.unique(parents, return_inverse=True)[1].astype(np.int64),
        siblings=np.array(siblings, dtype=np.int64),
    )


def draw_nodes(
    rows: FloatArray, layout: Layout, *, distinct: bool, rng: np.random.Generator
) -> DrawnNodes:
    """A column for every node, from row d - 1 of `rows` [depth, columns] for one of depth d.

    Siblings are drawn with replacement, or `distinct`: the columns of a family run a race with rates
    as their probabilities, and the children are the first in it, in order, which is drawing one after
    the other without replacement. Where fewer can be drawn than there are children, those are missing
    and with them what follows them.
    """
    if not distinct:
        sums = rows.cumsum(axis=1, dtype=np.float64)
        total = sums[layout.levels, -1]
        uniform = np.minimum(rng.random(total.size) * total, np.nextafter(total, 0.0))
        # How many sums are at most the number: never a column without a share.
        places = (sums[layout.levels] <= uniform[:, None]).sum(axis=1)
        return DrawnNodes(places=places, parents=layout.parents, levels=layout.levels)
    firsts = np.flatnonzero(layout.siblings == 0)
    level = np.empty(firsts.size, dtype=np.int64)
    level[layout.families[firsts]] = layout.levels[firsts]
    with np.errstate(divide="ignore"):
        finish = rng.standard_exponential((level.size, rows.shape[1])) / rows[level]
    most = 1 + int(layout.siblings.max())
    order = np.argsort(finish, axis=1)[:, :most]
    enough = np.isfinite(np.take_along_axis(finish, order, axis=1))
    columns = np.minimum(layout.siblings, order.shape[1] - 1)
    places = order[layout.families, columns]
    stays = enough[layout.families, columns] & (layout.siblings < order.shape[1])
    if stays.all():
        return DrawnNodes(places=places, parents=layout.parents, levels=layout.levels)
    for node, parent in enumerate(layout.parents.tolist()):
        stays[node] &= parent < 0 or stays[parent]
    return DrawnNodes(
        places=places[stays],
        parents=_renumbered(layout.parents, stays),
        levels=layout.levels[stays],
    )


def _renumbered(parents: IntArray, stays: npt.NDArray[np.bool_]) -> IntArray:
    """Parents of the nodes that stay, by their new numbers."""
    numbers = np.append(np.cumsum(stays) - 1, -1)  # the last entry is that of the root, -1
    return numbers[parents[stays]].astype(np.int64)

"""Figures of trees of drafted tokens: one tree, what more nodes give, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from analysis.figure_axes import labelled_axes
from analysis.palette import BEST, EXACT, LINES, PLAIN, YOURS
from analysis.trees.paying import PayingSize
from analysis.trees.values import Acceptance, node_probabilities
from simulator import Tree
from simulator.trees import ROOT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_DRAWN = 64
"""Nodes of a tree that can still be told apart."""
_SIZE = (7.0, 4.2)
_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_LABELLED = 24


def tree_drawing(tree: Tree, acceptance: Acceptance) -> Figure:
    """A tree from the text's last token down; a node is as large as it is likely to be kept.

    Numbers are P(kept) in percent, left out in trees of more than 24 nodes. Raises ValueError for an empty
    tree, more than `MOST_DRAWN` nodes, and a tree that the acceptance does not know.
    """
    if not 1 <= tree.nodes <= MOST_DRAWN:
        raise ValueError(f"tree must have 1 to {MOST_DRAWN} nodes to be drawn; got {tree.nodes}.")
    kept = np.asarray(node_probabilities(tree, acceptance))
    across = _places(tree)
    figure, axes = _axes("", "")
    figure.set_size_inches(8.0, 1.4 + 0.8 * tree.gamma)
    for node, (parent, depth) in enumerate(zip(tree.parents, tree.depths, strict=True)):
        above = (across[parent + 1], 0 if parent == ROOT else tree.depths[parent])
        axes.plot([above[0], across[node + 1]], [above[1], depth], color=PLAIN, lw=0.9, zorder=1)
        axes.scatter(
            across[node + 1], depth, s=60 + 500 * kept[node], zorder=2, edgecolor="white",
            color=EXACT if tree.ranks[node] == 0 else YOURS, marker="o" if tree.ranks[node] == 0 else "s",
        )  # fmt: skip
        if tree.nodes <= _LABELLED:
            axes.annotate(
                f"{100 * kept[node]:.0f}", (across[node + 1], depth), xytext=(0, -16),
                textcoords="offset points", ha="center", va="center", fontsize=8, zorder=3,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            )  # fmt: skip
    axes.scatter(across[0], 0, s=140, color=PLAIN, marker="D", zorder=2)
    axes.annotate(
        "the text's last token", (across[0], 0), xytext=(12, 0), textcoords="offset points", va="center"
    )  # fmt: skip
    axes.scatter([], [], color=EXACT, marker="o", label="first guess")
    axes.scatter([], [], color=YOURS, marker="s", label="another guess")
    axes.set_ylim(tree.gamma + 0.7, -0.5)
    axes.set_yticks(range(1, tree.gamma + 1))
    axes.set_ylabel("Depth")
    axes.set_xticks([])
    axes.margins(x=0.08)
    axes.spines["bottom"].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    axes.set_title(f"{tree.nodes} nodes, {1.0 + kept.sum():.2f} tokens per round")
    return figure


def tokens_over_nodes(shapes: Mapping[str, Sequence[tuple[int, float]]]) -> Figure:
    """Tokens per round over drafted tokens, as (nodes, tokens) by the shape of the draft.

    Raises ValueError for no shape and for a shape without a point.

    >>> tokens_over_nodes({"chain": [(1, 1.6), (2, 1.96)]}).axes[0].get_xlabel()
    'Drafted tokens per round (nodes)'
    """
    if not shapes or not all(shapes.values()):
        raise ValueError("shapes must be one at least, each with a point; got none.")
    figure, axes = _axes("Drafted tokens per round (nodes)", "Tokens per round")
    for (name, points), dash, color in zip(
        shapes.items(), cycle(_DASHES), cycle(LINES), strict=False
    ):
        axes.plot(
            *zip(*sorted(points), strict=True), linestyle=dash, color=color, marker=".", label=name
        )
    axes.set_ylim(bottom=1.0)
    axes.legend(frameon=False)
    return figure


def speedup_over_nodes(sizes: Mapping[str, PayingSize]) -> Figure:
    """Speedup of the best tree of each size over its nodes, one line per cost; diamonds are the best.

    Raises ValueError for none and for more than five.
    """
    if not 1 <= len(sizes) <= len(LINES):
        raise ValueError(f"sizes must be 1 to {len(LINES)}; got {len(sizes)}.")
    figure, axes = _axes("Nodes of the best tree", "Speedup over plain decoding")
    axes.axhline(1.0, color=PLAIN, linestyle="--", linewidth=1, label="plain decoding")
    for (name, found), dash, color in zip(sizes.items(), _DASHES, LINES, strict=False):
        axes.plot(
            [point.nodes for point in found.points], [point.speedup for point in found.points],
            linestyle=dash, color=color, label=f"{name}: best {found.best.nodes}",
        )  # fmt: skip
        axes.plot(
            found.best.nodes,
            found.best.speedup,
            "D",
            color=BEST,
            markeredgecolor=color,
            markersize=7,
        )
    axes.set_ylim(bottom=0.0)
    axes.legend(frameon=False)
    return figure


def _places(tree: Tree) -> list[float]:
    """Where the root and every node stand across: leaves beside each other, parents above their middle."""
    children, place = tree.children, [0.0] * (tree.nodes + 1)
    free = 0.0
    leaves: list[int] = []
    open_nodes = [0]
    while open_nodes:  # depth first, so that no two edges cross
        at = open_nodes.pop()
        if children[at]:
            open_nodes += [node + 1 for node in reversed(children[at])]
        else:
            leaves.append(at)
    for leaf in leaves:
        place[leaf] = free
        free += 1.0
    for at in range(tree.nodes, -1, -1):  # children come behind their parents
        if children[at]:
            below = [place[node + 1] for node in children[at]]
            place[at] = (below[0] + below[-1]) / 2.0
    return place


def _axes(x_label: str, y_label: str) -> tuple[Figure, Axes]:
    return labelled_axes(x_label, y_label, _SIZE)

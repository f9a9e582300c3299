"""A tree that the draft shapes anew in every round, after its own confidence: EAGLE-2's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator._checks import as_count, as_probability
from simulator._counting import LengthRule
from simulator._rates import as_rows
from simulator.stopping import FixedLength, Stop
from simulator.trees import MAX_NODES, ROOT, Tree

MAX_CANDIDATES = 1 << 22
"""Nodes that may stand for choice in one draft."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicTree:
    """`nodes` drafted tokens, the ones of highest value among all that the draft has looked at.

    The value of a node is the product of the draft's confidences on the way to it. Layer by layer the
    `expand` nodes of highest value are expanded, each into its `expand` likeliest children, down to
    `depth`; then all nodes of all layers are ranked and the best `nodes` kept (Li et al. 2024,
    EAGLE-2; there `depth` counts the layers behind the first, here all). A child is never worth more
    than its parent and of equals the shallower goes first, so that what is kept is a tree.

    Raises ValueError for values below 1 and for more nodes than such layers can have.

    >>> DynamicTree(nodes=3, depth=2, expand=2).grow([(0.6, 0.3), (0.6, 0.3)]).paths
    ((0,), (1,), (0, 0))
    """

    nodes: int
    depth: int
    expand: int

    def __post_init__(self) -> None:
        as_count("nodes", self.nodes, least=1, most=MAX_NODES)
        as_count("depth", self.depth, least=1, most=MAX_NODES)
        as_count("expand", self.expand, least=1, most=MAX_NODES)
        most = self.expand + (self.depth - 1) * self.expand**2
        if self.nodes > most:
            raise ValueError(
                f"nodes must be at most {most}, all that depth {self.depth} and expand {self.expand} "
                f"put up for choice; got {self.nodes}."
            )

    def grow(self, confidences: Sequence[Sequence[float]], *, called: str = "confidences") -> Tree:
        """The tree of a round in which the draft finds its candidates this likely.

        confidences[d][r] is the draft's confidence in the child of rank r behind any node of depth d
        (0 the root): shape [depths][ranks]. Where a row has fewer ranks than `expand`, a node has as
        many children. The tree has fewer than `nodes` nodes only where no more stand for choice.
        Raises ValueError, which names the confidences as `called`, for fewer rows than `depth` and
        for values outside [0, 1].
        """
        rows = as_rows(called, confidences)
        if len(rows) < self.depth:
            raise ValueError(
                f"{called} must have a row for each of the {self.depth} depths of the tree; got "
                f"{len(rows)}."
            )
        return best_by_value(called, rows[: self.depth], nodes=self.nodes, expand=self.expand)

    @property
    def gamma(self) -> int:
        """The longest path that a draft can have: most tokens that a round can accept."""
        return self.depth

    @property
    def is_fixed(self) -> bool:
        """Whether every draft has as many layers and nodes: yes; which nodes is another matter."""
        return True

    @property
    def length_rule(self) -> LengthRule:
        """What decides how deep a path goes, as tables carry it: the draft's own confidence."""
        return "confidence"

    @property
    def stop(self) -> Stop:
        """Drafting goes on to the last layer."""
        return FixedLength()


def best_by_value(name: str, values: Sequence[Sequence[float]], *, nodes: int, expand: int) -> Tree:
    """The `nodes` paths of the highest product of values[depth][rank], a row per depth.

    Layer by layer only the best `expand` nodes get children, `expand` at most. With expand = nodes no
    path of the best is missed, for a node among the best is among those of its layer, as is its parent;
    that is what adding the best neighbour of the tree, over and over, ends with.
    """
    layers = [_likeliest(f"{name}[{depth}]", row, expand) for depth, row in enumerate(values)]
    found: list[tuple[float, tuple[int, ...]]] = []  # value and path
    above: list[tuple[float, tuple[int, ...]]] = [(1.0, ())]
    for children in layers:
        standing = len(found) + len(above) * len(children)
        as_count("nodes that stand for choice", standing, most=MAX_CANDIDATES)
        layer = [
            (value * factor, (*path, rank)) for value, path in above for factor, rank in children
        ]
        layer.sort(key=_first)
        found += layer
        above = layer[:expand]
    found.sort(key=lambda node: (-node[0], len(node[1]), node[1]))
    kept = sorted((path for _, path in found[:nodes]), key=lambda path: (len(path), path))
    index = {path: node for node, path in enumerate(kept)}
    return Tree(
        parents=tuple(index[path[:-1]] if len(path) > 1 else ROOT for path in kept),
        ranks=tuple(path[-1] for path in kept),
    )


def _likeliest(name: str, row: Sequence[float], most: int) -> list[tuple[float, int]]:
    """The children that an expanded node gets: value and rank, the best first."""
    values = [(as_probability(f"{name}[{rank}]", value), rank) for rank, value in enumerate(row)]
    return sorted(values, key=lambda child: (-child[0], child[1]))[:most]


def _first(node: tuple[float, tuple[int, ...]]) -> tuple[float, tuple[int, ...]]:
    """Of highest value first, of equals in order of their paths."""
    return -node[0], node[1]

"""The shape of a draft that branches: several tokens may follow the same one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from simulator._checks import as_count
from simulator._counting import LengthRule
from simulator.stopping import FixedLength, Stop

MAX_NODES = 1 << 16
ROOT = -1
"""What a node that follows the text itself has as its parent: the root is the text's last token."""
_NAMED = 8  # nodes of a cycle that a sentence names


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """Drafted tokens of which several may follow the same one; the target verifies all in one pass.

    Node i follows node parents[i], or the text itself where that is -1 (`ROOT`); parents come before
    their children. ranks[i] says which of its parent's candidates a node is, 0 the first; without
    `ranks` siblings are numbered in order. Depth 1 is the first drafted token. A round accepts a path
    from the root, so that tokens per round are 1 + the depth that it reaches.

    Raises ValueError for a cycle, for an orphan (a parent that is no node), for a child before its
    parent, and for a duplicate child (two of one parent and rank).

    >>> tree = Tree.from_paths([(0,), (1,), (0, 0)])
    >>> tree.parents, tree.depths, tree.gamma, tree.nodes
    ((-1, -1, 0), (1, 1, 2), 2, 3)
    """

    parents: tuple[int, ...]
    ranks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", _whole("parents", self.parents))
        as_count("nodes", len(self.parents), most=MAX_NODES)
        _check_parents(self.parents)
        ranks = _whole("ranks", self.ranks) or _in_order(self.parents)
        object.__setattr__(self, "ranks", ranks)
        if len(ranks) != len(self.parents):
            raise ValueError(
                f"ranks must have one entry per node; got {len(ranks)} for {len(self.parents)} nodes."
            )
        seen: dict[tuple[int, int], int] = {}
        for node, place in enumerate(zip(self.parents, ranks, strict=True)):
            as_count(f"ranks[{node}]", place[1])
            if place in seen:
                raise ValueError(
                    f"a node must have one child of each rank; nodes {seen[place]} and {node} are "
                    f"both child {place[1]} of {_name(place[0])}."
                )
            seen[place] = node

    @classmethod
    def chain(cls, gamma: int) -> Tree:
        """gamma tokens one after the other, as a tree.

        >>> Tree.chain(3).parents
        (-1, 0, 1)
        """
        return cls(parents=tuple(range(-1, as_count("gamma", gamma, most=MAX_NODES) - 1)))

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[int]]) -> Tree:
        """A tree by the ranks on the way to each node, as Medusa's `medusa_choices` list them.

        (0, 2) is the third candidate behind the first candidate. Any order will do; nodes are put in
        order of depth, then of path. Raises ValueError for an orphan, a path whose beginning is
        missing, and for a path that is given twice.

        >>> Tree.from_paths([(0, 0), (0,), (2,)]).ranks
        (0, 2, 0)
        """
        try:
            given = [_whole("path", path) for path in paths]
        except TypeError:
            raise ValueError(f"paths must be rows of ranks, one per node; got {paths!r}.") from None
        order = sorted(given, key=lambda path: (len(path), path))
        for one, other in pairwise(order):
            if one == other:
                raise ValueError(
                    f"each path must be given once, no duplicate child; {one} is twice."
                )
        index = {path: node for node, path in enumerate(order)}
        for path in order:
            if not path:
                raise ValueError("a path must have one rank or more; the root needs none.")
            if len(path) > 1 and path[:-1] not in index:
                raise ValueError(
                    f"the beginning of every path must be given too; {path} is an orphan without "
                    f"{path[:-1]}."
                )
        return cls(
            parents=tuple(index[path[:-1]] if len(path) > 1 else ROOT for path in order),
            ranks=tuple(path[-1] for path in order),
        )

    @classmethod
    def from_widths(cls, widths: Sequence[int]) -> Tree:
        """Every node of one depth has as many children: widths[d] below depth d (SpecInfer's expansion).

        >>> Tree.from_widths([2, 1]).parents
        (-1, -1, 0, 1)
        """
        parents: list[int] = []
        above = [ROOT]
        for depth, width in enumerate(_whole("widths", widths)):
            below = len(above) * as_count(f"widths[{depth}]", width, least=1)
            as_count("nodes", len(parents) + below, most=MAX_NODES)
            first = len(parents)
            parents += [parent for parent in above for _ in range(width)]
            above = list(range(first, len(parents)))
        return cls(parents=tuple(parents))

    @classmethod
    def sequences(cls, count: int, length: int) -> Tree:
        """`count` chains of `length` tokens side by side, which share nothing but the root.

        >>> Tree.sequences(2, 2).parents
        (-1, 0, -1, 2)
        """
        count = as_count("count", count, least=1, most=MAX_NODES)
        length = as_count("length", length, least=1, most=MAX_NODES)
        as_count("nodes", count * length, most=MAX_NODES)
        return cls(
            parents=tuple(
                ROOT if step == 0 else chain * length + step - 1
                for chain in range(count)
                for step in range(length)
            )
        )

    @property
    def nodes(self) -> int:
        """Drafted tokens per round; the target pass verifies one more, the text's last."""
        return len(self.parents)

    @property
    def depths(self) -> tuple[int, ...]:
        """Depth of every node, shape [nodes]; children of the root have 1."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(1 if parent == ROOT else depths[parent] + 1)
        return tuple(depths)

    @property
    def gamma(self) -> int:
        """The longest path: most tokens that a round can accept."""
        return max(self.depths, default=0)

    @property
    def widths(self) -> tuple[int, ...]:
        """Nodes at each depth, shape [gamma]."""
        depths = self.depths
        return tuple(depths.count(depth) for depth in range(1, self.gamma + 1))

    @property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """Ranks on the way to every node, shape [nodes][depth]."""
        paths: list[tuple[int, ...]] = []
        for parent, rank in zip(self.parents, self.ranks, strict=True):
            paths.append((rank,) if parent == ROOT else (*paths[parent], rank))
        return tuple(paths)

    @property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of the root, then of every node, in order: shape [nodes + 1][children]."""
        below: list[list[int]] = [[] for _ in range(self.nodes + 1)]
        for node, parent in enumerate(self.parents):
            below[parent + 1].append(node)
        return tuple(tuple(nodes) for nodes in below)

    @property
    def is_fixed(self) -> bool:
        """Whether every draft is the same tree: always."""
        return True

    @property
    def length_rule(self) -> LengthRule:
        """What decides how long a draft is, as tables carry it."""
        return "fixed"

    @property
    def stop(self) -> Stop:
        """No draft ends early."""
        return FixedLength()


def _whole(name: str, values: Iterable[int]) -> tuple[int, ...]:
    try:
        found = tuple(values)
    except TypeError:
        raise ValueError(f"{name} must be whole numbers in a row; got {values!r}.") from None
    for value in found:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise ValueError(f"{name} must be whole numbers; got {value!r}.")
    return tuple(value.__index__() for value in found)


def _check_parents(parents: tuple[int, ...]) -> None:
    for node, parent in enumerate(parents):
        if not ROOT <= parent < len(parents):
            raise ValueError(
                f"parents must be nodes, 0 to {len(parents) - 1}, or {ROOT} for the root; node {node} "
                f"is an orphan, its parent {parent} does not exist."
            )
    for node, parent in enumerate(parents):
        if parent >= node:
            _refuse_cycle(parents, node)
            raise ValueError(
                f"parents must come before their children; node {node} has parent {parent}."
            )


def _refuse_cycle(parents: tuple[int, ...], node: int) -> None:
    way: dict[int, None] = {}  # nodes on the way up, in order
    while node != ROOT:
        if node in way:
            circle = [*way, node][list(way).index(node) :]
            named = circle if len(circle) <= _NAMED else [*circle[:_NAMED], "…", node]
            raise ValueError(
                "parents must lead to the root from every node; they go round in a cycle: "
                f"{' → '.join(map(str, named))}."
            )
        way[node] = None
        node = parents[node]


def _in_order(parents: tuple[int, ...]) -> tuple[int, ...]:
    counts: dict[int, int] = {}
    ranks = []
    for parent in parents:
        ranks.append(counts.get(parent, 0))
        counts[parent] = ranks[-1] + 1
    return tuple(ranks)


def _name(node: int) -> str:
    return "the root" if node == ROOT else f"node {node}"

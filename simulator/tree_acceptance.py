"""How acceptance arises in a tree: which child, if any, of a kept node is kept.

As with chains a law is data. `kinds(draft)` says which trees a round can have and how likely each node
is kept once its parent is; the engine draws by it, and exact answers multiply by it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from simulator._checks import as_count, as_probability
from simulator._rates import TOLERANCE, Rows, as_rates, as_row, as_rows
from simulator.dynamic_tree import DynamicTree
from simulator.parallel_candidates import ParallelCandidates
from simulator.trees import MAX_NODES, Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundKind:
    """Rounds of one kind: how many are, their tree, and P(node kept | its parent kept), shape [nodes].

    Of the children of a node at most one is kept, so their rates sum to 1 at most.
    """

    share: float
    tree: Tree
    rates: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankAcceptance:
    """by_depth[d][r] = P(the child of rank r is the kept one | its parent was), d = 0 behind the root.

    Ranks exclude each other, so every row sums to 1 at most; what is missing is the chance that no
    child is kept. Depends on depth and rank only, never on which path led there: for Medusa's heads
    that is independence across heads (Cai et al. 2024), for sampled trees Sequoia's positional
    acceptance (Chen et al. 2024). Raises ValueError for a rate outside [0, 1] and a row above 1.

    >>> law = RankAcceptance(by_depth=((0.6, 0.2), (0.5, 0.1)))
    >>> law.rates(Tree.from_paths([(0,), (1,), (1, 0)]))
    (0.6, 0.2, 0.5)
    """

    by_depth: Rows

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_depth", as_rates("by_depth", self.by_depth))

    @classmethod
    def everywhere(cls, rates: Sequence[float], depth: int) -> RankAcceptance:
        """One vector of rates by rank, shape [ranks], behind every node of a tree `depth` deep.

        >>> RankAcceptance.everywhere((0.6, 0.2), 2).by_depth
        ((0.6, 0.2), (0.6, 0.2))
        """
        depth = as_count("depth", depth, least=1, most=MAX_NODES)
        row = as_rates("rates", (as_row("rates", rates),))[0]
        return cls(by_depth=(row,) * depth)

    @classmethod
    def from_top_k(cls, cumulative: Sequence[Sequence[float]]) -> RankAcceptance:
        """From top-1, top-2, … accuracies by depth, shape [depths][ranks], as trainings print them.

        The rate of a rank is what it adds. Raises ValueError where a row falls.

        >>> RankAcceptance.from_top_k([(0.5, 0.75)]).by_depth
        ((0.5, 0.25),)
        """
        rows = as_rows("cumulative", cumulative)
        for depth, row in enumerate(rows):
            for rank, value in enumerate(row):
                as_probability(f"cumulative[{depth}][{rank}]", value)
                if rank and value < row[rank - 1]:
                    raise ValueError(
                        f"cumulative[{depth}] must not fall from one rank to the next; got {value!r} "
                        f"behind {row[rank - 1]!r}."
                    )
        return cls(
            by_depth=tuple(
                tuple(value - before for before, value in zip((0.0, *row), row, strict=False))
                for row in rows
            )
        )

    def rates(self, tree: Tree) -> tuple[float, ...]:
        """P(node kept | its parent kept) of every node, shape [nodes]; ValueError for an unknown one."""
        return _rates("by_depth", self.by_depth, tree)

    def kinds(self, draft: Tree | DynamicTree) -> tuple[RoundKind, ...]:
        """All rounds are of one kind; a dynamic tree grows by these rates."""
        return (round_kind("by_depth", 1.0, self.by_depth, draft),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One type of context: the share of rounds that are in it, and its rates by depth and rank.

    The draft's confidence in a context is what its tokens are worth there, by_depth, unless
    `confidences` (same shape) says otherwise; only a dynamic tree asks for it. Raises ValueError for
    a share outside [0, 1] and for what `RankAcceptance` refuses.
    """

    share: float
    by_depth: Rows
    confidences: Rows | None = None

    def __post_init__(self) -> None:
        as_probability("share", self.share)
        object.__setattr__(self, "by_depth", as_rates("by_depth", self.by_depth))
        if self.confidences is not None:
            object.__setattr__(self, "confidences", as_rates("confidences", self.confidences))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextMixture:
    """Every round draws a type of context, independently, and has its rates at every depth and rank.

    What makes a dynamic tree worth its trouble: in an easy context it grows deep, in a hard one wide,
    while a static tree is the same in both. A choice of form (a round stays in its context), not a
    measurement. Raises ValueError for no context and for shares that do not sum to 1 within 1e-9.

    >>> sure = Context(share=0.5, by_depth=((0.9, 0.1), (0.9, 0.1)))
    >>> unsure = Context(share=0.5, by_depth=((0.4, 0.3), (0.4, 0.3)))
    >>> law = ContextMixture(contexts=(sure, unsure))
    >>> [kind.tree.paths for kind in law.kinds(DynamicTree(nodes=2, depth=2, expand=2))]
    [((0,), (0, 0)), ((0,), (1,))]
    """

    contexts: tuple[Context, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "contexts", as_contexts(self.contexts))
        total = math.fsum(context.share for context in self.contexts)
        if not (self.contexts and abs(total - 1.0) <= TOLERANCE):
            raise ValueError(f"the shares of contexts must sum to 1; got {total!r}.")

    def kinds(self, draft: Tree | DynamicTree) -> tuple[RoundKind, ...]:
        """A kind per context that occurs, with its own tree where the draft is dynamic."""
        return tuple(
            round_kind(
                f"contexts[{index}].by_depth",
                context.share,
                context.by_depth,
                draft,
                None
                if context.confidences is None
                else (f"contexts[{index}].confidences", context.confidences),
            )
            for index, context in enumerate(self.contexts)
            if context.share > 0.0
        )


TreeAcceptance: TypeAlias = RankAcceptance | ContextMixture | ParallelCandidates
"""Every law of acceptance that a tree can have."""
TREE_PROCESSES = (RankAcceptance, ContextMixture, ParallelCandidates)


def as_contexts(contexts: Sequence[Context]) -> tuple[Context, ...]:
    """Contexts in a row, checked to be such."""
    if not isinstance(contexts, Sequence):
        raise ValueError(f"contexts must be Contexts in a row; got {contexts!r}.")
    for index, context in enumerate(contexts):
        if not isinstance(context, Context):
            raise ValueError(f"contexts[{index}] must be a Context; got {context!r}.")
    return tuple(contexts)


def refuse_trees(function: str, process: object) -> None:
    """Refuse a law of trees for `function`, which takes the laws of chains."""
    if isinstance(process, TREE_PROCESSES):
        raise ValueError(
            f"{function} takes the acceptance of chains; got {type(process).__name__}, which is of trees."
        )


def _rates(name: str, rows: Rows, tree: Tree) -> tuple[float, ...]:
    rates = []
    for node, (depth, rank) in enumerate(zip(tree.depths, tree.ranks, strict=True)):
        if depth > len(rows) or rank >= len(rows[depth - 1]):
            raise ValueError(
                f"{name} must have a rate for every node of the tree; it has none for node {node}, "
                f"the child of rank {rank} at depth {depth}."
            )
        rates.append(float(rows[depth - 1][rank]))
    return tuple(rates)


def round_kind(
    name: str,
    share: float,
    rows: Rows,
    draft: Tree | DynamicTree,
    confidences: tuple[str, Rows] | None = None,
) -> RoundKind:
    """Rounds with rates `rows`, of that name; a dynamic tree grows by them or by named confidences."""
    if isinstance(draft, Tree):
        return RoundKind(share=share, tree=draft, rates=_rates(name, rows, draft))
    called, values = (name, rows) if confidences is None else confidences
    tree = draft.grow(values, called=called)
    if tree.nodes < draft.nodes:
        raise ValueError(
            f"{called} must offer candidates for the {draft.nodes} nodes of the dynamic tree; got "
            f"{tree.nodes} of them."
        )
    return RoundKind(share=share, tree=tree, rates=_rates(name, rows, tree))

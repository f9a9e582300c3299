"""Which tree of tokens a run drafts: what was asked for, what was chosen, and what both allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from real_runs.runs.header import Settings, TreeShape
from simulator._checks import as_count
from simulator.dynamic_tree import DynamicTree
from simulator.trees import ROOT, Tree

MOST_NODES = 512
"""Of a draft, passengers included: what a report takes of a pass, and more than pays anywhere."""
USUAL_EXPAND = 10
"""Nodes of each level that a dynamic tree grows behind, unless said: EAGLE-2's own choice."""
USUAL_BEST = 64
"""The most nodes of a tree that is chosen by its costs, unless said."""
_FORMS = "chain, nodes:N, dynamic:N, dynamic:N:EXPAND, best, best:N"
Kind: TypeAlias = Literal["chain", "nodes", "best", "dynamic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeAsked:
    """A tree by its size: a chain, a fixed one, or one that grows anew each round.

    Fixed are the likeliest of so many nodes, and the fastest of at most so many ("best").
    """

    kind: Kind
    nodes: int = 0
    expand: int = 0


def tree_asked(text: str) -> TreeAsked:
    """What a text such as "nodes:16" asks for; ValueError for another.

    >>> tree_asked("dynamic:24:6")
    TreeAsked(kind='dynamic', nodes=24, expand=6)
    >>> tree_asked("best")
    TreeAsked(kind='best', nodes=64, expand=0)
    """
    kind, *numbers = text.split(":")
    most = {"chain": 0, "nodes": 1, "best": 1, "dynamic": 2}.get(kind, -1)
    least = 0 if kind == "best" else min(most, 1)
    if not least <= len(numbers) <= most or not all(n.isdecimal() for n in numbers):
        raise ValueError(f"tree must be one of {_FORMS}; got {text!r}.")
    if kind == "chain":
        return TreeAsked(kind="chain")
    nodes = int(numbers[0]) if numbers else USUAL_BEST
    nodes = as_count("tree's nodes", nodes, least=1, most=MOST_NODES)
    if kind == "nodes":
        return TreeAsked(kind="nodes", nodes=nodes)
    if kind == "best":
        return TreeAsked(kind="best", nodes=nodes)
    expand = int(numbers[1]) if len(numbers) > 1 else USUAL_EXPAND
    expand = as_count("tree's expand", expand, least=1, most=MOST_NODES)
    return TreeAsked(kind="dynamic", nodes=nodes, expand=expand)


def tree_of(settings: Settings) -> Tree | None:
    """The fixed tree of a run; None where it drafts chains or trees that grow. ValueError for no tree."""
    if settings.shape is None:
        return None
    return Tree(parents=settings.shape.parents, ranks=settings.shape.ranks)


def shape_of(tree: Tree) -> TreeShape:
    """A tree as settings carry it."""
    return TreeShape(parents=tree.parents, ranks=tree.ranks)


def branches(settings: Settings) -> bool:
    """Whether drafts can have siblings: a fixed tree may have come out as a chain, and is drafted as one."""
    tree = tree_of(settings)
    if tree is None:
        return settings.drafter == "lookahead" or grows(settings)
    return tree != Tree.chain(tree.gamma)


def grows(settings: Settings) -> bool:
    """Whether every round grows a tree of its own."""
    return tree_asked(settings.tree).kind == "dynamic"


def cut_to(tree: Tree, depth: int) -> Tree:
    """The nodes of a tree down to a depth.

    >>> cut_to(Tree.chain(3), 2).parents
    (-1, 0)
    """
    kept = [node for node, its in enumerate(tree.depths) if its <= depth]
    place = {node: index for index, node in enumerate(kept)} | {ROOT: ROOT}
    return Tree(
        parents=tuple(place[tree.parents[node]] for node in kept),
        ranks=tuple(tree.ranks[node] for node in kept),
    )


def check_tree(settings: Settings) -> None:
    """ValueError, one sentence, for trees that no run can have."""
    asked = tree_asked(settings.tree)
    if asked.kind != "chain" and settings.drafter not in {"medusa", "eagle"}:
        raise ValueError(
            f"tree must be chain with {settings.drafter}, which grows none by rank; got "
            f"{settings.tree!r}."
        )
    if asked.kind == "chain" and settings.siblings == "distinct":
        raise ValueError(
            "siblings must be chosen or drawn in a chain, which has none; got distinct."
        )
    if asked.kind == "dynamic" and settings.drafter != "eagle":
        raise ValueError(
            f"tree must be chain, nodes:N or best:N with medusa; got {settings.tree!r}."
        )
    if asked.kind != "chain" and settings.stop != "fixed":
        raise ValueError(f"stop must be fixed with a tree; got {settings.stop!r}.")
    if asked.kind == "dynamic" and settings.siblings != "chosen":
        raise ValueError(
            "siblings must be chosen in a dynamic tree, which drops those that it finds unlikely; got "
            f"{settings.siblings!r}."
        )
    tree = tree_of(settings)
    if tree is None:
        if asked.kind == "best":
            raise ValueError(f"shape must be given with tree {settings.tree}; got none.")
        return
    if asked.kind not in {"nodes", "best"}:
        raise ValueError(
            f"shape must go with tree nodes:N or best:N; got one with {settings.tree!r}."
        )
    if tree.nodes > asked.nodes:
        raise ValueError(f"shape must have at most {asked.nodes} nodes; got {tree.nodes}.")
    deepest = max(settings.gammas)
    if deepest > tree.gamma:
        raise ValueError(
            f"gamma must be at most the depth of the tree, {tree.gamma}; got {deepest}."
        )


def judged_nodes(settings: Settings, gamma: int) -> int:
    """Tokens that a round can have drafted at most, and with a fixed tree or a chain does draft."""
    tree = tree_of(settings)
    if tree is not None:
        return cut_to(tree, gamma).nodes
    if settings.drafter == "lookahead":
        return settings.candidates * gamma
    asked = tree_asked(settings.tree)
    return gamma if asked.kind == "chain" else asked.nodes


def drafts_of(settings: Settings) -> dict[int, Tree | DynamicTree]:
    """What is drafted at each draft length, as strategies take it. ValueError for Lookahead, which has none."""
    if settings.drafter == "lookahead":
        raise ValueError("drafter must have a tree of ranks; lookahead has candidates.")
    tree, asked = tree_of(settings), tree_asked(settings.tree)
    if asked.kind == "dynamic":
        return {
            gamma: DynamicTree(nodes=asked.nodes, depth=gamma, expand=asked.expand)
            for gamma in settings.gammas
        }
    return {
        gamma: Tree.chain(gamma) if tree is None else cut_to(tree, gamma)
        for gamma in settings.gammas
    }


def passengers_of(settings: Settings) -> int:
    """Tokens that ride along in every pass without being judged: Lookahead's window but its first entry."""
    if settings.drafter != "lookahead":
        return 0
    return settings.window * (settings.ngram - 1) - 1

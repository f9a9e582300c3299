"""What a given tree is worth: which nodes a round keeps, how deep it gets, exactly.

Multiplied out from the rates, apart from the walk by which the simulator samples the same rounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from analysis.trees.rates import Rates, rate_rows, rates_of_nodes
from simulator import ContextMixture, DynamicTree, ParallelCandidates, RankAcceptance, Tree
from simulator._checks import FloatArray
from simulator.trees import ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthLaw:
    """How deep rounds get, shapes [depth] and, for `pmf`, [depth + 1].

    `tested[d]`: P(a token at depth d + 1 is judged), `survival[d]`: P(one is kept there), `pmf[n]`: P(n
    tokens are kept). `drafted`: tokens drafted per round, on average.
    """

    tested: tuple[float, ...]
    survival: tuple[float, ...]
    pmf: tuple[float, ...]
    drafted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """Rounds of one kind: their share, their tree and P(kept | parent kept) per node, [nodes]."""

    share: float
    tree: Tree
    rates: FloatArray


Acceptance: TypeAlias = ContextMixture | ParallelCandidates | Rates
"""A law of acceptance on trees, or rates: one vector by rank, or one per depth."""


def node_probabilities(tree: Tree, acceptance: Acceptance) -> FloatArray:
    """P(a round keeps a node), shape [nodes]: the product of the rates on the way to it.

    Under a mixture of contexts the mean over them. Under parallel candidates, of which the longest
    kept one counts and of equally long ones the first: with a_i = p_1 · … · p_i, candidate g of G is kept
    to depth i with hit · Σ_{l≥i} (a_l - a_{l+1}) (1 - a_l)^g (1 - a_{l+1})^(G-1-g). Sources: Sequoia
    (2402.12374), definition 3.3; Medusa (2401.10774), section 2.3.3; derived for candidates. Raises
    ValueError for a node that the acceptance does not know.

    >>> node_probabilities(Tree.from_paths([(0,), (1,), (0, 0)]), [0.6, 0.2])
    array([0.6 , 0.2 , 0.36])
    """
    if not isinstance(tree, Tree):
        raise ValueError(f"tree must be a Tree, the same in every round; got {tree!r}.")
    if isinstance(acceptance, ParallelCandidates):
        return _kept_of_candidates(tree, acceptance)
    total = np.zeros(tree.nodes)
    for kind in _kinds(tree, acceptance):
        total += kind.share * _reached(kind)
    return total


def tree_value(draft: Tree | DynamicTree, acceptance: Acceptance) -> float:
    """Expected tokens per round, F(T) = 1 + Σ_nodes P(kept); the 1 is the target's own token.

    Sequoia (2402.12374), proposition 3.4; of a dynamic tree the mean over contexts, each with the tree
    that it grows. Raises ValueError for a node that the acceptance does not know.

    >>> round(tree_value(Tree.from_paths([(0,), (1,), (0, 0)]), [0.6, 0.2]), 12)
    2.16
    """
    return 1.0 + math.fsum(depth_law(draft, acceptance).survival)


def depth_law(draft: Tree | DynamicTree, acceptance: Acceptance) -> DepthLaw:
    """The exact law of the depth that a round reaches.

    A round stops at a kept node with 1 - Σ of its children's rates, and tests a depth where the node it
    kept above has children at all. Parallel candidates: P(kept to i) = hit (1 - (1 - a_i)^G).
    """
    if not isinstance(draft, Tree | DynamicTree):
        raise ValueError(f"draft must be a Tree or a DynamicTree; got {draft!r}.")
    if isinstance(acceptance, ParallelCandidates):
        return _law_of_candidates(_sequences(draft, acceptance), acceptance)
    depth = draft.gamma
    tested, survival, pmf = np.zeros(depth), np.zeros(depth), np.zeros(depth + 1)
    drafted = 0.0
    for kind in _kinds(draft, acceptance):
        reached, depths = _reached(kind), np.array(kind.tree.depths, dtype=np.int64)
        for node, children in enumerate(kind.tree.children, start=ROOT):
            here = kind.share * (1.0 if node == ROOT else float(reached[node]))
            level = 0 if node == ROOT else int(depths[node])
            going_on = math.fsum(kind.rates[list(children)])
            pmf[level] += here * max(1.0 - going_on, 0.0)
            if children:
                tested[level] += here
        np.add.at(survival, depths - 1, kind.share * reached)
        drafted += kind.share * kind.tree.nodes
    return DepthLaw(
        tested=tuple(tested.tolist()),
        survival=tuple(np.minimum(survival, 1.0).tolist()),  # printed rates may pass 1 by rounding
        pmf=tuple(pmf.tolist()),
        drafted=drafted,
    )


def _kinds(draft: Tree | DynamicTree, acceptance: ContextMixture | Rates) -> list[_Kind]:
    """Every kind of round, with rates looked up by depth and rank."""
    if isinstance(acceptance, ContextMixture):
        given = [
            (each.share, each.by_depth, each.confidences or each.by_depth)
            for each in acceptance.contexts
        ]
    else:
        rows = rate_rows(acceptance)
        by_depth = tuple(rows.row(depth) for depth in range(1, _depths(draft, rows.depths) + 1))
        given = [(1.0, by_depth, by_depth)]
    kinds = []
    for share, by_depth, confidences in given:
        tree = draft if isinstance(draft, Tree) else draft.grow(confidences)
        rates = rates_of_nodes(tree, rate_rows(RankAcceptance(by_depth=by_depth)))
        kinds.append(_Kind(share=share, tree=tree, rates=rates))
    return kinds


def _depths(draft: Tree | DynamicTree, known: float) -> int:
    return draft.gamma if math.isinf(known) else int(known)


def _reached(kind: _Kind) -> FloatArray:
    """P(a node is kept) in rounds of one kind, shape [nodes]."""
    reached = np.empty(kind.tree.nodes)
    for node, parent in enumerate(kind.tree.parents):
        reached[node] = kind.rates[node] * (1.0 if parent == ROOT else reached[parent])
    return reached


def _sequences(draft: Tree | DynamicTree, acceptance: ParallelCandidates) -> Tree:
    """The draft, once it is the chains side by side that parallel candidates are."""
    candidates, length = acceptance.candidates, draft.gamma
    side_by_side = (
        isinstance(draft, Tree)
        and draft.nodes == candidates * length
        and (length == 0 or draft == Tree.sequences(candidates, length))
    )
    if not (isinstance(draft, Tree) and side_by_side):
        raise ValueError(
            f"parallel candidates must be {candidates} chains of one length side by side, "
            f"Tree.sequences({candidates}, length); got a tree of {draft.nodes} nodes and "
            f"depth {draft.gamma}."
        )
    return draft


def _kept_to(tree: Tree, acceptance: ParallelCandidates) -> FloatArray:
    """a_0 = 1, a_1, …, a_length, 0: P(one candidate is kept to depth i), shape [length + 2]."""
    conditional = acceptance.conditional(tree.gamma)
    return np.concatenate((np.cumprod((1.0, *conditional)), [0.0]))


def _law_of_candidates(tree: Tree, acceptance: ParallelCandidates) -> DepthLaw:
    if tree.nodes == 0:
        return DepthLaw(tested=(), survival=(), pmf=(1.0,), drafted=0.0)
    kept = _kept_to(tree, acceptance)
    with np.errstate(
        divide="ignore"
    ):  # log 0 = -inf is right: no candidate fails to keep what is sure
        none = acceptance.candidates * np.log1p(-kept)
    survival = acceptance.hit * -np.expm1(none[1:-1])
    pmf = acceptance.hit * np.diff(np.exp(none))
    pmf[0] += 1.0 - acceptance.hit
    return DepthLaw(
        tested=(float(acceptance.hit), *survival[:-1].tolist()),
        survival=tuple(survival.tolist()),
        pmf=tuple(pmf.tolist()),
        drafted=acceptance.hit * tree.nodes,
    )


def _kept_of_candidates(tree: Tree, acceptance: ParallelCandidates) -> FloatArray:
    length = _sequences(tree, acceptance).gamma
    kept, candidates = _kept_to(tree, acceptance), acceptance.candidates
    first = np.arange(candidates)[:, np.newaxis]  # [g], against lengths [l]
    ends_here = kept[1:-1] - kept[2:]
    shorter, not_longer = 1.0 - kept[1:-1], 1.0 - kept[2:]
    wins = ends_here * shorter**first * not_longer ** (candidates - 1 - first)
    reached = acceptance.hit * wins[:, ::-1].cumsum(axis=1)[:, ::-1]
    return np.asarray(reached.reshape(candidates * length), dtype=np.float64)

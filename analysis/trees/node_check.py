"""A sampled walk through a tree against the exact law, node by node."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from analysis.checking import Check, distribution, proportion, z_limit
from analysis.trees.values import node_probabilities
from simulator import ContextMixture, ParallelCandidates, RankAcceptance, Strategy, Tree
from simulator._checks import as_count
from simulator.trees import ROOT


def check_nodes(strategy: Strategy, kept: npt.ArrayLike, *, rounds: int) -> Check:
    """Compare how often each node of a tree was kept with its exact probability.

    `kept`: rounds that kept a node, shape [nodes], as `simulate_nodes` counts them. Every node by z (or
    its binomial tail), the nodes at which rounds stopped by chi-square, nodes of probability 0 by
    name. Sees what counts by depth hide, such as siblings whose rates are swapped. Raises ValueError
    for a strategy whose tree is not the same in every round and for counts that do not fit it.

    >>> from simulator import medusa
    >>> heads = medusa(accuracies=((0.6, 0.2), (0.5, 0.1)), nodes=3)
    >>> check_nodes(heads, [600, 200, 300], rounds=1000).passed
    True
    >>> check_nodes(heads, [200, 600, 100], rounds=1000).passed
    False
    """
    tree, acceptance = strategy.draft, strategy.acceptance
    if not isinstance(tree, Tree) or not isinstance(
        acceptance, RankAcceptance | ContextMixture | ParallelCandidates
    ):
        raise ValueError(
            "check_nodes needs a strategy with one tree for all rounds; "
            f"got {strategy.name} with a {type(tree).__name__}."
        )
    rounds = as_count("rounds", rounds, least=1)
    counts = np.asarray(kept)
    if counts.shape != (tree.nodes,) or counts.dtype.kind not in "iu":
        raise ValueError(
            f"kept must be {tree.nodes} counts, one per node; got {counts.dtype} of shape "
            f"{counts.shape}."
        )
    exact = node_probabilities(tree, acceptance)
    stopped = _stopped(tree, (rounds, *counts.tolist()))
    if min(stopped) < 0:
        node = stopped.index(min(stopped)) - 1
        raise ValueError(
            f"kept must not grow from a node to its children, nor pass the {rounds} rounds; got more "
            f"below {'the root' if node == ROOT else f'node {node}'} than at it."
        )
    never = counts[exact == 0.0].sum()
    chances = [max(chance, 0.0) for chance in _stopped(tree, (1.0, *exact.tolist()))]
    chi_square_p, _ = distribution(chances, [int(count) for count in stopped], rounds)
    return Check(
        comparisons=tuple(
            proportion(f"node[{node}]", float(exact[node]), int(counts[node]), rounds)
            for node in range(tree.nodes)
        ),
        chi_square_p=chi_square_p,
        support_ok=bool(never == 0),
        z_limit=z_limit(),
    )


def _stopped(tree: Tree, reached: tuple[float, ...]) -> list[float]:
    """What each node has and its children have not, the root first: shape [nodes + 1]."""
    left = list(reached)
    for node, parent in enumerate(tree.parents):
        left[(ROOT if parent == ROOT else parent) + 1] -= reached[node + 1]
    return left

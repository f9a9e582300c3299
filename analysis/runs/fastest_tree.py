"""The tree that a run should draft, by the accuracies of its heads and the times of its machine."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from analysis.trees.paying import paying_size
from analysis.trees.search import best_tree
from simulator import Tree
from simulator.strategies import Steps

_CLOSE = 1e-12  # relative; speedups closer than this are the same but for rounding


def fastest(
    accuracies: Sequence[Sequence[float]],
    nodes: int,
    *,
    widths: Sequence[int],
    verify_costs: Sequence[float],
    step_cost: float,
    steps: Steps,
) -> Tree:
    """The tree of 1 to `nodes` nodes with the largest foretold speedup, as `paying_size` takes it.

    `accuracies[depth][r]` as in `foretell`. `verify_costs[i]` is V(widths[i]), the costs in any order;
    only sizes whose pass has one of these widths are looked at, as V need not lie between its
    neighbours. `step_cost` is that of one draft step [plain passes], paid per depth or once, as `steps`
    says. Where no tree beats plain decoding it is the one that loses least: it was asked for. Of equal
    speedups the fewest nodes, then the least depth. Raises ValueError for widths that do not rise from
    1 and 2 to nodes + 1, one cost each, and what `paying_size` raises.

    >>> fastest([[0.6, 0.2], [0.5, 0.2]], 4, widths=[1, 2, 3, 4, 5],
    ...         verify_costs=[1.0, 1.5, 1.1, 2.0, 1.9], step_cost=0.1, steps="one").paths
    ((0,), (0, 0))
    """
    rising = all(low < high for low, high in pairwise(widths))
    if (
        len(widths) != len(verify_costs)
        or not rising
        or list(widths[:2]) != [1, 2]
        or widths[-1] != nodes + 1
    ):
        raise ValueError(
            f"widths must rise from 1 and 2 to {nodes + 1}, one cost each; got {list(widths)} with "
            f"{len(verify_costs)} costs."
        )
    known = dict(zip(widths, verify_costs, strict=True))
    found = paying_size(
        accuracies,
        cost_ratio=step_cost,
        verify_cost=lambda tokens: known.get(
            tokens, 1.0
        ),  # sizes without a width are left out below
        max_nodes=nodes,
        steps=steps,
    )
    points = [point for point in found.points[1:] if point.nodes + 1 in known]
    most = max(point.speedup for point in points)
    best = next(point for point in points if point.speedup >= (1.0 - _CLOSE) * most)
    return best_tree(accuracies, best.nodes, max_depth=best.depth).tree

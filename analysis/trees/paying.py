"""How large a tree should be once a wider pass costs more: Sequoia's choice of size and depth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.optimum import VerifyCost, verify_costs
from analysis.trees.rates import Rates, limits, rate_rows
from analysis.trees.search import MAX_SEARCHED, best_tree, values_by_depth
from simulator import Tree
from simulator._checks import as_count, as_nonnegative
from simulator.strategies import STEPS, Steps

_CLOSE = 1e-12  # relative; speedups closer than this are the same but for rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class SizePoint:
    """The best tree of so many nodes: its depth bound, tokens per round, cost of a round, speedup."""

    nodes: int
    depth: int
    tokens_per_round: float
    round_cost: float
    speedup: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PayingSize:
    """The size and depth of tree with the best speedup, and where more nodes stop paying.

    `best`: the fastest point, 0 nodes where no tree beats plain decoding, and its `tree`.
    `loses_from`: the fewest nodes at which one more makes the round slower than it gains, None if
    each gains up to the limit; with a V(n) of steps it may lie before the best. `behind_plain_from`: the
    fewest nodes from which on every size is slower than plain decoding, None if the largest is not.
    `at_limit`: the best is the largest tree that was tried. `points`: every size, 0 first.
    """

    best: SizePoint
    tree: Tree
    loses_from: int | None
    behind_plain_from: int | None
    at_limit: bool
    points: tuple[SizePoint, ...]


def paying_size(
    rates: Rates,
    *,
    cost_ratio: float,
    verify_cost: VerifyCost,
    max_nodes: int = 64,
    steps: Steps = "sequential",
    max_depth: int | None = None,
    max_width: int | None = None,
    overhead: float = 0.0,
    gaps: bool = False,
) -> PayingSize:
    """The tree with the best speedup over all sizes up to `max_nodes` and all depths.

    speedup(n, d) = F(n, d) / (V(n + 1) + steps(d) · cost_ratio + overhead) (Sequoia, section 3.3.1; its n
    counts the root, here n are drafted nodes, of which a pass verifies one more). F(n, d) is what
    `best_tree` finds with max_depth d. `verify_cost` gives V(n + 1) as in `best_gamma`: a number, one
    value per n from 0 on, or a function of n + 1. `steps` says what a tree of depth d pays for:
    "sequential" d draft steps (EAGLE), "one" (Medusa) or "none" (Lookahead). 0 nodes are plain
    decoding, speedup 1. Of equal speedups the fewest nodes, then the least depth. Other arguments
    and errors as in `best_tree`; sizes that find no room are left out. All depths are searched, so a
    max_depth saves time with hundreds of nodes.

    >>> def passes(tokens):
    ...     return 1.0 + 0.02 * tokens
    >>> found = paying_size([0.6, 0.2, 0.1], cost_ratio=0.05, verify_cost=passes, max_nodes=32)
    >>> found.best.nodes, found.best.depth, round(found.best.speedup, 3), found.loses_from
    (12, 3, 2.165, 12)
    """
    if steps not in STEPS:
        raise ValueError(f"steps must be one of {', '.join(STEPS)}; got {steps!r}.")
    cost_ratio = as_nonnegative("cost_ratio", cost_ratio)
    overhead = as_nonnegative("overhead", overhead)
    max_nodes = as_count("max_nodes", max_nodes, most=MAX_SEARCHED)
    costs = verify_costs(verify_cost, max_nodes)
    rows = rate_rows(rates, gaps=gaps)
    rows, depth = limits(rows, 0, None, max_width, most=MAX_SEARCHED)
    depth = max_nodes if max_depth is None else as_count("max_depth", max_depth, least=1)
    depth = int(min(depth, max_nodes, rows.depths))
    max_nodes = rows.room(depth, max_nodes)
    tokens = values_by_depth(rows, max_nodes, depth)
    taken = np.arange(depth + 1)
    if steps != "sequential":
        taken = np.minimum(taken, 1 if steps == "one" else 0)
    round_costs = costs[np.newaxis, : max_nodes + 1] + cost_ratio * taken[:, np.newaxis] + overhead
    round_costs[:, 0] = 1.0  # nothing drafted: a plain step
    speeds = tokens / round_costs  # [depth + 1, nodes + 1]
    fastest = speeds.max(axis=0)
    depths = (speeds >= (1.0 - _CLOSE) * fastest).argmax(axis=0)
    points = tuple(
        SizePoint(
            nodes=n,
            depth=int(d),
            tokens_per_round=float(tokens[d, n]),
            round_cost=float(round_costs[d, n]),
            speedup=float(speeds[d, n]),
        )
        for n, d in enumerate(depths)
    )
    best = points[int((fastest >= (1.0 - _CLOSE) * fastest.max()).argmax())]
    losing = np.flatnonzero(fastest[1:] < (1.0 - _CLOSE) * fastest[:-1])
    not_behind = np.flatnonzero(fastest >= 1.0)[-1]
    return PayingSize(
        best=best,
        tree=best_tree(
            rates, best.nodes, max_depth=max(best.depth, 1), max_width=max_width, gaps=gaps
        ).tree,
        loses_from=int(losing[0]) if losing.size else None,
        behind_plain_from=int(not_behind) + 1 if not_behind < max_nodes else None,
        at_limit=best.nodes == max_nodes > 0,
        points=points,
    )

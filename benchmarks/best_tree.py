"""How long it takes to find the best tree among all trees of a size."""

from __future__ import annotations

import sys
import time

import numpy as np
from rows import Row

import analysis as an

NODES, DEPTH, WIDTH = 512, 16, 32


def searching(nodes: int = NODES, repeats: int = 5) -> Row:
    """The best of a few runs, with rates of its own at every depth and none that fall with the rank."""
    rates = np.random.default_rng(0).dirichlet(np.ones(WIDTH + 1), size=DEPTH)[:, :WIDTH]
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        best = an.best_tree(rates, nodes, max_depth=DEPTH, max_width=WIDTH)
        seconds.append(time.process_time() - start)
    exact = an.tree_value(best.tree, rates)
    grown = an.grow_tree(rates, nodes, max_depth=DEPTH, max_width=WIDTH).tokens_per_round
    right = abs(best.tokens_per_round / exact - 1.0) < 1e-12 and exact >= grown
    if not right or best.tree.nodes != nodes:
        raise SystemExit(f"the tree is wrong: {best.tokens_per_round} instead of {exact}")
    return Row(
        what=f"`best_tree` of {nodes:,} nodes, depth {DEPTH}, width {WIDTH}, rates by depth and rank, one core",
        measured=f"{min(seconds):.2f} s",
        required="< 2 s",
        ok=min(seconds) < 2.0,
    )


def rows() -> list[Row]:
    return [searching()]


if __name__ == "__main__":
    print(searching(int(sys.argv[1]) if len(sys.argv) > 1 else NODES))

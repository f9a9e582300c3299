"""What the accuracies of heads on held-out text foretell of a run: acceptance by depth, before any round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.trees.values import depth_law
from simulator import DynamicTree, Tree


def foretell(
    drafts: Mapping[int, Tree | DynamicTree], accuracies: Sequence[Sequence[float]]
) -> dict[int, tuple[float, ...]]:
    """P(a round keeps a token at each depth) for each draft length, as `summarize_run` takes it.

    `accuracies[depth][r]` is P(the token of rank r is the target's | its parent is), held to be
    independent of the ranks above. Draft lengths that go beyond the known depths or ranks are left
    out: nothing is foretold there.

    >>> foretell({2: Tree.from_widths([2, 1])}, [[0.5, 0.25], [0.5, 0.1]])
    {2: (0.75, 0.375)}
    """
    found = {}
    for gamma, draft in drafts.items():
        try:
            survival = depth_law(draft, accuracies).survival
        except ValueError:
            continue
        found[gamma] = survival + (0.0,) * (gamma - len(survival))
    return found

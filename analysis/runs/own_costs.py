"""What a round costs at any draft length, from the times of a measured run."""

from __future__ import annotations

import numpy as np

from analysis.explaining.building import full_drafts
from analysis.fitting.costs import RoundCosts
from analysis.runs.summary import RunSummary
from simulator.observed import path_counts


def costs_of_run(summary: RunSummary) -> RoundCosts | None:
    """The measured costs of a run as `RoundCosts`, up to the widest pass that was measured.

    V between two measured widths lies on the straight line between them, from V(1) = 1 on. An overhead below
    zero, which a run shows whose plain steps had more around them, counts as none. None where a
    draft length does not say what a round costs: of trees, and of drafts that often end early.
    """
    if summary.branches or not all(_full(summary, entry.gamma) for entry in summary.measured):
        return None
    known = {1: 1.0} | {width: cost.value for width, cost in summary.verify_costs}
    widths = sorted(known)
    passes = np.interp(range(1, widths[-1] + 1), widths, [known[width] for width in widths])
    return RoundCosts(
        cost_ratio=summary.cost_ratio.value,
        verify_cost=tuple(float(cost) for cost in passes),
        overhead=max(summary.overhead.value, 0.0),
    )


def _full(summary: RunSummary, gamma: int) -> bool:
    paths = path_counts(summary.at(gamma).table)
    return full_drafts(paths.drafted / paths.rounds, gamma, paths.length_rule)

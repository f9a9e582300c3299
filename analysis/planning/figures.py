"""Figures of a plan for print: the best draft length over batch, and the speedup over both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.palette import BEST, LINES, PLAIN
from analysis.planning.choice import OFF
from analysis.planning.result import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = ("o", "s", "^", "D", "v")
_WIDTH, _HEIGHT = 7.0, 4.2


def best_gamma_over_batch(plan: Plan) -> Figure:
    """The draft length to use at every batch, a marker per strategy, over the band within 1 % of it."""
    from matplotlib.figure import Figure  # noqa: PLC0415 — matplotlib costs a second at import

    figure = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    axes = figure.subplots()
    batches = [row.batch for row in plan.rows]
    lows = [min(*row.chosen.flat, row.gamma) for row in plan.rows]
    highs = [max(*row.chosen.flat, row.gamma) for row in plan.rows]
    axes.vlines(batches, lows, highs, color=BEST, alpha=0.25, linewidth=7, label="within 1 %")
    axes.plot(batches, [row.gamma for row in plan.rows], color=PLAIN, linewidth=1)
    for at, name in enumerate((*plan.strategies, OFF)):
        mine = [(row.batch, row.gamma) for row in plan.rows if row.use == name]
        if mine:
            colour = PLAIN if name == OFF else LINES[at % len(LINES)]
            marker = "x" if name == OFF else MARKERS[at % len(MARKERS)]
            axes.plot(
                *zip(*mine, strict=True), marker, color=colour, markersize=7, label=name, zorder=3
            )
    axes.set_xscale("log", base=2)
    _batch_ticks(axes, batches)
    axes.set_xlabel("Requests that run together (batch)")
    axes.set_ylabel("Draft length γ [tokens]")
    axes.set_ylim(-0.6, max(*highs, 4) + 0.6)
    axes.grid(alpha=0.25)
    axes.set_title("Draft length to use", parse_math=False)
    axes.legend(frameon=False)
    return figure


def speedup_map(plan: Plan, strategy: str | None = None) -> Figure:
    """The speedup of one strategy over draft length and batch, with the length that is taken marked.

    Of `Plan.best_single` unless a strategy is named. White is plain decoding's speed, orange slower,
    purple faster; what does not fit the memory, or of which nothing is known, stays empty.
    """
    from matplotlib.colors import TwoSlopeNorm  # noqa: PLC0415 — see above
    from matplotlib.figure import Figure  # noqa: PLC0415

    name = plan.best_single if strategy is None else strategy
    choices = plan.of(name)
    values = np.asarray(
        [[np.nan if s is None else s.value for s in choice.speedups] for choice in choices]
    )
    figure = Figure(figsize=(_WIDTH, max(_HEIGHT, 0.24 * len(choices) + 1.2)), layout="constrained")
    axes = figure.subplots()
    top = max(float(np.nanmax(values)), 1.05)
    low = min(float(np.nanmin(values)), 1.0 / top)
    image = axes.imshow(
        np.ma.masked_invalid(values),
        aspect="auto",
        cmap="PuOr",
        norm=TwoSlopeNorm(vcenter=1.0, vmin=low, vmax=top),
    )
    taken = [plan.gammas.index(choice.gamma) for choice in choices]
    axes.plot(
        taken, range(len(choices)), "o-", color="black", markerfacecolor="white", markersize=6,
        linewidth=1, label="taken",
    )  # fmt: skip
    axes.set_xticks(range(len(plan.gammas)), [str(gamma) for gamma in plan.gammas])
    axes.set_yticks(range(len(choices)), [f"{choice.batch:,}" for choice in choices])
    axes.set_xlabel("Draft length γ [tokens]")
    axes.set_ylabel("Requests that run together (batch)")
    axes.set_title(f"Speedup of {name}", parse_math=False)
    axes.legend(loc="upper right")
    figure.colorbar(image, ax=axes, label="Speedup over plain decoding at the same batch")
    return figure


def _batch_ticks(axes: Axes, batches: list[int]) -> None:
    """A tick at each power of two between the ends, or at each batch where there are few."""
    from matplotlib.ticker import FixedLocator, NullLocator  # noqa: PLC0415

    few = batches if len(batches) <= 8 else [2**k for k in range(18) if 2**k <= batches[-1]]
    ticks = [batch for batch in few if batch >= batches[0]] or batches
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{batch:,}" for batch in ticks])

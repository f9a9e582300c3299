"""The figure of all predictions: predicted against printed, by family."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from analysis.palette import BEST, EXACT, PLAIN
from analysis.published.prediction import Family, Prediction
from analysis.published.statistics import WITHIN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUANTITIES = ("speedup", "tokens_per_round")
"""What is drawn: the others have units of their own."""
_MARKS = (("o", EXACT), ("D", BEST))
_COLUMNS = 4


def predicted_against_printed(families: Iterable[Family]) -> Figure:
    """One panel per family on logarithmic axes: predicted (y) against printed (x); the diagonal has no error.

    Speedups are dots, tokens per round diamonds, fitted values hollow; the band is 10 % to either side. Other
    quantities are left out. Raises ValueError where no family has a value to draw.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 — matplotlib costs a second at import

    shown = [(family, _drawn(family)) for family in families]
    shown = [(family, values) for family, values in shown if values]
    if not shown:
        raise ValueError("families must hold a speedup or tokens per round; got none.")
    every = [
        value for _, values in shown for each in values for value in (each.printed, each.predicted)
    ]
    ends = (0.93 * min(every), 1.07 * max(every))
    columns = min(_COLUMNS, len(shown))
    lines = math.ceil(len(shown) / columns)
    figure = Figure(figsize=(2.35 * columns + 0.5, 2.5 * lines + 0.4), layout="constrained")
    figure.patch.set_facecolor("white")
    grid = list(figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).flat)
    for axes, (family, values) in zip(grid, shown, strict=False):
        _panel(axes, family, values, ends)
    for axes in grid[len(shown) :]:
        axes.set_axis_off()
    figure.supxlabel("Printed (dots: speedup, diamonds: tokens per round)", fontsize=10)
    figure.supylabel("Predicted", fontsize=10)
    return figure


def _drawn(family: Family) -> list[Prediction]:
    return [each for each in family.predictions if each.quantity in QUANTITIES]


def _panel(axes: Axes, family: Family, values: list[Prediction], ends: tuple[float, float]) -> None:
    axes.fill_between(
        ends, [(1.0 - WITHIN) * x for x in ends], [(1.0 + WITHIN) * x for x in ends],
        color=PLAIN, alpha=0.18, linewidth=0,
    )  # fmt: skip
    axes.plot(ends, ends, color=PLAIN, linewidth=1)
    for quantity, (marker, color) in zip(QUANTITIES, _MARKS, strict=True):
        for fitted in (False, True):
            some = [each for each in values if each.quantity == quantity and each.fitted is fitted]
            axes.plot(
                [each.printed for each in some], [each.predicted for each in some], marker, color=color,
                linestyle="none", markersize=3.2, alpha=0.75, markerfacecolor="none" if fitted else color,
            )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(ends)
    axes.set_ylim(ends)
    ticks = [tick for tick in (0.5, 1, 2, 4, 8) if ends[0] <= tick <= ends[1]]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.set_ticks([], minor=True)
    axes.set_aspect("equal")
    axes.set_title(family.name, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)

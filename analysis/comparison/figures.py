"""The figure of a comparison: how much faster, and which part of it is acceptance and which time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.comparison.result import RunComparison
from analysis.palette import BEST, EXACT, PLAIN, YOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = {"faster": BEST, "slower": YOURS}
_MARKERS = {"faster": "^", "slower": "v"}


def factors(result: RunComparison) -> Figure:
    """Each part's factor with its interval on a logarithmic axis, on which the parts add up to the whole.

    Triangles up are faster, down slower; circles cannot be told from 1, or have no interval.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 — matplotlib costs a second at import
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator  # noqa: PLC0415

    parts = (result.whole, *result.parts)
    figure = Figure(figsize=(7.4, 0.62 * len(parts) + 1.4), layout="constrained")
    axes = figure.add_subplot()
    axes.axvline(1.0, color=PLAIN, linestyle="--", linewidth=1)
    for row, part in enumerate(parts):
        color, marker = _COLOURS.get(part.change, EXACT), _MARKERS.get(part.change, "o")
        value = part.factor.value
        low, high = part.factor.interval or (value, value)
        axes.plot([low, high], [row, row], color=color, linewidth=2)
        axes.plot(value, row, marker, color=color, markersize=9)
        axes.annotate(
            f"×{value:.3g}, {part.change}", (max(value, high), row), xytext=(8, 0),
            textcoords="offset points", va="center", fontsize=9,
        )  # fmt: skip
    axes.set_yticks(range(len(parts)), [part.name.replace("_", " ") for part in parts])
    axes.set_ylim(len(parts) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=7))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"×{value:g}"))
    axes.margins(x=0.3)
    axes.set_xlabel("How many times faster; left of the line slower")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_title(f"{result.before} → {result.after}", parse_math=False)
    return figure

"""The waterfall of a round for print and notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.explaining.bars import COLOURS, bars
from analysis.explaining.explanation import Explanation
from analysis.palette import PLAIN

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def waterfall_figure(explanation: Explanation) -> Figure:
    """Tokens per round, what each part takes of them, and what is left, in plain steps.

    Each bar says what it takes and at which speedup the round then stands; a line at its end shows what is
    not known of it. Raises ValueError for an explanation without parts.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 — matplotlib costs a second at import

    drawn = bars(explanation)
    figure = Figure(figsize=(7.4, 0.62 * len(drawn) + 1.3), layout="constrained")
    axes = figure.add_subplot()
    for row, bar in enumerate(drawn):
        axes.barh(row, bar.end - bar.start, left=bar.start, color=COLOURS[bar.kind], height=0.6)
        if bar.high > bar.low:
            axes.plot([bar.low, bar.high], [row, row], color="black", linewidth=2)
        right = max(bar.start, bar.end, bar.high)
        axes.annotate(
            bar.text,
            (right, row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
        if row + 1 < len(drawn) - 1:
            axes.plot([bar.end, bar.end], [row, row + 1], color=PLAIN, linewidth=0.8, zorder=0)
    axes.axvline(0.0, color=PLAIN, linewidth=1)
    axes.set_yticks(range(len(drawn)), ["\n".join(bar.shown) for bar in drawn])
    axes.invert_yaxis()
    axes.margins(x=0.18)
    axes.set_xlabel("Plain target steps per round; behind each bar the speedup once it is paid")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    title = explanation.name or "Where the gain of a round goes"
    axes.set_title(title, parse_math=False)
    return figure

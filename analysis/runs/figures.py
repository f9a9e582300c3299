"""The figure of measured runs: speedup as measured, with intervals, and as three formulas say it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.palette import EXACT, LINES, PLAIN, SIMULATED, YOURS
from analysis.runs.prediction import RunSummary
from analysis.runs.report import NamedRun, figure_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WAYS = (
    ("by depth", "by_depth", EXACT, "-", "s"),
    ("one p", "constant", LINES[3], "-.", "^"),
    ("the article's formula, V = 1", "article", SIMULATED, ":", "D"),
)
"""The predictions: name, attribute of a Prediction, colour, dash, marker."""
_WIDTH, _HEIGHT = 6.2, 4.4
_MOST_ACROSS = 3


def measured_against_predicted(runs: tuple[NamedRun, ...]) -> Figure:
    """Speedup over draft length of each run, one panel per run on a common axis.

    Points with bars are measured (95 % over prompts); lines are predicted from the acceptance at the
    largest draft length, whose own marker is hollow, for there nothing is foreseen. Raises
    ValueError without a run.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 — matplotlib costs a second at import

    if not runs:
        raise ValueError("runs must hold one run at least; got none.")
    across = min(len(runs), _MOST_ACROSS)
    down = -(-len(runs) // across)
    figure = Figure(figsize=(_WIDTH * across, _HEIGHT * down), layout="constrained")
    panels = figure.subplots(down, across, sharey=True, squeeze=False).flat
    for panel, run in zip(panels, runs, strict=False):
        _draw(panel, run.summary)
        panel.set_title(run.name, parse_math=False)
    for panel in list(panels)[len(runs) :]:
        panel.set_axis_off()
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write the figure in the format that the file's name ends in.

    Raises ValueError for a name that ends in none of .png, .svg, .pdf; OSError if it cannot be
    written.
    """
    kind = figure_kind(path)
    buffer = io.BytesIO()  # drawn whole before a file is touched
    figure.savefig(buffer, format=kind, dpi=160)
    path.write_bytes(buffer.getvalue())


def _draw(axes: Axes, summary: RunSummary) -> None:
    gammas = [entry.gamma for entry in summary.measured]
    axes.axhline(1.0, color=PLAIN, linestyle="--", linewidth=1)
    axes.text(gammas[-1], 1.0, "plain decoding", color=PLAIN, ha="right", va="bottom", fontsize=9)
    if summary.predictions:
        for name, way, color, dash, marker in WAYS:
            values = [getattr(entry, way).speedup.value for entry in summary.predictions]
            axes.plot(gammas, values, dash, color=color, label=name, linewidth=1.6)
            for entry, value in zip(summary.predictions, values, strict=True):
                face = color if entry.foreseen else "white"
                axes.plot(
                    entry.gamma, value, marker, color=color, markerfacecolor=face, markersize=5
                )
    values = [entry.speedup.value for entry in summary.measured]
    ends = [entry.speedup.interval or (entry.speedup.value,) * 2 for entry in summary.measured]
    axes.errorbar(
        gammas,
        values,
        yerr=[
            [max(value - low, 0.0) for value, (low, _) in zip(values, ends, strict=True)],
            [max(high - value, 0.0) for value, (_, high) in zip(values, ends, strict=True)],
        ],
        fmt="o",
        color=YOURS,
        capsize=4,
        markersize=7,
        zorder=4,
        label="measured",
    )
    axes.set_xticks(gammas)
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("Draft length γ [tokens]")
    axes.set_ylabel("Decoding speedup over plain")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right", fontsize=9)

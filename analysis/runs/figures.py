"""Figures of measured runs: speedups and what foresaw them, acceptance by depth, passes by width."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.palette import BEST, EXACT, LINES, PLAIN, YOURS
from analysis.runs.prediction import RunSummary
from analysis.runs.report import NamedRun, figure_kind
from simulator import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WAYS = (
    ("by depth", "by_depth", EXACT, "-", "s"),
    ("one p", "constant", LINES[3], "-.", "^"),
    ("the article's formula, V = 1", "article", LINES[4], ":", "D"),
)
"""The predictions: name, attribute of a Prediction, colour, dash, marker."""
_DASHES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "D", "^", "v")
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
    panels = list(figure.subplots(down, across, sharey=True, squeeze=False).flat)
    for panel, run in zip(panels, runs, strict=False):
        _draw(panel, run.summary)
        panel.set_title(run.name, parse_math=False)
    panels[0].set_ylim(bottom=0.0)  # last: the axis is shared, and what is drawn later would be cut
    for panel in panels[len(runs) :]:
        panel.set_axis_off()
    named = {
        name: handle
        for panel in panels
        for handle, name in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=3, frameon=False)
    return figure


def systems_measured(runs: Sequence[NamedRun]) -> Figure:
    """One line per run at its best draft length: the measured speedup, and what was computed for it.

    Bars are 95 % over prompts. Closure has the run's own counts and costs; predicted knows the acceptance at
    another draft length, foretold the heads' accuracies on other texts, both with the run's own costs.
    Raises ValueError without a run.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 — see above

    if not runs:
        raise ValueError("runs must hold one run at least; got none.")
    figure = Figure(figsize=(8.0, 0.62 * len(runs) + 1.6), layout="constrained")
    axes = figure.add_subplot()
    axes.axvline(1.0, color=PLAIN, linestyle="--", linewidth=1, label="plain decoding")
    marks: dict[str, list[tuple[float, float]]] = {"closure": [], "predicted": [], "foretold": []}
    for row, run in enumerate(runs):
        summary = run.summary
        best = summary.at(summary.best)
        _whisker(axes, best.speedup, row - 0.12, label="measured" if row == 0 else "")
        computed = {
            "closure": [each.speedup for each in summary.closures if each.gamma == best.gamma],
            "predicted": [
                each.by_depth.speedup
                for each in summary.predictions
                if each.gamma == best.gamma and each.foreseen
            ],
            "foretold": [
                each.forecast.speedup for each in summary.foretold if each.gamma == best.gamma
            ],
        }
        for name, found in computed.items():
            marks[name] += [(each.value, row + 0.16) for each in found]
    for (name, points), color, marker in zip(
        marks.items(), (EXACT, BEST, LINES[3]), ("|", "s", "^"), strict=True
    ):
        if points:
            axes.plot(
                *zip(*points, strict=True), marker, color=color, label=name,
                markersize=13 if marker == "|" else 7, markeredgewidth=2.5 if marker == "|" else 1,
            )  # fmt: skip
    axes.set_yticks(
        range(len(runs)), [f"{run.name}, γ = {run.summary.best}" for run in runs], parse_math=False
    )
    axes.set_ylim(len(runs) - 0.5, -0.5)
    axes.set_xlim(
        left=0.9 * min(1.0, *(run.summary.at(run.summary.best).speedup.value for run in runs))
    )
    axes.set_xlabel("Decoding speedup over the plain steps of the same run")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="y", alpha=0.2)
    figure.legend(loc="outside lower center", ncols=5, frameon=False)
    return figure


def acceptance_over_depth(run: NamedRun) -> Figure:
    """P(accepted | tested) by depth, a line per draft length, with intervals; dashed the p pooled over all.

    A falling line is what one p cannot have; lines that lie apart are what acceptance by depth cannot.
    """
    figure, axes = _panel("Depth in the draft", "P(accepted | tested)")
    measured = [entry for entry in run.summary.measured if entry.acceptance]
    p = run.summary.p
    axes.axhline(p.value, color=PLAIN, linestyle="--", linewidth=1, label=f"one p = {p.value:.2f}")
    for entry, color, dash, marker in zip(
        measured, cycle(LINES), cycle(_DASHES), cycle(_MARKERS), strict=False
    ):
        beside = 0.06 * (measured.index(entry) - (len(measured) - 1) / 2.0)
        depths = [depth + 1 + beside for depth in range(len(entry.acceptance))]
        for depth, kept in zip(depths, entry.acceptance, strict=True):
            low, high = kept.interval or (kept.value, kept.value)
            axes.plot([depth, depth], [low, high], color=color, linewidth=1, alpha=0.6)
        axes.plot(
            depths, [kept.value for kept in entry.acceptance], linestyle=dash, marker=marker,
            markersize=5, color=color, label=f"γ = {entry.gamma}",
        )  # fmt: skip
    axes.set_ylim(0.0, 1.0)
    axes.set_title(run.name, parse_math=False)
    axes.legend(frameon=False, loc="lower left", ncols=2)
    return figure


def passes_over_width(runs: Sequence[NamedRun]) -> Figure:
    """V(n) as the runs' target passes had it, with intervals; grey the article's V = 1.

    Widths met in few rounds have wide intervals. Raises ValueError without a run.
    """
    if not runs:
        raise ValueError("runs must hold one run at least; got none.")
    figure, axes = _panel("Tokens in a target pass, n", "V(n): pass over n tokens / plain step")
    axes.axhline(1.0, color=PLAIN, linestyle=":", linewidth=1.2, label="the article: V = 1")
    for run, color, dash, marker in zip(
        runs, cycle(LINES), cycle(_DASHES), cycle(_MARKERS), strict=False
    ):
        widths = [width for width, _ in run.summary.verify_costs]
        costs = [cost for _, cost in run.summary.verify_costs]
        for width, cost in zip(widths, costs, strict=True):
            low, high = cost.interval or (cost.value, cost.value)
            axes.plot([width, width], [low, high], color=color, linewidth=1, alpha=0.6)
        axes.plot(
            widths, [cost.value for cost in costs], linestyle=dash, marker=marker, markersize=5,
            color=color, label=run.name,
        )  # fmt: skip
    axes.set_ylim(bottom=0.0)
    axes.legend(frameon=False)
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


def _panel(x_label: str, y_label: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure  # noqa: PLC0415 — see above
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 — see above

    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _whisker(axes: Axes, estimate: Estimate, row: float, *, label: str) -> None:
    low, high = estimate.interval or (estimate.value, estimate.value)
    axes.errorbar(
        estimate.value, row,
        xerr=[[max(estimate.value - low, 0.0)], [max(high - estimate.value, 0.0)]],
        fmt="o", color=YOURS, capsize=4, markersize=7, zorder=4, label=label,
    )  # fmt: skip


def _draw(axes: Axes, summary: RunSummary) -> None:
    gammas = [entry.gamma for entry in summary.measured]
    axes.axhline(1.0, color=PLAIN, linestyle="--", linewidth=1, label="plain decoding")
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
    axes.set_xlabel("Draft length γ [tokens]")
    axes.set_ylabel("Decoding speedup over plain")
    axes.spines[["top", "right"]].set_visible(False)

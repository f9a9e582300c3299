"""The figure of all systems: tokens per round over what a draft takes, and the speedup once costs are given."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from analysis.palette import LINES, PLAIN
from analysis.systems.comparing import SystemRow
from analysis.systems.report import OTHERS, grouped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
MOST_SYSTEMS = len(LINES) * len(_MARKERS)
_PANEL, _HEIGHT = 4.2, 5.0


def tokens_over_drafts(rows: Sequence[SystemRow], sizes: Sequence[SystemRow] = ()) -> Figure:
    """Tokens per round of every system over the tokens in the pass and over draft steps, one axis up.

    Where costs are known of all a third panel has the speedups. `sizes` are drawn as lines through other
    sizes of the same systems. Systems that share target and text with no other are hollow: their heights
    are no comparison. Raises ValueError for no row and for more than `MOST_SYSTEMS`.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 — matplotlib costs a second at import

    if not 0 < len(rows) <= MOST_SYSTEMS:
        raise ValueError(f"rows must be 1 to {MOST_SYSTEMS} systems; got {len(rows)}.")
    paid = all(row.speedup is not None for row in rows)
    panels = 3 if paid else 2
    figure = Figure(figsize=(_PANEL * panels, _HEIGHT), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    wide, deep = axes[0], axes[1]
    deep.sharey(wide)
    alone = {
        row.system.name for target, group in grouped(rows) for row in group if target == OTHERS
    }
    for index, row in enumerate(rows):
        color, marker = LINES[index % len(LINES)], _MARKERS[index % len(_MARKERS)]
        mine = [each for each in sizes if each.system.name == row.system.name]
        for panel, across in ((wide, "verified"), (deep, "draft_steps")):
            if mine:
                panel.plot(
                    [getattr(each, across) for each in mine],
                    [each.tokens_per_round for each in mine],
                    "--", color=color, linewidth=1, alpha=0.7,
                )  # fmt: skip
            panel.plot(
                getattr(row, across),
                row.tokens_per_round,
                marker,
                color=color,
                fillstyle="none" if row.system.name in alone else "full",
                markersize=8,
                label=row.system.name if panel is wide else None,
            )
    wide.set_xscale("log", base=2)
    wide.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    wide.set_xlabel("Tokens in the target's pass")
    wide.set_ylabel("Tokens per round")
    deep.set_xlabel("Draft steps one after the other")
    deep.xaxis.get_major_locator().set_params(integer=True)
    deep.set_xlim(-0.5, 1.25 * max(1, *(row.draft_steps for row in rows)))
    for panel in (wide, deep):
        panel.set_ylim(bottom=1.0)
        panel.grid(alpha=0.25)
    if paid:
        _speedups(axes[2], rows, alone)
    title = f"Hollow: {OTHERS}" if alone else None
    figure.legend(loc="outside lower center", ncols=5, frameon=False, title=title)
    return figure


def _speedups(axes: Axes, rows: Sequence[SystemRow], alone: Collection[str]) -> None:
    names = [row.system.name for row in rows]
    values = [row.speedup or 0.0 for row in rows]
    colors = [LINES[index % len(LINES)] for index in range(len(rows))]
    fills = ["none" if name in alone else color for name, color in zip(names, colors, strict=True)]
    bars = axes.barh(names, values, color=fills, edgecolor=colors)
    axes.bar_label(bars, [f"{value:.2f}×" for value in values], padding=3, fontsize=9)
    axes.axvline(1.0, color=PLAIN, linestyle="--", linewidth=1)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel("Speedup over plain decoding")

"""Figures of reproduced tables: measured speedups beside the predicted ones, and against them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from analysis.palette import EXACT, LINES, PLAIN, YOURS
from analysis.published_load.errors import Compared, errors_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAND = 0.1
"""Relative error up to which the band of `predicted_against_measured` reaches."""
_MARKERS = ("o", "s", "^", "D", "v")
_COLUMNS = 3


def speedup_over_gamma_by_load(rows: Iterable[Compared]) -> Figure:
    """One panel per load: measured speedups as points over the draft length, predicted ones as a line.

    Panels with a fitted row say so. Hollow points are `marked`: in no fit and in no error. Raises ValueError
    for no row, and for several of one load and length, as two tables have.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 — matplotlib costs a second at import

    loads: dict[int, dict[int, Compared]] = {}
    for row in rows:
        by_gamma = loads.setdefault(row.batch, {})
        if row.gamma in by_gamma:
            raise ValueError(
                f"rows must be of one table; got two at load {row.batch} and γ = {row.gamma}."
            )
        by_gamma[row.gamma] = row
    if not loads:
        raise ValueError("rows must hold at least one row; got none.")
    columns = min(_COLUMNS, len(loads))
    lines = math.ceil(len(loads) / columns)
    figure = Figure(figsize=(2.5 * columns + 0.6, 2.2 * lines + 0.6), layout="constrained")
    grid = list(figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).flat)
    for axes, load in zip(grid, sorted(loads), strict=False):
        _panel(axes, [loads[load][gamma] for gamma in sorted(loads[load])])
    for axes in grid[len(loads) :]:
        axes.set_axis_off()
    figure.supxlabel("Draft length γ [tokens]", fontsize=10)
    figure.supylabel("Speedup at the same load", fontsize=10)
    grid[0].legend(frameon=False, fontsize=8)
    return figure


def predicted_against_measured(tables: Mapping[str, Iterable[Compared]]) -> Figure:
    """Predicted speedups (y) against measured ones (x) by table; on the diagonal there is no error.

    Fitted rows are hollow, `marked` ones left out; the band is 10 % to either side. The legend has the rms
    error of the rows that were not fitted. Raises ValueError for a table without such rows and for more than
    five tables.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 — see above

    shown = {name: [row for row in rows if not row.marked] for name, rows in tables.items()}
    if not 1 <= len(shown) <= len(_MARKERS):
        raise ValueError(f"tables must be 1 to {len(_MARKERS)}; got {len(shown)}.")
    every = [row for rows in shown.values() for row in rows]
    free = {name: errors_of(r for r in rows if not r.fitted) for name, rows in shown.items()}
    low = 0.95 * min(min(row.measured, row.predicted) for row in every)
    high = 1.05 * max(max(row.measured, row.predicted) for row in every)
    figure = Figure(figsize=(5.4, 5.0), layout="constrained")
    axes = figure.add_subplot()
    ends = (low, high)
    axes.fill_between(
        ends, [(1.0 - BAND) * x for x in ends], [(1.0 + BAND) * x for x in ends],
        color=PLAIN, alpha=0.18, linewidth=0, label="within 10 %",
    )  # fmt: skip
    axes.plot(ends, ends, color=PLAIN, linewidth=1)
    for (name, rows), color, marker in zip(shown.items(), LINES, _MARKERS, strict=False):
        for fitted in (True, False):
            some = [row for row in rows if row.fitted is fitted]
            said = f"{name}: {free[name].n} rows, rms error {free[name].rms:.1%}"
            axes.plot(
                [row.measured for row in some], [row.predicted for row in some], marker, color=color,
                markerfacecolor="none" if fitted else color, markersize=5.5, label="" if fitted else said,
            )  # fmt: skip
    if any(row.fitted for row in every):
        axes.plot([], [], "o", color=PLAIN, markerfacecolor="none", label="hollow: fitted")
    axes.set_xlim(ends)
    axes.set_ylim(ends)
    axes.set_aspect("equal")
    axes.set_xlabel("Speedup as measured")
    axes.set_ylabel("Speedup as predicted")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    return figure


def _panel(axes: Axes, rows: list[Compared]) -> None:
    axes.axhline(1.0, color=PLAIN, linestyle="--", linewidth=1)
    axes.plot(
        [row.gamma for row in rows], [row.predicted for row in rows], color=EXACT, label="predicted"
    )
    for marked in (False, True):
        some = [row for row in rows if row.marked is marked]
        axes.plot(
            [row.gamma for row in some], [row.measured for row in some], "D", color=YOURS, markersize=5,
            markerfacecolor="none" if marked else YOURS,
            label=f"measured{', in no error' if marked else ''}" if some else "",
        )  # fmt: skip
    fitted = ", fitted" if any(row.fitted for row in rows) else ""
    axes.set_title(f"{rows[0].batch:,} at once{fitted}", fontsize=10)
    axes.set_xticks([row.gamma for row in rows])
    axes.spines[["top", "right"]].set_visible(False)

"""Figures of acceptance that is not one p: what the draft length does to the first position."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from analysis.palette import LINES
from analysis.process_laws import process_survival
from simulator import Process, TraceReplay
from simulator._checks import as_count
from simulator.drafts import MAX_GAMMA

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZE = (7.0, 4.2)
_DASHES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "D", "^")


def first_acceptance_over_gamma(
    processes: Mapping[str, Process],
    gammas: Sequence[int],
    *,
    simulated: Mapping[str, Mapping[int, float]] | None = None,
) -> Figure:
    """P(the first drafted token is kept) over draft length, one line per process as its law says.

    A line that falls means that longer drafts begin rounds at harder positions. `simulated` adds
    points, by name and gamma; their names are those of `processes`. Raises ValueError without a
    process or a gamma, for a gamma below 1, a trace (a record, not a law) and unknown names.
    """
    if not processes or not gammas:
        raise ValueError("processes and gammas must hold one at least; got none.")
    lengths = sorted({as_count("gammas", gamma, least=1, most=MAX_GAMMA) for gamma in gammas})
    points = {} if simulated is None else simulated
    for name in points:
        if name not in processes:
            raise ValueError(f"simulated must be named as processes are; got {name!r}.")
    for name, process in processes.items():
        if isinstance(process, TraceReplay):
            raise ValueError(f"processes must be laws; {name!r} is a TraceReplay, a record.")

    from matplotlib.figure import Figure  # noqa: PLC0415 — matplotlib costs a second at import
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 — see above

    figure = Figure(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    styles = zip(cycle(LINES), cycle(_DASHES), cycle(_MARKERS), strict=False)
    for (name, process), (color, dash, marker) in zip(processes.items(), styles, strict=False):
        exact = [process_survival(process, gamma)[0] for gamma in lengths]
        axes.plot(lengths, exact, dash, color=color, label=name)
        found = points.get(name, {})
        axes.plot(
            lengths,
            [found.get(gamma, math.nan) for gamma in lengths],
            linestyle="",
            marker=marker,
            color=color,
        )
    axes.set_xlabel("Draft length γ [tokens]")
    axes.set_ylabel("P(first drafted token is kept)")
    if points:
        axes.set_title("Lines: exact; points: simulated", parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(frameon=False)
    return figure

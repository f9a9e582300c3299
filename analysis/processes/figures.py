"""Figures of several laws of acceptance side by side: tokens over draft length, acceptance over depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from analysis.figure_axes import labelled_axes
from analysis.palette import LINES, PLAIN
from analysis.process_laws import process_law, process_tokens_per_round
from simulator import Process, TraceReplay
from simulator._checks import as_count
from simulator.drafts import MAX_GAMMA

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = (8.4, 4.2)
_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "D", "^", "v")


def tokens_over_gamma(
    processes: Mapping[str, Process],
    gammas: Sequence[int],
    *,
    seen: int | None = None,
    simulated: Mapping[str, Mapping[int, float]] | None = None,
) -> Figure:
    """Expected tokens per round over draft length, one line per law.

    `seen` marks the draft length at which the laws were made to agree, or were measured; `simulated` adds
    points, by name and gamma. Raises ValueError without a law or a gamma, for a gamma below 1, a trace (a
    record, not a law) and unknown names.
    """
    lengths = _checked(processes, gammas)
    points = simulated or {}
    for name in points:
        if name not in processes:
            raise ValueError(f"simulated must be named as processes are; got {name!r}.")
    figure, axes = _axes("Draft length γ [tokens]", "Tokens per round")
    if seen is not None:
        axes.axvline(seen, color=PLAIN, linestyle=":", linewidth=1.2, label=f"seen: γ = {seen}")
    for (name, process), (color, dash, marker) in zip(processes.items(), _styles(), strict=False):
        exact = [process_tokens_per_round(process, gamma) for gamma in lengths]
        axes.plot(lengths, exact, linestyle=dash, color=color, label=name)
        if found := points.get(name):
            axes.plot(*zip(*sorted(found.items()), strict=True), marker, color=color, markersize=5)
    axes.set_ylim(bottom=1.0)
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def acceptance_over_depth(processes: Mapping[str, Process], gamma: int) -> Figure:
    """P(accepted | tested) at each depth of drafts of gamma tokens, one line per law; flat for one p.

    Raises ValueError without a law, for a gamma below 1 and for a trace (a record, not a law).
    """
    (gamma,) = _checked(processes, [gamma])
    figure, axes = _axes("Depth in the draft", "P(accepted | tested)")
    for (name, process), (color, dash, marker) in zip(processes.items(), _styles(), strict=False):
        kept = process_law(process, gamma).conditional
        axes.plot(
            range(1, gamma + 1), kept, linestyle=dash, marker=marker, markersize=5, color=color,
            label=name,
        )  # fmt: skip
    axes.set_title(f"Drafts of {gamma} tokens")
    axes.set_ylim(top=1.0)
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def _styles() -> zip[tuple[str, object, str]]:
    return zip(cycle(LINES), cycle(_DASHES), cycle(_MARKERS), strict=False)


def _checked(processes: Mapping[str, Process], gammas: Sequence[int]) -> list[int]:
    if not processes or not gammas:
        raise ValueError("processes and gammas must hold one at least; got none.")
    for name, process in processes.items():
        if isinstance(process, TraceReplay):
            raise ValueError(f"processes must be laws; {name!r} is a TraceReplay, a record.")
    return sorted({as_count("gammas", gamma, least=1, most=MAX_GAMMA) for gamma in gammas})


def _axes(x_label: str, y_label: str) -> tuple[Figure, Axes]:
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 — matplotlib costs a second at import

    figure, axes = labelled_axes(x_label, y_label, _SIZE)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return figure, axes

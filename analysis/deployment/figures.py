"""Figures of a deployment under load, drawn with matplotlib and without its global state."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, cycle
from typing import TYPE_CHECKING

import numpy as np

from analysis.deployment import lines as data
from analysis.deployment.deployment import Deployment
from analysis.figure_axes import labelled_axes
from analysis.palette import DRAFT, LINES, OVERHEAD, PLAIN, WIDER
from analysis.pass_cost import PassCost

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = (7.0, 4.4)
_DASHES = ("-", "--", "-.", ":")
_HATCHES = ("", "//", "..", "xx")
_LAYERS = (PLAIN, DRAFT, WIDER, OVERHEAD)


def speedup_over_batch(
    deployment: Deployment, gammas: Sequence[int], *, context: float, most: int | None = None
) -> Figure:
    """Speedup of a request over batch, per draft length; a cross where it stops paying."""
    figure, axes = _axes("Batch [requests]", "Speedup of a request at the same batch")
    _plain(axes)
    _lines(axes, data.over_batch(deployment, gammas, context=context, most=most), mark="x")
    _batches(axes)
    axes.set_title(f"{deployment.name}, {context:,.0f} tokens of context", parse_math=False)
    return figure


def speedup_over_context(
    deployment: Deployment, gamma: int, *, batches: Sequence[int], contexts: Sequence[int]
) -> Figure:
    """Speedup of a request over context, per batch, as far as the batch fits the memory."""
    figure, axes = _axes("Context held per request [tokens]", "Speedup of a request")
    _plain(axes)
    _lines(axes, data.over_context(deployment, gamma, batches=batches, contexts=contexts))
    _batches(axes)
    axes.set_title(f"{deployment.name}, γ = {gamma}", parse_math=False)
    return figure


def throughput_frontier(
    deployment: Deployment,
    gammas: Sequence[int],
    *,
    context: float,
    concurrencies: Sequence[int] | None = None,
) -> Figure:
    """What a request gets against what the server gives, over concurrency: further out is better.

    The legend says how many requests run together from the lower right to the upper left.
    """
    figure, axes = _axes("Tokens/s of one request", "Tokens/s of the server")
    drawn = data.frontier(deployment, gammas, context=context, concurrencies=concurrencies)
    for line, dash, color in zip(drawn, cycle(_DASHES), chain([PLAIN], cycle(LINES)), strict=False):
        label = f"{line.name}, {_ends(line.labels)} running"
        axes.plot(line.x, line.y, dash, color=color, label=label, marker="o", markersize=3)
    axes.set_yscale("log")
    axes.set_xlim(left=0.0)
    axes.legend(frameon=False)
    axes.set_title(f"{deployment.name}, {context:,.0f} tokens of context", parse_math=False)
    return figure


def round_over_batch(
    deployment: Deployment, gamma: int, *, context: float, most: int | None = None
) -> Figure:
    """Where the time of a round goes over batch, stacked in plain steps; it pays below the tokens' line."""
    figure, axes = _axes("Batch [requests]", "A round in plain steps")
    shown = data.round_layers(deployment, gamma, context=context, most=most)
    low = np.zeros(len(shown.batches))
    for name, layer, color, hatch in zip(
        shown.names, shown.layers, _LAYERS, _HATCHES, strict=False
    ):
        high = low + np.asarray(layer)
        if not np.any(high > low):
            continue  # a part that takes nothing is no part of the legend
        axes.fill_between(
            shown.batches, low, high, color=color, alpha=0.45, hatch=hatch, linewidth=0, label=name
        )
        low = high
    tokens = shown.tokens_per_round
    axes.axhline(tokens, color="black", linewidth=1.2, label=f"tokens per round, {tokens:.2f}")
    axes.set_ylim(bottom=0.0)
    _batches(axes)
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    axes.set_title(
        f"{deployment.name}, γ = {gamma}, {context:,.0f} tokens of context", parse_math=False
    )
    return figure


def verify_cost_over_width(
    cost: PassCost, *, batches: Sequence[int], context: float, most: int = 64
) -> Figure:
    """V(n) over the tokens verified, per batch; a cross at the knee, where computing equals reading.

    Only under the roofline is a pass up to there nearly free.
    """
    figure, axes = _axes("Tokens per request in a pass, n", "V(n), in passes over one token")
    _plain(axes, "a pass over one token")
    _lines(axes, data.over_width(cost, batches=batches, context=context, most=most), mark="x")
    axes.set_title(f"Cross: the knee, computing equals reading. {context:,.0f} tokens of context")
    return figure


def _axes(x_label: str, y_label: str) -> tuple[Figure, Axes]:
    return labelled_axes(x_label, y_label, _SIZE)


def _plain(axes: Axes, text: str = data.PLAIN_NAME) -> None:
    """The grey line, named in the legend: beside it a name would be crossed by the curves."""
    axes.axhline(1.0, color=PLAIN, linestyle="--", linewidth=1, label=text)


def _ends(labels: Sequence[str]) -> str:
    return " to ".join(dict.fromkeys((labels[0], labels[-1])))


def _lines(axes: Axes, drawn: Sequence[data.Line], *, mark: str = "") -> None:
    for line, dash, color in zip(drawn, cycle(_DASHES), cycle(LINES), strict=False):
        axes.plot(line.x, line.y, dash, color=color, label=line.name)
        if line.mark is not None and mark:
            axes.plot(*line.mark, mark, color=color, markersize=8, markeredgewidth=2)
    axes.set_ylim(bottom=0.0)
    axes.legend(frameon=False)


def _batches(axes: Axes) -> None:
    """A logarithmic axis in powers of two, written as whole numbers."""
    from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: PLC0415 — see above

    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())

"""Figures of two distributions: their overlap, which is p, and p over temperature."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from analysis.figure_axes import labelled_axes
from analysis.palette import BEST, DRAFT, LINES, TARGET
from analysis.tokens.acceptance import as_pair, total_variation
from analysis.tokens.temperature import TemperatureCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_TOKENS = 40
"""Bars that can still be told apart."""
_SIZE = (7.0, 4.2)
_DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "D", "^", "v")


def overlap(
    target_probs: npt.ArrayLike, draft_probs: npt.ArrayLike, *, names: Sequence[str] | None = None
) -> Figure:
    """Two distributions over a vocabulary as bars, and what they share: Σ min(P, Q), which is p.

    Raises ValueError for shapes other than [vocabulary], more than `MOST_TOKENS` tokens, and names of
    another number.
    """
    target, draft = as_pair(target_probs, draft_probs)
    if target.ndim != 1 or target.size > MOST_TOKENS:
        raise ValueError(
            f"target_probs and draft_probs must have shape [vocabulary], of at most {MOST_TOKENS} tokens; "
            f"got {list(target.shape)}."
        )
    if names is not None and len(names) != target.size:
        raise ValueError(f"names must be {target.size}, one per token; got {len(names)}.")
    figure, axes = _axes("Token", "Probability")
    places, shared = np.arange(target.size), np.minimum(target, draft)
    axes.bar(places - 0.2, target, 0.38, color=TARGET, label="target, P")
    axes.bar(places + 0.2, draft, 0.38, color=DRAFT, hatch="//", label="draft, Q")
    axes.bar(
        places, shared, 0.78, facecolor="none", edgecolor=BEST, linewidth=2.2,
        label=f"shared: p = {1.0 - float(total_variation(target, draft)):.2f}",
    )  # fmt: skip
    axes.set_xticks(places, [str(place) for place in places] if names is None else list(names))
    axes.legend(frameon=False)
    return figure


def acceptance_over_temperature(curves: Sequence[TemperatureCurve]) -> Figure:
    """p over temperature, one line per rule. Raises ValueError without a curve.

    >>> from simulator import greedy
    >>> curve = TemperatureCurve(rule=greedy(), picked="drawn", temperatures=(0.0, 1.0), p=(0.5, 0.6))
    >>> acceptance_over_temperature([curve]).axes[0].get_xlabel()
    'Temperature'
    """
    if not curves:
        raise ValueError("curves must hold one at least; got none.")
    figure, axes = _axes("Temperature", "p, mean over contexts")
    styles = zip(cycle(LINES), cycle(_DASHES), cycle(_MARKERS), strict=False)
    for curve, (color, dash, marker) in zip(curves, styles, strict=False):
        axes.plot(
            curve.temperatures, curve.p, linestyle=dash, color=color, marker=marker, markersize=4,
            label=f"{curve.rule.name.replace('_', ' ')}, {curve.picked}",
        )  # fmt: skip
    axes.set_ylim(0.0, 1.0)
    axes.legend(frameon=False)
    return figure


def _axes(x_label: str, y_label: str) -> tuple[Figure, Axes]:
    return labelled_axes(x_label, y_label, _SIZE)

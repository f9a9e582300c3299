"""Lines over the rate of arrivals, with the bars of their intervals, as Vega-Lite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt
import pandas as pd

from analysis.charts import colours
from simulator import Estimate
from simulator.serving import ServingComparison

_LEAST = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How each of several lines is told from the others."""

    names: tuple[str, ...]
    colours: tuple[str, ...]
    dashes: tuple[list[int], ...]
    shapes: tuple[str, ...]


def lines_with_bars(frame: pd.DataFrame, x: alt.X, y: alt.Y, look: Look) -> list[alt.Chart]:
    """Lines, the bars of their intervals, and points that say their numbers."""
    names = list(look.names)
    base = alt.Chart(frame).encode(x=x, color=_legend(colours(names, list(look.colours))))
    dash, shape = (alt.Scale(domain=names, range=list(each)) for each in (look.dashes, look.shapes))
    return [
        base.mark_line(strokeWidth=2.5).encode(
            y=y, strokeDash=alt.StrokeDash("series:N", scale=dash, legend=None)
        ),
        base.mark_rule(strokeWidth=2, opacity=0.55, clip=True).encode(
            y=alt.Y("drawn:Q"), y2="high:Q"
        ),
        base.mark_point(filled=True, size=60, opacity=1.0).encode(
            y=y,
            shape=alt.Shape("series:N", scale=shape),
            tooltip=["series:N", *numbers("rate", "mean", "low", "high")],
        ),
    ]


def rate_axis(points: Sequence[ServingComparison], beside: Sequence[float]) -> alt.X:
    """From 0 to past all rates of the points and `beside` [requests/s]."""
    rates = [point.rate_per_s for point in points if point.rate_per_s is not None]
    most = max([*rates, *beside]) * 1.04
    return alt.X(
        "rate:Q",
        title="Requests that arrive per second",
        scale=alt.Scale(domain=[0, most], nice=False),
        axis=alt.Axis(tickCount=6),
    )


def numbers(*fields: str) -> list[alt.Tooltip]:
    """What a tooltip says of these fields, to three digits."""
    return [alt.Tooltip(f"{field}:Q", format=".3g") for field in fields]


def each_said(frame: pd.DataFrame, look: Look) -> str:
    """Where each line begins and ends, in words for who cannot see it."""
    return "; ".join(f"{name}: {_said(frame[frame['series'] == name])}" for name in look.names)


def _said(frame: pd.DataFrame) -> str:
    if frame.empty:
        return "nothing to show"
    ordered = frame.sort_values("rate")
    ends = [f"{row.mean:.3g} at {row.rate:.3g}" for row in ordered.itertuples()]
    return ends[0] if len(ends) == 1 else f"{ends[0]} to {ends[-1]}"


def is_known(estimate: Estimate) -> bool:
    """Whether a logarithmic axis can show it."""
    return math.isfinite(estimate.value) and estimate.value > 0.0


def ends_of(estimate: Estimate) -> dict[str, float]:
    """Mean and interval; `drawn` is where its bar begins, for no logarithmic axis reaches 0."""
    low, high = estimate.interval or (estimate.value, estimate.value)
    return {"mean": estimate.value, "low": low, "high": high, "drawn": max(low, _LEAST)}


def _legend(colour: alt.Color) -> alt.Color:
    """A legend takes its dashes from the lines, which would break the edges of its marks."""
    return colour.legend(
        title=None, orient="top", labelLimit=200, columns=3, symbolSize=110, symbolStrokeWidth=0
    )

"""Interactive charts of a measured run as Vega-Lite specifications, in the style of `charts`."""

from __future__ import annotations

import altair as alt
import pandas as pd

from analysis.charts import step_above
from analysis.palette import (
    ABOVE,
    BEST,
    DRAFT,
    EXACT,
    LINES,
    OVERHEAD,
    PLAIN,
    VERIFICATION,
    YOURS,
)
from analysis.runs.prediction import GammaMeasured, RunSummary

_HEIGHT = 420
_MEASURED = "measured"
_CLOSURE = "own costs"
_WAYS = (("by depth", "by_depth"), ("one p", "constant"), ("article", "article"))
_SERIES = (_MEASURED, _CLOSURE, *(name for name, _ in _WAYS))
_COLOURS = (YOURS, BEST, EXACT, *LINES[3:])
_SHAPES = ("circle", "cross", "square", "triangle-up", "diamond")
_DASHES = {"by depth": [1, 0], "one p": [7, 4], "article": [2, 3]}
_PARTS = ("target passes", "draft", "outside")
_PART_COLOURS = (VERIFICATION, DRAFT, OVERHEAD)
_THICK = (20, 13, 7)
"""Of the bar of each part [pixels]: thickness says which it is, where colour does not."""
_TOPS = (1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 12, 17)


def measured_against_predicted(summary: RunSummary) -> alt.LayerChart:
    """Speedup by draft length: measured with 95 % intervals, closure as crosses, predictions as lines."""
    rows = [
        (entry.gamma, _MEASURED, entry.speedup.value, *(entry.speedup.interval or (None, None)))
        for entry in summary.measured
    ]
    rows += [(c.gamma, _CLOSURE, c.speedup.value, None, None) for c in summary.closures]
    rows += [
        (entry.gamma, name, getattr(entry, way).speedup.value, None, None)
        for name, way in _WAYS
        for entry in summary.predictions
    ]
    frame = pd.DataFrame(rows, columns=["gamma", "series", "speedup", "low", "high"])
    shown = [name for name in _SERIES if name in set(frame["series"])]
    kept = [_SERIES.index(name) for name in shown]
    colour = _colours("series", shown, [_COLOURS[i] for i in kept])
    shape = alt.Shape("series:N", scale=alt.Scale(domain=shown, range=[_SHAPES[i] for i in kept]))
    base = alt.Chart(frame).encode(
        x=alt.X("gamma:O", title="Draft length γ (tokens)", axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "speedup:Q",
            title="Decoding speedup over plain",
            scale=alt.Scale(domain=[0.0, step_above(_highest(frame), _TOPS)], nice=False),
        ),
        color=colour,
        tooltip=[
            "series:N",
            "gamma:O",
            *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("speedup", "low", "high")),
        ],
    )
    lines = [
        base.transform_filter(alt.datum.series == name).mark_line(
            strokeWidth=2, strokeDash=_DASHES[name]
        )
        for name in shown
        if name in _DASHES
    ]
    layers = [
        alt.Chart(pd.DataFrame({"speedup": [1.0]}))
        .mark_rule(color=PLAIN, strokeDash=[6, 4], strokeWidth=1.5)
        .encode(y="speedup:Q"),
        *lines,
        base.transform_filter(alt.datum.series == _MEASURED)
        .mark_rule(strokeWidth=3)
        .encode(y="low:Q", y2="high:Q"),
        base.transform_filter(alt.FieldOneOfPredicate("series", list(_DASHES)))
        .mark_point(filled=True, size=60, opacity=1.0)
        .encode(shape=shape),
        base.transform_filter(alt.datum.series == _MEASURED)
        .mark_point(filled=True, size=190, opacity=1.0)
        .encode(shape=shape),
        base.transform_filter(alt.datum.series == _CLOSURE)
        .mark_point(filled=True, size=90, opacity=1.0, stroke=ABOVE, strokeWidth=1)
        .encode(shape=shape),
    ]
    return alt.LayerChart(layer=layers).properties(
        height=_HEIGHT, title="Measured and predicted", description=_words(summary)
    )


def time_of_a_round(summary: RunSummary) -> alt.Chart:
    """Where the time of a round goes at each draft length, stacked, in plain steps."""
    rows = [
        (entry.gamma, order, part, share * entry.round_cost.value, share, _THICK[order])
        for entry in summary.measured
        for order, (part, share) in enumerate(zip(_PARTS, _shares(entry), strict=True))
    ]
    frame = pd.DataFrame(rows, columns=["gamma", "order", "part", "plain steps", "share", "thick"])
    words = "; ".join(
        f"γ = {entry.gamma}: {entry.round_cost.value:.2f} plain steps, of them "
        + ", ".join(f"{part} {s:.1%}" for part, s in zip(_PARTS, _shares(entry), strict=True))
        for entry in summary.measured
    )
    chart: alt.Chart = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            y=alt.Y("gamma:O", title="Draft length γ (tokens)"),
            x=alt.X("plain steps:Q", title="Time of a round (plain target steps)"),
            color=_colours("part", list(_PARTS), list(_PART_COLOURS)),
            size=alt.Size("thick:Q", scale=None, legend=None),
            order=alt.Order("order:Q"),
            tooltip=[
                "gamma:O",
                "part:N",
                alt.Tooltip("plain steps:Q", format=".3f"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
        .properties(
            height=40 * len(summary.measured) + 120,
            title="Where the time of a round goes",
            description=f"Stacked bars. {words}.",
        )
    )
    return chart


def _highest(frame: pd.DataFrame) -> float:
    return float(frame[["speedup", "high"]].max().max())


def _colours(field: str, names: list[str], values: list[str]) -> alt.Color:
    return alt.Color(
        f"{field}:N",
        scale=alt.Scale(domain=names, range=values),
        legend=alt.Legend(title=None, orient="top", columns=3, symbolSize=80, columnPadding=14),
    )


def _shares(entry: GammaMeasured) -> tuple[float, float, float]:
    return entry.verify_share.value, entry.draft_share.value, entry.rest_share.value


def _words(summary: RunSummary) -> str:
    points = "; ".join(
        f"γ = {entry.gamma}: measured {entry.speedup}, closure {closure.speedup.value:.2f}"
        for entry, closure in zip(summary.measured, summary.closures, strict=True)
    )
    return f"Speedup over draft length. {points}. A dashed line marks plain decoding at 1."

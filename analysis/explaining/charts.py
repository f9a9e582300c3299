"""The waterfall of a round as a Vega-Lite specification, in the style of `analysis.charts`."""

from __future__ import annotations

from typing import Literal

import altair as alt
import pandas as pd

from analysis.charts import step_above
from analysis.explaining.bars import COLOURS, bars, described
from analysis.explaining.explanation import Explanation
from analysis.palette import PLAIN

_ROW = 50
_TOPS = (2, 3, 4, 6, 8, 12, *(2**k for k in range(4, 15)))
_BELOW = (0, 0.5, 1, 2, *_TOPS[2:])


def waterfall_chart(explanation: Explanation) -> alt.LayerChart:
    """Tokens per round, what each part takes of them, and what is left, in plain steps.

    At the right of each bar stands what it takes and the speedup once it is paid; a line at its end shows
    what is not known of it. Names and numbers are labels of axes, which themes colour. Raises ValueError
    for an explanation without parts.
    """
    drawn = bars(explanation)
    frame = pd.DataFrame(
        [
            (
                f"{'|'.join(bar.shown)}@{bar.text}",  # told apart again by the two axes
                bar.name,
                bar.kind,
                bar.start,
                bar.end,
                bar.low,
                bar.high,
                bar.text,
            )
            for bar in drawn
        ],
        columns=["row", "part", "kind", "start", "end", "low", "high", "text"],
    )
    kinds = list(dict.fromkeys(frame["kind"]))
    title = "Plain target steps per round"
    scale, axis = alt.Scale(domain=_ends(frame), nice=False), alt.Axis(tickCount=6)
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=kinds, range=[COLOURS[kind] for kind in kinds]),
        legend=None,
    )
    tooltip = [
        "part:N",
        *(
            alt.Tooltip(f"{name}:Q", format=".3f", title=said)
            for name, said in (
                ("start", "from"),
                ("end", "to"),
                ("low", "to, at least"),
                ("high", "to, at most"),
            )
        ),
        alt.Tooltip("text:N", title="takes: speedup then"),
    ]
    layers = [
        alt.Chart(pd.DataFrame({"zero": [0.0]}))
        .mark_rule(color=PLAIN)
        .encode(x=alt.X("zero:Q", title=title, scale=scale, axis=axis)),
        alt.Chart(frame)
        .mark_bar(size=26)
        .encode(
            y=_rows(frame, "split(split(datum.label, '@')[0], '|')", "left"),
            x=alt.X("start:Q", title=title, scale=scale, axis=axis),
            x2="end:Q",
            color=colour,
            tooltip=tooltip,
        ),
        alt.Chart(frame)
        .transform_filter(alt.datum.high > alt.datum.low)
        .mark_rule(color=PLAIN, strokeWidth=3)
        .encode(
            y=_rows(frame, "split(datum.label, '@')[1]", "right"),
            x=alt.X("low:Q", title=title, scale=scale, axis=axis),
            x2="high:Q",
        ),
    ]
    chart: alt.LayerChart = alt.LayerChart(layer=layers).resolve_axis(y="independent")
    return chart.properties(
        height=_ROW * len(drawn) + 60,
        title="Where the gain of a round goes",
        description=described(explanation),
    )


def _ends(frame: pd.DataFrame) -> list[float]:
    """The ends of the axis, in steps: it does not jump while a value moves."""
    places = frame[["start", "end", "low", "high"]]
    low, high = float(places.min().min()), float(places.max().max())
    return [-step_above(-min(low, 0.0), _BELOW), step_above(high, _TOPS)]


def _rows(frame: pd.DataFrame, label: str, orient: Literal["left", "right"]) -> alt.Y:
    axis = alt.Axis(
        labelExpr=label,
        labelLimit=0,
        labelOverlap=False,
        ticks=False,
        domain=False,
        grid=False,
        orient=orient,
    )
    domain = list(frame["row"])
    return alt.Y("row:N", title=None, axis=axis, scale=alt.Scale(domain=domain), sort=None)

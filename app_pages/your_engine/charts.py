"""The chart of groups as a Vega-Lite specification, in the style of `analysis.charts`."""

from __future__ import annotations

import altair as alt
import pandas as pd

from analysis.groups import Groups
from analysis.palette import EXACT, YOURS

_ROW, _AROUND = 34, 110
_LONGEST = 40


def tokens_by_group(groups: Groups, *, what: str) -> alt.LayerChart:
    """Tokens per round of each group with its interval, downwards; a dashed line at the mean of all."""
    rows = [
        (
            _short(each.label),
            each.tokens_per_round.value,
            *(each.tokens_per_round.interval or (None, None)),
            each.units,
            each.rounds,
        )
        for each in groups.groups
    ]
    columns = ["group", "tokens per round", "low", "high", "units", "rounds"]
    frame = pd.DataFrame(rows, columns=columns)
    order = list(dict.fromkeys(frame["group"]))
    total = sum(each.rounds for each in groups.groups)
    mean = sum(each.rounds * each.tokens_per_round.value for each in groups.groups) / total
    base = alt.Chart(frame).encode(
        y=alt.Y("group:N", title=what, sort=order, axis=alt.Axis(labelLimit=180)),
        tooltip=[
            "group:N",
            *(alt.Tooltip(f"{name}:Q", format=".3f") for name in columns[1:4]),
            alt.Tooltip("units:Q", format=","),
            alt.Tooltip("rounds:Q", format=","),
        ],
    )
    axis = alt.Axis(tickCount=8)
    scale = alt.Scale(zero=False)
    x = alt.X("tokens per round:Q", title="Tokens per round", scale=scale, axis=axis)
    layers = [
        alt.Chart(pd.DataFrame({"all": [mean]}))
        .mark_rule(color=YOURS, strokeDash=[6, 4])
        .encode(x="all:Q", tooltip=[alt.Tooltip("all:Q", format=".3f")]),
        base.mark_rule(color=EXACT, strokeWidth=3).encode(
            x=alt.X("low:Q", title="Tokens per round", scale=scale, axis=axis), x2="high:Q"
        ),
        base.mark_point(color=EXACT, filled=True, size=110, opacity=1.0).encode(x=x),
    ]
    words = "; ".join(f"{each.label}: {each.tokens_per_round}" for each in groups.groups)
    return alt.LayerChart(layer=layers).properties(
        height=_AROUND + _ROW * len(order),
        title=f"Tokens per round by {what}",
        description=f"Tokens per round with {groups.level:.0%} intervals. {words}. All: {mean:.3f}.",
    )


def _short(label: str) -> str:
    """A label that fits beside a chart: it comes from the log and may be of any length."""
    first, _, last = label.partition("–")
    if first == last:  # a part of one unit
        return first
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"

"""The charts of the three failure modes as Vega-Lite, in the style of `analysis.charts`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from analysis.charts import colours, step_above
from analysis.deployment.load import LoadPoint
from analysis.palette import ABOVE, BEST, EXACT, LOSS, PLAIN, YOURS

_HEIGHT = 400
_GAINS = (1.5, 2, 3, 4, 6, 8, 12, 17)
_ROUND = (1.0, 1.5, 2.0, 3.0, 5.0, 7.5)


def speedup_over_p(
    p: np.ndarray,
    mine: np.ndarray,
    best: np.ndarray,
    *,
    gamma: int,
    here: tuple[float, float] | None,
    break_even: float | None,
) -> alt.LayerChart:
    """Speedup against p at one length and at the best length for each p; below 1 it loses."""
    names = [f"γ = {gamma}", "best γ at each p, off included"]
    frame = pd.DataFrame(
        {
            "p": np.tile(p, 2),
            "speedup": np.concatenate([mine, best]),
            "series": np.repeat(names, len(p)),
        }
    )
    top = step_above(float(max(mine.max(), best.max())), _GAINS)
    x = alt.X("p:Q", title="p: kept, of those tested", scale=alt.Scale(domain=[0, 1], nice=False))
    y = alt.Y(
        "speedup:Q",
        title="Speedup at this batch",
        scale=alt.Scale(domain=[0, top], nice=False),
    )
    loss = pd.DataFrame({"from": [0.0], "to": [1.0]})
    layers: list[alt.Chart] = [
        alt.Chart(loss)
        .mark_rect(color=LOSS, opacity=0.10)
        .encode(y=alt.Y("from:Q", title="Speedup at this batch"), y2="to:Q"),
        alt.Chart(pd.DataFrame({"speedup": [1.0]}))
        .mark_rule(color=PLAIN, strokeDash=[6, 4], strokeWidth=1.5)
        .encode(y="speedup:Q"),
        alt.Chart(frame)
        .mark_line(strokeWidth=2.5)
        .encode(
            x=x,
            y=y,
            color=colours(names, [EXACT, BEST]),
            strokeDash=alt.StrokeDash(
                "series:N", scale=alt.Scale(domain=names, range=[[1, 0], [6, 3]]), legend=None
            ),
            tooltip=[
                "series:N",
                alt.Tooltip("p:Q", format=".2f"),
                alt.Tooltip("speedup:Q", format=".3f"),
            ],
        ),
    ]
    words = "no p pays"
    if break_even is not None:
        words = f"γ = {gamma} pays above p = {break_even:.3f}"
        layers.append(
            alt.Chart(pd.DataFrame({"p": [break_even], "break-even p": [break_even]}))
            .mark_rule(color=YOURS, strokeDash=[2, 3], strokeWidth=2)
            .encode(x=x, tooltip=[alt.Tooltip("break-even p:Q", format=".3f")])
        )
    if here is not None:
        words += f"; yours: p = {here[0]:.3f} gives {here[1]:.3f}"
        layers.append(
            alt.Chart(pd.DataFrame({"p": [here[0]], "speedup": [here[1]]}))
            .mark_point(color=YOURS, filled=True, size=220, opacity=1.0, stroke=ABOVE)
            .encode(
                x=x,
                y=y,
                tooltip=[alt.Tooltip("p:Q", format=".3f"), alt.Tooltip("speedup:Q", format=".3f")],
            )
        )
    return alt.LayerChart(layer=layers).properties(
        height=_HEIGHT,
        title="Where the gain ends",
        description=f"Speedup over acceptance p from 0 to 1 with γ = {gamma}, from {mine[0]:.3f} to "
        f"{mine[-1]:.3f}, and with the best γ at each p, up to {best.max():.3f}: {words}. "
        "Shaded below 1: a loss.",
    )


def latency_and_throughput(points: Sequence[LoadPoint], here: LoadPoint | None) -> alt.LayerChart:
    """What each request sees against what the server gives, a line for each way of decoding."""
    names = ["without a draft", f"γ = {points[0].gamma}"]
    rows = [
        {
            "a request sees": served.request_tokens_per_s.value,
            "the server gives": served.tokens_per_s.value,
            "requests at once": point.concurrency,
            "running": served.running,
            "series": name,
        }
        for point in points
        for name, served in zip(names, (point.plain, point.speculative), strict=True)
    ]
    frame = pd.DataFrame(rows)
    ends = [
        step_above(float(frame[name].max()) * 1.02, _decades(float(frame[name].max())))
        for name in ("a request sees", "the server gives")
    ]
    lows = [_below(float(frame[name].min())) for name in ("a request sees", "the server gives")]
    axes = alt.Axis(tickCount=5, format="~s")
    scales = [
        alt.Scale(type="log", domain=[low, end], nice=False)
        for low, end in zip(lows, ends, strict=True)
    ]
    x = alt.X(
        "a request sees:Q",
        title="Tokens per second of one running request",
        scale=scales[0],
        axis=axes,
    )
    y = alt.Y(
        "the server gives:Q", title="Tokens per second of the server", scale=scales[1], axis=axes
    )
    shapes = alt.Shape("series:N", scale=alt.Scale(domain=names, range=["circle", "diamond"]))
    tooltip = [
        "series:N",
        alt.Tooltip("requests at once:Q", format=","),
        alt.Tooltip("running:Q", format=","),
        alt.Tooltip("a request sees:Q", format=".1f"),
        alt.Tooltip("the server gives:Q", format=",.0f"),
    ]
    base = alt.Chart(frame).encode(
        x=x,
        y=y,
        order=alt.Order("requests at once:Q"),
        # A legend takes its dashes from the lines, which would break the edges of its marks.
        color=colours(names, [PLAIN, EXACT]).legend(
            title=None, orient="top", labelLimit=260, symbolSize=110, symbolStrokeWidth=0
        ),
    )
    dash = alt.StrokeDash(
        "series:N", scale=alt.Scale(domain=names, range=[[6, 4], [1, 0]]), legend=None
    )
    layers = [
        base.mark_line(strokeWidth=2.5).encode(strokeDash=dash),
        base.mark_point(filled=True, size=55, opacity=1.0).encode(shape=shapes, tooltip=tooltip),
    ]
    words = ""
    if here is not None:
        marked = pd.DataFrame(
            [
                {
                    "a request sees": served.request_tokens_per_s.value,
                    "the server gives": served.tokens_per_s.value,
                }
                for served in (here.plain, here.speculative)
            ]
        )
        layers.append(
            alt.Chart(marked)
            .mark_point(color=YOURS, filled=False, size=260, strokeWidth=3, opacity=1.0)
            .encode(x=x, y=y)
        )
        words = f" Ringed: {here.sentence}"
    return alt.LayerChart(layer=layers).properties(
        height=_HEIGHT,
        title="What a request sees, what the server gives",
        description=(
            f"Throughput against speed of a request at {points[0].concurrency} to "
            f"{points[-1].concurrency} requests at once, without and with drafts of "
            f"γ = {points[0].gamma}: {_range(points, 'plain')} without, "
            f"{_range(points, 'speculative')} with.{words}"
        ),
    )


def _range(points: Sequence[LoadPoint], side: str) -> str:
    """What a request sees and the server gives, at the fewest and at the most requests."""
    ends = [getattr(point, side) for point in (points[0], points[-1])]
    seen = " to ".join(f"{end.request_tokens_per_s.value:,.1f}" for end in ends)
    given = " to ".join(f"{end.tokens_per_s.value:,.0f}" for end in ends)
    return f"a request sees {seen} tokens/s and the server gives {given}"


def with_rule(spec: dict[str, Any], at: float, name: str) -> dict[str, Any]:
    """A chart with a rule where the reader stands, as Vega-Lite: layering it anew would take longer."""
    mark = {"type": "rule", "color": YOURS, "strokeWidth": 2, "strokeDash": [2, 3]}
    return _added(spec, mark, {"x": at}, name)


def with_point(spec: dict[str, Any], x: float, y: float, name: str) -> dict[str, Any]:
    """A chart with a point where the reader stands."""
    mark = {
        "type": "point", "color": YOURS, "filled": True, "size": 220, "opacity": 1.0,
        "stroke": ABOVE,
    }  # fmt: skip
    return _added(spec, mark, {"x": x, "y": y}, name)


def _added(
    spec: dict[str, Any], mark: dict[str, Any], at: dict[str, float], name: str
) -> dict[str, Any]:
    """One layer more on the axes that are there, said in the description too."""
    encoding: dict[str, Any] = {axis: {"field": axis, "type": "quantitative"} for axis in at}
    encoding["tooltip"] = [{"field": "yours", "type": "nominal"}]
    layer = {"data": {"values": [{**at, "yours": name}]}, "mark": mark, "encoding": encoding}
    return {
        **spec,
        "layer": [*spec["layer"], layer],
        "description": f"{spec['description']} Yours: {name}.",
    }


def _decades(value: float) -> list[float]:
    """Ends of a logarithmic axis that do not jump while a slider moves."""
    power = 10.0 ** np.floor(np.log10(value))
    return [power * step for step in (*_ROUND, 10.0, 15.0)]


def _below(value: float) -> float:
    power = 10.0 ** np.floor(np.log10(value))
    return float(max(power * step for step in _ROUND if power * step <= value))

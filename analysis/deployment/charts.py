"""Interactive charts of a deployment under load as Vega-Lite, in the style of `analysis.charts`."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from analysis.charts import step_above
from analysis.deployment import lines as data
from analysis.deployment.deployment import Deployment
from analysis.palette import DRAFT, EXACT, LINES, OVERHEAD, PLAIN, WIDER
from analysis.pass_cost import PassCost

_HEIGHT = 360
_TOPS = (2, 3, 4, 6, 8, 12, 17, *(2**k for k in range(5, 13)))
_DASHES = ([1, 0], [7, 4], [2, 3], [9, 3, 2, 3], [12, 5])


def speedup_over_batch(
    deployment: Deployment, gammas: Sequence[int], *, context: float, most: int | None = None
) -> alt.LayerChart:
    """Speedup of a request over batch, per draft length; a cross where it stops paying, plain at 1."""
    drawn = data.over_batch(deployment, gammas, context=context, most=most)
    ends = "; ".join(
        f"{line.name}: {_ends(line)}"
        + ("" if line.mark is None else f", stops paying at batch {line.mark[0]:g}")
        for line in drawn
    )
    return _speedups(
        drawn,
        x=_power("x:Q", "Batch (requests)"),
        title="Speedup over batch",
        description=f"Speedup of a request against plain decoding at the same batch, "
        f"{deployment.name}, {context:,.0f} tokens of context. {ends}.",
    )


def speedup_over_context(
    deployment: Deployment, gamma: int, *, batches: Sequence[int], contexts: Sequence[int]
) -> alt.LayerChart:
    """Speedup of a request over context, per batch, as far as the batch fits the memory; plain at 1."""
    drawn = data.over_context(deployment, gamma, batches=batches, contexts=contexts)
    ends = "; ".join(f"{line.name}: {_ends(line)}" for line in drawn)
    return _speedups(
        drawn,
        x=_power("x:Q", "Context held per request (tokens)"),
        title="Speedup over context",
        description=f"Speedup of a request over its context, {deployment.name}, γ = {gamma}. {ends}.",
    )


def throughput_frontier(
    deployment: Deployment,
    gammas: Sequence[int],
    *,
    context: float,
    concurrencies: Sequence[int] | None = None,
) -> alt.LayerChart:
    """Tokens/s of one request against tokens/s of the server, over concurrency: further out is better."""
    drawn = data.frontier(deployment, gammas, context=context, concurrencies=concurrencies)
    base = alt.Chart(_frame(drawn)).encode(
        x=alt.X("x:Q", title="Tokens/s of one request", scale=alt.Scale(zero=True)),
        y=alt.Y("y:Q", title="Tokens/s of the server", scale=alt.Scale(type="log")),
        order="order:Q",
        color=_colour(drawn, [PLAIN, *LINES]),
        tooltip=[
            "series:N",
            alt.Tooltip("label:N", title="running"),
            alt.Tooltip("x:Q", title="tokens/s of a request", format=",.1f"),
            alt.Tooltip("y:Q", title="tokens/s of the server", format=",.0f"),
        ],
    )
    said = "; ".join(
        f"{line.name}: {line.x[0]:.0f} and {line.y[0]:.0f} with {line.labels[0]} running, "
        f"{line.x[-1]:.0f} and {line.y[-1]:.0f} with {line.labels[-1]}"
        for line in drawn
    )
    return alt.LayerChart(
        layer=[
            base.mark_line(strokeWidth=2.5).encode(strokeDash=_dash(drawn)),
            base.mark_point(filled=True, size=45, opacity=1.0),
        ]
    ).properties(
        height=_HEIGHT,
        title="What a request gets, what the server gives",
        description=f"Tokens per second of one request and of the server, {deployment.name}, "
        f"{context:,.0f} tokens of context. {said}.",
    )


def round_over_batch(
    deployment: Deployment, gamma: int, *, context: float, most: int | None = None
) -> alt.LayerChart:
    """Where the time of a round goes over batch, stacked in plain steps; the tokens it gives as a rule."""
    shown = data.round_layers(deployment, gamma, context=context, most=most)
    names = list(shown.names)
    frame = pd.DataFrame(
        [
            (batch, name, value, order)
            for order, (name, layer) in enumerate(zip(names, shown.layers, strict=True))
            for batch, value in zip(shown.batches, layer, strict=True)
        ],
        columns=["batch", "series", "steps", "order"],
    )
    areas = (
        alt.Chart(frame)
        .mark_area(opacity=0.75)
        .encode(
            x=_power("batch:Q", "Batch (requests)"),
            y=alt.Y("steps:Q", title="A round in plain steps", stack="zero"),
            order="order:Q",
            color=alt.Color(
                "series:N",
                scale=alt.Scale(domain=names, range=[PLAIN, DRAFT, WIDER, OVERHEAD][: len(names)]),
                legend=_legend(),
            ),
            tooltip=["series:N", "batch:Q", alt.Tooltip("steps:Q", format=".3f")],
        )
    )
    tokens = shown.tokens_per_round
    rule = (
        alt.Chart(pd.DataFrame({"tokens per round": [tokens]}))
        .mark_rule(color=EXACT, strokeWidth=2, strokeDash=[6, 4])
        .encode(y="tokens per round:Q", tooltip=[alt.Tooltip("tokens per round:Q", format=".3f")])
    )
    first, last = (sum(layer[at] for layer in shown.layers) for at in (0, -1))
    return alt.LayerChart(layer=[areas, rule]).properties(
        height=_HEIGHT,
        title="Where a round's time goes",
        description=f"Parts of a round of γ = {gamma} in plain steps over batch, {deployment.name}: "
        f"{first:.2f} in all at batch 1, {last:.2f} at {shown.batches[-1]}; a round gives "
        f"{tokens:.2f} tokens (dashed) and pays while it takes less.",
    )


def verify_cost_over_width(
    cost: PassCost, *, batches: Sequence[int], context: float, most: int = 64
) -> alt.LayerChart:
    """V(n) over the tokens verified, per batch; a cross at the knee, where computing equals reading."""
    drawn = data.over_width(cost, batches=batches, context=context, most=most)
    said = "; ".join(
        f"{line.name}: {line.y[-1]:.2f} at {most}"
        + (
            ""
            if line.mark is None
            else f", knee at {line.mark[0]:.1f} tokens (V = {line.mark[1]:.2f})"
        )
        for line in drawn
    )
    return _speedups(
        drawn,
        x=alt.X(
            "x:Q",
            title="Tokens of each request in a pass, n",
            scale=alt.Scale(domain=[1, most], nice=False),
        ),
        y="V(n), in passes over one token",
        title="What a wider pass costs",
        description=f"Cost of a pass over n tokens of each request, in passes over one. {said}.",
    )


def _speedups(
    drawn: Sequence[data.Line],
    *,
    x: alt.X,
    title: str,
    description: str,
    y: str = "Speedup of a request",
) -> alt.LayerChart:
    """Lines over a plain rule at 1, and crosses at what is marked."""
    frame = _frame(drawn)
    top = step_above(max(float(frame["y"].max()), 1.2), _TOPS)
    marks = pd.DataFrame(
        [(line.name, *line.mark) for line in drawn if line.mark is not None],
        columns=["series", "x", "y"],
    )
    encoded = {
        "x": x,
        "y": alt.Y("y:Q", title=y, scale=alt.Scale(domain=[0.0, top])),
        "color": _colour(drawn, list(LINES)),
        "tooltip": [
            "series:N",
            alt.Tooltip("x:Q", title=x["title"], format=",.6~g"),
            alt.Tooltip("y:Q", title=y, format=".3f"),
        ],
    }
    rule = alt.Chart(pd.DataFrame({"y": [1.0]})).mark_rule(
        color=PLAIN, strokeDash=[6, 4], strokeWidth=1.5
    )
    lines = alt.Chart(frame).mark_line(strokeWidth=2.5).encode(strokeDash=_dash(drawn), **encoded)
    crosses = alt.Chart(marks).mark_point(shape="cross", filled=True, size=130, opacity=1.0)
    return alt.LayerChart(layer=[rule.encode(y="y:Q"), lines, crosses.encode(**encoded)]).properties(
        height=_HEIGHT, title=title, description=description
    )  # fmt: skip


def _frame(drawn: Sequence[data.Line]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (line.name, order, a, b, line.labels[order] if line.labels else "")
            for line in drawn
            for order, (a, b) in enumerate(zip(line.x, line.y, strict=True))
        ],
        columns=["series", "order", "x", "y", "label"],
    )


def _power(field: str, title: str) -> alt.X:
    """A logarithmic axis in powers of two, written as whole numbers."""
    scale = alt.Scale(type="log", base=2, nice=False)
    return alt.X(field, title=title, scale=scale, axis=alt.Axis(format=",d", labelSeparation=8))


def _legend() -> alt.Legend:
    return alt.Legend(title=None, orient="top", labelLimit=260, symbolSize=110)


def _colour(drawn: Sequence[data.Line], palette: list[str]) -> alt.Color:
    names = [line.name for line in drawn]
    values = [palette[i % len(palette)] for i in range(len(names))]
    return alt.Color("series:N", scale=alt.Scale(domain=names, range=values), legend=_legend())


def _dash(drawn: Sequence[data.Line]) -> alt.StrokeDash:
    names = [line.name for line in drawn]
    values = [_DASHES[i % len(_DASHES)] for i in range(len(names))]
    return alt.StrokeDash("series:N", scale=alt.Scale(domain=names, range=values), legend=_legend())


def _ends(line: data.Line) -> str:
    return f"{line.y[0]:.2f} at {line.x[0]:g}, {line.y[-1]:.2f} at {line.x[-1]:g}"

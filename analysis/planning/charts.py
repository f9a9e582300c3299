"""Interactive charts of a plan as Vega-Lite specifications, in the style of `analysis.charts`."""

from __future__ import annotations

import altair as alt
import pandas as pd

from analysis.charts import step_above
from analysis.palette import BEST, INK, LINES, PAPER, PLAIN
from analysis.planning.choice import OFF
from analysis.planning.report import span_text
from analysis.planning.result import Plan

_HEIGHT = 360
_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down")
_ROW = 18  # pixels of the map per batch
_TOP = (2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 17.0)
_LONGEST = (4, 6, 8, 12, *(2**k for k in range(4, 12)))


def best_gamma_over_batch(plan: Plan) -> alt.LayerChart:
    """The draft length to use at every batch: a shape per strategy, bars over the lengths within 1 %."""
    frame = pd.DataFrame(
        [
            (
                row.batch, row.gamma, row.use, min(*row.chosen.flat, row.gamma),
                max(*row.chosen.flat, row.gamma), str(row.speedup), span_text(row.chosen.flat),
            )
            for row in plan.rows
        ],
        columns=["batch", "gamma", "use", "shortest", "longest", "speedup", "flat"],
    )  # fmt: skip
    used = [name for name in (*plan.strategies, OFF) if name in set(frame["use"])]
    at = {name: plan.strategies.index(name) for name in used if name != OFF}
    ends = [float(plan.batches[0]), float(max(plan.batches[-1], plan.batches[0] + 1))]
    base = alt.Chart(frame).encode(
        x=alt.X(
            "batch:Q",
            title="Requests that run together (batch)",
            scale=alt.Scale(type="log", base=2, domain=ends, nice=False),
            axis=alt.Axis(format=",d", tickCount=8),
        ),
        tooltip=[
            "batch:Q", "use:N", "gamma:Q", alt.Tooltip("flat:N", title="within 1 %"), "speedup:N",
        ],
    )  # fmt: skip
    scale = alt.Scale(domain=[0, step_above(int(frame["longest"].max()), _LONGEST)], nice=False)
    title = "Draft length γ (tokens)"
    y = alt.Y("gamma:Q", title=title, scale=scale, axis=alt.Axis(format="d"))
    names = alt.Legend(title=None, orient="top", labelLimit=260, columns=2, symbolSize=110)
    layers = [
        base.mark_rule(color=BEST, opacity=0.3, strokeWidth=8).encode(
            y=alt.Y("shortest:Q", title=title, scale=scale), y2="longest:Q"
        ),
        base.mark_line(color=PLAIN, strokeWidth=1, clip=False).encode(y=y),
        base.mark_point(filled=True, size=110, opacity=1.0, clip=False).encode(
            y=y,
            color=alt.Color(
                "use:N",
                legend=names,
                scale=alt.Scale(
                    domain=used,
                    range=[LINES[at[n] % len(LINES)] if n in at else PLAIN for n in used],
                ),
            ),
            shape=alt.Shape(
                "use:N",
                legend=names,
                scale=alt.Scale(
                    domain=used,
                    range=[_SHAPES[at[n] % len(_SHAPES)] if n in at else "cross" for n in used],
                ),
            ),
        ),
    ]
    return alt.LayerChart(layer=layers).properties(
        height=_HEIGHT,
        title="Draft length to use, by batch",
        description=f"{plan.sentence} {_words(plan)} Bars show the lengths within 1 % of the best.",
    )


def speedup_map(plan: Plan, strategy: str | None = None) -> alt.LayerChart:
    """The speedup of one strategy over draft length and batch; circles on a line are what is taken.

    Of `Plan.best_single` unless a strategy is named. Blue is faster than plain decoding, orange slower;
    cells of which nothing is known, or that do not fit the memory, are missing.
    """
    name = plan.best_single if strategy is None else strategy
    choices = plan.of(name)
    cells = pd.DataFrame(
        [
            (point.batch, point.gamma, point.speedup.value, str(point.speedup))
            for point in plan.table
            if point.strategy == name
        ],
        columns=["batch", "gamma", "value", "speedup"],
    )
    taken = pd.DataFrame(
        [(choice.batch, choice.gamma, str(choice.speedup)) for choice in choices],
        columns=["batch", "gamma", "speedup"],
    )
    x = alt.X(
        "gamma:O", title="Draft length γ (tokens)", sort=list(plan.gammas),
        scale=alt.Scale(domain=list(plan.gammas)), axis=alt.Axis(labelAngle=0),
    )  # fmt: skip
    y = alt.Y(
        "batch:O", title="Requests that run together (batch)", sort=list(plan.batches),
        scale=alt.Scale(domain=list(plan.batches)),
    )  # fmt: skip
    top = step_above(float(cells["value"].max()), _TOP)
    tooltip = ["batch:O", "gamma:O", "speedup:N"]
    layers = [
        alt.Chart(cells)
        .mark_rect()
        .encode(
            x=x,
            y=y,
            tooltip=tooltip,
            color=alt.Color(
                "value:Q",
                title="Speedup",
                scale=alt.Scale(
                    scheme="blueorange", reverse=True, domain=[0.0, top], domainMid=1.0
                ),
            ),
        ),
        alt.Chart(taken).mark_line(color=INK, strokeWidth=1.5).encode(x=x, y=y, order="batch:Q"),
        alt.Chart(taken)
        .mark_point(filled=True, size=60, color=PAPER, stroke=INK, opacity=1.0)
        .encode(x=x, y=y, tooltip=tooltip),
    ]
    listed = "; ".join(f"batch {c.batch:,}: γ = {c.gamma}, {c.speedup.value:.2f}×" for c in choices)
    return alt.LayerChart(layer=layers).properties(
        height=max(_HEIGHT, _ROW * len(choices)),
        title=f"Speedup of {name} over draft length and batch",
        description=f"Map of the speedup of {name} over plain decoding: from {cells['value'].min():.2f}× "
        f"to {cells['value'].max():.2f}×, above 1 in {int((cells['value'] > 1.0).sum()):,} of "
        f"{len(cells):,} cells. Taken: {listed}.",
    )


def _words(plan: Plan) -> str:
    rows = (
        f"batch {row.batch:,}: {row.use if not row.gamma else f'γ = {row.gamma} with {row.use}'}, "
        f"{row.speedup.value:.2f}×"
        for row in plan.rows
    )
    return f"{'; '.join(rows)}."

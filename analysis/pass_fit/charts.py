"""The interactive chart of a pass as a Vega-Lite specification, in the style of `analysis.charts`."""

from __future__ import annotations

from collections.abc import Iterable

import altair as alt
import pandas as pd

from analysis.charts import colours, step_above
from analysis.palette import LINES, PLAIN
from analysis.pass_cost import PassCost
from analysis.pass_fit.curves import Curve, curves_of
from analysis.pass_fit.result import PassCostFit

_HEIGHT = 380
_TOPS = (2, 3, 4, 6, 8, 12, 17, 24, 32, 48, 64, 96, 128, 256, 512, 1024)
_WITHIN, _BEYOND = "within the measured range", "extrapolated"


def verify_cost_over_tokens(
    shown: PassCost | PassCostFit,
    *,
    batches: Iterable[float] | None = None,
    widths: Iterable[float] | None = None,
    context: float | None = None,
) -> alt.LayerChart:
    """V(n), a pass over n tokens of each request / over one, over n: a line per batch.

    Lines are dashed beyond what was measured; the knee is a hollow circle, the article's V = 1 a dotted
    rule, measured times are diamonds (of other contexts moved to this one by the fit). Raises ValueError
    for more than five batches.
    """
    curves = curves_of(shown, batches=batches, widths=widths, context=context)
    last = curves[0].tokens[-1]
    highest = max(value for curve in curves for value in curve.costs)
    highest = max([highest, *(value for curve in curves for _, value in curve.measured)])
    x = alt.X(
        "tokens:Q",
        title="Tokens of each request in a pass, n = γ + 1",
        scale=alt.Scale(domain=[0, last], nice=False),
    )
    y = alt.Y(
        "value:Q",
        title="V(n): pass over n tokens / over one",
        scale=alt.Scale(domain=[0, step_above(max(highest, 1.2), _TOPS)], clamp=True),
    )
    color = colours([curve.name for curve in curves], list(LINES[: len(curves)]))
    tooltip = [
        "series:N",
        alt.Tooltip("tokens:Q", format=".4g"),
        alt.Tooltip("value:Q", format=".3f"),
    ]
    layers: list[alt.Chart] = [_article_rule(y)]
    for curve in curves:
        rows = _rows(curve)
        for basis, part in rows.groupby("basis", sort=False):
            dash = [1, 0] if basis == _WITHIN else [6, 4]
            layers.append(
                alt.Chart(part)
                .mark_line(strokeWidth=2.5, strokeDash=dash)
                .encode(x=x, y=y, color=color, tooltip=[*tooltip, "basis:N"])
            )
    knees = [(curve.name, *curve.knee) for curve in curves if curve.knee is not None]
    points = [(curve.name, *point) for curve in curves for point in curve.measured]
    columns = ["series", "tokens", "value"]
    if knees:
        layers.append(
            alt.Chart(pd.DataFrame(knees, columns=columns))
            .mark_point(size=220, strokeWidth=2.5, opacity=1.0)
            .encode(x=x, y=y, color=color, tooltip=tooltip)
        )
    if points:
        layers.append(
            alt.Chart(pd.DataFrame(points, columns=columns))
            .mark_point(size=70, filled=True, shape="diamond", opacity=1.0)
            .encode(x=x, y=y, color=color, tooltip=tooltip)
        )
    return alt.LayerChart(layer=layers).properties(
        height=_HEIGHT,
        title=f"What a wider pass costs, context {curves[0].context:,g}",
        description=_words(curves),
    )


def _rows(curve: Curve) -> pd.DataFrame:
    """The line, cut where the measured range ends; both sides have the end itself."""
    rows: list[tuple[str, float, float, str]] = []
    pairs = list(zip(curve.tokens, curve.costs, strict=True))
    low, high = curve.known or (curve.tokens[0], curve.tokens[-1])
    for basis, start, end in (
        (f"{_BEYOND} below", curve.tokens[0], low),
        (_WITHIN, low, high),
        (_BEYOND, high, curve.tokens[-1]),
    ):
        part = [(curve.name, n, v, basis) for n, v in pairs if start <= n <= end]
        rows += part if len(part) > 1 else []
    if not rows:  # the batch or the context was not measured
        rows = [(curve.name, n, v, _BEYOND) for n, v in pairs]
    return pd.DataFrame(rows, columns=["series", "tokens", "value", "basis"])


def _article_rule(y: alt.Y) -> alt.Chart:
    frame = pd.DataFrame({"value": [1.0], "series": ["the article: V = 1"]})
    mark = alt.Chart(frame).mark_rule(color=PLAIN, strokeDash=[2, 3], strokeWidth=1.5)
    rule: alt.Chart = mark.encode(y=y, tooltip=["series:N"])
    return rule


def _words(curves: tuple[Curve, ...]) -> str:
    said = []
    for curve in curves:
        knee = (
            "no knee on the axis"
            if curve.knee is None
            else f"knee at {curve.knee[0]:.3g} tokens (V = {curve.knee[1]:.2f})"
        )
        beyond = ", in part extrapolated" if any(map(curve.beyond, curve.tokens)) else ""
        points = "; ".join(f"{n:g} tokens measured {v:.3f}" for n, v in curve.measured[:12])
        said.append(
            f"{curve.name}: V = {curve.costs[-1]:.3g} at {curve.tokens[-1]:g} tokens, {knee}{beyond}"
            + (f"; {points}" if points else "")
        )
    return (
        f"Time of a pass over so many tokens of each request, relative to one token. {'. '.join(said)}. "
        "A dotted line marks the article's V = 1."
    )

"""The live pictures over the draft length: the speedup, tokens against their price, and the trap.

They read the arrays of `analysis.live.signals` by gamma and compute nothing themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt

from analysis.live.setting import MAX_GAMMA
from analysis.palette import ABOVE, BEST, EXACT, PLAIN, YOURS

DASH = [6, 4]
_YOURS, _BEST = "your γ", "best γ"
_TOKENS, _COST = "tokens it gives", "plain steps it costs"
_P, _PRINTED, _SURVIVAL = "p, of the tested", "accepted / drafted", "all kept so far"


def speedup_curve() -> alt.LayerChart:
    """Speedup over gamma = 0..16: your length (circle), the best (diamond), plain decoding at 1."""
    base = _over_gamma(0, speedup="speedups[datum.gamma]")
    y = alt.Y(
        "speedup:Q",
        title="Speedup over plain decoding",
        scale=alt.Scale(domain=[0, alt.expr("speedup_end")], nice=False),
    )
    tooltip = [
        alt.Tooltip("gamma:Q", title="γ", format="d"),
        alt.Tooltip("speedup:Q", title="speedup", format=".3f"),
    ]
    line = base.mark_line(
        color=EXACT, strokeWidth=2.5, point={"color": EXACT, "size": 25, "filled": True}
    ).encode(x=_gamma_axis(0), y=y, tooltip=tooltip)
    points = {
        name: base.transform_filter(f"datum.gamma == {signal}")
        .transform_calculate(series=f"'{name}'")
        .encode(
            x=_gamma_axis(0),
            y=y,
            tooltip=tooltip,
            color=_scaled(alt.Color, [_YOURS, _BEST], [YOURS, BEST]),
            shape=_scaled(alt.Shape, [_YOURS, _BEST], ["circle", "diamond"]),
        )
        for name, signal in ((_YOURS, "gamma"), (_BEST, "best_gamma"))
    }
    layers = [
        _even_line(),
        line,
        points[_YOURS].mark_point(filled=True, size=330, opacity=1.0),
        points[_BEST].mark_point(filled=True, size=120, opacity=1.0, stroke=ABOVE, strokeWidth=1),
    ]
    return alt.LayerChart(layer=layers).properties(
        title=_title("Speedup over draft length"),
        description=(
            f"Line of the speedup over draft lengths 0 to {MAX_GAMMA}, recomputed while a slider moves. "
            "A circle marks your draft length, a diamond the best one, a dashed line plain decoding at 1. "
            "The table over γ has the same numbers."
        ),
    )


def tokens_curve() -> alt.LayerChart:
    """Tokens a round gives against the plain steps it costs: their ratio is the speedup."""
    base = _over_gamma(
        0,
        **{_TOKENS: "tokens[datum.gamma]", _COST: "round_costs[datum.gamma]"},
    ).transform_fold([_TOKENS, _COST], as_=["series", "value"])
    lines = base.mark_line(strokeWidth=2.5).encode(
        x=_gamma_axis(0),
        y=alt.Y(
            "value:Q",
            title="In one round",
            scale=alt.Scale(domain=[0, alt.expr("tokens_end")], nice=False),
        ),
        color=_scaled(alt.Color, [_TOKENS, _COST], [EXACT, PLAIN], stroke=True),
        strokeDash=_scaled(alt.StrokeDash, [_TOKENS, _COST], [[1, 0], DASH], stroke=True),
    )
    return _with_points(lines).properties(
        title=_title("What a round gives and costs"),
        description=(
            f"Two lines over draft lengths 0 to {MAX_GAMMA}: expected tokens per round (solid) and its cost "
            "in plain target steps (dashed). Speculation pays where the solid line is above the dashed one; "
            "larger points mark your draft length."
        ),
    )


def trap_curve() -> alt.LayerChart:
    """One p, and what an engine prints of it: accepted / drafted and survival fall, p stays."""
    base = _over_gamma(
        1,
        **{
            _P: "p",
            _PRINTED: "accepted_fractions[datum.gamma]",
            _SURVIVAL: "survival[datum.gamma]",
        },
    ).transform_fold([_P, _PRINTED, _SURVIVAL], as_=["series", "value"])
    names = [_P, _PRINTED, _SURVIVAL]
    lines = base.mark_line(strokeWidth=2.5).encode(
        x=_gamma_axis(1, title="Draft length γ; depth, for “all kept so far”"),
        y=alt.Y("value:Q", title="Share of tokens", scale=alt.Scale(domain=[0, 1])),
        color=_scaled(alt.Color, names, [EXACT, YOURS, BEST], stroke=True),
        strokeDash=_scaled(alt.StrokeDash, names, [[1, 0], DASH, [2, 3]], stroke=True),
    )
    return _with_points(lines, format=".3f").properties(
        title=_title("One p, three numbers called acceptance"),
        description=(
            f"Three lines over draft lengths 1 to {MAX_GAMMA}: p, the acceptance of tested tokens, stays flat "
            "(solid); accepted / drafted, what engines print as acceptance rate, falls (dashed); the chance "
            "that all tokens up to a depth are kept falls fastest (dotted). Larger points mark your γ."
        ),
    )


def _even_line() -> alt.Chart:
    """The dashed line at speedup 1."""
    rule: alt.Chart = alt.Chart(alt.InlineData(values=[{"speedup": 1}])).mark_rule(
        color=PLAIN, strokeDash=DASH, strokeWidth=1.5
    )
    return rule.encode(y="speedup:Q")


def _over_gamma(first: int, **columns: str) -> alt.Chart:
    chart: alt.Chart = alt.Chart(alt.sequence(first, MAX_GAMMA + 1, as_="gamma"))
    return chart.transform_calculate(**columns)


def _with_points(lines: alt.Chart, format: str = ".3f") -> alt.LayerChart:  # noqa: A002 — Vega's word
    tooltip = [
        alt.Tooltip("series:N", title="line"),
        alt.Tooltip("gamma:Q", title="γ", format="d"),
        alt.Tooltip("value:Q", title="value", format=format),
    ]
    small = lines.mark_point(filled=True, size=25, opacity=1.0).encode(
        strokeDash=alt.Undefined, tooltip=tooltip
    )
    large = small.transform_filter("datum.gamma == gamma").mark_point(
        filled=True, size=150, opacity=1.0
    )
    return alt.LayerChart(layer=[lines, small, large])


def _gamma_axis(first: int, title: str = "Draft length γ (tokens)") -> alt.X:
    return alt.X(
        "gamma:Q",
        title=title,
        scale=alt.Scale(domain=[first, MAX_GAMMA], nice=False),
        axis=alt.Axis(values=[first, *range(2, MAX_GAMMA + 1, 2)], format="d"),
    )


def _scaled(
    channel: Callable[..., Any], names: list[str], values: list[Any], *, stroke: bool = False
) -> Any:
    symbols = {"symbolType": "stroke", "symbolSize": 500, "symbolStrokeWidth": 2.5}
    legend = symbols if stroke else {"symbolSize": 110}
    return channel(
        "series:N",
        scale=alt.Scale(domain=names, range=values),
        legend=alt.Legend(title=None, orient="top", columns=2, labelLimit=240, **legend),
    )


def _title(text: str) -> alt.TitleParams:
    return alt.TitleParams(text=text, anchor="start")

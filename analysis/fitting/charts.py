"""The interactive chart of a fit as a Vega-Lite specification, in the style of `analysis.charts`."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from analysis.charts import colours, flat_band, said_above_one, step_above
from analysis.fitting.best import BestFit
from analysis.fitting.costs import RoundCosts
from analysis.fitting.result import Fit
from analysis.palette import ABOVE, BEST, EXACT, PLAIN

_HEIGHT = 380
_TOPS = (2, 3, 4, 6, 8, 12, 17)
_MEASURED, _BEYOND = "within the measured depth", "extrapolated"


def prediction_over_gamma(
    fitted: Fit, gammas: Sequence[int], *, costs: RoundCosts | None = None
) -> alt.LayerChart:
    """Tokens per round over draft length, with `costs` the speedup: line, band of intervals, points.

    Points are filled where the depth was measured and hollow beyond. Of the speedup, the best length is
    a diamond, lengths within 1 % of it are shaded, and plain decoding is dashed. Gammas about which
    the process or the costs say nothing are left out. Raises ValueError for a fit that was refused,
    and if no gamma is left.
    """
    ends = (fitted.longest, None if costs is None else costs.longest)
    longest = min((end for end in ends if end is not None), default=max(gammas))
    shown = [gamma for gamma in sorted(set(gammas)) if gamma <= longest]
    if not shown:
        raise ValueError(f"gammas must hold one of at most {longest}; got {list(gammas)}.")
    frame = _frame(fitted, shown, costs)
    best = None if costs is None else fitted.best_gamma(costs, shown)
    what = "Tokens per round" if costs is None else "Speedup of decoding, one request"
    scale = alt.Scale(domain=[0.0, step_above(max(float(frame["high"].max()), 1.2), _TOPS)])
    base = alt.Chart(frame).encode(
        x=alt.X(
            "gamma:Q",
            title="Draft length γ (tokens)",
            scale=alt.Scale(domain=[0, max(gammas)], nice=False),
            axis=alt.Axis(tickCount=min(max(gammas), 8), format="d"),
        ),
        tooltip=[
            alt.Tooltip("gamma:Q", format="d"),
            *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "low", "high")),
            "basis:N",
        ],
    )
    line = base.encode(y=alt.Y("value:Q", title=what, scale=scale))
    layers: list[alt.Chart] = [
        *([] if best is None or not best.pays else flat_band(best.flat)),
        *([] if best is None else [_plain_rule()]),
        base.mark_area(color=EXACT, opacity=0.2).encode(
            y=alt.Y("low:Q", title=what, scale=scale), y2="high:Q"
        ),
        line.mark_line(color=EXACT, strokeWidth=2.5),
        _points(line, frame),
        *([] if best is None or not best.pays else [_diamond(best)]),
    ]
    return alt.LayerChart(layer=layers).properties(
        height=_HEIGHT,
        title=f"{what.partition(' of ')[0]} over draft length",
        description=_words(what, frame, fitted, best),
    )


def _frame(fitted: Fit, gammas: Sequence[int], costs: RoundCosts | None) -> pd.DataFrame:
    rows = []
    for gamma in gammas:
        value = fitted.tokens_per_round(gamma) if costs is None else fitted.speedup(gamma, costs)
        low, high = value.interval or (value.value, value.value)
        basis = _BEYOND if fitted.extrapolates(gamma) else _MEASURED
        rows.append((gamma, value.value, low, high, basis))
    return pd.DataFrame(rows, columns=["gamma", "value", "low", "high", "basis"])


def _points(line: alt.Chart, frame: pd.DataFrame) -> alt.Chart:
    """Filled for measured depths, hollow for others: the fill is a scale, so that the legend has it."""
    there = [name for name in (_MEASURED, _BEYOND) if name in set(frame["basis"])]
    fills = {_MEASURED: EXACT, _BEYOND: "transparent"}
    points: alt.Chart = line.mark_point(size=90, opacity=1.0, stroke=EXACT, strokeWidth=1.8).encode(
        fill=alt.Fill(
            "basis:N",
            scale=alt.Scale(domain=there, range=[fills[name] for name in there]),
            legend=alt.Legend(title=None, orient="top", symbolStrokeColor=EXACT, symbolSize=110),
        )
    )
    return points


def _plain_rule() -> alt.Chart:
    frame = pd.DataFrame({"speedup": [1.0]})
    mark = alt.Chart(frame).mark_rule(color=PLAIN, strokeDash=[6, 4], strokeWidth=1.5)
    rule: alt.Chart = mark.encode(y="speedup:Q")
    return rule


def _diamond(best: BestFit) -> alt.Chart:
    name = f"best: γ = {best.gamma}, {best.speedup.value:.2f}×"
    frame = pd.DataFrame({"gamma": [best.gamma], "speedup": [best.speedup.value], "series": [name]})
    # Beside the legend above, it would not be seen on a phone.
    below = alt.Legend(title=None, orient="bottom", symbolSize=110)
    mark = alt.Chart(frame).mark_point(
        filled=True, size=170, opacity=1.0, stroke=ABOVE, strokeWidth=1
    )
    diamond: alt.Chart = mark.encode(
        x="gamma:Q",
        y="speedup:Q",
        color=colours([name], [BEST]).legend(below),
        shape=alt.Shape(
            "series:N", scale=alt.Scale(domain=[name], range=["diamond"]), legend=below
        ),
        tooltip=["series:N"],
    )
    return diamond


def _words(what: str, frame: pd.DataFrame, fitted: Fit, best: BestFit | None) -> str:
    inside = frame[frame["basis"] == _MEASURED]["gamma"]
    places = dict.fromkeys((0, int(inside.index[-1]) if len(inside) else 0, len(frame) - 1))
    points = "; ".join(
        f"γ = {row.gamma}: {row.value:.3f} ({row.low:.3f} to {row.high:.3f}"
        f"{', extrapolated' if row.basis == _BEYOND else ''})"
        for row in frame.iloc[list(places)].itertuples()
    )
    said = f"{what} over draft length with {fitted.intervals}, by {fitted.name}. {points}."
    if best is None:
        return said
    above = said_above_one(list(frame["gamma"]), list(frame["value"]))
    return f"{said} {best.sentence} It lies {above}; a dashed line marks plain decoding at 1."

"""Interactive charts as Vega-Lite specifications, for the app and for pages without a server.

The colours read on light and dark paper alike; each meaning has a shape or a dash of its own too.
Axes are pinned to steps, so that they do not jump while a value moves.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd

from analysis.curve import over_gamma
from analysis.exact import round_law
from analysis.palette import ABOVE, BEST, EXACT, PLAIN, SIMULATED, YOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator import AcceptanceTable, Estimate, Strategy

_HEIGHT = 360


def tokens_histogram(table: AcceptanceTable, strategy: Strategy) -> alt.LayerChart:
    """Share of rounds by tokens emitted: bars as simulated, diamonds as the exact pmf says."""
    law = round_law(strategy)
    shares = np.asarray(table.ended) / max(table.rounds, 1)
    tokens = np.arange(1, table.depths + 2)
    simulated, exact = f"simulated, {table.rounds:,} rounds", "exact"
    rows = pd.DataFrame(
        {
            "tokens": np.tile(tokens, 2),
            "share": np.concatenate([shares, law.pmf]),
            "series": np.repeat([simulated, exact], tokens.size),
        }
    )
    top = step_above(max(*shares, *law.pmf), (0.25, 0.5, 0.75, 1.0))
    often = int(np.argmax(shares))
    base = alt.Chart(rows).encode(
        x=alt.X("tokens:O", title="Tokens in a round", axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "share:Q",
            title="Share of rounds",
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[0.0, top]),
        ),
        color=colours([simulated, exact], [SIMULATED, EXACT]),
        tooltip=["series:N", "tokens:O", alt.Tooltip("share:Q", format=".3%")],
    )
    bars = _only(base, simulated).mark_bar()
    points = (
        _only(base, exact)
        .encode(shape=_shapes([simulated, exact], ["square", "diamond"]))
        .mark_point(filled=True, size=130, opacity=1.0)
    )
    return alt.LayerChart(layer=[bars, points]).properties(
        height=_HEIGHT,
        title="How many tokens a round gives",
        description=(
            f"Histogram of tokens per round for {table.rounds} simulated rounds of "
            f"{table.depths} drafted tokens, with the exact probabilities as diamonds. "
            f"Most often a round gives {tokens[often]}: {shares[often]:.1%} of them, exactly "
            f"{law.pmf[often]:.1%}. "
            f"Simulated mean {table.tokens_per_round}, exact mean {law.tokens_per_round:.4f}."
        ),
    )


def speedup_over_gamma(
    p: float,
    gamma: int,
    cost_ratio: float,
    *,
    max_gamma: int = 16,
    verify_cost: float = 1.0,
    overhead: float = 0.0,
) -> alt.LayerChart:
    """Speedup against draft length: the chosen one (circle), the best one (diamond), plain at 1."""
    last = max(max_gamma, gamma)
    exact = over_gamma(p, cost_ratio, max_gamma=last, verify_cost=verify_cost, overhead=overhead)
    best, values = exact.best, [point.speedup for point in exact.points]
    curve = pd.DataFrame({"gamma": range(last + 1), "speedup": values})
    mine = values[gamma]
    names = [f"yours: γ = {gamma}, {mine:.2f}×", _best_name(best.gamma, best.speedup)]
    marked = pd.DataFrame(
        {"gamma": [gamma, best.gamma], "speedup": [mine, best.speedup], "series": names}
    )
    y = alt.Y(
        "speedup:Q",
        title="Speedup over plain decoding",
        scale=alt.Scale(domain=[0.0, step_above(max(*values, 1.2), (2, 3, 4, 6, 8, 12, 17))]),
    )
    x = alt.X(
        "gamma:Q",
        title="Draft length γ (tokens)",
        scale=alt.Scale(domain=[0, last], nice=False),
        axis=alt.Axis(tickCount=min(last, 8), format="d"),
    )
    tooltip = [alt.Tooltip("gamma:Q", format="d"), alt.Tooltip("speedup:Q", format=".3f")]
    line = alt.Chart(curve).mark_line(
        color=EXACT, strokeWidth=2.5, point={"color": EXACT, "size": 25}
    )
    points = alt.Chart(marked).encode(
        x=x,
        y=y,
        color=colours(names, [YOURS, BEST]),
        shape=_shapes(names, ["circle", "diamond"]),
        tooltip=["series:N", *tooltip],
    )
    layers = [
        *flat_band(best.flat if best.pays else ()),
        alt.Chart(pd.DataFrame({"speedup": [1.0]}))
        .mark_rule(color=PLAIN, strokeDash=[6, 4], strokeWidth=1.5)
        .encode(y="speedup:Q"),
        line.encode(x=x, y=y, tooltip=tooltip),
        _only(points, names[0]).mark_point(filled=True, size=320, opacity=1.0),
        _only(points, names[1]).mark_point(
            filled=True, size=120, opacity=1.0, stroke=ABOVE, strokeWidth=1
        ),
    ]
    return alt.LayerChart(layer=layers).properties(
        height=_HEIGHT,
        title="Speedup over draft length",
        description=(
            f"Speedup over draft lengths 0 to {last}, at p = {p:g} and cost ratio {cost_ratio:g}; "
            f"{names[0]}; {names[1]}. It lies between {min(values):.2f} and {max(values):.2f}, "
            f"{said_above_one(range(1, last + 1), values[1:])}. A dashed line marks plain decoding "
            "at 1; the shaded lengths are within 1 % of the best."
        ),
    )


def acceptance_by_depth(
    by_depth: Sequence[Estimate], *, pooled: float | None = None
) -> alt.LayerChart:
    """Acceptance of tested tokens per depth, with 95 % intervals; a dashed line at the pooled p."""
    rows = [
        (depth, *(estimate.interval or (estimate.value, estimate.value)), estimate.value)
        for depth, estimate in enumerate(by_depth, start=1)
        if not math.isnan(estimate.value)  # a depth that was never tested
    ]
    words = ", ".join(f"{depth}: {estimate}" for depth, estimate in enumerate(by_depth, start=1))
    together = "" if pooled is None else f". All depths together, dashed: {pooled:.3f}"
    return _by_depth(rows, pooled, f"with 95 % intervals: {words}{together}")


def acceptance_ranges(by_depth: Sequence[tuple[float, float]]) -> alt.LayerChart:
    """Acceptance of tested tokens per depth where the counts allow a range: bars without points."""
    rows = [
        (depth, low, high, None)
        for depth, (low, high) in enumerate(by_depth, start=1)
        if not math.isnan(low)
    ]
    words = ", ".join(f"{depth}: {low:.3f} to {high:.3f}" for depth, low, high, _ in rows)
    return _by_depth(rows, None, f"as ranges that the counts allow: {words}")


def _by_depth(
    rows: Sequence[tuple[int, float, float, float | None]], pooled: float | None, words: str
) -> alt.LayerChart:
    frame = pd.DataFrame(rows, columns=["depth", "low", "high", "p"])
    base = alt.Chart(frame).encode(
        x=alt.X("depth:O", title="Depth of the drafted token", axis=alt.Axis(labelAngle=0)),
        tooltip=[
            "depth:O",
            *(alt.Tooltip(f"{name}:Q", format=".3f") for name in frame.columns[1:]),
        ],
    )
    scale = alt.Scale(domain=[0.0, 1.0])
    low = alt.Y("low:Q", title="Kept, of those tested", scale=scale)
    layers = [
        base.mark_rule(color=EXACT, strokeWidth=3).encode(y=low, y2="high:Q"),
        base.mark_tick(color=EXACT, thickness=3, width=18).encode(y=low),
        base.mark_tick(color=EXACT, thickness=3, width=18).encode(y="high:Q"),
        base.mark_point(color=EXACT, filled=True, size=110, opacity=1.0).encode(y="p:Q"),
    ]
    if pooled is not None:
        line = alt.Chart(pd.DataFrame({"pooled p": [pooled]}))
        layers.append(
            line.mark_rule(color=YOURS, strokeDash=[6, 4]).encode(
                y="pooled p:Q", tooltip=[alt.Tooltip("pooled p:Q", format=".3f")]
            )
        )
    return alt.LayerChart(layer=layers).properties(
        height=_HEIGHT,
        title="Acceptance by depth",
        description=f"Acceptance of tested tokens by depth, {words}.",
    )


def colours(names: list[str], values: list[str], field: str = "series") -> alt.Color:
    """Colour by a named field, with its legend above the chart."""
    return alt.Color(
        f"{field}:N",
        scale=alt.Scale(domain=names, range=values),
        legend=alt.Legend(title=None, orient="top", labelLimit=260, columns=2, symbolSize=110),
    )


def _shapes(names: list[str], shapes: list[str]) -> alt.Shape:
    return alt.Shape("series:N", scale=alt.Scale(domain=names, range=shapes))


def _only(chart: alt.Chart, series: str) -> alt.Chart:
    return chart.transform_filter(alt.datum.series == series)


def flat_band(flat: Sequence[int]) -> list[alt.Chart]:
    """Draft lengths that are about as good as the best, shaded; nothing for fewer than two."""
    if len(flat) < 2:
        return []
    band = pd.DataFrame({"from": [min(flat)], "to": [max(flat)]})
    return [alt.Chart(band).mark_rect(color=BEST, opacity=0.14).encode(x="from:Q", x2="to:Q")]


def _best_name(gamma: int, value: float) -> str:
    return f"best: γ = {gamma}, {value:.2f}×" if gamma else "best: no draft, 1.00×"


def said_above_one(at: Sequence[float], values: Sequence[float], name: str = "γ = ") -> str:
    """Where a curve lies above 1, which is where it pays.

    >>> said_above_one([1, 2, 3], [0.9, 1.2, 1.1]), said_above_one([1, 2], [0.9, 0.8])
    ('above 1 from γ = 2 to 3', 'nowhere above 1')
    """
    above = [x for x, value in zip(at, values, strict=True) if value > 1.0]
    if not above:
        return "nowhere above 1"
    if len(above) == len(at):
        return f"above 1 everywhere from {name}{at[0]:g} to {at[-1]:g}"
    if len(above) == 1:
        return f"above 1 at {name}{above[0]:g} only"
    first, last = above[0], above[-1]
    gap = any(v <= 1.0 for x, v in zip(at, values, strict=True) if first <= x <= last)
    return f"above 1 {'in places ' if gap else ''}from {name}{first:g} to {last:g}"


def step_above(value: float, steps: Sequence[float]) -> float:
    """The end of an axis: the first of the rising steps that holds the value, else the last."""
    return next((step for step in steps if value <= step), steps[-1])

"""The charts of a comparison as Vega-Lite specifications, in the style of `analysis.charts`."""

from __future__ import annotations

import math

import altair as alt
import pandas as pd

from analysis.charts import colours
from analysis.comparison.result import Change, DepthChange, Part, RunComparison
from analysis.palette import BEST, EXACT, LOSS, PLAIN, TOGETHER, YOURS

TITLES = {
    "speed": "speed",
    "tokens per round": "tokens per round",
    "acceptance": "acceptance: tokens per round",
    "kept": "tokens kept at the ends of texts",
    "pass_time": "time of a round",
    "plain_step": "of it the machine's plain step",
    "round_cost": "of it the cost of a round",
}
_CHANGES: tuple[Change, ...] = ("faster", "slower", "within noise", "unknown")
_COLOURS = (BEST, LOSS, PLAIN, TOGETHER)
_SHAPES = ("triangle-right", "triangle-left", "circle", "square")
_TICKS = (0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 5, 10)
_FINE = (0.67, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5)
_NARROW, _LEAST, _ROOM = 1.8, 1.02, 0.08
_ROW, _AROUND = 52, 120


def waterfall(result: RunComparison) -> alt.LayerChart:
    """Factors that multiply to the whole, each bar beginning where the last one ended, on a log scale.

    Whiskers are the interval of each factor alone. Colour and the shape at a bar's end say whether it
    made the run faster, slower, or neither beyond noise.
    """
    rows, place = [], 1.0
    for part in result.parts:
        rows.append(_row(part, place))
        place *= part.factor.value
    rows.append(_row(result.whole, 1.0))
    frame = pd.DataFrame(
        rows,
        columns=["part", "start", "end", "low", "high", "factor", "from", "to", "change"],
    )
    ends = [n for name in ("start", "end", "low", "high") for n in frame[name] if _drawable(n)]
    low, high = _span(min(ends), max(ends))
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    ticks = [tick for tick in (_FINE if high / low < _NARROW else _TICKS) if low <= tick <= high]
    axis = alt.Axis(values=ticks, labelExpr="'×' + format(datum.value, '.3~g')")
    title = "Times faster (log scale)" if result.timed else "Times as many (log scale)"
    there = [i for i, name in enumerate(_CHANGES) if name in set(frame["change"])]
    names = [_CHANGES[i] for i in there]
    base = alt.Chart(frame).encode(
        y=alt.Y("part:N", title=None, sort=list(frame["part"]), axis=alt.Axis(labelLimit=230)),
        color=colours(names, [_COLOURS[i] for i in there], field="change"),
        tooltip=[
            "part:N",
            "change:N",
            *(alt.Tooltip(f"{name}:Q", format=".4~g") for name in ("factor", "from", "to")),
        ],
    )
    x = alt.X("start:Q", title=title, scale=scale, axis=axis)
    layers = [
        base.mark_bar(opacity=0.55, size=22).encode(x=x, x2="end:Q"),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2.5)
        .encode(x=alt.X("low:Q", title=title, scale=scale, axis=axis), x2="high:Q"),
        base.mark_point(filled=True, size=130, opacity=1.0).encode(
            x=alt.X("end:Q", title=title, scale=scale, axis=axis),
            shape=alt.Shape(
                "change:N", scale=alt.Scale(domain=names, range=[_SHAPES[i] for i in there])
            ),
        ),
        alt.Chart(pd.DataFrame({"one": [1.0]}))
        .mark_rule(color=PLAIN, strokeDash=[6, 4], strokeWidth=1.5)
        .encode(x=alt.X("one:Q", scale=scale)),
    ]
    words = "; ".join(f"{TITLES[p.name]}: ×{p.factor}" for p in (*result.parts, result.whole))
    return alt.LayerChart(layer=layers).properties(
        height=_AROUND + _ROW * len(rows),
        title="Which part of the change is what",
        description=f"Waterfall of factors on a log scale with {result.level:.0%} intervals. {words}.",
    )


def _row(part: Part, start: float) -> tuple[object, ...]:
    ends = part.factor.interval or (math.nan, math.nan)
    low, high = (start * end if _drawable(start * end) else math.nan for end in ends)
    factor = part.factor.value
    name = TITLES.get(part.name, part.name)
    return (name, start, start * factor, low, high, factor, part.before, part.after, part.change)


def _span(low: float, high: float) -> tuple[float, float]:
    """The ends of the axis: 1 is on it, and there is some room on both sides."""
    low, high = min(low, 1.0 / _LEAST), max(high, _LEAST)
    room = (high / low) ** _ROOM
    return low / room, high * room


def _drawable(value: float) -> bool:
    return math.isfinite(value) and value > 0.0


def acceptance_before_and_after(result: RunComparison) -> alt.LayerChart:
    """Acceptance by depth of both sides."""
    kept = result.depths[0].quantity == "conditional_acceptance"
    what = "Kept, of those tested" if kept else "Kept, of all rounds"
    sides = ("before", "after")
    frame = pd.DataFrame(
        [
            (each.depth + 1, side, getattr(each, side), each.difference.value, *_ends(each))
            for each in result.depths
            for side in sides
        ],
        columns=["depth", "run", "share", "difference", "low", "high"],
    )
    base = alt.Chart(frame).encode(
        x=alt.X("depth:O", title="Depth of the drafted token", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("share:Q", title=what, scale=alt.Scale(domain=[0.0, 1.0])),
        tooltip=[
            "depth:O",
            "run:N",
            *(alt.Tooltip(f"{n}:Q", format=".3f") for n in ("share", "difference", "low", "high")),
        ],
    )
    lines = [
        base.transform_filter(alt.datum.run == side).mark_line(
            strokeWidth=2, color=colour, strokeDash=dash
        )
        for side, colour, dash in zip(sides, (EXACT, YOURS), ([1, 0], [6, 4]), strict=True)
    ]
    points = base.mark_point(filled=True, size=110, opacity=1.0).encode(
        color=colours(list(sides), [EXACT, YOURS], field="run"),
        shape=alt.Shape("run:N", scale=alt.Scale(domain=list(sides), range=["circle", "diamond"])),
    )
    words = "; ".join(f"{e.depth + 1}: {e.before:.3f} and {e.after:.3f}" for e in result.depths)
    return alt.LayerChart(layer=[*lines, points]).properties(
        height=360,
        title="Acceptance by depth",
        description=f"{what}, by depth, before and after. {words}.",
    )


def _ends(change: DepthChange) -> tuple[float | None, float | None]:
    return change.difference.interval or (None, None)

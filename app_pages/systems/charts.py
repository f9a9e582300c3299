"""The charts of the page of systems as Vega-Lite, in the style of `analysis.charts`; each fits a phone."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Literal, TypeAlias

import altair as alt
import numpy as np
import pandas as pd

from analysis.charts import step_above
from analysis.palette import EXACT, LINES, PLAIN, YOURS
from analysis.systems.comparing import SystemRow
from analysis.systems.report import grouped

Across: TypeAlias = Literal["verified", "draft_steps"]
_TITLES: dict[Across, tuple[str, str]] = {
    "verified": ("What the target checks", "Tokens in the target's pass, n of V(n)"),
    "draft_steps": ("What the draft takes", "Draft steps, one after the other"),
}
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
_GROUPS = (EXACT, PLAIN, *LINES[1:])
_HEIGHT, _BARS = 380, 400
_WIDTHS = (32, 64, 128, 256, 512, 1024)
_TOKENS = (2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 17.0, 33.0)
_STEPS = (4, 6, 8, 10, 12, 16, 24, 32)
_GAINS = (1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 17.0, 33.0)
_CLOSE = 0.045
"""Of the height: labels nearer than this at nearly the same place would cover each other."""
_RIGHT = 0.72
"""Of the width: from here on a name would not fit to the right of its point."""
_NEAR = 0.2
"""Of the width, the same."""
_FACING = 0.4
"""Of the width: within it two names between their points would meet on a phone."""


def tokens_over(
    rows: Sequence[SystemRow],
    across: Across,
    focus: str,
    line: Sequence[tuple[int, float]] = (),
) -> alt.LayerChart:
    """Tokens per round of every system over what its draft takes; `focus` is ringed.

    `line`: tokens in the pass and per round of the focused system with other sizes of draft.
    """
    title, label = _TITLES[across]
    values = [getattr(row, across) for row in rows]
    wide = across == "verified"
    top = step_above(max(row.tokens_per_round for row in rows), _TOKENS)
    right = step_above(max(values), _WIDTHS if wide else _STEPS)
    low = 1.0 if wide else -0.5
    frame = pd.DataFrame(
        {
            "system": [row.system.name for row in rows],
            "across": values,
            "tokens": [row.tokens_per_round for row in rows],
            "nodes": [row.nodes for row in rows],
            "verified": [row.verified for row in rows],
            "steps": [row.draft_steps for row in rows],
            "side": _sides(rows, values, (low, right), top, log=wide),
        }
    )
    names = list(frame["system"])
    x = alt.X(
        "across:Q",
        title=label,
        scale=alt.Scale(type="log", base=2, domain=[low, right], nice=False)
        if wide
        else alt.Scale(domain=[low, right + 0.5], nice=False),
        axis=alt.Axis(format="d", tickMinStep=1)
        if not wide
        else alt.Axis(format="d", values=[2**k for k in range(11)]),
    )
    y = alt.Y("tokens:Q", title="Tokens per round", scale=alt.Scale(domain=[1.0, top], nice=False))
    base = alt.Chart(frame).encode(x=x, y=y)
    points = base.mark_point(filled=True, size=130, opacity=0.95).encode(
        color=_colour(names),
        shape=_shape(names),
        tooltip=[
            "system:N",
            alt.Tooltip("tokens:Q", title="tokens per round", format=".3f"),
            alt.Tooltip("nodes:Q", title="nodes drafted"),
            alt.Tooltip("verified:Q", title="tokens in the pass"),
            alt.Tooltip("steps:Q", title="draft steps"),
        ],
    )
    ring = base.transform_filter(alt.datum.system == focus).mark_point(
        filled=False, size=420, strokeWidth=2, color=YOURS, opacity=1.0
    )
    layers: list[alt.Chart] = [ring, points]
    for side, align, shift in (("right", "left", 14), ("left", "right", -14)):
        here = base.transform_filter(alt.datum.side == side)
        for lift, those in (
            (0, alt.datum.system != focus),
            (_lift(frame, focus, top, shift) if len(line) > 1 else 0, alt.datum.system == focus),
        ):
            layers.append(
                here.transform_filter(those)
                .mark_text(align=align, dx=shift, dy=lift, fontSize=11, color=PLAIN)
                .encode(text="system:N")
            )
    if len(line) > 1:
        other = pd.DataFrame(line, columns=["across", "tokens"])
        layers.insert(
            0,
            alt.Chart(other[other["across"] <= right])
            .mark_line(strokeDash=[4, 3], color=YOURS, opacity=0.8, clip=True)
            .encode(x=x, y=y),
        )
    placed = list(zip(rows, values, strict=True))
    fewest, most = (f(placed, key=lambda pair: pair[0].tokens_per_round) for f in (min, max))
    ringed = next((pair for pair in placed if pair[0].system.name == focus), most)
    return alt.LayerChart(layer=layers).properties(
        height=_HEIGHT,
        title=title,
        description=f"Tokens per round of {len(rows)} systems over {label[0].lower()}{label[1:]}. "
        f"Fewest: {_said(*fewest)}; most: {_said(*most)}. Ringed: {_said(*ringed)}.",
    )


def _said(row: SystemRow, value: int) -> str:
    return f"{row.system.name}, {row.tokens_per_round:.2f} at {value}"


def _sides(
    rows: Sequence[SystemRow],
    values: Sequence[int],
    ends: tuple[float, float],
    top: float,
    *,
    log: bool,
) -> list[str]:
    """On which side of its point each name stands: left near the right edge, and away from a neighbour."""
    low, right = (np.log2(ends[0]), np.log2(ends[1])) if log else ends
    places = [((np.log2(value) if log else value) - low) / (right - low) for value in values]
    heights = [(row.tokens_per_round - 1.0) / (top - 1.0) for row in rows]
    sides: list[str] = []
    for i, place in enumerate(places):
        side = "left" if place > _RIGHT else "right"
        for j in range(i):
            near = abs(places[j] - place) < _NEAR and abs(heights[j] - heights[i]) < _CLOSE
            if near and sides[j] == side:
                side = "left" if side == "right" else "right"
        for j in range(i):
            gap = place - places[j]
            near = abs(gap) < _FACING and abs(heights[j] - heights[i]) < _CLOSE
            if near and gap > 0 and (sides[j], side) == ("right", "left"):
                sides[j] = "left"
        sides.append(side)
    return sides


def _lift(frame: pd.DataFrame, focus: str, top: float, shift: int) -> int:
    """Pixels by which the focused name stands lower than its point, off the dashed line that rises through it.

    Free are the left above and the right below, unless another point is just above.
    """
    heights = (frame["tokens"] - frame.loc[frame["system"] == focus, "tokens"].iloc[0]) / (
        top - 1.0
    )
    ratios = frame.loc[frame["system"] == focus, "across"].iloc[0] / frame["across"]
    above = heights.between(0.0, 2 * _CLOSE, inclusive="neither") & ratios.between(0.9, 2.5)
    return abs(shift) if above.any() else shift


def speedup_bars(rows: Sequence[SystemRow], focus: str) -> alt.LayerChart:
    """The speedup of each system at the costs given, the fastest first; 1 is plain decoding.

    Colour, and a letter behind the number, tell systems of the same target and text, which compare,
    from the others.
    """
    ordered = sorted(rows, key=lambda row: row.speedup or 0.0, reverse=True)
    of = {name: group for name, group in grouped(rows) if group}
    letters = dict(zip(of, ascii_uppercase, strict=False)) if len(of) > 1 else {}
    shown = {name: f"{letters[name]}: {name}" if name in letters else name for name in of}
    groups = {row.system.name: name for name, group in of.items() for row in group}
    frame = pd.DataFrame(
        {
            "system": [row.system.name for row in ordered],
            "speedup": [row.speedup for row in ordered],
            "text": [
                f"{row.speedup:.2f}× {letters.get(groups[row.system.name], '')}".strip()
                for row in ordered
            ],
            "of": [shown[groups[row.system.name]] for row in ordered],
            "cost": [row.round_cost for row in ordered],
            "V": [row.verify_cost for row in ordered],
            "tokens": [row.tokens_per_round for row in ordered],
        }
    )
    names = list(shown.values())
    top = step_above(1.12 * max(frame["speedup"]), _GAINS)
    y = alt.Y(
        "system:N",
        title=None,
        sort=list(frame["system"]),
        axis=alt.Axis(labelLimit=120, labelOverlap=False),
    )
    x = alt.X(
        "speedup:Q",
        title="Speedup over plain decoding",
        axis=alt.Axis(tickCount=6),
        scale=alt.Scale(domain=[0.0, top], nice=False),
    )
    base = alt.Chart(frame).encode(y=y, x=x)
    bars = base.mark_bar(height={"band": 0.7}).encode(
        color=alt.Color(
            "of:N",
            scale=alt.Scale(
                domain=names, range=[_GROUPS[i % len(_GROUPS)] for i in range(len(names))]
            ),
            legend=alt.Legend(
                title=None,
                orient="top",
                labelLimit=300,
                labelFontSize=11,
                columns=1,
                symbolSize=110,
            ),
        ),
        opacity=alt.condition(alt.datum.system == focus, alt.value(1.0), alt.value(0.6)),
        tooltip=[
            "system:N",
            alt.Tooltip("of:N", title="target and text"),
            alt.Tooltip("speedup:Q", format=".3f"),
            alt.Tooltip("tokens:Q", title="tokens per round", format=".3f"),
            alt.Tooltip("cost:Q", title="round, plain steps", format=".3f"),
            alt.Tooltip("V:Q", title="V of its pass", format=".3f"),
        ],
    )
    text = base.mark_text(align="left", dx=5, color=PLAIN, fontWeight="bold").encode(text="text:N")
    plain = (
        alt.Chart(pd.DataFrame({"speedup": [1.0]}))
        .mark_rule(color=PLAIN, strokeDash=[6, 4], strokeWidth=1.5)
        .encode(x="speedup:Q")
    )
    words = "; ".join(f"{row.system.name} {row.speedup:.2f}" for row in ordered)
    gains = sum((row.speedup or 0.0) > 1.0 for row in ordered)
    return alt.LayerChart(layer=[bars, plain, text]).properties(
        height=_BARS,
        title="What that gains at these costs",
        description=f"Bars of speedup over plain decoding, the fastest first; {gains} of {len(ordered)} "
        f"are above 1, which is marked. {words}.",
    )


def _colour(names: list[str]) -> alt.Color:
    colours = [LINES[index % len(LINES)] for index in range(len(names))]
    return alt.Color("system:N", scale=alt.Scale(domain=names, range=colours), legend=None)


def _shape(names: list[str]) -> alt.Shape:
    shapes = [_SHAPES[index % len(_SHAPES)] for index in range(len(names))]
    return alt.Shape("system:N", scale=alt.Scale(domain=names, range=shapes), legend=None)

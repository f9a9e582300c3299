"""The same comparison as an interactive chart, for the app."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from analysis.palette import LINES, PLAIN
from analysis.systems.comparing import SystemRow

_WIDTH, _HEIGHT = 300, 320
_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
_TITLES = {"verified": "Tokens in the target's pass", "draft_steps": "Draft steps in a row"}


def tokens_over_drafts(
    rows: Sequence[SystemRow], sizes: Sequence[SystemRow] = ()
) -> alt.HConcatChart:
    """Tokens per round over the tokens in the pass and over draft steps; speedups where costs are known.

    `sizes` are other sizes of the same systems, drawn as lines. Raises ValueError without a row.
    """
    if not rows:
        raise ValueError("rows must hold one system at least; got none.")
    frame, lines = _frame(rows), _frame(sizes)
    names = [row.system.name for row in rows]
    panels = [_panel(frame, lines, names, across) for across in _TITLES]
    if all(row.speedup is not None for row in rows):
        panels.append(_speedups(frame, names))
    words = "; ".join(
        f"{row.system.name}: {row.tokens_per_round:.2f} tokens, {row.verified} verified, "
        f"{row.draft_steps} draft steps" + ("" if row.speedup is None else f", {row.speedup:.2f}×")
        for row in rows
    )
    return alt.HConcatChart(hconcat=panels).properties(
        title="What a round gives, and what its draft takes",
        description=f"Tokens per round of every system over what its draft takes. {words}.",
    )


def _panel(
    frame: pd.DataFrame, lines: pd.DataFrame, names: list[str], across: str
) -> alt.LayerChart:
    scale = alt.Scale(type="log", base=2) if across == "verified" else alt.Scale(zero=True)
    top = max(frame["tokens"].max(), lines["tokens"].max() if len(lines) else 0.0)
    axis = alt.Axis(format="d")
    encoding = {
        "x": alt.X(f"{across}:Q", title=_TITLES[across], scale=scale, axis=axis),
        "y": alt.Y("tokens:Q", title="Tokens per round", scale=alt.Scale(domain=[1.0, top * 1.05])),
        "color": _colour(names),
        "tooltip": _tooltip(frame),
    }
    layers = [
        alt.Chart(frame)
        .mark_point(filled=True, size=130, opacity=1.0)
        .encode(shape=_shape(names), **encoding)
    ]
    if len(lines):
        drawn = alt.Chart(lines).mark_line(strokeDash=[4, 3], opacity=0.7).encode(**encoding)
        layers.insert(0, drawn)
    return alt.LayerChart(layer=layers).properties(width=_WIDTH, height=_HEIGHT)


def _speedups(frame: pd.DataFrame, names: list[str]) -> alt.LayerChart:
    bars = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X("speedup:Q", title="Speedup over plain decoding"),
            y=alt.Y("system:N", title=None, sort=names),
            color=_colour(names),
            tooltip=_tooltip(frame),
        )
    )
    plain = (
        alt.Chart(pd.DataFrame({"speedup": [1.0]}))
        .mark_rule(color=PLAIN, strokeDash=[6, 4], strokeWidth=1.5)
        .encode(x="speedup:Q")
    )
    return alt.LayerChart(layer=[bars, plain]).properties(width=_WIDTH, height=_HEIGHT)


def _frame(rows: Sequence[SystemRow]) -> pd.DataFrame:
    columns = ["system", "tokens", "verified", "draft_steps", "nodes", "speedup", "target"]
    values = [
        (
            row.system.name, row.tokens_per_round, row.verified, row.draft_steps, row.nodes, row.speedup,
            row.system.printed.target,
        )
        for row in rows
    ]  # fmt: skip
    frame = pd.DataFrame(values, columns=columns)
    return frame.dropna(axis="columns", how="all") if len(frame) else frame


def _colour(names: list[str]) -> alt.Color:
    colours = [LINES[index % len(LINES)] for index in range(len(names))]
    return alt.Color(
        "system:N",
        scale=alt.Scale(domain=names, range=colours),
        legend=alt.Legend(title=None, orient="top", columns=5, symbolSize=110),
    )


def _shape(names: list[str]) -> alt.Shape:
    shapes = [_SHAPES[index % len(_SHAPES)] for index in range(len(names))]
    return alt.Shape("system:N", scale=alt.Scale(domain=names, range=shapes))


def _tooltip(frame: pd.DataFrame) -> list[alt.Tooltip]:
    formats = {"tokens": ".3f", "speedup": ".3f", "verified": "d", "draft_steps": "d", "nodes": "d"}
    numbers = [name for name in formats if name in frame]
    return [
        alt.Tooltip("system:N"),
        alt.Tooltip("target:N", title="printed for"),
        *(alt.Tooltip(f"{name}:Q", format=formats[name]) for name in numbers),
    ]

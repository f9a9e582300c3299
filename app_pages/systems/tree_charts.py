"""A tree as a picture, and the size at which it stops paying, as Vega-Lite."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from analysis.charts import said_above_one, step_above
from analysis.palette import ABOVE, ACCEPTED, BEST, LINES, LOSS, PLAIN, YOURS
from app_pages.systems.results import Picture
from app_pages.systems.sizes import Sizes
from simulator import Tree
from simulator.trees import ROOT

_HEIGHT = 380
_GAINS = (1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 12.0, 17.0, 33.0)
_NODES = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
_SMALL, _LARGE = 9, 40
"""Nodes side by side from which on dots shrink, and from which on they are smallest."""


def tree_picture(picture: Picture) -> alt.LayerChart:
    """The tree, root on top: a dot per node, its colour and size the chance that a round keeps it."""
    places = node_places(picture.tree)
    parents = [places[parent] if parent != ROOT else 0.5 for parent in picture.tree.parents]
    frame = pd.DataFrame(
        {
            "place": places,
            "depth": picture.tree.depths,
            "parent": parents,
            "above": np.asarray(picture.tree.depths) - 1,
            "kept": picture.kept,
            "given": picture.given,
            "guesses": [" › ".join(str(rank + 1) for rank in path) for path in picture.tree.paths],
        }
    )
    deepest = picture.tree.gamma
    across = alt.Scale(domain=[-0.02, 1.02], nice=False)
    down = alt.Scale(domain=[-0.4, deepest + 0.4], reverse=True, nice=False)
    depths = alt.Axis(values=list(range(deepest + 1)), format="d", grid=False)
    x = alt.X("place:Q", title=None, axis=None, scale=across)
    y = alt.Y("depth:Q", title="Depth (tokens)", axis=depths, scale=down)
    edges = (
        alt.Chart(frame)
        .mark_rule(color=PLAIN, opacity=0.45)
        .encode(
            x=alt.X("parent:Q", title=None, axis=None, scale=across),
            x2="place:Q",
            y=alt.Y("above:Q", title="Depth (tokens)", axis=depths, scale=down),
            y2="depth:Q",
        )
    )
    widest = max(np.bincount(picture.tree.depths))
    size = 170 if widest <= _SMALL else 90 if widest <= _LARGE else 40
    legend = alt.Legend(orient="top", format=".0%", values=[0, 0.05, 0.2, 0.5, 1])
    dots = (
        alt.Chart(frame)
        .mark_circle(opacity=1.0, stroke=PLAIN, strokeWidth=0.7)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "kept:Q",
                title="kept",
                scale=alt.Scale(type="sqrt", domain=[0.0, 1.0], scheme="viridis"),
                legend=legend,
            ),
            size=alt.Size(
                "kept:Q",
                title="kept",
                scale=alt.Scale(type="sqrt", domain=[0.0, 1.0], range=[size / 4, 1.2 * size]),
                legend=legend,
            ),
            tooltip=[
                alt.Tooltip("guesses:N", title="guess by guess"),
                "depth:Q",
                alt.Tooltip("kept:Q", format=".4f"),
                alt.Tooltip("given:Q", title="once its parent is", format=".4f"),
            ],
        )
    )
    root = (
        alt.Chart(pd.DataFrame({"place": [0.5], "depth": [0], "what": ["the text's last token"]}))
        .mark_point(shape="square", filled=True, size=130, color=ACCEPTED, opacity=1.0)
        .encode(x=x, y=y, tooltip=[alt.Tooltip("what:N", title="root")])
    )
    by_depth = np.bincount(picture.tree.depths, weights=picture.kept, minlength=deepest + 1)[1:]
    words = ", ".join(f"depth {d + 1}: {share:.1%}" for d, share in enumerate(by_depth))
    return alt.LayerChart(layer=[edges, dots, root]).properties(
        height=min(110 + 62 * (deepest + 1), 560),
        title="The tree" + (f", {picture.name}" if picture.name else ""),
        description=(
            f"A tree of {picture.tree.nodes} drafted tokens and depth {deepest}; colour and size are the "
            f"chance that a round keeps each, from {min(picture.kept):.2%} to "
            f"{max(picture.kept):.1%}. Rounds that keep one at each depth: {words}."
        ),
    )


def node_places(tree: Tree) -> list[float]:
    """Where each node stands between 0 and 1: leaves side by side, a parent in the middle of its children."""
    children = {node: tree.children[node + 1] for node in range(tree.nodes)}
    leaves: dict[int, float] = {}
    order: list[int] = []
    stack = list(reversed(tree.children[0]))
    while stack:
        node = stack.pop()
        order.append(node)
        if not children[node]:
            leaves[node] = float(len(leaves))
        stack.extend(reversed(children[node]))
    places = dict(leaves)
    for node in reversed(order):
        if children[node]:
            places[node] = float(np.mean([places[child] for child in children[node]]))
    count = len(leaves)
    if count == 1:
        return [0.5] * tree.nodes
    return [places[node] / (count - 1) for node in range(tree.nodes)]


def speedup_over_sizes(found: Sizes, nodes: int, speedup: float, name: str) -> alt.LayerChart:
    """Speedup over the number of nodes: the system as it is (circle), the best size (diamond)."""
    frame = pd.DataFrame(
        {
            "nodes": [point.nodes for point in found.points],
            "speedup": [point.speedup for point in found.points],
            "tokens": [point.tokens_per_round for point in found.points],
            "cost": [point.round_cost for point in found.points],
        }
    )
    top = step_above(max(*frame["speedup"], speedup), _GAINS)
    right = step_above(max(int(frame["nodes"].max()), nodes), _NODES)
    x = alt.X(
        "nodes:Q", title="Drafted nodes (tokens)", scale=alt.Scale(domain=[0, right], nice=False)
    )
    y = alt.Y(
        "speedup:Q",
        title="Speedup over plain decoding",
        scale=alt.Scale(domain=[0.0, top], nice=False),
    )
    tips = [
        alt.Tooltip("nodes:Q"),
        *(alt.Tooltip(f"{key}:Q", format=".3f") for key in ("speedup", "tokens", "cost")),
    ]
    marks = pd.DataFrame(
        {
            "nodes": [nodes, found.best.nodes],
            "speedup": [speedup, found.best.speedup],
            "what": ["as it is", "best size"],
        }
    )
    layers = [
        alt.Chart(pd.DataFrame({"from": [0.0], "to": [1.0]}))
        .mark_rect(color=LOSS, opacity=0.10)
        .encode(y=alt.Y("from:Q", title="Speedup over plain decoding"), y2="to:Q"),
        alt.Chart(pd.DataFrame({"speedup": [1.0]}))
        .mark_rule(color=PLAIN, strokeDash=[6, 4], strokeWidth=1.5)
        .encode(y="speedup:Q"),
        alt.Chart(frame)
        .mark_line(color=LINES[0], strokeWidth=2.5, point=len(frame) <= _LARGE)
        .encode(x=x, y=y, tooltip=tips),
        alt.Chart(marks)
        .mark_point(filled=True, size=200, opacity=1.0, stroke=ABOVE)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "what:N",
                scale=alt.Scale(domain=["as it is", "best size"], range=[YOURS, BEST]),
                legend=alt.Legend(title=None, orient="top", symbolSize=110),
            ),
            shape=alt.Shape(
                "what:N",
                scale=alt.Scale(domain=["as it is", "best size"], range=["circle", "diamond"]),
            ),
            tooltip=["what:N", "nodes:Q", alt.Tooltip("speedup:Q", format=".3f")],
        ),
    ]
    return alt.LayerChart(layer=layers).properties(
        height=_HEIGHT,
        title="Where more nodes stop paying",
        description=(
            f"Speedup of {name} over its number of drafted nodes. As it is, {nodes} nodes: "
            f"{speedup:.3f}. Best: {found.best.nodes} nodes, {found.best.speedup:.3f}. "
            f"It is {said_above_one(list(frame['nodes']), list(frame['speedup']), 'nodes = ')}."
        ),
    )

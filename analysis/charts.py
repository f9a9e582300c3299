"""Interactive charts as Vega-Lite specifications, for the app and for pages without a server.

The colours read on light and dark paper alike; each meaning has a shape or a dash of its own too.
Axes are pinned to steps, so that they do not jump while a value moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import altair as alt
import numpy as np
import pandas as pd

from analysis.exact import round_law
from analysis.formulas import speedup
from analysis.optimum import best_gamma
from analysis.palette import BEST, EXACT, PLAIN, SIMULATED, YOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator import AcceptanceTable, Estimate, Strategy

LayeredChart: TypeAlias = alt.LayerChart | alt.FacetChart
BlockKind: TypeAlias = Literal["plain pass", "draft step", "overhead", "checking pass"]
PLAIN_LANE, SPECULATIVE_LANE = "professor alone", "student + professor"
_KINDS: tuple[BlockKind, ...] = ("plain pass", "draft step", "overhead", "checking pass")
_KIND_COLOURS = [PLAIN, SIMULATED, "#CC79A7", EXACT]
_HEIGHT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneBlock:
    """A stretch of time on a lane [target steps], and the tokens that arrive at its end."""

    lane: str
    kind: BlockKind
    start: float
    end: float
    tokens: int = 0


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
    top = _step_above(max(*shares, *law.pmf), (0.25, 0.5, 0.75, 1.0))
    base = alt.Chart(rows).encode(
        x=alt.X("tokens:O", title="Tokens in a round", axis=alt.Axis(labelAngle=0)),
        y=alt.Y(
            "share:Q",
            title="Share of rounds",
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[0.0, top]),
        ),
        color=_colours([simulated, exact], [SIMULATED, EXACT]),
        tooltip=["series:N", "tokens:O", alt.Tooltip("share:Q", format=".3%")],
    )
    bars = base.transform_filter(alt.datum.series == simulated).mark_bar(stroke=PLAIN)
    points = base.transform_filter(alt.datum.series == exact).mark_point(
        shape="diamond", filled=True, size=110, opacity=1.0, stroke="white", strokeWidth=1
    )
    return alt.LayerChart(layer=[bars, points]).properties(
        height=_HEIGHT,
        title="How many tokens a round gives",
        description=(
            f"Histogram of tokens per round for {table.rounds} simulated rounds of "
            f"{table.depths} drafted tokens, with the exact probabilities as diamonds. "
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
    lengths = np.arange(1, last + 1)
    values = np.asarray(speedup(p, lengths, cost_ratio, verify_cost=verify_cost, overhead=overhead))
    best = best_gamma(p, cost_ratio, max_gamma=last, verify_cost=verify_cost, overhead=overhead)
    curve = pd.DataFrame({"gamma": np.arange(last + 1), "speedup": np.concatenate([[1.0], values])})
    mine = float(curve["speedup"][gamma])
    names = [f"yours: γ = {gamma}, {mine:.2f}×", _best_name(best.gamma, best.speedup)]
    marked = pd.DataFrame(
        {"gamma": [gamma, best.gamma], "speedup": [mine, best.speedup], "series": names}
    )
    y = alt.Y(
        "speedup:Q",
        title="Speedup over plain decoding",
        scale=alt.Scale(domain=[0.0, _step_above(max(values.max(), 1.2), (2, 3, 4, 6, 8, 12, 17))]),
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
    points = alt.Chart(marked).mark_point(filled=True, opacity=1.0, stroke="white", strokeWidth=1.5)
    layers = [
        *_flat_band(best.flat if best.pays else ()),
        alt.Chart(pd.DataFrame({"speedup": [1.0]}))
        .mark_rule(color=PLAIN, strokeDash=[6, 4], strokeWidth=1.5)
        .encode(y="speedup:Q"),
        line.encode(x=x, y=y, tooltip=tooltip),
        points.encode(
            x=x,
            y=y,
            color=_colours(names, [YOURS, BEST]),
            shape=alt.Shape("series:N", scale=alt.Scale(domain=names, range=["circle", "diamond"])),
            size=alt.Size("series:N", scale=alt.Scale(domain=names, range=[320, 110]), legend=None),
            tooltip=["series:N", *tooltip],
        ),
    ]
    return alt.LayerChart(layer=layers).properties(
        height=_HEIGHT,
        title="Speedup over draft length",
        description=(
            f"Line of the speedup over draft lengths 0 to {last}, at p = {p:g} and cost ratio "
            f"{cost_ratio:g}; {names[0]}; {names[1]}. A dashed line marks plain decoding at 1; "
            "the shaded lengths are within 1 % of the best."
        ),
    )


def acceptance_by_depth(
    by_depth: Sequence[Estimate], *, pooled: float | None = None
) -> alt.LayerChart:
    """Acceptance of tested tokens per depth, with 95 % intervals; a dashed line at the pooled p."""
    rows = pd.DataFrame(
        [
            {
                "depth": depth,
                "p": estimate.value,
                "low": estimate.value if estimate.interval is None else estimate.interval[0],
                "high": estimate.value if estimate.interval is None else estimate.interval[1],
            }
            for depth, estimate in enumerate(by_depth, start=1)
            if not math.isnan(estimate.value)  # a depth that was never tested
        ],
        columns=["depth", "p", "low", "high"],
    )
    base = alt.Chart(rows).encode(
        x=alt.X("depth:O", title="Depth of the drafted token", axis=alt.Axis(labelAngle=0))
    )
    scale = alt.Scale(domain=[0.0, 1.0])
    layers: list[alt.Chart] = [
        base.mark_rule(color=EXACT, strokeWidth=2).encode(
            y=alt.Y("low:Q", title="Kept, of those tested", scale=scale), y2="high:Q"
        ),
        base.mark_point(color=EXACT, filled=True, size=90, opacity=1.0).encode(
            y=alt.Y("p:Q", scale=scale),
            tooltip=[
                "depth:O",
                *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("p", "low", "high")),
            ],
        ),
    ]
    if pooled is not None:
        rule = alt.Chart(pd.DataFrame({"p": [pooled]})).mark_rule(color=YOURS, strokeDash=[6, 4])
        layers.append(rule.encode(y="p:Q"))
    return alt.LayerChart(layer=layers).properties(
        height=_HEIGHT,
        title="Acceptance by depth",
        description="Acceptance of tested tokens by depth with 95 % intervals: "
        + ", ".join(f"{depth}: {estimate}" for depth, estimate in enumerate(by_depth, start=1)),
    )


def round_timeline(
    blocks: Sequence[LaneBlock], *, end: float, now: float, label_tokens: bool = True
) -> alt.LayerChart:
    """Two lanes on one time axis [target steps]: plain decoding above, speculation below."""
    rows = pd.DataFrame(
        [
            {
                "lane": block.lane,
                "kind": block.kind,
                "start": block.start,
                "end": block.end,
                "middle": (block.start + block.end) / 2,
                "label": f"+{block.tokens}" if block.tokens and label_tokens else "",
            }
            for block in blocks
        ],
        columns=["lane", "kind", "start", "end", "middle", "label"],
    )
    lanes = alt.Y(
        "lane:N",
        title=None,
        sort=None,
        scale=alt.Scale(domain=[PLAIN_LANE, SPECULATIVE_LANE], paddingInner=0.35),
        axis=alt.Axis(labelExpr="split(datum.label, ' + ')", labelLimit=200, ticks=False),
    )
    x = alt.X(
        "start:Q",
        title="Time (plain target steps)",
        scale=alt.Scale(domain=[0.0, end], nice=False),
        axis=alt.Axis(tickMinStep=1, format="d"),
    )
    bars = (
        alt.Chart(rows)
        .mark_bar(stroke="white", strokeWidth=1, cornerRadius=3)
        .encode(
            x=x,
            x2="end:Q",
            y=lanes,
            color=_colours(list(_KINDS), _KIND_COLOURS, field="kind"),
            tooltip=[
                "lane:N",
                "kind:N",
                alt.Tooltip("start:Q", format=".2f"),
                alt.Tooltip("end:Q", format=".2f"),
            ],
        )
    )
    text = (
        alt.Chart(rows)
        .mark_text(color="white", fontWeight="bold", fontSize=13)
        .encode(x="middle:Q", y=lanes, text="label:N")
    )
    clock = (
        alt.Chart(pd.DataFrame({"now": [now]}))
        .mark_rule(color=YOURS, strokeWidth=2)
        .encode(x="now:Q")
    )
    return alt.LayerChart(layer=[bars, text, clock]).properties(
        height=150,
        description=(
            f"Two lanes over {end:.2f} target steps, the clock at {now:.2f}. "
            f"{_arrived(blocks, PLAIN_LANE)}; {_arrived(blocks, SPECULATIVE_LANE)}."
        ),
    )


def _colours(names: list[str], colours: list[str], field: str = "series") -> alt.Color:
    return alt.Color(
        f"{field}:N",
        scale=alt.Scale(domain=names, range=colours),
        legend=alt.Legend(
            title=None, orient="top", labelLimit=260, columns=0, direction="horizontal"
        ),
    )


def _flat_band(flat: Sequence[int]) -> list[alt.Chart]:
    if len(flat) < 2:  # noqa: PLR2004 — one length is no band
        return []
    band = pd.DataFrame({"from": [min(flat)], "to": [max(flat)]})
    return [alt.Chart(band).mark_rect(color=BEST, opacity=0.14).encode(x="from:Q", x2="to:Q")]


def _best_name(gamma: int, value: float) -> str:
    return f"best: γ = {gamma}, {value:.2f}×" if gamma else "best: no draft, 1.00×"


def _step_above(value: float, steps: Sequence[float]) -> float:
    return next((step for step in steps if value <= step), steps[-1])


def _arrived(blocks: Sequence[LaneBlock], lane: str) -> str:
    tokens = sum(block.tokens for block in blocks if block.lane == lane)
    return f"{lane}: {tokens} tokens"

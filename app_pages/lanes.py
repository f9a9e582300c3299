"""Two lanes on one time axis, as a Vega-Lite specification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import altair as alt
import pandas as pd

from analysis.charts import colours
from analysis.palette import ABOVE, DRAFT, OVERHEAD, PLAIN, VERIFICATION, YOURS

BlockKind: TypeAlias = Literal["plain pass", "draft step", "overhead", "checking pass"]
PLAIN_LANE, SPECULATIVE_LANE = "professor alone", "student + professor"
_KINDS: tuple[BlockKind, ...] = ("plain pass", "draft step", "overhead", "checking pass")
_KIND_COLOURS = [PLAIN, DRAFT, OVERHEAD, VERIFICATION]
_THICK: dict[BlockKind, int] = dict(zip(_KINDS, (44, 30, 16, 44), strict=True))
"""Of a block [pixels]: thickness says its kind, where colour does not."""
_GAP = 0.0025  # of the axis, between neighbouring blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneBlock:
    """A stretch of time on a lane [target steps], and the tokens that arrive at its end."""

    lane: str
    kind: BlockKind
    start: float
    end: float
    tokens: int = 0


def round_timeline(
    blocks: Sequence[LaneBlock],
    *,
    end: float,
    now: float,
    label_tokens: bool = True,
    overhead: bool = True,
) -> alt.LayerChart:
    """Two lanes on one time axis [target steps]: plain decoding above, speculation below.

    Without `overhead` the legend does not name it.
    """
    rows = pd.DataFrame(
        [
            {
                "lane": block.lane,
                "kind": block.kind,
                "start": block.start,
                "end": block.end,
                "edge": max(block.end - _GAP * end, block.start),
                "middle": (block.start + block.end) / 2,
                "thick": _THICK[block.kind],
                "label": f"+{block.tokens}" if block.tokens and label_tokens else "",
            }
            for block in blocks
        ],
        columns=["lane", "kind", "start", "end", "edge", "middle", "thick", "label"],
    )
    named = dict(zip(_KINDS, _KIND_COLOURS, strict=True))
    if not overhead:
        del named["overhead"]
    lanes = alt.Y(
        "lane:N",
        title=None,
        sort=None,
        scale=alt.Scale(domain=[PLAIN_LANE, SPECULATIVE_LANE], paddingInner=0.35),
        axis=alt.Axis(labelLimit=200, ticks=False),
    )
    x = alt.X(
        "start:Q",
        title="Time (plain target steps)",
        scale=alt.Scale(domain=[0.0, end], nice=False),
        axis=alt.Axis(tickMinStep=1, format="d"),
    )
    bars = (
        alt.Chart(rows)
        .mark_bar(cornerRadius=2)
        .encode(
            x=x,
            x2="edge:Q",
            y=lanes,
            color=colours(list(named), list(named.values()), field="kind"),
            size=alt.Size("thick:Q", scale=None, legend=None),
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
        .mark_text(color=ABOVE, fontWeight="bold", fontSize=13)
        .encode(x="middle:Q", y=lanes, text="label:N")
    )
    clock = (
        alt.Chart(pd.DataFrame({"now": [now]}))
        .mark_rule(color=YOURS, strokeWidth=2)
        .encode(x="now:Q")
    )
    return alt.LayerChart(layer=[bars, text, clock]).properties(
        height=250,
        description=(
            f"Two lanes over {end:.2f} plain target steps, the clock at {now:.2f}. "
            f"{_arrived(blocks, PLAIN_LANE)}; {_arrived(blocks, SPECULATIVE_LANE)}."
            f"{_latest(blocks)}"
        ),
    )


def _arrived(blocks: Sequence[LaneBlock], lane: str) -> str:
    tokens = sum(block.tokens for block in blocks if block.lane == lane)
    return f"{lane}: {tokens} tokens"


def _latest(blocks: Sequence[LaneBlock]) -> str:
    """What student and professor did last."""
    ours = [block for block in blocks if block.lane == SPECULATIVE_LANE]
    if not ours:
        return ""
    last = max(ours, key=lambda block: block.end)
    return f" The last block there is a {last.kind} from {last.start:.2f} to {last.end:.2f}."

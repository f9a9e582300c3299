"""A plan, drawn: the sentence, the charts, the table, strategies side by side, a schedule checked."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from analysis.planning.losses import ScheduleLosses
from analysis.planning.result import Plan
from app_pages import chart
from app_pages.deployment.results import Setup
from app_pages.plain_text import plain
from app_pages.plan_page import results as plan_results

_TABLE = {
    "batch": st.column_config.NumberColumn(width=60),
    "use": st.column_config.TextColumn(width=130),
    "γ": st.column_config.NumberColumn(width=40, help="Draft length to use; 0 is off."),
    "within 1 %": st.column_config.TextColumn(width=80, help="Lengths as good as the best."),
    "speedup": st.column_config.NumberColumn(
        format="%.3f×", help="Against plain decoding at the same batch."
    ),
    "low": st.column_config.NumberColumn(format="%.3f", help="95 %, by the acceptance's error."),
    "high": st.column_config.NumberColumn(format="%.3f"),
    "tokens/s": st.column_config.NumberColumn(format="%,.0f", help="Of the server."),
    "without": st.column_config.NumberColumn(format="%,.0f", help="Tokens per second, no draft."),
    "sure": st.column_config.TextColumn(width=50, help="Whether the interval lies above 1."),
    "not told apart": st.column_config.TextColumn(width=140),
}
_COMPARED = {
    "strategy": st.column_config.TextColumn(width=190),
    "pays up to": st.column_config.NumberColumn(
        help="The largest planned batch at which it gains."
    ),
    "most": st.column_config.NumberColumn(format="%.3f×"),
    "lost, mean": st.column_config.NumberColumn(
        format="percent", help="Of the best speedup at each batch, on average."
    ),
    "lost, most": st.column_config.NumberColumn(format="percent"),
    "schedule": st.column_config.TextColumn(width=280),
}
_LOSSES = {
    "speedup": st.column_config.NumberColumn(format="%.3f×"),
    "best speedup": st.column_config.NumberColumn(format="%.3f×"),
    "lost": st.column_config.NumberColumn(format="percent"),
}


def show(setup: Setup, found: Plan, strategy: str) -> None:
    """Draw a plan."""
    gains = any(row.gamma for row in found.rows)
    draw = st.success if gains else st.info
    draw(
        f"**{plain(found.sentence)}**",
        icon=":material/trending_up:" if gains else ":material/trending_flat:",
    )
    for note in found.notes:
        st.caption(plain(note))
    left, right = st.columns(2, gap="large")
    with left:
        chart.show(
            plan_results.lengths_spec(setup),
            key="lengths_chart",
            beside="the table of batches below",
        )
    with right:
        chart.show(
            plan_results.map_spec(setup, strategy),
            key="map_chart",
            table=lambda: plan_results.map_table(setup, strategy),
        )
    frame = plan_results.table(setup)
    known = frame["low"].notna().any()
    st.dataframe(
        frame.drop(
            columns=[name for name in frame if (frame[name].isna() | (frame[name] == "")).all()]
        ),
        hide_index=True,
        placeholder="",
        column_config=_TABLE,
        key="plan_table",
        height=min(35 * len(frame) + 38, 740),
    )
    if not known:
        st.caption(
            "The acceptance was typed, so nothing is known of its error: no intervals. A log under Import "
            "gives them."
        )
    if len(found.strategies) > 1:
        st.header("The strategies side by side")
        st.dataframe(
            plan_results.compared(setup),
            hide_index=True,
            placeholder="",
            column_config=_COMPARED,
            key="compared_table",
        )


def losses(lost: ScheduleLosses) -> None:
    """What a schedule of one's own loses."""
    bad = lost.worst.share > 0.01
    draw = st.warning if bad else st.success
    draw(plain(lost.sentence), icon=":material/trending_down:" if bad else ":material/check:")
    rows = [
        {
            "batch": row.batch,
            "γ": row.gamma,
            "speedup": row.speedup.value,
            "best γ": row.best_gamma,
            "best speedup": row.best_speedup.value,
            "lost": row.share,
        }
        for row in lost.rows
    ]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        placeholder="",
        column_config=_LOSSES,
        key="losses_table",
        height=min(35 * len(rows) + 38, 460),
    )

"""An explanation, drawn: the sentence, the waterfall, what to attack, what breaks even, findings."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from analysis.doctor import Diagnosis
from analysis.explaining.explanation import Explanation
from analysis.explaining.report import WATERFALL, attack_rows, waterfall_rows
from analysis.explaining.words import context, headline
from app_pages import chart
from app_pages.deployment.log import LastLog
from app_pages.deployment.results import Setup
from app_pages.explain_page import results as explain_results
from app_pages.plain_text import plain
from app_pages.your_engine import doctor as doctor_view

_WATERFALL = {
    "part": st.column_config.TextColumn(width=150),
    "plain_steps": st.column_config.NumberColumn("takes", format="%.3f", help="Plain steps."),
    "low": st.column_config.NumberColumn(format="%.3f"),
    "high": st.column_config.NumberColumn(format="%.3f"),
    "steps_left": st.column_config.NumberColumn("left", format="%.3f", help="Steps still saved."),
    "speedup": st.column_config.NumberColumn("speed after", format="%.3f×"),
    "speedup_low": st.column_config.NumberColumn("its low", format="%.3f"),
    "speedup_high": st.column_config.NumberColumn("its high", format="%.3f"),
    "basis": st.column_config.TextColumn("how it is known", width=290),
}
_ATTACK = {
    "without": st.column_config.TextColumn(width=208),
    "speedup": st.column_config.NumberColumn(format="%.3f×", width=66),
    "low": st.column_config.NumberColumn(format="%.3f", width=52),
    "high": st.column_config.NumberColumn(format="%.3f", width=52),
}
_EVEN = {
    "what": st.column_config.TextColumn(width=140),
    "now": st.column_config.NumberColumn(format="%.3f", width=70),
    "needed": st.column_config.NumberColumn("breaks even at", format="%.3f", width=110),
    "in words": st.column_config.TextColumn(width=640),
}


def show(setup: Setup, log: LastLog | None, found: Explanation) -> None:
    """Draw an explanation."""
    _headline(found)
    if not found.parts:
        _findings(found)
        return
    _metrics(found)
    left, right = st.columns([3, 2], gap="large")
    with left:
        chart.show(
            explain_results.waterfall_spec(setup, log),
            key="waterfall_chart",
            beside="the table of parts below",
        )
    with right:
        said = context(found)
        if said:
            st.markdown(plain(said))
        if found.levers:
            st.markdown("**Which part to attack** (▶ first)")
            st.dataframe(
                _frame(
                    [(f"{'▶ ' * bool(row[-1])}{row[0]}", *row[1:-1]) for row in attack_rows(found)],
                    list(_ATTACK),
                ),
                hide_index=True,
                placeholder="",
                column_config=_ATTACK,
                key="attack_table",
            )
        for note in found.notes:
            st.caption(plain(note))
    st.dataframe(
        _frame(waterfall_rows(found), list(WATERFALL)),
        hide_index=True,
        placeholder="",
        column_config=_WATERFALL,
        key="waterfall_table",
    )
    if found.break_even:
        st.header("What would break even")
        st.markdown("Each **alone**, everything else as it is.")
        rows = [
            ("γ", None, None, each.sentence)  # whole numbers, which the sentence has
            if each.what == "gamma"
            else (each.what, each.now, each.needed, each.sentence)
            for each in found.break_even
        ]
        st.dataframe(
            _frame(rows, list(_EVEN)),
            hide_index=True,
            placeholder="",
            column_config=_EVEN,
            key="even_table",
        )
    _findings(found)


def _headline(found: Explanation) -> None:
    words = plain(headline(found))
    if found.refusal:
        if any(finding.kind == "impossible" for finding in found.findings):
            st.error(words, icon=":material/report:")
        else:
            st.info(words, icon=":material/help:")
        return
    if found.contradiction:
        st.error(words, icon=":material/report:")
        return
    net = 1.0 if found.net is None else found.net.number
    if abs(net - 1.0) < 5e-4:
        draw, icon = st.info, "flat"
    else:
        draw, icon = (st.success, "up") if net > 1.0 else (st.error, "down")
    draw(words, icon=f":material/trending_{icon}:")


def _metrics(found: Explanation) -> None:
    shown = (
        ("Net speedup", found.net, "×", "Tokens per round / cost of a round, at the same batch."),
        ("Tokens per round", found.tokens, "", "What a round gives each request."),
        ("Cost of a round", found.cost, "", "What a round takes, in plain steps."),
        ("p, if it is one", found.p, "", "The one p that gives these tokens at this γ."),
    )
    with st.container(horizontal=True):
        for label, value, unit, words in shown:
            if value is None:
                continue
            ends = value.value.interval or value.range
            below = value.how if ends[0] == ends[1] else f"{ends[0]:.3f} to {ends[1]:.3f}"
            st.metric(
                label, f"{value.number:.3f}{unit}", below, delta_color="off", delta_arrow="off",
                help=words, border=True,
            )  # fmt: skip


def _findings(found: Explanation) -> None:
    if found.findings:
        st.header("What the doctor says")
        doctor_view.show(Diagnosis(findings=found.findings))


def _frame(rows: object, columns: list[str]) -> pd.DataFrame:
    """A table without the columns of which nothing is known."""
    frame = pd.DataFrame(list(rows), columns=columns)  # type: ignore[call-overload]
    return frame.dropna(axis="columns", how="all")

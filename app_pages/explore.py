"""The first page: sliders over the formula, the verdict, and a Monte Carlo beside it."""

from __future__ import annotations

import streamlit as st

from app_pages import chart, downloads, formula, live_panel, state
from app_pages.controls import controls
from app_pages.monte_carlo import panel
from app_pages.questions.asking import ask
from app_pages.questions.formula import EXPLORE
from app_pages.results import closed_form, gamma_table, speedup_spec, verdict
from app_pages.state import Settings

_COLUMNS = {
    "γ": st.column_config.NumberColumn(width=30),
    "": st.column_config.TextColumn(width=112),
    "tokens": st.column_config.NumberColumn(format="%.3f", help="Expected per round."),
    "cost": st.column_config.NumberColumn(format="%.2f", help="Of a round, in plain steps."),
    "speedup": st.column_config.NumberColumn(format="%.2f×"),
    "accepted / drafted": st.column_config.NumberColumn(
        format="%.3f",
        help="What engines print as acceptance rate: it falls with γ although p stays.",
    ),
}


def page() -> None:
    """Draw the page."""
    st.title("Does speculative decoding pay?")
    st.markdown(
        "A small **draft** model writes γ tokens ahead; the big **target** checks them all in one "
        "pass and keeps them up to the first it would not have written. Set the three numbers."
    )
    controls()
    settings = state.current()
    _verdict(settings)
    st.space("xsmall")
    left, right = st.columns(2, gap="large")
    with left:
        _speedup(settings)
        _table(settings)
    with right:
        panel()
    live_panel.panel(settings)
    ask("explore", EXPLORE, settings)
    _assumptions()


def _verdict(settings: Settings) -> None:
    kind, sentence = verdict(settings)
    show, icon = {
        "pays": (st.success, ":material/trending_up:"),
        "costs": (st.error, ":material/trending_down:"),
    }.get(kind, (st.info, ":material/trending_flat:"))
    show(f"**{sentence}**", icon=icon)
    answer = closed_form(settings)
    tokens, gain, limits = st.columns(3, gap="medium")
    with tokens.container(border=True, height="stretch"):
        st.caption("Expected tokens per target pass")
        st.latex(formula.tokens(settings, answer))
    with gain.container(border=True, height="stretch"):
        st.caption("Speedup of one request while decoding")
        st.latex(formula.speedup(settings, answer))
    with limits.container(border=True, height="stretch"):
        st.caption("Where it stops paying")
        st.markdown(_break_even(settings))


def _break_even(settings: Settings) -> str:
    answer = closed_form(settings)
    if answer.break_even_p is None:
        needed = "not even p = 1 pays"
    else:
        needed = f"p above **{answer.break_even_p:.3f}** pays"
    cheapest = answer.break_even_cost_ratio
    price = (
        f"a draft step below **{cheapest:.3f}** of a target step pays"
        if cheapest > 0
        else "not even a free draft pays"
    )
    return (
        f"- at this γ and cost: {needed}\n"
        f"- at this p and γ: {price}\n"
        f"- a round costs **{answer.cost:.2f}** plain steps and gives **{answer.tokens:.2f}** tokens"
    )


def _speedup(settings: Settings) -> None:
    chart.show(speedup_spec(settings), key="speedup_chart", beside="the table over γ below")


def _table(settings: Settings) -> None:
    frame = gamma_table(settings).rename(
        columns={"tokens per round": "tokens", "round cost": "cost"}
    )
    styled = frame.style.apply(
        lambda row: ["font-weight: bold" if row[""] else ""] * len(row), axis=1
    )
    st.dataframe(styled, hide_index=True, column_config=_COLUMNS, height=598, key="gamma_table")
    with st.container(horizontal=True, gap="small"):
        downloads.button(
            "PNG",
            lambda: downloads.speedup_png(settings),
            file_name="speedup_over_gamma.png",
            words="The curve, for print.",
        )
        downloads.button(
            "CSV",
            lambda: downloads.gamma_csv(settings),
            file_name="specdec_over_gamma.csv",
            words="The table over γ.",
        )


def _assumptions() -> None:
    with st.expander("Assumptions and limits", icon=":material/rule:"):
        st.markdown(
            "- **One p for every token.** Real text has easy and hard stretches; acceptance then "
            "differs by depth and between requests.\n"
            "- **Latency of one request, while decoding.** Reading the prompt is not made faster, "
            "and nothing here says that a full server gets more done.\n"
            "- **A chain of γ tokens**, drafted one after the other, always to the end.\n"
            "- **The output is unchanged.** The acceptance rule keeps the target's distribution; "
            "that is a property of the rule, and nothing on this page tests it.\n"
            "- **The Monte Carlo flips the same coin as the formula**, so that they agree shows that "
            "both are right about this model of a round, not that your machine behaves like it."
        )

"""The page that compares two runs: how much faster, which part is acceptance, is it noise."""

from __future__ import annotations

import streamlit as st

from app_pages import state
from app_pages.compare import address as compare_address
from app_pages.compare import results as compare_results
from app_pages.compare import view as compare_view
from app_pages.compare.sides import SIDES, example_caption, show_example, side
from app_pages.controls import keep_what_can_be_meant, show_problem
from app_pages.plain_text import plain
from app_pages.questions.asking import ask
from app_pages.questions.measured import COMPARE
from app_pages.your_engine.inputs import MAX_LENGTH


def page() -> None:
    """Draw the page."""
    st.title("Compare")
    st.markdown(
        "A new draft, a new build, another setting: the second run is faster or slower, but "
        "**why**, and is it more than **noise**? Speed is tokens per round, times the share of them "
        "that arrives, over the time of a round; so the change is a product of three."
    )
    compare_address.recall()
    show_problem()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Show me an example",
            icon=":material/description:",
            on_click=show_example,
            help="Two intervals of one vLLM server: it wrote chat first, then code.",
        )
        caption = example_caption()
        if caption is not None:
            st.markdown(f":small[Two intervals of one server.] {caption}")
    runs = []
    for name, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
        with column:
            runs.append(side(name))
    gamma, regression = _asked()
    before, after = runs
    if before is None or after is None:
        st.info(
            "Two runs are needed. Give both, or press **Show me an example** to see what comes out."
        )
        compare_address.share()
        return
    state.remember()
    try:
        found = compare_results.compared(before, after, gamma, regression)
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    compare_view.show(found, before, after, gamma, regression)
    ask("compare", COMPARE, found)
    compare_address.share()


def _asked() -> tuple[int | None, float | None]:
    """The draft length where logs are silent, and the regression that must not be exceeded."""
    first, second, _ = st.columns(3, gap="medium")
    with first:
        gamma = st.number_input(
            "Configured draft length, if the logs are silent",
            value=None,
            step=1.0,
            format="%.10g",
            key="compare_gamma",
            on_change=_take,
            args=("compare_gamma",),
            placeholder="unknown",
            help="Tokens drafted per round in both runs; what a log says goes before it. vLLM: "
            "`num_speculative_tokens`; llama.cpp: `--spec-draft-n-max`; SGLang: "
            "`--speculative-num-steps`.",
            persist_state="session",
        )
    with second:
        percent = st.number_input(
            "Slowdown that must not be exceeded (%)",
            value=None,
            step=1.0,
            format="%.10g",
            key="compare_regression",
            on_change=_take,
            args=("compare_regression",),
            placeholder="not asked",
            help="5 asks whether the run after is slower by more than 5 %: yes, no, or undecided.",
            persist_state="session",
        )
    length = None if gamma is None else int(gamma)
    return length, None if percent is None else percent / 100.0


def _take(key: str) -> None:
    """Keep what can be meant; else the old value stays, and a sentence says so."""
    value, problem = st.session_state[key], None
    if value is not None and key == "compare_gamma":
        if not (1 <= value <= MAX_LENGTH and value == int(value)):
            problem = (
                f"The draft length must be a whole number in [1, {MAX_LENGTH:,}]; got {value:.12g}."
            )
    elif value is not None and not 0.0 <= value < 100.0:
        problem = f"The slowdown must be a number in [0, 100) %; got {value:.12g}."
    keep_what_can_be_meant(key, problem)

"""The engine's decisions: one of them as a story, all of them beside the exact law. A fragment."""

from __future__ import annotations

import streamlit as st

from app_pages import chart, state
from app_pages.controls import number, show_problem
from app_pages.one_token import results as token_results
from app_pages.one_token import story as token_story
from app_pages.one_token.choice import DECISION, DECISIONS, Choice, decision_in
from app_pages.one_token.laws import Sample
from app_pages.one_token.take_along import take_along
from app_pages.one_token.words import SAME
from app_pages.plain_text import plain
from app_pages.safety_net import net
from app_pages.sharing import write_address
from app_pages.state import SEED

_KEY = "token_draw"
_PROBLEM = "token_draw_problem"


@st.fragment
@net()
def panel(choice: Choice) -> None:
    """One decision and its neighbours, what all of them come to, and what to take along."""
    st.header("One decision, step by step")
    show_problem()
    bar = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    buttons = bar.container(
        horizontal=True, vertical_alignment="bottom", gap="small", width="content"
    )
    with bar:
        at = _number()
        number(SEED, width=130)
    seed = int(state.value_of(SEED))
    drawn = token_results.sample(choice, seed)
    write_address((DECISION.key,), {DECISION.key: str(at)} if at != DECISION.default else {})
    with buttons:
        _buttons(drawn, at)
    _story(choice, drawn, at)
    _many(choice, seed)
    take_along(choice, seed=seed, decision=at)
    state.remember()


def _number() -> int:
    problem: str | None = None
    if _KEY not in st.session_state:
        asked, problem = decision_in(st.query_params.to_dict())
        st.session_state[_KEY] = float(asked)
        st.session_state[_PROBLEM] = problem
    elif state.mended():
        problem = st.session_state.pop(_PROBLEM, None)
    if problem:
        st.warning(f"{plain(problem)} Decision 1 is told instead.", icon=":material/link_off:")
    st.number_input(
        DECISION.label,
        value=float(DECISION.default),
        step=1.0,  # a float without limits: what is no decision comes here and gets its sentence
        format="%.10g",
        key=_KEY,
        on_change=_take,
        help=DECISION.help,
        width=130,
    )
    at = int(st.session_state[_KEY])
    st.session_state["token_draw_before"] = at
    return at


def _take() -> None:
    problem = DECISION.problem(f"{st.session_state[_KEY]:.12g}")
    if problem is not None:
        before = st.session_state.get("token_draw_before", int(DECISION.default))
        st.session_state["problem"] = f"{plain(problem)} It stays at {before}."
        st.session_state[_KEY] = float(before)


def _go(to: int) -> None:
    st.session_state[_KEY] = float(to)


def _next_seed() -> None:
    state.put(seed=(int(state.value_of(SEED)) + 1) % int(SEED.high))
    _go(1)


def _buttons(drawn: Sample, at: int) -> None:
    other = drawn.next_other(at)
    st.button(
        "Next draw",
        icon=":material/arrow_forward:",
        type="primary",
        disabled=at == DECISIONS,
        on_click=_go,
        args=(at + 1,),
        help="The engine's next decision, with fresh coin flips.",
    )
    st.button(
        "Back",
        icon=":material/arrow_back:",
        disabled=at == 1,
        on_click=_go,
        args=(at - 1,),
        help="One decision back.",
    )
    st.button(
        "Next that ends otherwise",
        icon=":material/skip_next:",
        disabled=other is None,
        on_click=_go,
        args=(other or at,),
        help="From a kept word to the next rejected one, and back.",
    )
    st.button(
        "New seed",
        icon=":material/casino:",
        on_click=_next_seed,
        help=f"{DECISIONS:,} other decisions.",
    )


def _story(choice: Choice, drawn: Sample, at: int) -> None:
    laws = token_results.laws(choice)
    with st.container(border=True):
        st.caption(f"Decision {at:,} of {DECISIONS:,}, as the engine took it")
        for line in token_story.tell(choice, laws, drawn.decision(at)):
            st.markdown(line)
        kept = int(drawn.kept[:at].sum())
        st.caption(f"Kept up to here: {kept:,} of {at:,}.")


def _many(choice: Choice, seed: int) -> None:
    st.header(f"All {DECISIONS:,} decisions")
    laws, drawn = token_results.laws(choice), token_results.sample(choice, seed)
    left, right = st.columns([3, 2], gap="large")
    with left:
        chart.show(
            token_results.emitted_spec(choice, seed),
            key="emitted_chart",
            table=lambda: token_results.emitted_table(choice, seed),
        )
    with right:
        mean, _, error = str(drawn.acceptance).partition(" ± ")
        varies = 0 < int(drawn.kept.sum()) < drawn.rounds
        first, second = st.columns(2)
        for column, label, value, below in (
            (first, "p, exact", token_story.share(laws.acceptance), "by enumeration"),
            (second, "p, sampled", mean, f"± {error}" if varies else "no spread"),
        ):
            column.metric(label, value, below, delta_color="off", delta_arrow="off", border=True)
        z = token_results.deviation(choice, seed)
        st.markdown(
            f"The sample lies **{z:+.2f}** standard errors from the exact value; one run in twenty "
            "lies beyond ±2."
            if varies
            else "Every decision ended alike."
        )
        st.markdown(_fit(laws.distance))


def _fit(distance: float) -> str:
    if distance <= SAME:
        return (
            "Bars and diamonds agree: what came out is distributed as if the target had written "
            "alone. What is left between them is chance, and halves with four times the decisions."
        )
    return (
        f"Bars and diamonds **do not** agree, and no number of decisions will mend it: TV = "
        f"{token_story.share(distance)}. The bars follow the exact law of this rule, the circles."
    )

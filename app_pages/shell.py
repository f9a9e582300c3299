"""The frame around the pages: navigation, page settings, and the last net under an error."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from app_pages import explore, one_round, state
from app_pages.compare import page as compare
from app_pages.convert import page as convert
from app_pages.explain_page import page as explain_page
from app_pages.measured_runs import page as real_runs_page
from app_pages.one_token import page as one_token
from app_pages.plain_text import plain
from app_pages.plan_page import page as plan_page
from app_pages.systems import page as systems
from app_pages.where_it_breaks import page as where_it_breaks
from app_pages.your_engine import page as your_engine

_OLD_ADDRESS = "read_a_log"
"""Where *Your engine* was; links to it still lead there."""


def main() -> None:
    """Run the page that the address asks for."""
    st.set_page_config(
        page_title="specdec: does speculative decoding pay?",
        page_icon=str(Path(__file__).with_name("icon.svg")),
        layout="wide",
    )
    pages = _pages()
    page = st.navigation(pages, position="top")
    problems = _new_link_problems()
    above = st.container()
    state.recall(page.url_path)
    try:
        page.run()
    except ValueError as error:  # a sentence of simulator or analysis; the visitor can go on
        st.error(plain(str(error)), icon=":material/error:")
    if any(_unusable(field) for field, _ in problems):
        # Drawn widgets cannot be set any more; the next run sets them first.
        st.session_state["mending"] = problems
        st.rerun()
    for field, problem in problems:
        used = f"{state.value_of(field):,g} is used instead."
        above.warning(f"{plain(problem)} {used}", icon=":material/link_off:")
    _links([other for other in pages if other.url_path not in {page.url_path, _OLD_ADDRESS}])
    state.remember()


def _pages() -> list[st.Page]:
    first = st.Page(explore.page, title="Explore", icon=":material/tune:", default=True)

    explain = st.Page(
        explain_page.page, title="Explain", icon=":material/waterfall_chart:", url_path="explain"
    )
    plan = st.Page(plan_page.page, title="Plan", icon=":material/event_note:", url_path="plan")

    def engine_page() -> None:
        your_engine.page(first, explain, plan)

    engine = st.Page(
        engine_page, title="Your engine", icon=":material/description:", url_path="your_engine"
    )

    def moved() -> None:
        st.switch_page(engine, query_params=st.query_params.to_dict())

    return [
        first,
        st.Page(one_round.page, title="One round", icon=":material/school:", url_path="one_round"),
        st.Page(one_token.page, title="One token", icon=":material/casino:", url_path="one_token"),
        st.Page(systems.page, title="Systems", icon=":material/account_tree:", url_path="systems"),
        st.Page(
            where_it_breaks.page,
            title="Where it breaks",
            icon=":material/trending_down:",
            url_path="where_it_breaks",
        ),
        engine,
        explain,
        plan,
        st.Page(convert.page, title="Convert", icon=":material/swap_horiz:", url_path="convert"),
        st.Page(compare.page, title="Compare", icon=":material/difference:", url_path="compare"),
        st.Page(
            real_runs_page.page, title="Real runs", icon=":material/timer:", url_path="real_runs"
        ),
        st.Page(moved, title="Read a log", url_path=_OLD_ADDRESS, visibility="hidden"),
    ]


def _links(pages: list[st.Page]) -> None:
    """The other pages once more: on a phone the navigation hides behind a button."""
    with st.container(horizontal=True, gap="medium"):
        for page in pages:
            st.page_link(page, width="content")


def _new_link_problems() -> tuple[tuple[state.Field, str], ...]:
    """What is wrong with the address, said once per visit."""
    if "link_read" in st.session_state:
        st.session_state["mended"] = "mending" in st.session_state
        problems: tuple[tuple[state.Field, str], ...] = st.session_state.pop("mending", ())
        state.put(**{field.key: field.default for field, _ in problems if _unusable(field)})
        return problems
    st.session_state["link_read"] = True
    return state.link_problems(st.query_params.to_dict())


def _unusable(field: state.Field) -> bool:
    """True if a widget without limits of its own holds what the link brought."""
    return field.problem(st.session_state.get(field.key, field.default)) is not None

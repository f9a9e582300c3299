"""The frame around the pages: navigation, page settings, and the last net under an error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from app_pages import explore, next_steps, one_round, state
from app_pages.compare import page as compare
from app_pages.convert import page as convert
from app_pages.explain_page import page as explain_page
from app_pages.measured_runs import page as real_runs_page
from app_pages.one_token import page as one_token
from app_pages.plain_text import plain
from app_pages.plan_page import page as plan_page
from app_pages.safety_net import net
from app_pages.systems import page as systems
from app_pages.where_it_breaks import page as where_it_breaks
from app_pages.your_engine import page as your_engine

_OLD_ADDRESS = "read_a_log"
"""Where *Import* was; links to it still lead there."""


def main() -> None:
    """Run the page that the address asks for."""
    st.set_page_config(
        page_title="specdec: does speculative decoding pay?",
        page_icon=str(Path(__file__).with_name("icon.svg")),
        layout="wide",
    )
    groups = sections()
    page = st.navigation(groups, position="top")
    problems = _new_link_problems()
    above = st.container()
    state.recall(page.url_path)
    with net():
        page.run()
    if any(_unusable(field) for field, _ in problems):
        # Drawn widgets cannot be set any more; the next run sets them first.
        st.session_state["mending"] = problems
        st.rerun()
    for field, problem in problems:
        used = f"{state.value_of(field):,g} is used instead."
        above.warning(f"{plain(problem)} {used}", icon=":material/link_off:")
    _links(groups, page)
    state.remember()


def sections() -> dict[str, list[st.Page]]:
    """The pages in the order a person thinks; the last section has what is not in the navigation."""
    first = st.Page(explore.page, title="Explore", icon=":material/tune:", default=True)
    explain = _page("explain", "Explain", ":material/waterfall_chart:", explain_page.page)
    plan = _page("plan", "Plan", ":material/event_note:", plan_page.page)

    def engine_page() -> None:
        your_engine.page(first, explain, plan)

    def token_page() -> None:
        one_token.page(first)

    def convert_page() -> None:
        convert.page(first)

    engine = _page("your_engine", "Import", ":material/description:", engine_page)

    def moved() -> None:
        st.switch_page(engine, query_params=st.query_params.to_dict())

    hidden = st.Page(moved, title="Read a log", url_path=_OLD_ADDRESS, visibility="hidden")
    return {
        "Understand": [
            first,
            _page("one_round", "One round", ":material/school:", one_round.page),
            _page("one_token", "One token", ":material/casino:", token_page),
            _page("systems", "Systems", ":material/account_tree:", systems.page),
        ],
        "Limits": [
            _page(
                "where_it_breaks",
                "Where it breaks",
                ":material/trending_down:",
                where_it_breaks.page,
            ),
        ],
        "Your engine": [
            engine,
            _page("convert", "Convert", ":material/swap_horiz:", convert_page),
            _page("compare", "Compare", ":material/difference:", compare.page),
            plan,
            explain,
        ],
        "Evidence": [
            _page("real_runs", "Real runs", ":material/timer:", real_runs_page.page),
            hidden,
        ],
    }


def _page(address: str, title: str, icon: str, draw: Callable[[], None]) -> st.Page:
    return st.Page(draw, title=title, icon=icon, url_path=address)


def _links(groups: dict[str, list[st.Page]], here: st.Page) -> None:
    """Where to go on, and all pages, grouped: on a phone the navigation hides behind a button."""
    next_steps.show(
        here.url_path, {page.url_path: page for part in groups.values() for page in part}
    )
    st.divider()
    for column, (name, pages) in zip(st.columns(len(groups)), groups.items(), strict=True):
        with column:
            st.caption(name)
            for page in pages:
                if page.url_path != _OLD_ADDRESS:
                    st.page_link(page, disabled=page.url_path == here.url_path)


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

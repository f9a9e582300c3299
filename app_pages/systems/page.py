"""The page of systems: heads, trees and look-ups beside the draft model, on one pair of axes."""

from __future__ import annotations

import streamlit as st

from app_pages import state
from app_pages.controls import show_problem
from app_pages.plain_text import plain
from app_pages.questions.asking import ask
from app_pages.questions.systems import SYSTEMS
from app_pages.systems import inputs as system_inputs
from app_pages.systems import results as system_results
from app_pages.systems import take_along as system_take
from app_pages.systems import view as system_view
from app_pages.systems import widgets as system_widgets
from app_pages.systems import words as system_words


def page() -> None:
    """Draw the page."""
    st.title("Systems")
    st.markdown(
        "Medusa, EAGLE, Lookahead, prompt lookup, MTP, block drafters: all guess ahead and let the target "
        "check. They differ in **what a guess costs** (draft steps, one after the other) and in **what is "
        "checked** (nodes of a tree, in one pass). Here they stand on the same axes."
    )
    system_widgets.recalled()
    system_widgets.show_problems()
    show_problem()
    system_inputs.costs(system_widgets.current())
    state.remember()  # now, not only at the end: a quick click on another page stops the run here
    choice = system_widgets.current()  # once more: c and the overhead may come from the address
    for problem in system_results.built(choice.costless).problems:
        st.warning(plain(problem), icon=":material/error:")
    system_view.verdict(choice)
    system_view.overview(choice)
    system_view.closer(choice)
    st.header("All of them, in numbers")
    system_view.table(choice)
    system_take.show(choice)
    ask("systems", SYSTEMS, choice)
    system_words.limits()
    system_widgets.say_in_address(choice)
    state.remember()

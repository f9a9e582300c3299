"""The page that converts: one number in somebody's words, and all that follows from it."""

from __future__ import annotations

import shlex

import streamlit as st

from analysis.conversion.conversion import Conversion
from analysis.conversion.report import conversion_report
from analysis.output import to_json
from app_pages import downloads, sharing
from app_pages.convert import choice as convert_choice
from app_pages.convert import view as convert_view
from app_pages.convert.choice import KEYS, Choice, answer, query
from app_pages.convert.controls import controls, with_assumptions
from app_pages.plain_text import plain
from app_pages.questions.asking import ask
from app_pages.questions.measured import CONVERT
from app_pages.sharing import write_address


def page(explore: st.Page) -> None:
    """Draw the page; `explore` is where a p that follows can be taken."""
    st.title("Convert")
    st.markdown(
        "The same word means five things in five engines, and one of them changed its mind between "
        "versions. Say **whose** word it is and what it printed: here is what follows exactly, what "
        "follows only if something else holds, and what does not follow at all."
    )
    choice = controls()
    if not choice.value.strip():
        write_address(KEYS, query(choice))
        st.info("Give a number as it was printed: 2.92, 64.5% or 0.805, 0.632, 0.483 by depth.")
        return
    choice, result = _answered(choice)
    write_address(KEYS, query(choice))
    if isinstance(result, str):
        st.error(plain(result), icon=":material/error:")
        return
    convert_view.show(result)
    convert_view.trap(choice, result, explore)
    convert_view.words(result)
    _take_along(choice, result)
    ask("convert", CONVERT, result)


def _answered(choice: Choice) -> tuple[Choice, Conversion | str]:
    """The choice with the assumptions that are ticked, and what follows or why nothing does."""
    try:
        bare = answer(convert_choice.without_assumptions(choice))
    except ValueError as error:
        return choice, str(error)
    choice = with_assumptions(choice, bare)
    try:
        return choice, answer(choice)
    except ValueError as error:
        return choice, str(error)


def _take_along(choice: Choice, result: Conversion) -> None:
    with st.container(horizontal=True, gap="small"):
        downloads.button(
            "JSON",
            lambda: report_json(choice, result),
            file_name="specdec_convert.json",
            words="What `specdec convert --format json` prints.",
        )
        sharing.popover(share_link(choice))
    with st.expander("The same on the command line", icon=":material/terminal:"):
        line = shlex.join(["specdec", *convert_choice.command(choice)])
        st.code(line, language="bash", wrap_lines=True)


def report_json(choice: Choice, result: Conversion) -> bytes:
    """What `specdec convert --format json` prints."""
    parameters = (
        ("quantity", choice.word),
        ("value", choice.value),
        ("engine", None if choice.engine == convert_choice.OURS else choice.engine),
        ("engine_version", choice.version.strip() or None),
        ("gamma", choice.length),
        ("window", choice.window),
        ("known", ",".join(choice.known) or None),
        ("to", None),
    )
    return to_json(conversion_report(result, parameters, to=None)).encode()


def share_link(choice: Choice) -> str:
    """The address that brings another browser here."""
    return sharing.link(query(choice), shared=False)

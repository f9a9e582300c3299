"""A page's own choice: that of this session, or that of the address where a link or Back led here."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

import streamlit as st

from app_pages import state
from app_pages.plain_text import plain

_Choice = TypeVar("_Choice")


def recall(
    name: str,
    problems: str,
    keys: Collection[str],
    read: Callable[[dict[str, str]], tuple[_Choice, Collection[str]]],
) -> None:
    """Put the choice into the session under `name`, where the address has one or the session none yet.

    `keys` are those that the address has for it, `read` turns them into a choice and what is wrong with them,
    which goes under `problems`.
    """
    here = any(key in st.query_params for key in keys)
    if name in st.session_state and not (state.went_back() and here):
        return
    choice, wrong = read(st.query_params.to_dict())
    st.session_state[name] = choice
    st.session_state[problems] = tuple(f"{each} The link is read without it." for each in wrong)


def show(problems: str) -> None:
    """What was wrong with the link or with what was typed last, once."""
    for problem in st.session_state.get(problems, ()):
        st.warning(plain(problem), icon=":material/error:")
    if not state.went_back():
        st.session_state.pop(problems, None)

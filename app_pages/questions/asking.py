"""A question with a way to answer it, and how a page asks: try first, then open the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from app_pages.plain_text import plain
from app_pages.safety_net import net

Setting = TypeVar("Setting")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[Setting]):
    """Something to try on a page, as Markdown; `answer` computes what comes out at a setting.

    It may raise ValueError where there is no answer at this setting: the sentence is the answer then.
    """

    text: str
    answer: Callable[[Setting], str]

    def answered(self, now: Setting) -> str:
        """The answer as Markdown, computed here and now."""
        try:
            return self.answer(now)
        except ValueError as error:
            return plain(str(error))


@st.fragment
@net()
def ask(page: str, questions: Sequence[Question[Setting]], now: Setting) -> None:
    """Draw the questions of a page; an answer is computed only while its switch is on."""
    with st.expander("Try these", icon=":material/lightbulb:"):
        for number, question in enumerate(questions, 1):
            st.markdown(f"**{number}.** {question.text}")
            shown = st.toggle(
                f"Show answer {number}",
                key=f"{page}_answer_{number}",
                help="Try it first. Computed from what is set on this page now.",
            )
            if shown:
                st.success(question.answered(now), icon=":material/check:")

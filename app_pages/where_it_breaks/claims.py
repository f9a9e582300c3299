"""The article's claims beside the demonstrations, in our words, each with its judgement."""

from __future__ import annotations

import streamlit as st

from analysis.judgement import Verdict
from app_pages.plain_text import plain
from app_pages.where_it_breaks import results as break_results

BADGES: dict[Verdict, str] = {
    "holds": ":green-badge[:material/check: holds]",
    "holds if": ":orange-badge[:material/rule: holds\u00a0if]",
    "does not hold": ":red-badge[:material/close: does not hold]",
    "not yet judged": ":gray-badge[:material/hourglass: not yet judged]",
}


def claim(name: str, words: str) -> None:
    """What the article claims, in our words, and what became of it.

    The badge of a claim that holds on a condition ends in "if", which never breaks from it, and the
    condition follows.
    """
    found = break_results.judgement(name)
    finding = found.finding.removeprefix("if ") if found.verdict == "holds if" else found.finding
    with st.container(border=True):
        st.markdown(f"**The article:** {words}  \n{BADGES[found.verdict]} {plain(finding)}")

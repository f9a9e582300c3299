"""The doctor's findings as cards: what the numbers show, why, and what to do."""

from __future__ import annotations

import streamlit as st

from analysis.diagnosis.finding import Finding, Kind
from analysis.doctor import Diagnosis
from app_pages.plain_text import plain

LOOKS: dict[Kind, tuple[str, str, str]] = {
    "impossible": ("red", "block", "cannot be"),
    "problem": ("orange", "error", "problem"),
    "change": ("orange", "trending_flat", "something changed"),
    "meaning": ("blue", "translate", "what it means"),
    "note": ("gray", "info", "note"),
    "verdict": ("green", "verified", "verdict"),
}
_UNSURE = ("gray", "help", "not enough data")


def show(diagnosis: Diagnosis) -> None:
    """Draw a card per finding, most important first, two in a row where there is room."""
    for first in range(0, len(diagnosis.findings), 2):
        for found, column in zip(
            diagnosis.findings[first : first + 2], st.columns(2, gap="medium"), strict=False
        ):
            with column:
                _card(found)


def _card(found: Finding) -> None:
    colour, icon, words = LOOKS[found.kind]
    if found.code == "not_enough_data":
        colour, icon, words = _UNSURE
    name = found.code.replace("_", " ")
    with st.container(border=True, height="stretch"):
        st.markdown(f":{colour}-badge[:material/{icon}: {words}] **{plain(name.capitalize())}**")
        st.markdown(plain(_sentence(found.evidence)))
        st.markdown(
            f":material/psychology: {plain(_sentence(found.reason))}\n\n"
            f":material/build: {plain(_sentence(found.advice))}"
        )


def _sentence(text: str) -> str:
    """With a capital letter: on the command line it goes on behind the name of the log."""
    return f"{text[:1].upper()}{text[1:]}"

"""Where a page leads on: what one may ask next, and the page that answers it with the same numbers."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

NEXT: Mapping[str, tuple[tuple[str, str], ...]] = {
    "": (
        ("one_round", "watch these numbers at work"),
        ("where_it_breaks", "where the gain ends"),
        ("your_engine", "get your own p from a log"),
    ),
    "one_round": (
        ("one_token", "where p comes from"),
        ("", "move p, γ and c"),
    ),
    "one_token": (
        ("one_round", "let p decide a whole draft"),
        ("systems", "heads, trees, look-ups"),
    ),
    "systems": (
        ("where_it_breaks", "what batches do"),
        ("plan", "a draft length for each batch"),
        ("real_runs", "what systems really gained"),
    ),
    "where_it_breaks": (
        ("explain", "why it is not more"),
        ("plan", "a draft length for each batch"),
    ),
    "your_engine": (
        ("convert", "one number instead of a log"),
        ("compare", "two runs, which is faster and why"),
        ("plan", "a draft length for each batch"),
    ),
    "convert": (
        ("your_engine", "the whole log says more"),
        ("explain", "where the gain goes"),
    ),
    "compare": (
        ("explain", "where the time goes"),
        ("plan", "a draft length for each batch"),
    ),
    "plan": (
        ("explain", "why it is not more"),
        ("compare", "before and after the change"),
    ),
    "explain": (
        ("plan", "a draft length for each batch"),
        ("where_it_breaks", "what batches do"),
    ),
    "real_runs": (
        ("your_engine", "the log of your engine"),
        ("systems", "what they give on paper"),
    ),
}
"""By the address of a page: addresses to go on to, and what each answers, short enough for a phone."""


def show(here: str, pages: Mapping[str, st.Page]) -> None:
    """Draw the links that lead on from a page. The numbers that pages share come along."""
    steps = NEXT.get(here, ())
    if not steps:
        return
    st.markdown("**What next?**")
    with st.container(horizontal=True, gap="small"):
        for address, words in steps:
            page = pages[address]
            st.page_link(page, label=f"{page.title}: {words}", width="content")

"""From a p that another page found to the sliders of Explore."""

from __future__ import annotations

import streamlit as st

from app_pages import state
from app_pages.state import MAX_GAMMA


def button(
    p: float, gamma: int | None, explore: st.Page, *, key: str, name: str = "this p"
) -> None:
    """A button that takes p, and γ where it is known and fits, to Explore."""
    if st.button(
        f"Use {name} ({p:.3f}) in Explore",
        icon=":material/tune:",
        key=key,
        help="Goes to the sliders with it; all pages take it from there.",
    ):
        state.put(p=p)
        if gamma is not None and 1 <= gamma <= MAX_GAMMA:
            state.put(gamma=gamma)
        state.remember()
        # Plain, it would clear the address, which the numbers of all pages are bound to.
        st.switch_page(explore, query_params={})

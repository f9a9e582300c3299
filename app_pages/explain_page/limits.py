"""What an explanation leaves out."""

from __future__ import annotations

import streamlit as st


def limits() -> None:
    """What is assumed."""
    with st.expander("Assumptions and limits", icon=":material/rule:"):
        st.markdown(
            "- **In plain steps**: a plain decoding step of the target at the same batch is 1, so the tokens "
            "of a round are the steps that it replaces.\n"
            "- **Predicted parts** come from bytes and operations; measured ones only from what was "
            "printed. What does not follow stays one lump with its bounds: nothing is invented.\n"
            "- **Removing a part** is a bound, not a promise: no engine drafts in no time.\n"
            "- **Break-even values change one thing alone.** Two half-measures may do what neither can."
        )

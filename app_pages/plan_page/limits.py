"""What a plan leaves out."""

from __future__ import annotations

import streamlit as st


def limits() -> None:
    """What is assumed."""
    with st.expander("Assumptions and limits", icon=":material/rule:"):
        st.markdown(
            "- **A speedup is against plain decoding at the same batch**; how many requests run is yours to "
            "know. Waiting requests and prompts are on *Where it breaks*.\n"
            "- **Times are predicted** and count as exact; intervals have the error of the acceptance only.\n"
            "- **An engine keeps its strategy**: only the length can change with the batch, and not in all of "
            "them. The comments of a configuration say what it cannot express.\n"
            "- **Strategies compared by a typed p** are as good as that p."
        )

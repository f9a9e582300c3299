"""What the predictions of the page leave out."""

from __future__ import annotations

import streamlit as st


def limits() -> None:
    """What is assumed."""
    with st.expander("Assumptions and limits", icon=":material/rule:"):
        st.markdown(
            "- **Times are predicted**: weights and caches read once per pass, arithmetic per token, "
            "shares of bandwidth and arithmetic assumed (*Advanced*). Your engine's kernels decide how "
            "far that holds; `specdec pass-cost --steps` fits it from measured step times.\n"
            "- **Plain decoding at the same batch** is what a speedup compares with; where memory lets "
            "fewer requests run with a draft, latency and throughput compare different batches and say so.\n"
            "- **Every request holds the same context** in sections 1 to 3 and drafts the same γ; acceptance "
            "does not depend on the batch.\n"
            "- **Arrivals are simulated round by round** in section 4, in a few short runs, with passes that "
            "take the predicted times: a Poisson process, first come first served, no request turned out.\n"
            "- **Arithmetic is counted at 16 bits**, also for weights of few bits.\n"
            "- **A mixture's experts are called independently and evenly**; real routers call fewer."
        )

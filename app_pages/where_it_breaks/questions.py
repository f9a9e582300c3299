"""What to try on the page, and what its predictions leave out."""

from __future__ import annotations

import streamlit as st


def explanations() -> None:
    """Questions to try, and what the predictions leave out."""
    with st.expander("Try these", icon=":material/lightbulb:"):
        st.markdown(
            "1. Pull p to 0. How much slower than plain decoding is it, and why not by more?\n"
            "2. Take *a draft model* and then *prompt lookup* at p = 0.4. Which break-even p is lower, "
            "and what does the difference pay for?\n"
            "3. Send 1,024 requests at once. Does the request or the server gain more, and which of the "
            "two would your users notice?\n"
            "4. Slide the batch until V(γ + 1) leaves 1. Is the knee above or below γ + 1 there?\n"
            "5. Stay at batch 16 and slide the context up. Why does the gain rise again?\n"
            "6. Let *the target itself* draft, with a short cache. At which batch and context does that pay?\n"
            "7. Choose a mixture of experts. Why does a second request make its pass so much longer?\n"
            "8. Let requests arrive and slide their rate up. Which ends first, the gain or what the server "
            "takes? Then take *prompt lookup* at p = 0.3."
        )
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

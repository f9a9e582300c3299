"""The page of failure modes: a bad draft, latency that is not throughput, a busy server, arrivals."""

from __future__ import annotations

import streamlit as st

from app_pages.deployment import controls as deploy_controls
from app_pages.deployment import log_offer
from app_pages.deployment import results as deploy_results
from app_pages.deployment.results import Setup
from app_pages.plain_text import plain
from app_pages.questions.asking import ask
from app_pages.questions.deployment import WHERE_IT_BREAKS
from app_pages.safety_net import net
from app_pages.where_it_breaks import arrivals_controls, arrivals_view, take_along
from app_pages.where_it_breaks import view as break_view
from app_pages.where_it_breaks.limits import limits


def page() -> None:
    """Draw the page."""
    st.title("Where it breaks")
    st.markdown(
        "Speculation spends what the machine has to spare. Here are the three ways in which that goes "
        "wrong and what they add up to, each live, **on your model and your machine**: times are predicted "
        "from bytes and operations, acceptance is yours to set."
    )
    deploy_controls.begin()
    log_offer.offer()
    deploy_controls.what_runs()
    deploy_controls.advanced()
    st.header("1 · A bad draft", divider="gray")
    st.markdown(
        "Drafting is paid first; what it is worth the target decides. **Slide p down** and watch where "
        "the gain ends. Then choose *any chain whose step I know as c* above, and slide c up."
    )
    left, right = st.columns([2, 1], gap="large")
    with left:
        deploy_controls.acceptance()
    with right:
        deploy_controls.draft_length()
    setup = deploy_controls.setup()
    try:
        deploy_results.deployment(setup).check_batch(1, setup.choice.context, drafting=True)
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/error:")
        if "memory" in str(error):
            st.info("Choose a larger machine, fewer bits, more devices or a shorter context.")
        deploy_controls.context()
        limits()
        return
    _guarded(break_view.bad_draft, setup)
    st.header("2 · Latency is not throughput", divider="gray")
    st.markdown(
        "What one reader sees and what the server gives are **two numbers**. Slide the requests that are "
        "sent at once: as many run as fit the memory, and the draft takes some of it."
    )
    deploy_controls.batch("_load", "Requests at once")
    with st.expander("What a whole request is, and what an hour costs", icon=":material/payments:"):
        deploy_controls.requests()
    _guarded(break_view.latency, setup)
    st.header("3 · A busy server", divider="gray")
    st.markdown(
        "Tokens in a pass are **nearly free** as long as computing them is little beside reading the "
        "weights. At **the knee** computing takes as long as reading: a roofline is flat until there, but "
        "where one is done after the other (k = 1, *Advanced*), a pass that wide can take twice as long as "
        "one token's. A batch brings every request's tokens into the same pass: slide it, and less and "
        "less is free. Then slide the context: each request's cache must be read too, and both widths "
        "grow again."
    )
    left, right = st.columns(2, gap="large")
    with left:
        deploy_controls.batch("_busy")
    with right:
        deploy_controls.context()
    _guarded(break_view.busy, setup)
    _arrivals(setup)
    ask("where_it_breaks", WHERE_IT_BREAKS, setup)
    limits()


@st.fragment
@net()
def _arrivals(setup: Setup) -> None:
    """What arrives, and the link that says so too: neither redraws the page above."""
    st.header("4 · Arrivals", divider="gray")
    st.markdown(
        "Nobody sends a batch: requests **arrive**, wait, are read, decode with those that are there, and "
        "leave. Here the same requests come to the server with and without drafts, simulated round by round. "
        "The more come, the more run together, and the gain shrinks as in section 3. **Slide the rate** "
        "until a server no longer keeps up."
    )
    arrivals_view.section(setup)
    st.header("Take it along", divider="gray")
    take_along.show(setup, arrivals_controls.current())


def _guarded(draw: object, setup: Setup) -> None:
    """A part of the page; what cannot be is said in its place, and the rest goes on."""
    try:
        draw(setup)  # type: ignore[operator]
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/error:")

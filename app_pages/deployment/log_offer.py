"""From a log under *Import* to the pages of a deployment: the way there, and the offer to take it."""

from __future__ import annotations

import streamlit as st

from app_pages import state
from app_pages.deployment import widgets as deploy_widgets
from app_pages.deployment.log import LastLog, last_log
from app_pages.plain_text import plain

_DECIDED = "deploy_decided_log"
"""The log beside which the visitor chose what to use: it is not offered again."""


def show_ways(explain: st.Page, plan: st.Page) -> None:
    """On *Import*: buttons that take the log to the other pages."""
    log = last_log()
    if log is None:
        return
    with st.container(horizontal=True, gap="small"):
        if st.button(
            "Explain this",
            icon=":material/waterfall_chart:",
            key="log_explain",
            help="Where the time of its rounds goes. It takes speeds too: they can be typed there.",
        ):
            _take(log, source="log")
            st.switch_page(explain, query_params={})
        if st.button(
            "Plan with this",
            icon=":material/event_note:",
            key="log_plan",
            disabled=not log.fits,
            help="Which draft length at which batch, on your machine, with the fit of this log."
            if log.fits
            else plain(log.why_not),
        ):
            _take(log)
            st.switch_page(plan, query_params={})


def _take(log: LastLog, **values: str) -> None:
    """The log as the acceptance of all pages, with the draft length that it ran with."""
    gamma = log.observation.gamma
    if gamma is not None and 1 <= gamma <= state.MAX_GAMMA:
        state.put(gamma=int(gamma))
        state.remember()
    if log.fits:
        values["accept"] = "log"
    deploy_widgets.change(**values)


def offer(*, explaining: bool = False) -> None:
    """Say that there is a log, until it is used or the visitor chose something else beside it."""
    log, choice = last_log(), deploy_widgets.current()
    if log is None or st.session_state.get(_DECIDED) == log.key:
        return
    explained = explaining and choice.source != "deployment"
    if explained or choice.accept != "p" or not (log.fits or explaining):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", border=True):
        st.markdown(
            f":material/description: **Your log is at hand**: {plain(log.title)}.", width="content"
        )
        if explaining:
            st.button("Explain it", key="offer_explain", on_click=_use, args=("source",))
        if log.fits:
            st.button("Use its acceptance", key="offer_accept", on_click=_use, args=("accept",))


def instead() -> None:
    """Where the log alone cannot be explained: the prediction for a deployment with its acceptance."""
    st.button(
        "Predict with its acceptance instead",
        icon=":material/calculate:",
        key="offer_predict",
        on_click=deploy_widgets.change,
        kwargs={"source": "deployment", "accept": "log"},
        help="For a target, a draft and a machine that you choose: no speeds are needed.",
    )


def _use(name: str) -> None:
    deploy_widgets.change(**{name: "log"})


def take_acceptance(accept: str) -> None:
    """What the visitor chose from the list; a log that is there is not offered any more."""
    deploy_widgets.change(accept=accept)
    decide()


def take_source(source: str) -> None:
    """The same for what is explained."""
    deploy_widgets.change(source=source)
    decide()


def decide() -> None:
    """The visitor chose: nothing is offered until another log comes."""
    log = last_log()
    if log is not None:
        st.session_state[_DECIDED] = log.key

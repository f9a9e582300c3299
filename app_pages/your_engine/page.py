"""The page for one's own numbers: what they mean, what is wrong, which draft length follows."""

from __future__ import annotations

import streamlit as st

from app_pages import state
from app_pages.controls import show_problem
from app_pages.deployment import log as last_log
from app_pages.deployment import log_offer
from app_pages.plain_text import plain
from app_pages.your_engine import counts as counts_view
from app_pages.your_engine import doctor as doctor_view
from app_pages.your_engine import fitting as fit_view
from app_pages.your_engine import groups as groups_view
from app_pages.your_engine import results as engine_results
from app_pages.your_engine import take_away as take_view
from app_pages.your_engine.inputs import inputs
from app_pages.your_engine.sources import Facts, Given, observation, readings
from real_runs.engines import Reading


def page(explore: st.Page, explain: st.Page, plan: st.Page) -> None:
    """Draw the page; `explore` is where a p can be taken, the other two where the whole log can."""
    st.title("Your engine")
    st.markdown(
        "Engines print *accepted / drafted* and call it the acceptance rate. The formula needs p, the "
        "chance that a **tested** token is kept. Paste or drop what yours wrote: it says what its "
        "numbers mean, what is wrong with them, and **which draft length** they speak for."
    )
    show_problem()
    given, facts = inputs()
    state.remember()
    if given is None:
        last_log.forget()
        st.info("Nothing to read yet. Press **Show me an example** to see what comes out.")
        return
    found = readings(given)
    if isinstance(found, str):
        st.error(plain(found), icon=":material/error:")
        return
    _reading(given, _chosen(found), facts, (explore, explain, plan))


def _chosen(found: tuple[Reading, ...]) -> int:
    """The place of the reading to show."""
    if len(found) == 1:
        return 0
    titles = [reading.title for reading in found]
    chosen = st.selectbox(
        f"The log holds {len(found)} kinds of records",
        titles,
        key="log_reading",
        help="The one that says most comes first. Several can describe the same tokens.",
        width=420,
    )
    return titles.index(chosen) if chosen in titles else 0


def _reading(
    given: Given, place: int, facts: Facts, pages: tuple[st.Page, st.Page, st.Page]
) -> None:
    explore, explain, plan = pages
    reading, settings = engine_results.reading_at(given, place), state.current()
    st.subheader(plain(reading.title))
    ways = st.container()  # filled below, once it is known what the log gives
    try:
        observed = observation(reading, facts)
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    diagnosis = engine_results.diagnosis(given, place, facts)
    times = diagnosis.times[0]
    try:
        summary = engine_results.summary_of(reading, facts, settings)
    except ValueError:
        st.info(
            "There are no counts and no acceptance by position in it: p does not follow.",
            icon=":material/info:",
        )
        with st.container(horizontal=True):
            counts_view.show_times(times)
        counts_view.notes(reading)
    else:
        counts_view.show(reading, summary, times, explore)
    st.subheader("What the doctor says")
    doctor_view.show(diagnosis)
    st.subheader("Which draft length")
    report = fit_view.show(given, place, facts, times, settings)
    last_log.remember(given, place, facts, reading.title)
    with ways:
        log_offer.show_ways(explain, plan)
    by = groups_view.show(given, place, facts, observed)
    st.subheader("Take it along")
    take_view.show(given, place, facts, settings, observed=observed, report=report, by=by)

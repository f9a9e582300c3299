"""The page for one's own numbers: what they mean, what is wrong, which draft length follows."""

from __future__ import annotations

import streamlit as st

from analysis.fitting import Fit
from analysis.log_summary import LogSummary
from app_pages import sharing, state
from app_pages.controls import show_problem
from app_pages.deployment import address as deploy_address
from app_pages.deployment import log as last_log
from app_pages.deployment import log_offer
from app_pages.deployment import widgets as deploy_widgets
from app_pages.plain_text import plain
from app_pages.questions.asking import ask
from app_pages.questions.measured import IMPORT, Imported
from app_pages.your_engine import address as log_address
from app_pages.your_engine import counts as counts_view
from app_pages.your_engine import doctor as doctor_view
from app_pages.your_engine import fitting as fit_view
from app_pages.your_engine import groups as groups_view
from app_pages.your_engine import inputs
from app_pages.your_engine import results as engine_results
from app_pages.your_engine import take_away as take_view
from app_pages.your_engine.sources import Facts, Given, observation, readings
from real_runs.engines import Reading


def page(explore: st.Page, explain: st.Page, plan: st.Page) -> None:
    """Draw the page; `explore` is where a p can be taken, the other two where the whole log can."""
    st.title("Import")
    st.markdown(
        "Engines print *accepted / drafted* and call it the acceptance rate. The formula needs p, the "
        "chance that a **tested** token is kept. Paste or drop what yours wrote: it says what its "
        "numbers mean, what is wrong with them, and **which draft length** they speak for."
    )
    deploy_widgets.recalled()
    deploy_widgets.show_problems()
    show_problem()
    given, facts = inputs.inputs()
    state.remember()
    if given is None:
        last_log.forget()
        st.info("Nothing to read yet. Press **Show me an example** to see what comes out.")
        _share()
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
    st.header(plain(reading.title))
    ways = st.container()  # filled below, once it is known what the log gives
    try:
        observed = observation(reading, facts)
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    diagnosis = engine_results.diagnosis(given, place, facts)
    times = diagnosis.times[0]
    summary: LogSummary | None = None
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
    st.header("What the doctor says")
    doctor_view.show(diagnosis)
    st.header("Which draft length")
    report = fit_view.show(given, place, facts, times, settings)
    last_log.remember(given, place, facts, reading.title)
    with ways:
        log_offer.show_ways(explain, plan)
    by = groups_view.show(given, place, facts, observed)
    st.header("Take it along")
    take_view.show(given, place, facts, settings, observed=observed, report=report, by=by)
    _share()
    read = Imported(summary=summary, fitted=_fitted(given, place, facts), settings=settings)
    ask("import", IMPORT, read)


def _fitted(given: Given, place: int, facts: Facts) -> Fit | None:
    try:
        return engine_results.fitted(given, place, facts)
    except ValueError:
        return None


def _share() -> None:
    """The link to what can travel: the settings, and a public report by its name."""
    report = inputs.report()
    said = {**deploy_address.query(deploy_widgets.current()), **log_address.query(report)}
    own = "Lines and files of your own do not travel with it: they are never in an address."
    sharing.popover(sharing.link(said), stays="" if report else own)

"""From *Import* to the pages of a deployment: buttons there, an offer here, both through AppTest."""

import io
from pathlib import Path

import pytest
from app_scripts import press, said, show
from streamlit.testing.v1 import AppTest
from test_app_deployment import chosen, widget

import analysis as an
from analysis.explaining.reported import explain_measured
from app_pages.deployment.log import LastLog
from real_runs.engines import read_log

LOG = Path(__file__).parent / "logs" / "llamacpp_server.log"
OFFER = "Your log is at hand"


def a_log(key="a log", **changes):
    seen = read_log(io.BytesIO(LOG.read_bytes()))[0].observation
    known = {"fitted": an.fit(seen, rng=0), "title": "llama.cpp ![x](y)"} | changes
    return LastLog(key=key, observation=seen, **known)


def page_with(log, page, **query):
    app = show(page)
    if log is not None:
        app.session_state["last_log"] = log
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def buttons(app):
    return {item.label: item for item in app.button}


def leaving():
    """A page with the buttons, and what was chosen on the page where they lead."""
    import streamlit as st  # noqa: PLC0415

    from app_pages.deployment import log_offer, widgets  # noqa: PLC0415

    def there():
        choice = widgets.current()
        st.text(f"{st.session_state['name']} {choice.source} {choice.accept} {choice.gamma}")

    def explain():
        st.session_state["name"] = "explain"
        there()

    def plan():
        st.session_state["name"] = "plan"
        there()

    def here():
        log_offer.show_ways(pages[1], pages[2])

    pages = [st.Page(here, default=True), st.Page(explain), st.Page(plan)]
    st.navigation(pages).run()


@pytest.mark.parametrize(
    ("label", "arrived"),
    [("Explain this", "explain log log 7"), ("Plan with this", "plan deployment log 7")],
)
def test_a_button_takes_the_log_to_the_other_page(label, arrived):
    app = AppTest.from_function(leaving, default_timeout=60)
    log = a_log()
    app.session_state["last_log"] = log
    app.run()
    press(app, label)
    assert not app.exception
    gamma = log.observation.gamma or 4
    assert [item.value for item in app.text] == [arrived.replace("7", str(gamma))]


def test_a_log_without_a_fit_is_explained_and_not_planned_with():
    app = AppTest.from_function(leaving, default_timeout=60)
    app.session_state["last_log"] = a_log(fitted=None, why_not="it holds no counts.")
    app.run()
    assert buttons(app)["Plan with this"].disabled
    assert "no counts" in buttons(app)["Plan with this"].help.replace("\\", "")
    press(app, "Explain this")
    assert app.text[0].value.startswith("explain log p")


def test_without_a_log_there_is_no_way_and_no_offer():
    app = AppTest.from_function(leaving, default_timeout=60).run()
    assert not app.button
    for page in ("plan_page.page", "explain_page.page"):
        assert OFFER not in said(page_with(None, page))


def test_your_engine_shows_the_ways():
    app = show("your_engine.page").run()
    assert "Plan with this" not in buttons(app)
    press(app, "Show me an example")
    assert not app.exception
    assert {"Explain this", "Plan with this"} <= set(buttons(app))
    assert not buttons(app)["Plan with this"].disabled


def test_plan_offers_the_log_until_it_is_used():
    app = page_with(a_log(), "plan_page.page")
    assert OFFER in said(app)
    assert not any("![x](" in item.value for item in app.markdown)
    assert "Explain it" not in buttons(app)
    press(app, "Use its acceptance")
    assert not app.exception
    assert OFFER not in said(app)
    assert chosen(app).accept == "log"
    assert app.query_params["accept"] in ("log", ["log"])


def test_an_own_choice_beside_the_log_ends_the_offer_until_another_log_comes():
    app = page_with(a_log(), "plan_page.page")
    widget(app, "selectbox", "deploy_accept").set_value("depth").run()
    widget(app, "selectbox", "deploy_accept").set_value("p").run()
    assert not app.exception
    assert OFFER not in said(app)
    app.session_state["last_log"] = a_log("another")
    assert OFFER in said(app.run())


def test_explain_offers_both_and_one_is_enough():
    app = page_with(a_log(), "explain_page.page")
    assert {"Explain it", "Use its acceptance"} <= set(buttons(app))
    press(app, "Explain it")
    assert not app.exception
    assert chosen(app).source == "log"
    assert OFFER not in said(app)
    widget(app, "selectbox", "deploy_source").set_value("deployment").run()
    assert OFFER not in said(app)


def test_a_log_that_cannot_be_explained_alone_can_be_predicted_with():
    log = a_log()
    assert explain_measured(log.observation).refusal
    app = page_with(log, "explain_page.page", source="log")
    press(app, "Predict with its acceptance instead")
    assert not app.exception
    assert (chosen(app).source, chosen(app).accept) == ("deployment", "log")
    assert "Net speedup" in [item.label for item in app.metric]


def test_an_acceptance_of_the_link_is_no_occasion_for_an_offer():
    app = page_with(a_log(), "plan_page.page", accept="depth", depths="0.8,0.7")
    assert OFFER not in said(app)

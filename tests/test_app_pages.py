"""The frame around all pages through AppTest: order, help, links, limits, and what fails."""

import subprocess
import sys
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from app_page_list import ALL, name_of, opened
from app_scripts import show
from streamlit.testing.v1 import AppTest

from app_pages.next_steps import NEXT
from app_pages.safety_net import BROKEN
from app_pages.server import STREAMLIT_FLAGS
from app_pages.your_engine.sources import MAX_MB, short_names

ROOT = Path(__file__).resolve().parents[1]
INPUTS = (
    "slider", "select_slider", "number_input", "selectbox", "multiselect", "text_area", "text_input",
    "file_uploader", "checkbox", "toggle", "radio", "button_group", "button",
)  # fmt: skip
pages = pytest.mark.parametrize("page", ALL, ids=name_of)


def whole_app():
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)


def protos(app, kinds):
    return [widget.proto for kind in kinds for widget in app.get(kind)]


def navigation():
    """A script that says what the navigation holds, line by line."""
    import streamlit as st  # noqa: PLC0415

    from app_pages import shell  # noqa: PLC0415

    for section, found in shell.sections().items():
        for page in found:
            st.text(f"{section}|{page.title}|{page.url_path}|{page.visibility}")


def test_the_navigation_has_every_page_in_the_order_a_person_thinks():
    app = AppTest.from_function(navigation).run()
    lines = [text.value.split("|") for text in app.text]
    shown = [tuple(line[:3]) for line in lines if line[3] == "visible"]
    assert shown == [(page.section, page.title, page.address) for page in ALL]
    assert [line[2] for line in lines if line[3] != "visible"] == ["read_a_log"]


def test_the_links_at_the_foot_lead_to_every_page_grouped():
    app = whole_app().run()
    links = [link.proto for link in app.get("page_link")][-len(ALL) :]
    assert [link.label for link in links] == [page.title for page in ALL]
    assert [link.label for link in links if link.disabled] == ["Explore"]
    sections = list(dict.fromkeys(page.section for page in ALL))
    assert [item.value for item in app.caption if item.value in sections] == sections


def test_every_page_leads_on_to_others():
    addresses = {page.address for page in ALL}
    assert set(NEXT) == addresses
    for here, steps in NEXT.items():
        there = [address for address, _ in steps]
        assert len(set(there)) == len(there) >= 2
        assert set(there) <= addresses - {here}
    leading = [link.proto.label for link in whole_app().run().get("page_link")][: -len(ALL)]
    titles = {page.address: page.title for page in ALL}
    assert leading == [f"{titles[address]}: {words}" for address, words in NEXT[""]]
    # What is longer is cut off on a screen of 390 px.
    labels = [f"{titles[to]}: {words}" for steps in NEXT.values() for to, words in steps]
    assert [label for label in labels if len(label) > 46] == []


@pages
def test_every_input_has_help_and_a_label_of_its_own(page):
    app = opened(page)
    inputs = protos(app, INPUTS)
    assert inputs
    # The field beside a slider, "…, typed", has the slider's help.
    assert [each.label for each in inputs if not each.help and ", typed" not in each.label] == []
    labels = Counter(each.label for each in inputs)
    assert [label for label, count in labels.items() if count > 1 or not label] == []


def test_the_walk_over_inputs_sees_one_without_help():
    def bare():
        import streamlit as st  # noqa: PLC0415

        st.toggle("bare")
        st.multiselect("bare", ["x"])

    seen = protos(AppTest.from_function(bare).run(), INPUTS)
    assert [(each.label, each.help) for each in seen] == [("bare", "")] * 2


@pages
def test_every_page_has_a_link_to_itself(page):
    links = [code.value for code in opened(page).code if code.language in (None, "", "plaintext")]
    asked = parse_qs(page.path.partition("?")[2])
    found = [parse_qs(urlsplit(link.strip()).query) for link in links if "\n" not in link]
    assert any(asked.items() <= said.items() for said in found), links


def test_no_upload_is_larger_than_its_page_can_read():
    limits = {}
    for page in ALL:
        for upload in protos(opened(page), ("file_uploader",)):
            limits[upload.label] = upload.max_upload_size_mb
    assert len(limits) == 4
    assert all(0 < limit <= MAX_MB for limit in limits.values())


def test_a_broken_page_shows_one_sentence_and_the_way_on(monkeypatch, caplog):
    def broken():
        raise KeyError("secret of the inside")

    monkeypatch.setattr("app_pages.explore.page", broken)
    app = whole_app().run()
    assert not app.exception
    assert [error.value for error in app.error] == [BROKEN]
    texts = [item.value for item in (*app.markdown, *app.caption, *app.warning)]
    assert not any("secret" in text or "Traceback" in text for text in texts)
    assert len(app.get("page_link")) == len(ALL) + len(NEXT[""])
    assert "secret of the inside" in caplog.text


def test_a_broken_part_that_redraws_itself_shows_one_sentence(monkeypatch):
    def broken(_):
        raise ZeroDivisionError

    monkeypatch.setattr("app_pages.lanes.round_timeline", lambda *_, **__: broken(0))
    app = show("one_round").run()
    assert not app.exception
    assert [error.value for error in app.error] == [BROKEN]


def test_a_sentence_of_ours_is_shown_as_it_is(monkeypatch):
    def refused():
        raise ValueError("p must be less.")

    monkeypatch.setattr("app_pages.explore.page", refused)
    app = whole_app().run()
    assert [error.value.replace("\\", "") for error in app.error] == ["p must be less."]


SAFE = {
    "browser": {"gatherUsageStats": False},
    "server": {"maxUploadSize": 50, "enableXsrfProtection": True, "enableCORS": True},
    "client": {"showErrorDetails": "type", "toolbarMode": "minimal"},
}


@pytest.mark.parametrize("flags", [(), STREAMLIT_FLAGS], ids=["file", "flags"])
def test_the_server_really_has_the_safe_settings(flags, tmp_path):
    command = [sys.executable, "-m", "streamlit", "config", "show", *flags]
    shown = subprocess.run(
        command, cwd=tmp_path if flags else ROOT, capture_output=True, text=True, check=True
    ).stdout
    effective = tomllib.loads(shown[shown.index("[") :])  # a heading stands before
    for section, wanted in SAFE.items():
        assert {name: effective[section][name] for name in wanted} == wanted
    assert effective["theme"]["dark"]["primaryColor"] == "#1F7BC0"


def test_a_deployment_is_one_on_all_pages_that_have_it():
    plan = show("plan_page.page").run()
    box = next(each for each in plan.selectbox if each.label == "Machine")
    box.set_value("H200").run()
    next(each for each in plan.number_input if "Context" in each.label).set_value(4096.0).run()
    for module in ("systems.page", "where_it_breaks.page", "explain_page.page"):
        app = show(module)
        app.session_state["deploy_choice"] = plan.session_state["deploy_choice"]
        app.run()
        assert next(each for each in app.selectbox if each.label == "Machine").value == "H200"
        typed = next(each for each in app.number_input if "Context" in each.label)
        assert typed.value == 4096.0


def test_speeds_of_a_run_are_one_on_import_and_explain():
    app = show("your_engine.page")
    app.query_params["report"] = "example"
    app.query_params["tps"] = "100"
    app.run()
    assert app.session_state["last_log"].observation.clock.tokens_per_s is None
    explain = show("explain_page.page")
    explain.session_state["last_log"] = app.session_state["last_log"]
    explain.session_state["deploy_choice"] = replace(
        app.session_state["deploy_choice"], source="log"
    )
    explain.run()
    field = next(each for each in explain.number_input if "with speculation" in each.label)
    assert field.value == 100.0


def test_a_link_names_a_public_report_and_never_lines_of_ones_own():
    names = short_names()
    assert len(set(names.values())) == len(names)
    shown, name = next(iter(names.items()))
    app = show("your_engine.page")
    app.query_params["report"] = name
    app.query_params["running"] = "8"
    app.run()
    assert app.selectbox(key="log_example").value == shown
    assert app.number_input(key="log_running").value == 8.0
    app.text_area(key="log_text").set_value(
        "draft acceptance = 0.5 ( 1 accepted / 2 generated)"
    ).run()
    assert "report" not in app.query_params
    assert not any("accepted" in code.value for code in app.code if "http" in code.value)


@pytest.mark.parametrize(
    ("module", "query", "sentence"),
    [
        ("your_engine.page", {"report": "![x](y)"}, "report must be one of"),
        ("your_engine.page", {"method": "oracle"}, "method must be one of"),
        ("your_engine.page", {"configured": "2.5"}, "configured must be a whole number"),
        ("your_engine.page", {"running": "nan"}, "running must be a number above 0"),
        ("compare.page", {"before": "nothing"}, "report must be one of"),
        ("compare.page", {"slowdown": "-3"}, "slowdown must be a number in [0, 99.999]"),
        ("measured_runs.page", {"run": "../x"}, "run must be one of"),
    ],
)
def test_a_link_that_cannot_be_read_gets_a_sentence(module, query, sentence):
    app = show(module)
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    texts = [item.value.replace("\\", "") for item in app.warning]
    assert any(sentence in text and "The link is read without it." in text for text in texts)
    assert not any("![x](" in item.value for item in app.warning)

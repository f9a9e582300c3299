"""The live section of the first page, through AppTest."""

import json
from unittest import mock

import pytest
from app_scripts import open_app
from streamlit.testing.v1 import AppTest

from analysis.live.setting import INPUTS
from app_pages import live_panel
from app_pages.state import FIELDS, Settings

SETTINGS = Settings(p=0.8, gamma=5, cost_ratio=0.05, verify_cost=1.0, overhead=0.0)


def live(app):
    """The specification with bound sliders, and where its parameters start."""
    specs = [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]
    (spec,) = [spec for spec in specs if "speedup_text" in json.dumps(spec)]
    return spec, {param["name"]: param for param in spec["params"] if "value" in param}


def test_the_live_picture_starts_at_the_page_s_numbers():
    _, params = live(open_app(p="0.42", gamma="9", c="0.33", v="6", overhead="0.4"))
    assert {name: param["value"] for name, param in params.items()} == {
        "p": 0.42,
        "gamma": 9,
        "cost_ratio": 0.33,
        "verify_cost": 6.0,
        "overhead": 0.4,
    }
    assert all(param["bind"]["input"] == "range" for param in params.values())


def test_it_says_that_its_sliders_move_this_picture_only():
    assert any("They move this picture only" in text.value for text in open_app().markdown)


def test_another_picture_can_be_chosen():
    app = open_app()
    next(each for each in app.get("button_group") if each.key == "live_picture").set_value(
        live_panel.Picture.TRAP
    ).run()
    assert not app.exception
    spec, _ = live(app)
    assert "accepted / drafted" in spec["description"]


def test_the_page_s_ranges_are_those_of_the_live_inputs():
    fields = {field.key: field for field in FIELDS}
    for item in INPUTS:
        field = fields[item.key]
        assert (field.low, field.high) == (item.least, item.most)
        assert field.label == item.label


def test_the_article_page_starts_at_these_numbers():
    page = live_panel.page_html(SETTINGS).decode()
    assert '"start":{"p":0.8,"gamma":5,"cost_ratio":0.05,' in page


def test_without_vl_convert_the_section_names_the_extra():
    with mock.patch.object(live_panel, "find_spec", return_value=None):
        app = open_app()
    assert any(".[embed]" in caption.value for caption in app.caption)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_the_trap_can_be_shown_by_another_page(p):
    app = AppTest.from_function(_trap, kwargs={"p": p})
    app.run()
    assert not app.exception
    _, params = live(app)
    assert (params["p"]["value"], params["gamma"]["value"]) == (p, 5)


def _trap(p):
    from app_pages import live_panel  # noqa: PLC0415 — the app runs this text alone

    live_panel.trap(p, 5)

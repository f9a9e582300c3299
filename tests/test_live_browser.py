"""The live section of the app in a real Chromium: it follows the mouse, and the server hears nothing."""

import pytest
from browsing import settle, slider

import analysis as an

pytestmark = pytest.mark.browser


def live(page):
    """The chart of the section: the one with sliders of its own."""
    page.get_by_role("heading", name="Drag and see").scroll_into_view_if_needed()
    chart = page.get_by_test_id("stVegaLiteChart").filter(has=page.locator(".vega-bind"))
    chart.locator("svg").wait_for()
    settle(page)
    return chart


def test_the_picture_follows_while_the_button_is_down_and_nothing_else_moves(visit):
    page = visit("?p=0.6")
    chart = live(page)
    own = chart.locator("input[name=p]")
    assert own.input_value() == "0.6"
    own.scroll_into_view_if_needed()
    box = own.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.6 * box["width"], y)
    page.mouse.down()
    for share in (0.5, 0.4, 0.3, 0.2):
        page.mouse.move(box["x"] + share * box["width"], y)
        p = float(own.input_value())
        assert abs(p - share) < 0.1
        tokens, gain = an.expected_tokens(p, 4), an.speedup(p, 4, 0.1)
        for words in (f"= {tokens:.4g}", f"= {gain:.4g}", f"{gain:.2f}×"):  # the button still down
            chart.locator("svg text", has_text=words).first.wait_for()
    page.mouse.up()
    settle(page)
    assert float(own.input_value()) < 0.3
    assert slider(page, "Acceptance p").input_value() == "0.6"
    assert page.url.endswith("?p=0.6")


def test_arrow_keys_move_it_and_the_page_s_slider_sets_it_anew(visit):
    page = visit("?p=0.6")
    own = live(page).locator("input[name=p]")
    own.focus()
    page.keyboard.press("ArrowRight")
    assert own.input_value() == "0.61"
    slider(page, "Acceptance p").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(
        "() => document.querySelector('.vega-bind input[name=p]')?.value === '0.59'"
    )


@pytest.mark.parametrize(
    "picture", ["Tokens and their price", "Where it pays", "What an engine prints"]
)
def test_every_picture_fits_a_phone(visit, picture):
    page = visit(viewport={"width": 390, "height": 844})
    live(page)
    page.get_by_role("radio", name=picture).or_(
        page.get_by_role("button", name=picture)
    ).first.click()
    settle(page)
    box = live(page).locator("svg").bounding_box()
    assert box["x"] + box["width"] <= 390

"""The page of one token in a real Chromium: keys, links, the table to type into, both schemes."""

from urllib.parse import parse_qs, urlsplit

import pytest
from browsing import (
    choose,
    follow,
    press,
    see,
    settle,
    shared_link,
    shows,
    slider,
    wait_for_url,
)

from app_pages.one_token import results as token_results
from app_pages.one_token.choice import RULE_NAMES, Choice
from app_pages.one_token.story import share

pytestmark = pytest.mark.browser


def p_of(**choice):
    return share(token_results.laws.__wrapped__(Choice(**choice)).acceptance)


def metric(page, label):
    card = page.get_by_test_id("stMetric").filter(has_text=label)
    return card.get_by_test_id("stMetricValue")


def sees_p(page, **choice):
    from playwright.sync_api import expect  # noqa: PLC0415

    expect(metric(page, "p under this rule")).to_have_text(p_of(**choice), timeout=20_000)


def edit(page, row, column, text):
    """Type into a cell as a reader does. Cells are painted, so they are found by place."""
    table = page.get_by_test_id("stDataFrame").first
    table.scroll_into_view_if_needed()
    settle(page)
    box = table.bounding_box()
    width, height = box["width"] / 3, box["height"] / 11
    page.mouse.dblclick(box["x"] + width * (column + 0.5), box["y"] + height * (row + 1.5))
    editor = page.locator(".gdg-input")
    editor.fill(text)
    page.keyboard.press("Enter")
    editor.wait_for(state="hidden")
    page.wait_for_timeout(
        500
    )  # the edit is on its way; another one before its answer would be lost
    settle(page)


def test_ten_fast_presses_on_the_temperature_all_arrive(visit):
    page = visit("one_token")
    sees_p(page)
    slider(page, "Temperature").focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    wait_for_url(page, r"t=1\.5$")
    page.wait_for_timeout(1_500)  # a stale answer would come now
    shows(slider(page, "Temperature"), "1.5")
    sees_p(page, temperature=1.5)


def test_the_rule_is_chosen_by_keyboard(visit):
    page = visit("one_token?pair=disagree")
    see(page, "Lossless for drawn drafts")
    settle(page)  # a click while the page is still being drawn goes to what it replaces
    page.get_by_text("chosen: its most likely word").click()
    see(page, "Lossy here.")
    wait_for_url(page, r"picked=chosen")
    settle(page)
    page.get_by_role("radio", name="chosen: its most likely word").press("ArrowUp")
    see(page, "Lossless for drawn drafts")
    wait_for_url(page, r"pair=disagree$")
    choose(page, "Rule", RULE_NAMES["typical_acceptance"], exact=True)
    see(page, "Lossy here.")
    sees_p(page, pair="disagree", rule="typical_acceptance")
    wait_for_url(page, r"rule=typical_acceptance")


def test_drawing_on_and_the_link_to_it(visit):
    page = visit("one_token?rule=sample_and_match")
    see(page, "Decision 1 of 20,000")
    for number in (2, 3, 4):
        press(page, "Next draw")
        see(page, f"Decision {number} of 20,000")
    wait_for_url(page, r"draw=4$")
    link = shared_link(page)
    said = [parse_qs(urlsplit(text).query) for text in (link, page.url)]
    assert said[0] == said[1] == {"rule": ["sample_and_match"], "draw": ["4"]}
    assert urlsplit(link).path == urlsplit(page.url).path
    again = visit(link.split("/", 3)[3])
    see(again, "Decision 4 of 20,000")
    shows(again.get_by_label("Decision", exact=True), "4")
    sees_p(again, rule="sample_and_match")


def test_weights_typed_into_the_table(visit):
    page = visit("one_token?pair=own")
    sees_p(page)
    weights = list(Choice().draft)
    edit(page, 0, 2, "90")
    weights[0] = 90.0
    sees_p(page, pair="own", draft=tuple(weights))
    wait_for_url(page, r"draft=90%2C24")
    edit(page, 1, 2, "-5")
    see(page, "got -5 for “sofa”. The last usable weights are shown.")
    sees_p(page, pair="own", draft=tuple(weights))
    edit(page, 1, 2, "0")
    weights[1] = 0.0
    sees_p(page, pair="own", draft=tuple(weights))
    again = visit(page.url.split("/", 3)[3])
    sees_p(again, pair="own", draft=tuple(weights))


def test_no_problem_of_a_link_is_lost_when_a_shared_number_is_mended(visit):
    page = visit("one_token?seed=-3&t=nan&draw=0")
    see(page, "seed must be a whole number in [0, 2147483647]; got -3. 0 is used instead.")
    see(page, "the temperature must be a number in [0, 2]; got nan. The link is read without it.")
    see(page, "got 0. Decision 1 is told instead.")
    settle(page)
    assert page.get_by_text("got nan.").count() == page.get_by_text("got 0.").count() == 1
    press(page, "Next draw")
    see(page, "Decision 2 of 20,000")
    page.get_by_text("got 0.").wait_for(state="hidden")


def test_every_input_can_be_reached_by_the_tab_key(visit):
    page = visit("one_token?pair=disagree&rule=lenience&topk=9")
    sees_p(page, pair="disagree", rule="lenience", top_k=9)
    settle(page)
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "(document.activeElement.ariaLabel || document.activeElement.innerText || '')"
                ".trim().split('\\n').pop()"
            )
        )
    wanted = ("Temperature", "Lenience factor", "Top-k", "Top-p", "Decision", "Seed")
    assert {*wanted, "Next draw", "Next that ends otherwise", "New seed", "CSV"} <= reached


def test_settings_are_kept_on_other_pages_and_by_the_browser_s_back(visit):
    page = visit("one_token?pair=sharp&rule=one_hot&t=0.8")
    sees_p(page, pair="sharp", rule="one_hot", temperature=0.8)
    follow(page, "Explore")
    see(page, "Does speculative decoding pay?")
    follow(page, "One token")
    sees_p(page, pair="sharp", rule="one_hot", temperature=0.8)
    wait_for_url(page, r"rule=one_hot")
    found = Choice(pair="sharp", rule="one_hot", temperature=0.8)
    p = token_results.laws.__wrapped__(found).acceptance
    press(page, f"Use this p ({p:.3f}) in Explore")
    see(page, "Does speculative decoding pay?")
    wait_for_url(page, rf"[?&]p={p:.5f}"[:-2])
    follow(page, "One token")
    choose(page, "Two opinions", "Identical", exact=True)
    sees_p(page, pair="same", rule="one_hot", temperature=0.8)
    page.go_back()
    page.wait_for_timeout(1_500)
    assert page.get_by_test_id("stException").count() == 0

"""The page of systems in a real Chromium: keys, links, downloads, both schemes and widths."""

import json

import pytest
from browsing import (
    choose,
    download,
    enter,
    follow,
    press,
    see,
    settle,
    shared_link,
    shows,
    slider,
    wait_for_url,
)

from app_pages.systems import results
from app_pages.systems.choice import Choice

pytestmark = pytest.mark.browser


def speedup(choice):
    return f"{results.focused(choice).speedup:.3f}×"


def metric(page, label):
    return page.get_by_test_id("stMetric").filter(has_text=label).first


def sees_speedup(page, choice):
    metric(page, "Speedup").get_by_text(speedup(choice)).wait_for()


def test_fast_keys_on_a_slider_all_arrive_and_the_link_brings_them_back(visit):
    page = visit("systems?system=eagle-2&passes=slope")
    choice = Choice(focus="eagle-2", passes="slope")
    sees_speedup(page, choice)
    settle(page)
    slider(page, "Nodes kept").focus()
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
    wait_for_url(page, r"e2nodes=50$")
    page.wait_for_timeout(1_500)  # a stale answer would come now
    wait_for_url(page, r"e2nodes=50$")
    choice = choice.with_value("e2nodes", 50)
    sees_speedup(page, choice)
    shows(page.get_by_label("Nodes kept, typed"), "50")
    link = shared_link(page)
    again = visit(link.split("/", 3)[3])
    sees_speedup(again, choice)
    press(again, "Back to the preset")
    sees_speedup(again, Choice(focus="eagle-2", passes="slope"))
    again.wait_for_url(lambda url: "e2nodes" not in url, wait_until="commit")


def test_another_system_other_costs_and_a_sentence_for_bad_typing(visit):
    page = visit("systems")
    sees_speedup(page, Choice())
    choose(page, "Look closer at", "lookahead", exact=True)
    wait_for_url(page, r"system=lookahead")
    see(page, "The window of 60 tokens rides along")
    choose(page, "V(n) comes from", "a straight line", exact=True)
    wait_for_url(page, r"passes=slope")
    choice = Choice(focus="lookahead", passes="slope")
    sees_speedup(page, choice)
    enter(page, page.get_by_label("Window W, typed"), "0")
    see(page, "the window W must be a whole number in [1, 64]; got 0. It stays at 15.")
    shows(page.get_by_label("Window W, typed"), "15")
    enter(page, page.get_by_label("Window W, typed"), "5")
    wait_for_url(page, r"window=5$")
    sees_speedup(page, choice.with_value("window", 5))
    follow(page, "Explore")
    see(page, "Does speculative decoding pay?")
    follow(page, "Systems")
    sees_speedup(page, choice.with_value("window", 5))
    wait_for_url(page, r"window=5")


def test_sampled_rounds_come_beside_the_exact_ones_and_files_come_down(visit):
    page = visit("systems?system=mtp")
    see(page, "Take it along")
    settle(page)
    page.get_by_role("radio", name="10,000", exact=True).click()
    see(page, "10,000 sampled rounds of each agree with")
    wait_for_url(page, r"sampled=10000")
    table = download(page, "Systems, CSV")
    assert table.startswith(b"compares_on,system,tokens_per_round,simulated,se,z")
    assert download(page, "Nodes, CSV").startswith(b"rounds,node,guesses,depth")
    assert download(page, "Sizes, CSV").startswith(b"nodes,tokens_per_round,round_cost,speedup")
    assert json.loads(download(page, "Systems, JSON"))["command"] == "strategies"
    assert download(page, "Systems, PNG").startswith(b"\x89PNG")

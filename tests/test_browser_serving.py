"""The arrivals in a real Chromium: they come when asked for, the slider moves them, a link brings them back."""

import pytest
from browsing import no_sideways_scroll, settle, shared_link, wait_for_url

pytestmark = pytest.mark.browser
OBJECTIVE = "arrivals=code&arrive=70&maxtpot=5"


def metric(page, label):
    return page.get_by_test_id("stMetric").filter(has_text=label).first


def test_requests_arrive_on_a_phone_when_they_are_asked_for(visit):
    page = visit("where_it_breaks?maxtpot=5", viewport={"width": 390, "height": 900})
    switch = page.get_by_text("Let requests arrive", exact=True)
    switch.wait_for()
    settle(page)
    assert metric(page, "Whole request").count() == 0
    switch.click()
    metric(page, "Whole request").wait_for()
    page.locator("canvas, svg.marks").nth(6).wait_for()
    wait_for_url(page, r"arrivals=chat")
    assert no_sideways_scroll(page)


def test_keys_move_the_rate_and_none_is_lost(visit):
    from playwright.sync_api import expect  # noqa: PLC0415

    page = visit("where_it_breaks?arrivals=code")
    slowest = metric(page, "Slowest in twenty").get_by_test_id("stMetricValue")
    page.get_by_role("heading", name="Take it along").wait_for()
    before = slowest.inner_text()
    page.get_by_role("slider", name="Arrivals, % of the plain limit").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    wait_for_url(page, r"arrive=80$")
    expect(slowest).not_to_have_text(before, timeout=20_000)


def test_a_link_brings_the_arrivals_back(visit):
    page = visit(f"where_it_breaks?{OBJECTIVE}")
    metric(page, "Good answers").wait_for()
    link = shared_link(page)
    assert link.endswith(f"?{OBJECTIVE}")
    there = metric(page, "Good answers").inner_text()
    again = visit(link.split("/", 3)[3])
    metric(again, "Good answers").get_by_text(there.splitlines()[-1]).wait_for()
    assert metric(again, "Good answers").inner_text() == there

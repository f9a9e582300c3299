"""The pages for one's own numbers in a real Chromium: files up and down, keyboard, links, widths."""

import json
import re
from pathlib import Path

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

pytestmark = pytest.mark.browser
LOG = Path(__file__).parent / "logs" / "llamacpp_server.log"
REPORT = "club-3090 105"


def show_report(page):
    choose(page, "Or a log from a public report", REPORT)
    see(page, "Why this process and no other")


def give(page, position, file):
    page.locator("input[type=file]").nth(position).set_input_files(file)


def test_a_public_report_is_read_and_an_example_compared(visit):
    page = visit("your_engine")
    show_report(page)
    page.locator("canvas, svg.marks").nth(2).wait_for()
    see(page, "Acceptance changed")
    see(page, "Best is γ = 5")
    wait_for_url(page, r"report=club-3090")
    again = visit(shared_link(page).split("/", 3)[3])
    see(again, "Best is γ = 5")
    follow(page, "Compare")
    press(page, "Show me an example")
    see(page, "The run after decodes 66.7 % faster")
    link = shared_link(page)
    assert link.endswith("compare?before=example&after=example")


def test_what_is_pasted_never_goes_into_the_link(visit):
    page = visit("your_engine")
    field = page.get_by_label("Paste the lines", exact=True)
    settle(page)
    field.fill(LOG.read_text(encoding="utf-8"))
    field.press("Control+Enter")
    see(page, "What the doctor says")
    page.get_by_text("What else you know of this run").click()
    enter(page, page.get_by_label("Tokens per second without it", exact=True), "40")
    wait_for_url(page, r"plain=40")
    link = shared_link(page)
    see(page, "Lines and files of your own do not travel with it")
    assert link.endswith("your_engine?plain=40")
    assert link == page.url
    follow(page, "Explain")
    choose(page, "Explain", "the log under Import")
    shows(page.get_by_label("Tokens per second without it", exact=True), "40")


def test_a_real_log_goes_up_and_everything_comes_down(visit, tmp_path):
    log = tmp_path / "![x](y).log"
    log.write_bytes(LOG.read_bytes())
    page = visit("your_engine")
    give(page, 0, log)
    see(page, "What the doctor says")
    see(page, "Best is γ =")
    kinds = (
        ("What it says, JSON", b"{"),
        ("The fit, JSON", b"{"),
        ("The prediction, CSV", b"gamma,tokens_per_round"),
        ("The prediction, PNG", b"\x89PNG"),
        ("speculation_profile.json", b"{"),
    )
    for name, start in kinds:
        content = download(page, name)
        assert content.startswith(start)
        if start == b"{":
            assert json.loads(content)


def test_a_log_beyond_ten_megabytes_goes_up(visit, tmp_path):
    log = tmp_path / "long.log"
    noise = b"INFO: 127.0.0.1 - POST /v1/chat/completions HTTP/1.1 200 OK\n" * 200_000
    log.write_bytes(noise + LOG.read_bytes())
    assert log.stat().st_size > 11 * 2**20
    page = visit("your_engine")
    give(page, 0, log)
    see(page, "What the doctor says")


def test_a_cost_moves_the_best_length_from_the_keyboard(visit):
    page = visit("your_engine")
    show_report(page)
    see(page, "Best is γ = 5")
    slider(page, "Cost of a draft step c").focus()
    page.keyboard.press("End")
    see(page, "Best is no speculation")
    wait_for_url(page, r"your_engine\?.*c=1")


def test_the_log_is_still_there_after_a_look_at_another_page(visit):
    page = visit("your_engine")
    press(page, "Show me an example")
    see(page, "How the lines were read")
    follow(page, "Convert")
    see(page, "The same in other words")
    follow(page, "Import")
    see(page, "How the lines were read")


def test_the_old_address_leads_here(visit):
    page = visit("read_a_log?c=0.3")
    wait_for_url(page, r"/your_engine")
    see(page, "Nothing to read yet")
    shows(page.get_by_label("Cost of a draft step c, typed"), "0.3")


def test_a_converted_number_is_shared_by_its_link(visit):
    page = visit("convert")
    see(page, "tokens per round = 2.16 (2.14 to 2.18)")
    assert page.url.endswith("/convert")
    page.get_by_text("full drafts", exact=True).first.click()
    wait_for_url(page, r"known=full_drafts")
    enter(page, page.get_by_label("Value", exact=True), "0.6")
    see(page, "tokens per round = 2.4 (2.2 to 2.6)")
    wait_for_url(page, r"value=0\.6")
    link = shared_link(page)
    again = visit(link.split("/", 3)[3])
    see(again, "tokens per round = 2.4 (2.2 to 2.6)")
    shows(again.get_by_label("Value", exact=True), "0.6")
    assert again.get_by_role("checkbox", name=re.compile("full drafts")).is_checked()


def test_two_files_are_compared_and_a_regression_is_asked_for(visit, tmp_path):
    line = (
        "draft acceptance = {0:.5f} (  {1} accepted /   300 generated), mean acceptance length = "
        "{2:.2f}\n"
    )
    files = []
    for name, accepted in (("before.log", 150), ("after.log", 60)):
        file = tmp_path / name
        text = line.format(accepted / 300, accepted, 1 + accepted / 100)
        file.write_text(text, encoding="utf-8")
        files.append(file)
    page = visit("compare")
    for position, file in enumerate(files):
        give(page, position, file)
    see(page, "fewer tokens per round")
    for label, value in (
        ("Configured draft length, if the logs are silent", "3"),
        ("Slowdown that must not be exceeded (%)", "10"),
    ):
        enter(page, page.get_by_label(label, exact=True), value)
    see(page, "A regression: it is slower by more than 10 %.")
    assert json.loads(download(page, "JSON"))["command"] == "compare"

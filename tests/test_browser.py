"""The app in a real Chromium, against a real server: what AppTest cannot see."""

import pytest
from browsing import (
    choose,
    download,
    enter,
    follow,
    press,
    see,
    shared_link,
    shows,
    slider,
    wait_for_url,
)

import analysis as an
import simulator as sim
from app_pages.server import running_app

pytestmark = pytest.mark.browser


def pays(p=0.7, gamma=4, cost_ratio=0.1):
    """How the verdict begins."""
    return f"Pays: {an.speedup(p, gamma, cost_ratio):.2f}× faster at γ = {gamma}"


def test_arrow_key_moves_number_formula_and_address(visit):
    page = visit()
    see(page, pays())
    slider(page, "Acceptance p").focus()
    page.keyboard.press("ArrowRight")
    see(page, pays(p=0.71))
    wait_for_url(page, r"\?p=0\.71$")
    typed = page.get_by_label("Acceptance p, typed")
    shows(typed, "0.71")


@pytest.mark.parametrize("start", [0.5, 0.7])  # 0.7: also leaves the preset's list entry
@pytest.mark.parametrize("delay", [0, 20, None])
def test_fast_presses_all_arrive_everywhere(visit, start, delay):
    page = visit(f"?p={start}")
    see(page, pays(p=start))
    slider(page, "Acceptance p").focus()
    for _ in range(10):
        if delay is None:  # held: down again and again, up once
            page.keyboard.down("ArrowRight")
        else:
            page.keyboard.press("ArrowRight")
            page.wait_for_timeout(delay)
    page.keyboard.up("ArrowRight")
    end = start + 0.1
    see(page, pays(p=end))
    page.wait_for_timeout(2_000)  # a stale answer would come now
    assert page.url.endswith(f"?p={end:g}")
    shows(slider(page, "Acceptance p"), f"{end:g}")
    shows(page.get_by_label("Acceptance p, typed"), f"{end:g}")
    see(page, pays(p=end))


def test_fast_presses_on_the_step(visit):
    page = visit("one_round")
    see(page, "A blank sheet")
    slider(page, "Step").focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    wait_for_url(page, r"step=8$")
    page.wait_for_timeout(1_000)
    shows(slider(page, "Step"), "8")


def test_typing_goes_on_in_the_same_field(visit):
    page = visit()
    see(page, pays())
    enter(page, page.get_by_label("Acceptance p, typed"), "0.5")
    see(page, pays(p=0.5))
    page.wait_for_timeout(500)
    page.keyboard.press("Control+A")
    page.keyboard.type("0.625")
    page.keyboard.press("Enter")
    see(page, pays(p=0.625))


def test_a_cleared_field_changes_nothing(visit):
    page = visit("?p=0.6")
    see(page, pays(p=0.6))
    typed = page.get_by_label("Acceptance p, typed")
    enter(page, typed, "")
    shows(typed, "0.6")
    see(page, pays(p=0.6))


def test_back_to_a_bare_address_keeps_the_numbers(visit):
    page = visit()
    see(page, pays())
    enter(page, page.get_by_label("Acceptance p, typed"), "0.83")
    see(page, pays(p=0.83))
    follow(page, "One round")
    see(page, "A blank sheet")
    page.wait_for_timeout(1_500)
    page.go_back()
    page.wait_for_timeout(1_500)
    if "one_round" in page.url:  # Streamlit writes the numbers into an entry of their own
        page.go_back()
    see(page, pays(p=0.83))


def test_mouse_drag_moves_the_draft_length(visit):
    page = visit()
    see(page, pays())
    box = slider(page, "Draft length γ").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, middle, steps=5)
    page.mouse.move(box["x"] + box["width"] + 20, middle, steps=5)
    page.mouse.up()
    see(page, "faster at γ = 16; γ = 4 would give 1.98×")
    wait_for_url(page, r"gamma=16")


def test_a_shared_link_shows_the_same_numbers_in_a_fresh_browser(visit):
    page = visit()
    enter(page, page.get_by_label("Acceptance p, typed"), "0.815")
    wait_for_url(page, r"p=0\.815")
    press(page, "New seed")
    wait_for_url(page, r"seed=1")
    table = sim.simulate(sim.draft_model(p=0.815, gamma=4), rounds=200_000, rng=1)
    numbers = [f"{an.expected_tokens(0.815, 4):.4f}", str(table.tokens_per_round).split(" ± ")[0]]
    for number in numbers:
        see(page, number)
    link = shared_link(page)
    assert link == page.url
    again = visit(link.split("/", 3)[3])
    see(again, pays(p=0.815))
    for number in numbers:
        see(again, number)
    shows(again.get_by_label("Acceptance p, typed"), "0.815")


def test_a_preset_with_many_digits_survives_its_link(visit):
    page = visit()
    choose(page, None, "Chinchilla 70B with a 4B draft")
    see(page, "Pays: 2.01× faster at γ = 4")
    wait_for_url(page, r"p=0\.748\d+.*c=0\.127\d+|c=0\.127\d+.*p=0\.748\d+")
    again = visit(page.url.split("/", 3)[3])
    see(again, "Pays: 2.01× faster at γ = 4")
    shows(again.get_by_role("combobox"), "Chinchilla 70B with a 4B draft")


def test_rounds_redraw_the_panel_only(visit):
    page = visit()
    see(page, "200,000 rounds, every token flipped")
    page.get_by_label("Acceptance p, typed").evaluate("node => { node.dataset.seen = 'yes' }")
    rounds = slider(page, "Rounds")
    rounds.focus()
    page.keyboard.press("End")
    see(page, "1,000,000,000 rounds, counts drawn directly")
    assert page.get_by_label("Acceptance p, typed").get_attribute("data-seen") == "yes"


def test_bad_typing_gets_a_sentence_and_the_app_stays_alive(visit):
    page = visit()
    typed = page.get_by_label("Acceptance p, typed")
    enter(page, typed, "7.5")
    see(page, "p must be a number in [0, 1]; got 7.5. It stays at 0.7.")
    enter(page, typed, "0.5")
    see(page, pays(p=0.5))


def test_a_bad_link_gets_a_sentence_and_the_app_stays_alive(visit):
    page = visit("?p=7.5&gamma=abc&c=nan")
    see(page, "p must be a number in [0, 1]; got 7.5. 0.7 is used instead.")
    see(page, "γ must be a whole number in [1, 16]; got abc. 4 is used instead.")
    see(page, pays())
    slider(page, "Acceptance p").focus()
    page.keyboard.press("ArrowRight")
    see(page, pays(p=0.71))


def test_stepping_through_a_round(visit):
    page = visit("one_round")
    see(page, "A blank sheet")
    press(page, "Next")
    see(page, "word 1 of 4")
    wait_for_url(page, r"step=1")
    press(page, "To the end of the round")
    see(page, "The round gave 2 tokens")
    again = visit(page.url.split("/", 3)[3])
    see(again, "The round gave 2 tokens")
    press(again, "Back")
    see(again, "stands: the coin said keep")
    press(again, "New rounds")
    see(again, "A blank sheet")
    wait_for_url(again, r"one_round\?seed=1$")


def test_playing_advances_by_itself_until_paused(visit):
    page = visit("one_round")
    see(page, "A blank sheet")
    press(page, "Play")
    see(page, "word 2 of 4")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()
    page.wait_for_timeout(500)
    stopped = page.url
    page.wait_for_timeout(2500)
    assert page.url == stopped


def test_the_pages_share_their_numbers(visit):
    page = visit("?p=0.9&gamma=6&v=1.5")
    see(page, "γ = 6")
    follow(page, "One round")
    see(page, "p = 0.9, γ = 6, c = 0.1, V = 1.5, overhead 0")
    follow(page, "Import")
    press(page, "Show me an example")
    see(page, "How the lines were read")
    press(page, "Use the lowest p (0.788) in Explore")
    see(page, "Does speculative decoding pay?")
    wait_for_url(page, r"p=0\.7877")
    shows(page.get_by_label("Draft length γ, typed"), "3")
    wait_for_url(page, r"v=1\.5")


def test_files_come_down(visit):
    page = visit()
    see(page, pays())
    for name, start in (("PNG", b"\x89PNG"), ("CSV", b"gamma,"), ("JSON", b"{")):
        assert download(page, name).startswith(start)


def test_the_packaged_script_serves_the_same_app(chromium):
    with running_app() as url:
        page = chromium.new_page()
        page.goto(url)
        see(page, pays())
        page.close()

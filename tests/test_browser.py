"""The app in a real Chromium, against a real server: what AppTest cannot see."""

import os
import re
from pathlib import Path

import pytest

import analysis as an
import simulator as sim
from app_pages.server import running_app

pytestmark = pytest.mark.browser

APP = Path(__file__).resolve().parents[1] / "app.py"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# Streamlit looks for its server below the page's own path first when a sub-page is opened directly.
HARMLESS = re.compile(r"/_stcore/(health|host-config)")


@pytest.fixture(scope="module")
def address():
    with running_app(APP) as url:
        yield url


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium, address):
    """Opens a path in a fresh context; in the end nobody may have called another host or erred."""
    contexts, wrong = [], []

    def open_page(path="", **options):
        context = chromium.new_context(**{"viewport": {"width": 1200, "height": 1000}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("requestfailed", lambda request: wrong.append(f"failed: {request.url}"))
        page.on("request", lambda request: _check_host(request.url, address, wrong))
        page.on("console", lambda message: _check_console(message, wrong))
        page.goto(f"{address}/{path}")
        page.wait_for_selector("h1")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def _check_host(url, address, wrong):
    if not url.startswith((address, "data:", "blob:")):
        wrong.append(f"foreign host: {url}")


def _check_console(message, wrong):
    if message.type == "error" and not HARMLESS.search(message.location.get("url", "")):
        wrong.append(message.text)


def pays(p=0.7, gamma=4, cost_ratio=0.1):
    """How the verdict begins."""
    return f"Pays: {an.speedup(p, gamma, cost_ratio):.2f}× faster at γ = {gamma}"


def slider(page, label):
    return page.locator(f'input[type=range][aria-label="{label}"]')


def see(page, text):
    page.get_by_text(text).first.wait_for()


def shows(field, value):
    """Waits: Streamlit redraws fields a moment after the address, and for that moment has two."""
    from playwright.sync_api import expect  # noqa: PLC0415

    expect(field).to_have_count(1, timeout=20_000)
    expect(field).to_have_value(value, timeout=20_000)


def wait_for_url(page, pattern):
    page.wait_for_url(re.compile(pattern), wait_until="commit")


def settle(page):
    """Wait until the script rests and nothing on the page moves any more."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    where = (
        "[...document.querySelectorAll('[data-testid=stMain] h1, canvas')]"
        ".map(node => node.getBoundingClientRect().top).join()"
    )
    before = None
    while before != (before := page.evaluate(where)):
        page.wait_for_timeout(300)


def no_sideways_scroll(page):
    return page.evaluate(
        "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
        ".every(part => part.scrollWidth <= window.innerWidth)"
    )


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
    page.get_by_label("Acceptance p, typed").fill("0.5")
    page.keyboard.press("Enter")
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
    typed.fill("")
    page.keyboard.press("Enter")
    shows(typed, "0.6")
    see(page, pays(p=0.6))


def test_back_to_a_bare_address_keeps_the_numbers(visit):
    page = visit()
    see(page, pays())
    page.get_by_label("Acceptance p, typed").fill("0.83")
    page.keyboard.press("Enter")
    see(page, pays(p=0.83))
    page.get_by_role("link", name="One round").first.click()
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
    page.get_by_label("Acceptance p, typed").fill("0.815")
    page.keyboard.press("Enter")
    wait_for_url(page, r"p=0\.815")
    page.get_by_role("button", name="New seed").click()
    wait_for_url(page, r"seed=1")
    table = sim.simulate(sim.draft_model(p=0.815, gamma=4), rounds=200_000, rng=1)
    numbers = [f"{an.expected_tokens(0.815, 4):.4f}", str(table.tokens_per_round).split(" ± ")[0]]
    for number in numbers:
        see(page, number)
    page.get_by_role("button", name="Share").click()
    link = page.get_by_test_id("stCode").filter(has_text="http://").inner_text().strip()
    assert link == page.url
    again = visit(link.split("/", 3)[3])
    see(again, pays(p=0.815))
    for number in numbers:
        see(again, number)
    shows(again.get_by_label("Acceptance p, typed"), "0.815")


def test_a_preset_with_many_digits_survives_its_link(visit):
    page = visit()
    page.get_by_role("combobox").click()
    page.get_by_role("option", name="Chinchilla 70B with a 4B draft").click()
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
    typed.fill("7.5")
    page.keyboard.press("Enter")
    see(page, "p must be a number in [0, 1]; got 7.5. It stays at 0.7.")
    typed.fill("0.5")
    page.keyboard.press("Enter")
    see(page, pays(p=0.5))


def test_a_bad_link_gets_a_sentence_and_the_app_stays_alive(visit):
    page = visit("?p=7.5&gamma=abc&c=nan")
    see(page, "p must be a number in [0, 1]; got 7.5. 0.7 is used instead.")
    see(page, "γ must be a whole number in [1, 16]; got abc. 4 is used instead.")
    see(page, pays())
    slider(page, "Acceptance p").focus()
    page.keyboard.press("ArrowRight")
    see(page, pays(p=0.71))


@pytest.mark.parametrize("path", ["", "one_round?step=7", "your_engine", "convert", "compare"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_every_page_fits_in_both_schemes(visit, path, scheme, width):
    page = visit(path, viewport={"width": width, "height": 844}, color_scheme=scheme)
    if path in {"", "one_round?step=7"}:
        page.locator("canvas, svg.marks").first.wait_for()
    assert no_sideways_scroll(page)
    background = page.evaluate(
        "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    )
    level = sum(int(part) for part in re.findall(r"\d+", background)[:3])
    assert (level > 600) == (scheme == "light")
    page.wait_for_timeout(500)


def test_stepping_through_a_round(visit):
    page = visit("one_round")
    see(page, "A blank sheet")
    page.get_by_role("button", name="Next").click()
    see(page, "word 1 of 4")
    wait_for_url(page, r"step=1")
    page.get_by_role("button", name="To the end of the round").click()
    see(page, "The round gave 2 tokens")
    again = visit(page.url.split("/", 3)[3])
    see(again, "The round gave 2 tokens")
    again.get_by_role("button", name="Back").click()
    see(again, "stands: the coin said keep")
    again.get_by_role("button", name="New rounds").click()
    see(again, "A blank sheet")
    wait_for_url(again, r"one_round\?seed=1$")


def test_playing_advances_by_itself_until_paused(visit):
    page = visit("one_round")
    see(page, "A blank sheet")
    page.get_by_role("button", name="Play").click()
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
    page.get_by_role("link", name="One round").first.click()
    see(page, "p = 0.9, γ = 6, c = 0.1, V = 1.5, overhead 0")
    page.get_by_role("link", name="Your engine").first.click()
    page.get_by_role("button", name="Show me an example").click()
    see(page, "How the lines were read")
    page.get_by_role("button", name="Use the lowest p (0.788) in Explore").click()
    see(page, "Does speculative decoding pay?")
    wait_for_url(page, r"p=0\.7877")
    shows(page.get_by_label("Draft length γ, typed"), "3")
    wait_for_url(page, r"v=1\.5")


def test_files_come_down(visit):
    page = visit()
    see(page, pays())
    for name, start in (("PNG", b"\x89PNG"), ("CSV", b"gamma,"), ("JSON", b"{")):
        with page.expect_download() as download:
            page.get_by_test_id("stDownloadButton").filter(has_text=name).first.click()
        assert Path(download.value.path()).read_bytes().startswith(start)


def test_the_packaged_script_serves_the_same_app(chromium):
    with running_app() as url:
        page = chromium.new_page()
        page.goto(url)
        see(page, pays())
        page.close()

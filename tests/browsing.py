"""A real Chromium before a real server of the app: fixtures, and what a visitor does, once the page rests."""

import os
import re
from pathlib import Path

import pytest

import analysis as an
from app_pages.server import running_app

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


RESTS = """() => {
    const running = document.querySelector('[data-testid=stApp]').dataset.testScriptState !== 'notRunning';
    const parts = document.querySelectorAll('[data-testid=stMain] h1, canvas');
    return running ? null : [...parts].map(part => part.getBoundingClientRect().top).join();
}"""


def settle(page):
    """Wait until the script rests and nothing on the page moves, for two looks in a row after the first.

    A press reaches the script only after a moment: one look could come before it begins to run.
    """
    seen = []
    while len(seen) < 3 or seen[-1] is None or len(set(seen[-3:])) > 1:
        seen.append(page.evaluate(RESTS))
        page.wait_for_timeout(250)


def enter(page, field, text):
    """Type into a field once the page rests: what is typed while it is drawn anew is lost with it."""
    settle(page)
    field.fill(text)
    field.press("Enter")


def press(page, name):
    """Press a button once the page rests."""
    settle(page)
    page.get_by_role("button", name=name).click()


def follow(page, name):
    """Go to another page of the app once this one rests."""
    settle(page)
    page.get_by_role("link", name=name, exact=True).first.click()


def choose(page, label, option, *, exact=False):
    """Choose from a list once the page rests."""
    settle(page)
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=exact).first.click()


def shared_link(page):
    press(page, "Share")
    return page.get_by_test_id("stCode").filter(has_text="http://").inner_text().strip()


def download(page, name):
    """The bytes behind a download button."""
    settle(page)
    named = page.get_by_text(
        name, exact=True
    )  # twice, one for narrow windows: the visible one is not said
    with page.expect_download() as taken:
        page.get_by_test_id("stDownloadButton").filter(has=named).first.click()
    return Path(taken.value.path()).read_bytes()


def no_sideways_scroll(page):
    return page.evaluate(
        "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
        ".every(part => part.scrollWidth <= window.innerWidth)"
    )

"""What a visitor of the app does in a real Chromium, once the page rests."""

import re
from pathlib import Path


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


BETWEEN_LOOKS_MS, MOST_LOOKS = 250, 80
RESTS = """() => {
    const running = document.querySelector('[data-testid=stApp]').dataset.testScriptState !== 'notRunning'
        || document.querySelector('[data-testid=stSkeleton]');
    const parts = document.querySelectorAll('[data-testid=stMain] h1, canvas');
    return running ? null : [...parts].map(part => part.getBoundingClientRect().top).join();
}"""

NEXT_FRAME = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def settle(page):
    """Wait until the script rests and nothing on the page moves, for two looks in a row after the first.

    A press reaches the script only after a moment: one look could come before it begins to run.
    """
    seen = []
    while len(seen) < 3 or seen[-1] is None or len(set(seen[-3:])) > 1:
        assert len(seen) < MOST_LOOKS, f"the page at {page.url} does not come to rest"
        seen.append(page.evaluate(RESTS))
        page.wait_for_timeout(BETWEEN_LOOKS_MS)


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
    box = page.get_by_role("combobox", name=label)
    box.scroll_into_view_if_needed()
    page.evaluate(NEXT_FRAME)  # an open list closes when the page scrolls: that comes first
    box.click()
    page.get_by_role("option", name=option, exact=exact).first.click()


def shared_link(page):
    press(page, "Share")
    return page.get_by_test_id("stCode").filter(has_text="http://").inner_text().strip()


def download(page, name):
    """The bytes behind a download button."""
    settle(page)
    # The name is there twice, once for narrow windows; which of the two can be seen is not known here.
    named = page.get_by_text(name, exact=True)
    with page.expect_download() as taken:
        page.get_by_test_id("stDownloadButton").filter(has=named).first.click()
    return Path(taken.value.path()).read_bytes()


def no_sideways_scroll(page):
    return page.evaluate(
        "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
        ".every(part => part.scrollWidth <= window.innerWidth)"
    )


MOST_TABS = 60
FOCUSED = (
    "(document.activeElement.ariaLabel || document.activeElement.innerText"
    " || document.activeElement.labels?.[0]?.innerText || '').trim()"
)


def tab_to(page, name, *, backwards=False):
    """Press the tab key until something of that name has the focus, as someone without a mouse does."""
    passed = []
    for _ in range(MOST_TABS):
        page.keyboard.press("Shift+Tab" if backwards else "Tab")
        passed.append(page.evaluate(FOCUSED).split("\n")[-1])
        if passed[-1] == name:
            return
    raise AssertionError(f"{name} is not within {MOST_TABS} presses of the tab key: {passed}")

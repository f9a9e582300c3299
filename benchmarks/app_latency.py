"""From a key on a slider to the new number on the screen, in a real Chromium. Run it alone."""

import argparse
import os
import statistics
from pathlib import Path

from playwright.sync_api import sync_playwright
from rows import Row

from app_pages.server import running_app

APP = Path(__file__).resolve().parents[1] / "app.py"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PAGES = (  # path, slider, what changes: its kind and a text in it
    ("", "Acceptance p", "stAlert", "γ ="),
    ("one_token", "Temperature", "stMetric", "p under this rule"),
    ("where_it_breaks", "Acceptance p", "stAlert", "γ ="),
    ("explain", "Acceptance p", "stMetric", "Net speedup"),
    ("plan", "Acceptance p", "stAlert", "The largest gain"),
    ("systems?system=eagle-2", "Nodes kept", "stMetric", "Tokens in the pass"),
)

# In the page, so that no round trip of the driver is in the time: wait until the text changes.
WATCH = """
([kind, text]) => { window.changed = new Promise(done => {
  const target = () => [...document.querySelectorAll(`[data-testid=${kind}]`)]
    .find(node => node.innerText.includes(text))?.innerText;
  const before = target();
  const seen = new MutationObserver(() => {
    const now = target();
    if (now && now !== before) { seen.disconnect(); done(performance.now() - window.pressed); }
  });
  seen.observe(document.body, {subtree: true, childList: true, characterData: true});
  window.pressed = null;
  const press = () => { window.pressed ??= performance.now(); };
  document.addEventListener('keydown', press, {once: true, capture: true});
}); }
"""


def measure(presses, page=PAGES[0]):
    """Milliseconds per key press on the page's slider, each to the changed number."""
    path, label, *what = page
    with running_app(APP) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1200, "height": 1000})
        page.goto(f"{address}/{path}")
        page.get_by_test_id(what[0]).filter(has_text=what[1]).wait_for()
        page.wait_for_timeout(1500)
        page.locator(f'input[type=range][aria-label="{label}"]').focus()
        times = []
        for _ in range(presses):
            page.evaluate(WATCH, what)
            page.keyboard.press("ArrowRight")
            times.append(page.evaluate("window.changed"))
            page.wait_for_timeout(700)
        browser.close()
    return times


def rows(presses=15):
    """The first page, and the slowest of those that predict a deployment under load."""
    load = ("where_it_breaks", "explain", "plan")
    medians = {page[0]: statistics.median(measure(presses, page)) for page in PAGES}
    slowest = max(load, key=medians.get)
    return [
        _row("slider key to new verdict on the screen, headless Chromium", medians[""]),
        _row(
            f"the same on the slowest of the pages {', '.join(load)}: {slowest}", medians[slowest]
        ),
    ]


def _row(what, median):
    return Row(what=what, measured=f"{median / 1000:.2f} s", required="< 0.5 s", ok=median < 500.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--presses", type=int, default=15)
    presses = parser.parse_args().presses
    for page in PAGES:
        times = sorted(measure(presses, page))
        print(f"{page[1] + ' to new number':<28} median {statistics.median(times):.0f} ms")
        print(f"{'':<28} fastest {times[0]:.0f} ms, slowest {times[-1]:.0f} ms, n = {len(times)}")


if __name__ == "__main__":
    main()

"""From a key on the slider to the new number on the screen, in a real Chromium. Run it alone."""

import argparse
import os
import statistics
from pathlib import Path

from playwright.sync_api import sync_playwright

from app_pages.server import running_app

APP = Path(__file__).resolve().parents[1] / "app.py"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]

# In the page, so that no round trip of the driver is in the time: wait until the text changes.
WATCH = """
() => new Promise(done => {
  const target = [...document.querySelectorAll('[data-testid=stAlert]')]
    .find(node => node.innerText.includes('γ ='));
  const before = target.innerText;
  const seen = new MutationObserver(() => {
    const now = document.querySelector('[data-testid=stAlert]');
    if (now && now.innerText !== before) { seen.disconnect(); done(performance.now() - window.pressed); }
  });
  seen.observe(document.body, {subtree: true, childList: true, characterData: true});
  window.pressed = null;
  const press = () => { window.pressed ??= performance.now(); };
  document.addEventListener('keydown', press, {once: true, capture: true});
})
"""


def measure(presses):
    """Milliseconds per key press on p, each to the changed verdict."""
    with running_app(APP) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1200, "height": 1000})
        page.goto(address)
        page.get_by_text("Pays: 1.98×").wait_for()
        page.wait_for_timeout(1500)
        page.locator('input[type=range][aria-label="Acceptance p"]').focus()
        times = []
        for _ in range(presses):
            page.evaluate(f"void (window.changed = ({WATCH})())")
            page.keyboard.press("ArrowRight")
            times.append(page.evaluate("window.changed"))
            page.wait_for_timeout(700)
        browser.close()
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--presses", type=int, default=15)
    times = sorted(measure(parser.parse_args().presses))
    print(f"{'slider key to new verdict':<28} median {statistics.median(times):.0f} ms")
    print(f"{'':<28} fastest {times[0]:.0f} ms, slowest {times[-1]:.0f} ms, n = {len(times)}")


if __name__ == "__main__":
    main()

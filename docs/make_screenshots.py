"""Takes the pictures of the app that the README and the documents show."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from app_pages.server import running_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
MOST_BYTES = 300_000
TOP = 100  # the empty strip above the title
PARTS = {
    "draft-length.png": ("Which draft length", "By kind, and over time"),
    "where-it-breaks.png": ("3 · A busy server", "4 · Arrivals"),
    "arrivals.png": ("4 · Arrivals", "Take it along"),
}
"""Pictures of a part of a page: from one heading to the next."""
SHOTS = (  # file, path, scheme, width, height
    ("app.png", "", "light", 1200, 1240),
    ("app-dark.png", "", "dark", 1200, 1240),
    ("one-round.png", "one_round?seed=27&step=18", "light", 1200, 1215),
    ("one-token.png", "one_token?draw=8", "light", 1200, 1275),
    ("your-engine.png", "your_engine", "light", 1200, 2196),
    ("draft-length.png", "your_engine", "light", 1200, 3700),
    ("convert.png", "convert", "light", 1200, 1395),
    ("compare.png", "compare", "light", 1200, 1420),
    ("real-runs.png", "real_runs", "light", 1200, 1590),
    ("systems.png", "systems?system=eagle-2", "light", 1200, 2660),
    ("where-it-breaks.png", "where_it_breaks?batch=512", "light", 1200, 4300),
    ("arrivals.png", "where_it_breaks?arrivals=chat&arrive=60", "light", 1200, 5600),
    ("explain.png", "explain?batch=64", "light", 1200, 2000),
    ("plan.png", "plan?against=lookup:0.4", "light", 1200, 2080),
)


def main() -> None:
    """Take every picture, or those that are named; fails if one is too heavy for a README."""
    wanted = sys.argv[1:]
    IMAGES.mkdir(parents=True, exist_ok=True)
    with running_app(ROOT / "app.py") as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=FLAGS
        )
        for name, path, scheme, width, height in SHOTS:
            if wanted and name not in wanted:
                continue
            _shoot(browser, f"{address}/{path}", IMAGES / name, scheme, (width, height))
        browser.close()


def _shoot(browser: Browser, url: str, file: Path, scheme: str, size: tuple[int, int]) -> None:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("h1")
    if "your_engine" in url:
        page.get_by_role("combobox", name="Or a log from a public report").click()
        page.get_by_role("option", name="club-3090 105").click()
        page.get_by_text("Why this process and no other").wait_for()
        page.evaluate("document.activeElement.blur()")
    if "compare" in url:
        page.get_by_role("button", name="Show me an example").click()
        page.get_by_text("The numbers of this chart").first.wait_for()
    if "real_runs" in url:
        page.get_by_role("combobox").first.click()
        page.get_by_role("option", name="tiny").click()
        page.get_by_text("tiny-draft").first.wait_for()
        page.evaluate("document.activeElement.blur()")
    if "arrivals" in url:
        page.get_by_text("Good answers").first.wait_for()
    if "convert" not in url:
        page.locator("canvas, svg.marks").first.wait_for()
    page.mouse.move(5, 500)
    page.wait_for_function(
        "!document.querySelector('[data-testid=stSkeleton]')"
    )  # parts still loading
    page.wait_for_timeout(2500)  # fonts and charts settle
    top, bottom = TOP, size[1]
    if file.name in PARTS:
        top, bottom = (
            int(page.get_by_role("heading", name=name).bounding_box()["y"]) - 16
            for name in PARTS[file.name]
        )
    page.screenshot(path=file, clip={"x": 0, "y": top, "width": size[0], "height": bottom - top})
    context.close()
    if file.stat().st_size > MOST_BYTES:
        raise RuntimeError(f"{file.name} must have at most {MOST_BYTES} bytes.")


if __name__ == "__main__":
    main()

"""Fixed seeds, independent of order: every check holds for any seed, so none was chosen. And a browser."""

from __future__ import annotations

import os
import re
from pathlib import Path
from zlib import crc32

# One thread: several slow one another down a hundredfold where something else holds a core.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings

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

SUITE_SEED = 20221130  # the month of arXiv 2211.17192

settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")


@pytest.fixture
def rng(request):
    return np.random.default_rng([SUITE_SEED, crc32(request.node.nodeid.encode())])


@pytest.fixture(scope="session")
def small_target_folder(tmp_path_factory):
    from small_models import save_model  # noqa: PLC0415 — only tests of models load torch

    return save_model(tmp_path_factory.mktemp("models") / "small-target")


@pytest.fixture(scope="session")
def small_draft_folder(tmp_path_factory):
    from small_models import save_model  # noqa: PLC0415

    return save_model(tmp_path_factory.mktemp("models") / "small-draft", noise=0.05)


@pytest.fixture(scope="session")
def two_texts(tmp_path_factory):
    path = tmp_path_factory.mktemp("texts") / "two.txt"
    path.write_text("def f(x):\nimport os\n")
    return path


@pytest.fixture(scope="session")
def measure_small(small_target_folder, small_draft_folder, two_texts):
    """`specdec measure` of small models and two prompts, without its --out."""
    return (
        "measure",
        *("--target", str(small_target_folder), "--draft", str(small_draft_folder)),
        *("--gamma", "1,3", "--prompts", str(two_texts), "--max-tokens", "8", "--threads", "1"),
    )


@pytest.fixture(scope="module")
def address():
    from app_pages.server import running_app  # noqa: PLC0415 — only browser tests need it

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


@pytest.fixture(scope="module")
def stacks():
    """Target and draft of the GPU benchmark's small run, in float64."""
    import torch  # noqa: PLC0415 — costs seconds at import
    from gpu_settings import SMALL  # noqa: PLC0415
    from gpu_stack import Stack  # noqa: PLC0415

    return {
        "target": Stack(SMALL.target, device="cpu", dtype=torch.float64, seed=1),
        "draft": Stack(SMALL.draft, device="cpu", dtype=torch.float64, seed=2),
    }

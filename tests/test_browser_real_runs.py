"""The page of measured runs in a real Chromium: two files go up, numbers and files come down."""

import pytest
from browsing import (
    download,
    follow,
    no_sideways_scroll,
    see,
)
from measured_runs import measured_run
from run_files import write_run

pytestmark = pytest.mark.browser
SURE = {"acceptance": (1.0,), "length": 90, "gammas": (2, 4, 8)}


def give(page, folder):
    files = [folder / "run.json", folder / "requests.jsonl"]
    page.locator("input[type=file]").set_input_files(files)


def test_a_run_goes_up_on_a_phone_and_files_come_down(visit, tmp_path):
    page = visit("real_runs", viewport={"width": 390, "height": 900})
    give(page, write_run(tmp_path / "run", measured_run(**SURE)))
    see(page, "Pays: best measured γ = 8, 3.51×")
    page.locator("canvas, svg.marks").nth(2).wait_for()  # three charts
    assert no_sideways_scroll(page)
    for name, start in (("CSV", b"run,gamma,"), ("JSON", b"{"), ("PNG", b"\x89PNG")):
        assert download(page, name).startswith(start)


def test_a_broken_upload_gets_a_sentence_and_a_good_one_follows(visit, tmp_path):
    page = visit("real_runs")
    folder = write_run(tmp_path / "run", measured_run(**SURE))
    page.locator("input[type=file]").set_input_files([folder / "run.json"])
    see(page, "requests.jsonl is missing")
    page.locator("input[type=file]").set_input_files([folder / "requests.jsonl"])
    see(page, "Pays: best measured γ = 8, 3.51×")
    page.get_by_role("tab", name="Predicted").click()
    follow(page, "Explore")
    see(page, "Does speculative decoding pay?")

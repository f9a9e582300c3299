"""A whole visit without a mouse: from the address bar to a file on the disk."""

import json
from pathlib import Path

import pytest
from browsing import see, settle, shows, slider, tab_to

import analysis as an

pytestmark = pytest.mark.browser
LOG = Path(__file__).parent / "logs" / "llamacpp_server.log"
LINE = (
    "draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length =  2.92, "
    "acceptance rate per position = (0.805, 0.632, 0.483)\n"
)


def test_from_the_slider_to_a_file_of_a_log(visit):
    page = visit()
    see(page, f"Pays: {an.speedup(0.7, 4, 0.1):.2f}× faster")
    settle(page)
    tab_to(page, "Acceptance p")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    see(page, f"Pays: {an.speedup(0.73, 4, 0.1):.2f}× faster")
    shows(slider(page, "Acceptance p"), "0.73")
    settle(page)
    tab_to(page, "Your engine", backwards=True)
    page.keyboard.press("ArrowDown")  # opens the menu, and the first of it has the focus
    page.get_by_test_id("stTopNavDropdownLink").first.wait_for()
    page.wait_for_function(
        "document.activeElement.dataset.testid === 'stTopNavDropdownLink'"
        " && document.activeElement.innerText.includes('Import')"
    )
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Import", exact=True).wait_for()
    settle(page)
    tab_to(page, "Paste the lines")
    page.keyboard.insert_text(LINE)
    page.keyboard.press("Control+Enter")
    see(page, "0.788 to 0.795")
    see(page, "Take it along")
    settle(page)
    with page.expect_download() as taken:
        tab_to(page, "What it says, JSON")
        page.keyboard.press("Enter")
    assert json.loads(Path(taken.value.path()).read_bytes())["command"] == "import"

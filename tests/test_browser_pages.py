"""Every page in a real Chromium: it loads clean and fits, in both schemes and at both widths."""

import re

import pytest
from app_page_list import ALL, name_of
from browsing import NEXT_FRAME, no_sideways_scroll, settle

pytestmark = pytest.mark.browser
WIDE, NARROW = {"width": 1200, "height": 1000}, {"width": 390, "height": 844}
# Where a page begins at decides how its navigation is folded: each width begins once.
BEGINNINGS = {"light": (WIDE, NARROW), "dark": (NARROW, WIDE)}


@pytest.mark.parametrize("scheme", BEGINNINGS)
@pytest.mark.parametrize("shown", ALL, ids=name_of)
def test_it_loads_clean_and_fits(visit, shown, scheme):
    first, then = BEGINNINGS[scheme]
    page = visit(shown.path, viewport=first, color_scheme=scheme)
    if shown.charts:
        page.locator("canvas, svg.marks").nth(shown.charts - 1).wait_for()
    settle(page)
    assert page.locator("h1").count() == 1
    assert no_sideways_scroll(page)
    background = page.evaluate(
        "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    )
    level = sum(int(part) for part in re.findall(r"\d+", background)[:3])
    assert (level > 600) == (scheme == "light")
    page.set_viewport_size(then)
    page.evaluate(NEXT_FRAME)
    settle(page)
    assert no_sideways_scroll(page)
    assert page.get_by_test_id("stException").count() == 0

"""Every page as assistive technology finds it: axe-core, both schemes, without serious findings.

All rules are run, WCAG 2 A and AA and best practice; those of minor and moderate impact are reported with
a failure but do not fail by themselves.
"""

from dataclasses import dataclass

import pytest
from app_page_list import ALL, name_of
from browsing import NEXT_FRAME, settle

pytestmark = pytest.mark.browser
GRAVE = {"serious", "critical"}
NARROW = {"width": 390, "height": 844}
ON_A_PHONE = ("Explore", "Import")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotOurs:
    """A finding that cannot be mended from outside: `marker` is in the element, `page` surely has it."""

    rule: str
    marker: str
    page: str
    reason: str


NOT_OURS = (
    NotOurs(
        rule="scrollable-region-focusable",
        marker='class="katex-display"',
        page="Explore",
        reason="Streamlit lets a formula scroll that KaTeX draws two pixels wider than it measured; the "
        "element cannot be given a tab stop from Python. Nothing of it is hidden.",
    ),
    NotOurs(
        rule="svg-img-alt",
        marker="mark container",
        page="Explain",
        reason="Vega gives the group of an empty layer the role of an image without a name; the chart "
        "around it has one.",
    ),
    NotOurs(
        rule="list",
        marker='data-testid="stSidebarNavItems"',
        page="Explore",
        reason="On a phone Streamlit folds the navigation away and puts its sections right into one list.",
    ),
    NotOurs(
        rule="listitem",
        marker="<li",
        page="Explore",
        reason="The pages of these sections: items of a list that the section stands between.",
    ),
)


def findings(page, options=None):
    """(rule, impact, element) of everything that axe-core finds."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415

    found = Axe().run(page, options=options).response["violations"]
    return [(each["id"], each["impact"], node["html"]) for each in found for node in each["nodes"]]


def not_ours(finding):
    rule, _, element = finding
    return next((each for each in NOT_OURS if each.rule == rule and each.marker in element), None)


def check(found):
    ours = [each for each in found if each[1] in GRAVE and not_ours(each) is None]
    lesser = sorted({(rule, impact) for rule, impact, _ in found if impact not in GRAVE})
    assert ours == [], f"lesser findings beside them: {lesser}"


@pytest.mark.parametrize("shown", ALL, ids=name_of)
def test_no_page_has_a_serious_finding(visit, shown):
    page = visit(shown.path, color_scheme="light")
    if shown.charts:
        page.locator("canvas, svg.marks").nth(shown.charts - 1).wait_for()
    settle(page)
    found = findings(page)
    page.emulate_media(color_scheme="dark")
    page.evaluate(NEXT_FRAME)
    settle(page)
    found += findings(page, {"runOnly": {"type": "rule", "values": ["color-contrast"]}})
    if shown.title in ON_A_PHONE:
        page.set_viewport_size(NARROW)
        page.evaluate(NEXT_FRAME)
        settle(page)
        found += findings(page)
    check(found)
    known = {not_ours(each) for each in found}
    gone = [each.rule for each in NOT_OURS if each.page == shown.title and each not in known]
    assert gone == [], "no longer found: take it off the list"


def test_a_page_with_a_serious_finding_would_be_seen(visit):
    page = visit("convert")
    settle(page)
    page.evaluate(
        "document.querySelector('[data-testid=stMain]').insertAdjacentHTML('beforeend', '<button></button>')"
    )
    with pytest.raises(AssertionError, match="button-name"):
        check(findings(page))

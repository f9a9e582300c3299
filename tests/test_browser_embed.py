"""The one HTML file in a real Chromium: opened from disk, without a network."""

import dataclasses
import re

import pytest

import analysis as an
from analysis.embed.document import embedded_page
from analysis.live.setting import MAX_GAMMA, LiveSetting
from analysis.palette import EXACT, on_dark
from analysis.presets import presets
from analysis.verdict import verdict

pytestmark = pytest.mark.browser
ARTICLE = LiveSetting(p=0.7, gamma=4, cost_ratio=0.1)
READY = "document.querySelectorAll('.chart svg').length === 4 && document.querySelector('#verdict').textContent"
FRAMES = """() => new Promise(
    done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 80)
)"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("embed") / "explorer.html"
    path.write_text(embedded_page(ARTICLE, title="Does it pay?"), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def visit(chromium, address):
    """Opens the file in a fresh context that is offline; nothing but the file may have been asked for."""
    contexts, wrong = [], []

    def open_page(link="", **options):
        options = {"viewport": {"width": 1200, "height": 900}, **options}
        context = chromium.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text))
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith(("file:", "data:")) else wrong.append(request.url)
            ),
        )
        page.goto(address + link)
        page.wait_for_function(READY)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def exact(setting):
    return an.over_gamma(
        setting.p,
        setting.cost_ratio,
        max_gamma=MAX_GAMMA,
        verify_cost=setting.verify_cost,
        overhead=setting.overhead,
    )


def sentence(setting):
    curve = exact(setting)
    return verdict(setting.gamma, curve.points[setting.gamma].speedup, curve.best)


def follows(page, setting):
    """The whole page says what `analysis` computes for the setting."""
    page.wait_for_function(
        "words => document.querySelector('#verdict').textContent === words", arg=sentence(setting)
    )
    page.evaluate(FRAMES)
    curve = exact(setting)
    rows = page.locator("#rows tr").all_inner_texts()
    assert len(rows) == MAX_GAMMA
    for row, point in zip(rows, curve.points[1:], strict=True):
        tokens, cost, speedup = re.findall(r"[\d.]+", row)[1:4]
        assert abs(float(tokens) - point.tokens_per_round) < 6e-4
        assert abs(float(cost) - point.round_cost) < 6e-3
        assert abs(float(speedup) - point.speedup) < 6e-3
        assert ("yours" in row) == (point.gamma == setting.gamma)
        assert ("best" in row) == (point.gamma == curve.best.gamma)
    here = curve.points[setting.gamma]
    shown = page.locator("[data-slot=speedup]").first.text_content()
    assert float(shown) == pytest.approx(here.speedup, rel=6e-4)
    # Vega writes "γ: 4; speedup: 1.981" behind each mark: the curve that is drawn, read from the picture.
    labels = page.locator("#speedup path[aria-label*='speedup']").evaluate_all(
        "marks => marks.map(mark => mark.getAttribute('aria-label'))"
    )
    drawn = dict(
        map(float, found.groups())
        for found in (re.search(r"(?:^|; )γ: (\d+); speedup: ([\d.]+)", label) for label in labels)
        if found
    )
    for point in curve.points[1:]:
        assert drawn[point.gamma] == pytest.approx(point.speedup, abs=6e-4)


def test_numbers_near_one_are_not_rounded_to_one(visit):
    page = visit("#p=0.999999")
    follows(page, dataclasses.replace(ARTICLE, p=0.999999))
    assert set(page.locator("[data-slot=p]").all_text_contents()) == {"0.999999"}
    assert page.locator("#p-typed").input_value() == "0.999999"
    assert "p is 0.999999." in page.locator("#trap-text").inner_text()


def slider(page, name):
    return page.locator(f"#{name}")


def test_opens_from_disk_on_the_article_s_example(visit):
    page = visit()
    assert page.locator("h1").inner_text() == "Does it pay?"
    follows(page, ARTICLE)
    assert page.locator("[data-slot=tokens]").first.text_content() == "2.773"


def test_dragging_moves_everything_while_the_button_is_down(visit):
    page = visit()
    box = slider(page, "p").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 0.7 * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.4 * box["width"], y, steps=8)
    value = float(slider(page, "p").input_value())
    assert 0.35 < value < 0.45
    follows(page, dataclasses.replace(ARTICLE, p=value))  # not released yet
    page.mouse.up()


def test_arrow_keys_move_every_slider(visit):
    page = visit()
    slider(page, "p").focus()
    page.keyboard.press("ArrowRight")
    slider(page, "gamma").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    slider(page, "cost_ratio").focus()
    page.keyboard.press("ArrowLeft")
    follows(page, dataclasses.replace(ARTICLE, p=0.71, gamma=7, cost_ratio=0.09))
    assert page.locator("#gamma-typed").input_value() == "7"


def test_the_keyboard_alone_reaches_all_inputs(visit):
    page = visit()
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id"))
    wanted = ["preset", "reset", "p", "p-typed", "gamma", "gamma-typed", "cost_ratio"]
    assert [one for one in seen if one in wanted] == wanted


def test_typing_reaches_further_than_the_slider_and_bad_numbers_are_said(visit):
    page = visit()
    page.get_by_text("What the article leaves out").click()
    page.locator("#verify_cost-typed").fill("7.5")
    follows(page, dataclasses.replace(ARTICLE, verify_cost=7.5))
    page.locator("#p-typed").fill("1.5")
    problem = page.locator("#problem")
    assert problem.inner_text() == "Acceptance p must be a number from 0 to 1. It stays at 0.7."
    follows(page, dataclasses.replace(ARTICLE, verify_cost=7.5))
    page.locator("#p-typed").press("Tab")
    assert page.locator("#p-typed").input_value() == "0.7"


def test_a_preset_sets_the_numbers_and_names_its_source(visit):
    page = visit()
    preset = presets()[1]
    page.locator("#preset").select_option(preset.name)
    follows(page, LiveSetting(p=preset.p, gamma=preset.gamma, cost_ratio=preset.cost_ratio))
    assert preset.source in page.locator("#source").inner_text()
    page.locator("#reset").click()
    follows(page, ARTICLE)


def test_the_address_sets_and_keeps_the_numbers(visit):
    page = visit("#p=0.9&gamma=8&c=0.03&v=1.25&overhead=0.1")
    there = LiveSetting(p=0.9, gamma=8, cost_ratio=0.03, verify_cost=1.25, overhead=0.1)
    follows(page, there)
    assert page.locator("#left-out").get_attribute("open") is not None
    slider(page, "gamma").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile(r"#p=0\.9&gamma=7&c=0\.03&v=1\.25&overhead=0\.1$"))
    page.evaluate("location.hash = '#p=0.5'")
    follows(page, dataclasses.replace(ARTICLE, p=0.5))


def test_a_bad_address_is_said_and_the_rest_of_it_used(visit):
    page = visit("#p=7&gamma=2.5&c=0.2")
    said = page.locator("#problem").inner_text()
    assert "Acceptance p must be a number from 0 to 1. 0.7 is used instead." in said
    assert "Draft length γ must be a whole number from 1 to 16. 4 is used instead." in said
    follows(page, dataclasses.replace(ARTICLE, cost_ratio=0.2))


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_both_ends_of_p(visit, p):
    page = visit(f"#p={p:g}")
    follows(page, dataclasses.replace(ARTICLE, p=p))
    assert page.locator("[data-when=one]").get_attribute("data-off") == (None if p == 1.0 else "")


def test_a_dark_page_has_dark_paper_and_colours_of_its_own(visit):
    light, dark = visit(), visit(color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert (light.evaluate(paper), dark.evaluate(paper)) == (
        "rgb(255, 255, 255)",
        "rgb(20, 23, 28)",
    )
    assert light.locator("#speedup path[stroke='#0072B2']").count()
    assert dark.locator(f"#speedup path[stroke='{on_dark(EXACT)}']").count()
    follows(dark, ARTICLE)
    dark.emulate_media(color_scheme="light")
    dark.wait_for_selector("#speedup path[stroke='#0072B2']", state="attached")
    follows(dark, ARTICLE)


def test_a_phone_scrolls_in_one_direction_only(visit):
    page = visit(viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for name in ("speedup", "tokens", "map", "trap"):
        box = page.locator(f"#{name} svg").bounding_box()
        assert box["x"] + box["width"] <= 390
    page.mouse.wheel(0, 1200)
    page.evaluate(FRAMES)
    box = slider(page, "p").bounding_box()
    assert 0 <= box["y"] < 200  # the sliders stay in sight of the charts
    follows(page, ARTICLE)


def grave(results):
    """The rules with serious or critical findings."""
    found = results.response["violations"]
    return [each["id"] for each in found if each["impact"] in {"serious", "critical"}]


@pytest.mark.parametrize(
    "options", [{"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}}]
)
def test_no_serious_finding_of_accessibility(visit, options):
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 — only browser tests need it

    page = visit("#v=1.1", **options)
    assert grave(Axe().run(page)) == []
    page.evaluate("document.querySelector('label[for=gamma]').remove()")
    assert "label" in grave(Axe().run(page))  # a real fault would be found


def test_it_works_inside_a_frame_of_another_page(chromium, address, tmp_path):
    outside = tmp_path / "article.html"
    outside.write_text(f'<iframe src="{address}#p=0.9" width="700" height="600"></iframe>')
    page = chromium.new_context(offline=True).new_page()
    page.goto(outside.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("#verdict", has_text=sentence(dataclasses.replace(ARTICLE, p=0.9))).wait_for()
    page.context.close()


def test_a_formula_changed_in_the_file_is_seen(chromium, tmp_path):
    """The negative control: were a signal wrong, the verdict would be."""
    right = embedded_page(ARTICLE)
    wrong = right.replace("tokens[4] / round_costs[4]", "tokens[3] / round_costs[4]")
    assert wrong != right
    said = []
    for text in (right, wrong):
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        page = chromium.new_context(offline=True).new_page()
        page.goto(path.as_uri())
        page.wait_for_function(READY)
        said.append(page.locator("#verdict").inner_text())
        page.context.close()
    assert said[0] == sentence(ARTICLE) != said[1]

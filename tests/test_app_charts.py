"""Every chart of every page says what it shows now, has its numbers beside it, and keeps to the palette."""

import copy
import json
import math
import re
from functools import cache
from types import ModuleType

import altair as alt
import pandas as pd
import pytest
from app_scripts import press, show
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from test_charts_serving import POINTS

from analysis import palette
from analysis.serving.charts import gain_over_rate, times_over_rate
from app_pages import chart, chart_table, downloads, shell
from app_pages.where_it_breaks import arrivals_table

EXAMPLE = "Show me an example"
SCENES = {
    "explore": ({}, {"p": "0.55", "seed": "3"}),
    "one_round": ({"step": "6"}, {"step": "9"}),
    "one_token.page": ({"pair": "disagree", "temp": "1.5"}, {"pair": "sharp", "rule": "one_hot"}),
    "systems.page": ({"system": "eagle-2"}, {"system": "medusa", "c": "0.2"}),
    "where_it_breaks.page": ({}, {"p": "0.5", "batch": "8"}),
    "explain_page.page": ({}, {"p": "0.4"}),
    "plan_page.page": ({}, {"p": "0.4"}),
    "your_engine.page": ("vLLM: acceptance changed (club-3090 105)", "llama.cpp: healthy (llama.cpp 24536)"),
    "compare.page": (EXAMPLE, None),
    "measured_runs.page": ("", "next"),
}  # fmt: skip
"""Of each page, two settings that it shows in turn."""
COMPUTED_IN_THE_BROWSER = {"convert.page"}
"""Their charts hold no numbers until a browser draws them."""
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*\.\d+")
COLOUR_KEYS = {"color", "fill", "stroke", "symbolStrokeColor", "range"}
HEX = re.compile(r"#[0-9A-Fa-f]{3,8}")
ALLOWED = {*palette.DARK, palette.INK, palette.PAPER, "transparent"}


class Drawn:
    """A chart as it reached the page: specification, words, and the rows of its data."""

    def __init__(self, proto):
        self.spec = json.loads(proto.spec)
        self.words = self.spec["description"]
        self.sets = [convert_arrow_bytes_to_pandas_df(each.data.data) for each in proto.datasets]
        inline = [layer.get("data", {}) for layer in self.spec.get("layer", [])]
        self.sets += [pd.DataFrame(each["values"]) for each in inline if "values" in each]

    @property
    def title(self):
        return self.spec.get("title", "timeline")

    @property
    def shown(self):
        return {value for each in self.sets for value in numbers(each)}

    @property
    def has_table(self):
        return self.words.endswith(f"“{chart.NUMBERS}” stand below.")


def numbers(frame):
    """All finite numbers of a table that are no whole ones."""
    cells = pd.to_numeric(pd.Series(frame.to_numpy().ravel()), errors="coerce").dropna()
    return [float(cell) for cell in cells if math.isfinite(cell) and cell != round(cell)]


@cache
def page(name, place):
    setting = SCENES[name][place]
    app = show(name)
    if isinstance(setting, dict):
        for key, value in setting.items():
            app.query_params[key] = value
    app.run()
    if name == "compare.page":
        press(app, EXAMPLE)
    elif name == "your_engine.page":
        app.selectbox(key="log_example").set_value(setting).run()
    elif name == "measured_runs.page" and setting:
        box = app.selectbox[0]
        box.set_value(box.options[1]).run()
    assert not app.exception
    return app


def charts(name, place=0):
    """The charts that the server computes; those that a browser computes have tests of their own."""
    found = [Drawn(item.proto) for item in page(name, place).get("vega_lite_chart")]
    return [each for each in found if not any("bind" in p for p in each.spec.get("params", ()))]


def says_numbers_of(words, values):
    """How many of the broken numbers in the words are values of the data, as they are rounded there."""
    said = [text.replace(",", "") for text in NUMBER.findall(words)]
    either = [scale * value for value in values for scale in (1, 100)]
    return sum(any(_as_said(value, text) == text for value in either) for text in said)


def _as_said(value, text):
    return f"{value:.{len(text.partition('.')[2])}f}"


def shares(frame, values):
    """How many numbers of a table are values of the chart, to six digits."""
    known = {float(f"{value:.4g}") for value in values}
    return len({float(f"{value:.4g}") for value in numbers(frame)} & known)


def strange_colours(part, key=""):
    """Colours in a specification that the palette does not know."""
    if isinstance(part, dict):
        if part.get("scheme") not in {None, *palette.SCALES}:
            yield part["scheme"]
        for name, each in part.items():
            if name not in {"data", "datasets", "description", "title"}:
                yield from strange_colours(each, name)
    elif isinstance(part, list):
        for each in part:
            yield from strange_colours(each, key)
    elif isinstance(part, str):
        named = key in COLOUR_KEYS - {"range"} or HEX.fullmatch(part)
        if named and part not in ALLOWED:
            yield part


def positional(spec):
    """Each quantitative x and y of every layer: its channel, its encoding, and that of the other one."""
    for layer in spec.get("layer", [spec]):
        encoding = {**spec.get("encoding", {}), **layer.get("encoding", {})}
        for channel, other in (("x", "y"), ("y", "x")):
            each = encoding.get(channel, {})
            if each.get("type") == "quantitative":
                yield channel, each, encoding.get(other, {})


def test_every_page_of_the_shell_is_looked_at():
    modules = [each for each in vars(shell).values() if isinstance(each, ModuleType)]
    pages = {each.__name__.removeprefix("app_pages.") for each in modules if hasattr(each, "page")}
    assert pages == {*SCENES, *COMPUTED_IN_THE_BROWSER}


@pytest.mark.parametrize("name", SCENES)
def test_every_chart_says_what_is_seen_with_numbers_of_its_data(name):
    found = charts(name)
    assert found
    for each in found:
        assert len(each.words) > 100, each.title
        assert says_numbers_of(each.words, each.shown) >= 2, (each.title, each.words)


@pytest.mark.parametrize("name", [name for name in SCENES if name != "compare.page"])
def test_the_words_follow_the_setting(name):
    before, after = ({each.title: each for each in charts(name, place)} for place in (0, 1))
    both = [title for title in before if title in after]
    changed = [title for title in both if before[title].shown != after[title].shown]
    assert changed
    for title in changed:
        assert before[title].words != after[title].words, title


@pytest.mark.parametrize("name", SCENES)
def test_every_chart_is_valid_vega_lite(name):
    """The pages do not check this at each drawing, which would take longer than the drawing."""
    for each in charts(name):
        alt.Chart.from_dict(each.spec)


@pytest.mark.parametrize("name", SCENES)
def test_the_numbers_of_every_chart_stand_beside_it(name):
    app, found = page(name, 0), charts(name)
    boxes = [each for each in app.expander if each.label == chart.NUMBERS]
    own = [each for each in found if each.has_table]
    assert len(boxes) == len(own)
    for each, box in zip(own, boxes, strict=True):
        (table,) = box.dataframe
        assert shares(table.value, each.shown) >= min(3, len(each.shown) - 1), each.title
    inside = {id(item.proto) for box in boxes for item in box.dataframe}
    others = [item.value for item in app.dataframe if id(item.proto) not in inside]
    for each in found:
        if not each.has_table:
            assert " Its numbers stand in the table" in each.words
            assert max(shares(frame, each.shown) for frame in others) >= 3, each.title


@pytest.mark.parametrize("name", SCENES)
def test_colours_are_those_of_the_palette(name):
    for each in charts(name):
        assert list(strange_colours(each.spec)) == [], each.title


@pytest.mark.parametrize("name", SCENES)
def test_axes_are_named_and_those_of_values_do_not_jump(name):
    for each in charts(name):
        axes = list(positional(each.spec))
        titled = {channel for channel, axis, _ in axes if axis.get("title")}
        hidden = {channel for channel, axis, _ in axes if axis.get("axis", 0) is None}
        assert {channel for channel, *_ in axes} <= titled | hidden, each.title
        if each.title.startswith("Tokens per round by"):
            continue  # of a log: no slider moves it
        pinned = {channel for channel, axis, _ in axes if "domain" in (axis.get("scale") or {})}
        values = {
            channel
            for channel, _, other in axes
            if channel == "y" or other.get("type") == "nominal"
        }
        assert values <= pinned, each.title


def test_the_charts_of_arrivals_say_their_numbers_and_have_them_as_tables():
    """The page simulates them when it is asked to, which takes too long here: at points made by hand."""
    for drawn, table in (
        (times_over_rate(POINTS), arrivals_table.times(POINTS, "e2e")),
        (gain_over_rate(POINTS), arrivals_table.gains(POINTS)),
    ):
        spec = drawn.to_dict()
        values = {
            value for rows in spec["datasets"].values() for value in numbers(pd.DataFrame(rows))
        }
        assert shares(table, values) >= 3
        assert says_numbers_of(spec["description"], values) >= 2
        assert list(strange_colours(spec)) == []


def test_wrong_numbers_and_general_words_are_told_from_right_ones():
    each = charts("explore")[0]
    assert says_numbers_of("A line of the speedup over draft lengths.", each.shown) == 0
    wrong = NUMBER.sub(lambda number: f"{1.37 * float(number[0]) + 5:.2f}", each.words)
    assert says_numbers_of(wrong, each.shown) == 0
    with pytest.raises(ValueError, match="spec must have a description"):
        chart.alternative({"description": " "})


def test_a_colour_of_one_s_own_is_found():
    spec = copy.deepcopy(charts("explore")[0].spec)
    spec["layer"][0]["mark"] = {"type": "line", "color": "#123456"}
    spec["layer"][1]["mark"] = {"type": "rule", "stroke": "pink"}
    spec["layer"][-1]["encoding"]["color"] = {"field": "a", "scale": {"scheme": "rainbow"}}
    assert set(strange_colours(spec)) == {"#123456", "pink", "rainbow"}


def test_a_dark_page_has_every_colour_of_the_same_meaning_and_untouched_data():
    spec = {
        "mark": {"type": "bar", "color": palette.EXACT},
        "encoding": {"color": {"scale": {"range": [palette.DRAFT, "transparent"]}}},
        "data": {"values": [{"colour": palette.EXACT}]},
        "layer": [{"data": {"values": [palette.PLAIN]}, "mark": palette.PLAIN}],
    }
    dark = chart.painted(spec, dark=True)
    assert dark["mark"]["color"] == palette.DARK[palette.EXACT]
    assert dark["encoding"]["color"]["scale"]["range"] == [
        palette.DARK[palette.DRAFT],
        "transparent",
    ]
    assert dark["data"] == spec["data"]
    assert dark["layer"][0]["data"] == spec["layer"][0]["data"]
    assert dark["layer"][0]["mark"] == palette.DARK[palette.PLAIN]
    assert spec["mark"]["color"] == palette.EXACT
    assert chart.painted(spec, dark=False) is spec


def test_colours_differ_and_stand_out_on_their_page():
    light, dark = list(palette.DARK), list(palette.DARK.values())
    assert len(set(light)) == len(light)
    assert len(set(dark)) == len(dark)
    marks = [colour for colour in light if colour != palette.ABOVE]
    for colour in marks:
        assert contrast(colour, "#FFFFFF") > 2.2
        assert contrast(palette.DARK[colour], "#0E1117") > 4.5
    assert contrast(palette.ABOVE, palette.EXACT) > 4.5
    assert contrast(palette.DARK[palette.ABOVE], palette.DARK[palette.EXACT]) > 4.5


def contrast(one, other):
    """The ratio of WCAG 2 between two colours."""

    def luminance(colour):
        channels = [int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_table_of_what_is_drawn_has_a_column_per_series_and_both_ends_of_a_range():
    rows = [{"x": x, "who": who, "y": x / 3} for who in ("b", "a") for x in (2, 1)]
    encoding = {
        "x": {"field": "x", "title": "Batch"}, "y": {"field": "y"}, "color": {"field": "who"},
    }  # fmt: skip
    wide = chart_table.drawn({"data": {"name": "d"}, "datasets": {"d": rows}, "encoding": encoding})
    assert wide.to_dict("list") == {"Batch": [1, 2], "b": [1 / 3, 2 / 3], "a": [1 / 3, 2 / 3]}
    ends = {"y": {"field": "low", "title": "Kept"}, "y2": {"field": "high"}, "x": {"field": "x"}}
    row = {"x": 1, "low": 0.2, "high": 0.4, "unseen": 7}
    long = chart_table.drawn({"layer": [{"data": {"values": [row]}, "encoding": ends}]})
    assert long.to_dict("list") == {"x": [1], "low": [0.2], "high": [0.4]}
    with pytest.raises(ValueError, match="layers with data"):
        chart_table.drawn({"layer": [{"data": {"values": []}}]})


def test_the_file_of_a_table_has_all_digits(monkeypatch):
    made = {}
    monkeypatch.setattr(
        downloads, "button", lambda _, data, *, file_name, **__: made.update({file_name: data()})
    )
    frame = pd.DataFrame({"p": [1 / 3]})
    chart.show(
        {"mark": "bar", "description": "One.", "data": {"values": [{"p": 1 / 3}]}},
        key="one",
        table=frame,
    )
    assert made == {"specdec_one.csv": f"p\n{1 / 3!r}\n".encode()}

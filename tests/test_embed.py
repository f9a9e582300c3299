"""The one HTML file: what is in it, what it may do, and the command that writes it."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.util import find_spec
from unittest import mock

import pytest
from commands import specdec

from analysis.embed.document import embedded_page
from analysis.live.setting import INPUTS, LiveSetting
from analysis.presets import presets

START = LiveSetting(p=0.8, gamma=5, cost_ratio=0.05, verify_cost=1.2, overhead=0.1)
LOADS = {"src", "srcset", "action", "formaction", "poster", "background", "data", "manifest"}


class Reader(HTMLParser):
    """Elements with their attributes, and the text of scripts and styles."""

    def __init__(self):
        super().__init__()
        self.elements, self.texts, self.comments, self.inside = [], [], [], False

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.texts.append("")
        self.inside = True

    def handle_endtag(self, _):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.texts[-1] += data

    def handle_comment(self, data):
        self.comments.append(data)

    def all(self, tag):
        return [
            (attributes, text)
            for (name, attributes), text in zip(self.elements, self.texts, strict=True)
            if name == tag
        ]


def read(page):
    reader = Reader()
    reader.feed(page)
    return reader


@pytest.fixture(scope="module")
def page():
    return embedded_page(START, title='Mine: a < b & "c" {{data}}')


@pytest.fixture(scope="module")
def found(page):
    return read(page)


def policy_of(found):
    return next(
        attributes["content"]
        for attributes, _ in found.all("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )


def test_nothing_is_loaded_from_anywhere(found):
    for tag, attributes in found.elements:
        assert not LOADS.intersection(attributes), (tag, attributes)
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form"}
    styles = "".join(text for _, text in found.all("style"))
    assert "url(" not in styles
    assert "@import" not in styles


def test_the_policy_forbids_connections_and_all_scripts_but_the_two_inside(found):
    policy = policy_of(found)
    assert policy.startswith("default-src 'none';")
    assert '"' not in policy  # it stands in quotes as it is
    for source in ("connect-src", "unsafe-eval", "http", "*", "frame-src", "font-src"):
        assert source not in policy
    scripts = [text for attributes, text in found.all("script") if "type" not in attributes]
    hashes = [
        f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
        for text in scripts
    ]
    assert len(hashes) == 2
    assert re.search(r"script-src ([^;]+);", policy)[1].split() == [f"'{one}'" for one in hashes]


def test_the_title_is_text_and_never_markup_or_a_slot(page, found):
    assert "<title>Mine: a &lt; b &amp; &quot;c&quot; {{data}}</title>" in page
    assert found.all("title")[0][1] == 'Mine: a < b & "c" {{data}}'


def test_a_title_cannot_break_out():
    broken = read(embedded_page(START, title="</title><script>alert(1)</script>"))
    assert len(broken.all("script")) == 3
    assert "alert" not in "".join(text for _, text in broken.all("script"))


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("", "visible character"),
        ("\u200b \u00a0", "visible character"),
        ("two\nlines", "line of text"),
        ("\x1b[31mred", "line of text"),
        ("half \udcff", "line of text"),
        ("x" * 201, "at most 200 characters; got 201"),
    ],
)
def test_a_title_is_a_line_of_text(title, words):
    with pytest.raises(ValueError, match=words):
        embedded_page(START, title=title)


def test_a_title_in_any_script_is_kept():
    title = "¿Vale? 投機的デコード 👩\u200d💻"
    assert read(embedded_page(START, title=title)).all("title")[0][1] == title


def data_of(found):
    return json.loads(
        next(text for attributes, text in found.all("script") if "type" in attributes)
    )


def test_it_starts_at_the_numbers_asked_for_and_offers_the_presets(found):
    data = data_of(found)
    assert data["start"] == {item.name: getattr(START, item.name) for item in INPUTS}
    assert [
        (preset["name"], preset["values"]["p"], preset["source"]) for preset in data["presets"]
    ] == [(preset.name, preset.p, preset.source) for preset in presets()]
    assert set(data["charts"]) == {"speedup", "tokens", "map", "trap"}
    inputs = {attributes.get("id"): attributes for attributes, _ in found.all("input")}
    for item in INPUTS:
        assert float(inputs[item.name]["value"]) == getattr(START, item.name)
        assert float(inputs[f"{item.name}-typed"]["max"]) == item.most


def test_our_script_holds_no_formula(found):
    """It may compare and format; powers, logarithms and quotients belong to the charts' signals."""
    script = found.all("script")[-1][1]
    assert script.startswith("\n") or '"use strict"' in script
    code = re.sub(r"//.*|/\*.*?\*/|/(?:\^|\"\()[^/]*/", "", script)
    assert not re.search(r"Math\.(?!abs)|\*\*|[^<*]/[^/*>]", code)


def test_licences_of_what_is_inside_are_inside(found):
    notices = " ".join(found.comments)
    for words in (
        "University of Washington Interactive Data Lab",
        "Neither the name of the copyright holder",
        "Mike Bostock",
        "Permission to use, copy, modify, and/or distribute",
        "MIT licence",
        "Ariya Hidayat",  # of what is inside Vega itself
        "Jason Davies",
        "Harry Stevens",
        "Apache Commons Math",
    ):
        assert words in notices


def test_every_field_has_a_label(found):
    labelled = {attributes.get("for") for attributes, _ in found.all("label")}
    for tag in ("input", "select"):
        for attributes, _ in found.all(tag):
            assert attributes["id"] in labelled or attributes.get("aria-label")


def test_the_same_numbers_give_the_same_file(page):
    assert embedded_page(START, title='Mine: a < b & "c" {{data}}') == page


def test_the_command_writes_one_file_and_says_how_large(tmp_path):
    path = tmp_path / "explorer.html"
    result = specdec(
        *("embed", "--output", str(path), "--p", "0.8", "--gamma", "5", "--title", "Ours")
    )
    written = path.read_text(encoding="utf-8")
    assert result.returncode == 0
    assert result.stdout == ""
    assert f"{path}: {len(written.encode()) / 1000:,.0f} kB" in result.stderr
    assert 500_000 < len(written.encode()) < 1_500_000
    assert '<iframe src="explorer.html"' in result.stderr
    assert data_of(read(written))["start"]["p"] == 0.8
    assert "<h1>Ours</h1>" in written


def test_a_file_that_is_there_is_kept_without_force(tmp_path):
    path = tmp_path / "explorer.html"
    path.write_text("mine", encoding="utf-8")
    refused = specdec("embed", "--output", str(path))
    assert refused.returncode == 2
    assert "is there already; --force overwrites it." in refused.stderr
    assert path.read_text(encoding="utf-8") == "mine"
    assert specdec("embed", "--output", str(path), "--force").returncode == 0
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_dash_is_stdout(page):
    result = specdec(
        *("embed", "--output", "-", "--p", "0.8", "--gamma", "5", "--cost-ratio", "0.05"),
        *("--verify-cost", "1.2", "--overhead", "0.1", "--title", 'Mine: a < b & "c" {{data}}'),
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, page, "")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--p", "1.5"), "p must be a number in [0, 1]; got 1.5."),
        (("--p", "nan"), "p must be a number in [0, 1]; got nan."),
        (("--gamma", "0"), "gamma must be a whole number in [1, 16]; got 0."),
        (("--cost-ratio", "-0.1"), "cost_ratio must be a number in [0, 1]; got -0.1."),
        (("--verify-cost", "0"), "verify_cost must be a number in [0.1, 20]; got 0.0."),
        (("--overhead", "11"), "overhead must be a number in [0, 10]; got 11.0."),
        (("--title", " "), "title must have a visible character; got ' '."),
    ],
)
def test_a_bad_option_is_one_sentence_and_writes_nothing(tmp_path, options, sentence):
    path = tmp_path / "explorer.html"
    result = specdec("embed", "--output", str(path), *options)
    assert (result.returncode, result.stderr) == (2, f"Error: {sentence}\n")
    assert not path.exists()


def test_a_folder_that_is_not_there_is_said(tmp_path):
    result = specdec("embed", "--output", str(tmp_path / "none" / "explorer.html"))
    assert result.returncode == 2
    assert result.stderr.endswith("explorer.html: No such file or directory.\n")


@pytest.mark.parametrize("gone", ["altair", "vl_convert"])
def test_a_missing_extra_is_named(tmp_path, gone):
    with mock.patch(
        "analysis.embed.document.find_spec",
        side_effect=lambda name: None if name == gone else find_spec(name),
    ):
        result = specdec("embed", "--output", str(tmp_path / "explorer.html"))
    assert result.returncode == 2
    assert 'pip install -e ".[embed]"' in result.stderr
    assert "Traceback" not in result.stderr

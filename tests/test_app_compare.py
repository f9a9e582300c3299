"""The page that compares two runs through AppTest: the parts, noise, regressions, hostile sides."""

import json
import shlex

import pytest
from app_scripts import press, said, show
from typer.testing import CliRunner

from analysis.cli import app as specdec
from app_pages.compare import charts, results, sides
from app_pages.compare.sides import Run
from app_pages.your_engine import sources

EXAMPLE = "Show me an example"
LINE = (
    "draft acceptance = {rate:.5f} (  {accepted} accepted /   {drafted} generated), "
    "mean acceptance length = {length:.2f}\n"
)


def opened():
    app = show("compare.page").run()
    assert not app.exception
    return app


def llama(accepted, rounds=100, gamma=3, tokens_per_s=None):
    drafted = rounds * gamma
    length = 1 + accepted / rounds
    line = LINE.format(rate=accepted / drafted, accepted=accepted, drafted=drafted, length=length)
    if tokens_per_s is None:
        return line
    tokens = rounds + accepted
    ms, slot = 1e3 * tokens / tokens_per_s, "slot print_timing: id  1 | task 0 |"
    return (
        f"{slot}        eval time = {ms:10.2f} ms / {tokens:5d} tokens ({ms / tokens:8.2f} ms per "
        f"token, {tokens_per_s:8.2f} tokens per second)\n{slot} {line}"
    )


def give(app, before, after, gamma=None):
    app.number_input(key="compare_gamma").set_value(gamma)
    app.text_area(key="compare_before_text").set_value(before)
    app.text_area(key="compare_after_text").set_value(after).run()
    assert not app.exception
    return app


def runs(before, after):
    return tuple(Run(given=sources.pasted(text), place=0) for text in (before, after))


def test_without_two_runs_the_page_says_what_to_do():
    app = opened()
    assert "Two runs are needed" in app.info[0].value
    app.text_area(key="compare_before_text").set_value(llama(150)).run()
    assert "Two runs are needed" in app.info[0].value


def test_the_example_says_which_part_is_what():
    app = press(opened(), EXAMPLE)
    assert not app.exception
    text = said(app)
    assert "The run after decodes 66.7 % faster" in text
    assert "tokens per round alone: ×1.663, the time of a round alone: ×1.002" in text
    assert "club-3090 105" in text
    titles = [json.loads(item.proto.spec)["title"] for item in app.get("vega_lite_chart")]
    assert titles == ["Which part of the change is what", "Acceptance by depth"]


def test_the_bars_begin_where_the_last_one_ended_and_multiply_to_the_whole():
    before, after = sides.example_texts()
    found = results.compared(*runs(before, after), None, None)
    spec = charts.waterfall(found).to_dict()
    rows = next(rows for rows in spec["datasets"].values() if "start" in rows[0])
    assert rows[0]["start"] == 1.0
    assert rows[1]["start"] == pytest.approx(rows[0]["end"])
    assert rows[-1]["start"] == 1.0
    assert rows[-1]["end"] == pytest.approx(rows[-2]["end"])
    low, high = spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    ends = [row[name] for row in rows for name in ("start", "end", "low", "high") if row[name]]
    assert low < min(ends)
    assert max(ends) < high
    assert str(found.parts[0].factor) in spec["description"]


def test_slower_is_red_and_noise_is_neither():
    app = give(opened(), llama(150, tokens_per_s=80), llama(150, tokens_per_s=60), 3)
    assert "slower" in (app.error or app.info)[0].value
    app = give(opened(), llama(150), llama(152), 3)
    assert "within noise" in app.info[0].value
    assert "No clock on both sides" in said(app)


def test_what_would_decide_is_said():
    text = said(give(opened(), llama(150), llama(165), 3))
    assert "would decide with 80 % power" in text


@pytest.mark.parametrize(
    ("after", "words"),
    [(60, "A regression: it is slower"), (200, "No regression"), (143, "Undecided whether")],
)
def test_a_regression_of_a_stated_size(after, words):
    app = give(opened(), llama(150), llama(after), 3)
    app.number_input(key="compare_regression").set_value(5.0).run()
    assert not app.exception
    assert f"{words}" in said(app)
    assert "slower by more than 5 %" in said(app)


@pytest.mark.parametrize("value", [-1.0, 100.0, 1e9])
def test_an_impossible_size_gets_a_sentence_and_the_old_one_stays(value):
    app = press(opened(), EXAMPLE)
    app.number_input(key="compare_regression").set_value(5.0).run()
    app.number_input(key="compare_regression").set_value(value).run()
    assert f"got {value:.12g}. It stays at 5." in app.warning[0].value
    assert app.number_input(key="compare_regression").value == 5.0


@pytest.mark.parametrize("value", [0.0, 2.5])
def test_an_impossible_length_gets_a_sentence(value):
    app = press(opened(), EXAMPLE)
    app.number_input(key="compare_gamma").set_value(value).run()
    assert f"got {value:.12g}. It stays unknown." in app.warning[0].value


def test_a_length_that_contradicts_a_log_gets_a_sentence():
    app = give(opened(), llama(150), llama(160))
    app.number_input(key="compare_gamma").set_value(1.0).run()
    assert not app.exception
    assert "gamma must be at least 3" in app.error[0].value.replace("\\", "")


@pytest.mark.parametrize("text", ["hello", "![x](http://example.org/x.png) $x$", "{" * 100])
def test_a_side_that_is_no_log_gets_a_sentence(text):
    app = give(opened(), text, llama(150))
    assert "the pasted lines" in app.error[0].value
    assert "![x](" not in app.error[0].value
    assert "Two runs are needed" in app.info[0].value


def test_a_side_without_rounds_or_a_mean_gets_a_sentence():
    heads = "TensorRT-LLM: not enough data (TensorRT-LLM 2506)"
    app = opened()
    app.selectbox(key="compare_before_example").set_value(heads).run()
    app.text_area(key="compare_after_text").set_value(llama(150)).run()
    assert not app.exception
    assert "must have counts with rounds, or tokens per round" in app.error[0].value


def test_a_report_can_be_a_side_and_its_reading_chosen():
    name = "llama.cpp: healthy (llama.cpp 24536)"
    app = give(opened(), "", llama(150))
    app.selectbox(key="compare_before_example").set_value(name).run()
    assert not app.exception
    assert len(app.selectbox(key="compare_before_reading").options) == 2
    assert sources.examples()[name].url in said(app)
    assert "--layout" in app.code[0].value


def test_dropped_files_go_before_pasted_lines():
    app = press(opened(), EXAMPLE)
    app.file_uploader(key="compare_before_file").set_value(
        ("a.log", llama(100).encode(), "text/plain")
    ).run()
    app.file_uploader(key="compare_after_file").set_value(
        ("b.log", llama(150).encode(), "text/plain")
    ).run()
    assert not app.exception
    assert "25.0 % more tokens per round" in said(app)


@pytest.mark.parametrize("regression", [None, 0.05])
def test_the_command_says_the_same(tmp_path, monkeypatch, regression):
    monkeypatch.chdir(tmp_path)
    texts = (llama(150, tokens_per_s=80), llama(170, tokens_per_s=85))
    for name, text in zip(results.FILES, texts, strict=True):
        (tmp_path / name).write_text(text, encoding="utf-8")
    pair = runs(*texts)
    program, *arguments = shlex.split(results.command(*pair, None, regression))
    assert program == "specdec"
    ran = CliRunner().invoke(specdec, [*arguments, "--format", "json"])
    assert ran.exit_code == 0, ran.output
    shown = results.report_json(results.compared(*pair, None, regression), None, regression)
    ours, theirs = json.loads(shown), json.loads(ran.stdout)
    for file, name in zip(results.FILES, results.NAMES, strict=True):
        theirs["headline"] = theirs["headline"].replace(file, name)
    assert ours == theirs


def test_every_input_has_help_and_every_chart_describes_itself():
    app = press(opened(), EXAMPLE)
    inputs = [*app.selectbox, *app.text_area, *app.number_input, *app.file_uploader]
    assert [item.label for item in inputs if not item.help] == []
    specs = [json.loads(item.proto.spec) for item in app.get("vega_lite_chart")]
    assert all(len(spec["description"]) > 40 for spec in specs)

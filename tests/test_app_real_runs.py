"""The page of measured runs through AppTest: examples, uploads, and files that lie."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from measured_runs import measured_run
from run_files import run_files, write_run
from streamlit.testing.v1 import AppTest

from analysis.output import to_csv
from analysis.runs.prediction import summarize_run
from analysis.runs.report import NamedRun, run_report
from analysis.runs.rows import TABLES
from analysis.runs.verdict import headline
from app_pages.measured_runs import files as page_files
from app_pages.measured_runs import view as run_view
from app_pages.plain_text import plain

APP = str(Path(__file__).resolve().parents[1] / "app.py")
SURE = {"acceptance": (1.0,), "length": 90, "gammas": (2, 4, 8)}


def page_only():
    """The page alone, as a script of its own."""
    from app_pages.measured_runs import page as real_runs_page  # noqa: PLC0415

    real_runs_page.page()


@pytest.fixture
def draw(monkeypatch, tmp_path):
    """Runs the page with examples of the given requests by name."""

    def run(**examples):
        for name, requests in examples.items():
            write_run(tmp_path / page_files.FIRST / name, requests)
        monkeypatch.setattr(page_files, "EXAMPLES", tmp_path)
        app = AppTest.from_function(page_only, default_timeout=60).run()
        assert not app.exception
        return app

    return run


def test_without_a_run_the_page_says_how_to_get_one(draw):
    app = draw()
    assert "specdec measure" in app.info[0].value
    assert app.selectbox(key="run_example").disabled


def test_an_example_shows_its_verdict_its_numbers_and_where_they_are_from(draw):
    app = draw(tiny=measured_run(**SURE))
    assert plain(headline(summarize_run(measured_run(**SURE)))) in app.success[0].value
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Measured at γ = 8"] == "3.51×"
    assert shown["Formula, own costs"] == "3.51×"
    assert shown["Article's formula"] == "4.50×"
    assert shown["V(9)"] == "1.50"
    text = " ".join(entry.value for entry in app.markdown)
    assert "Closure" in text
    assert plain("1,234,567 parameters") in text
    assert plain("2030-01-02") in text
    assert [tab.label for tab in app.tabs] == [
        "By draft length",
        "Predicted",
        "Costs",
        "Acceptance",
    ]
    assert list(app.dataframe[0].value["gamma"]) == [2, 4, 8]


def test_a_run_that_costs_is_red_and_one_that_prompts_cannot_decide_is_not(draw):
    app = draw(costs=measured_run(acceptance=(0.0,), gammas=(1, 2), length=20))
    assert "decode plainly" in app.error[0].value
    app = draw(open=measured_run(prompts=1))
    app.selectbox(key="run_example").select("open").run()
    assert "Undecided" in app.info[0].value


def test_choosing_another_run_and_another_draft_length(draw):
    app = draw(first=measured_run(**SURE), second=measured_run(gammas=(1, 3)))
    assert app.selectbox(key="run_example").options == ["first", "second"]
    app.select_slider(key="run_gamma").set_value(2).run()
    assert not app.exception
    app.selectbox(key="run_example").select("second").run()
    assert not app.exception
    assert list(app.dataframe[0].value["gamma"]) == [1, 3]


@pytest.mark.parametrize(
    "options",
    [
        {"gammas": (4,)},
        {"length_rule": "confidence"},
        {"acceptance": (0.0,)},
        {"prompts": 2, "length": 1},
    ],
)
def test_corners_have_no_exception(draw, options):
    app = draw(corner=measured_run(**options))
    assert len(app.metric) == 5


def test_a_damaged_example_gets_a_sentence(draw, tmp_path):
    folder = write_run(tmp_path / page_files.FIRST / "broken", measured_run(prompts=2))
    (folder / "requests.jsonl").write_bytes(b"not a line\n")
    app = draw()
    assert "requests\\.jsonl, line 1" in app.error[0].value
    assert str(tmp_path) not in app.error[0].value


def uploaded(**changed):
    return run_files(measured_run(**SURE)) | {
        name.replace("_", "."): content for name, content in changed.items()
    }


def test_uploaded_files_are_read_as_they_are():
    run = page_files.uploaded(uploaded())
    assert (run.name, run.summary.best) == ("your run", 8)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"requests_jsonl": b""}, "requests must include plain decoding"),
        ({"requests_jsonl": b"\xff\xfe\n"}, r"requests.jsonl, line 1"),
        ({"requests_jsonl": b"{" * 100_000 + b"\n"}, "requests.jsonl, line 1"),
        ({"run_json": b"[]"}, "run.json"),
        ({"run_json": b'{"schema_version": 99}'}, "newer version of specdec"),
        ({"run_json": b'{"schema_version": 1' + b"0" * 9000 + b"}"}, "run.json"),
    ],
)
def test_hostile_uploads_get_a_sentence_without_a_path(changed, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        page_files.uploaded(uploaded(**changed))
    assert "/tmp" not in str(error.value)  # noqa: S108 — that no such path is told


def test_files_under_other_names_are_refused():
    files = uploaded()
    with pytest.raises(
        ValueError, match=r"requests.jsonl is missing \(got \.\./x.jsonl, run.json\)"
    ):
        page_files.uploaded({"../x.jsonl": files["requests.jsonl"], "run.json": files["run.json"]})


def test_times_that_no_run_has_get_a_sentence():
    requests = measured_run(**SURE)
    lie = dataclasses.replace(requests[-1], decode_s=1e-9)
    with pytest.raises(ValueError, match="decode_s must hold the times"):
        page_files.uploaded(run_files((*requests[:-1], lie)))


def test_markup_in_a_run_is_shown_and_not_acted_on(draw, tmp_path):
    write_run(tmp_path / page_files.FIRST / "odd", measured_run(**SURE), cpu="<b>![x](y) **bold**")
    app = draw()
    text = " ".join(entry.value for entry in app.markdown)
    assert plain("<b>![x](y) **bold**") in text
    assert "![x](y)" not in text


def test_an_example_that_is_not_there_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(page_files, "EXAMPLES", tmp_path)
    with pytest.raises(ValueError, match=r"got '\.\./secret'"):
        page_files.example("../secret")


def test_bundled_runs_say_which_models_and_where():
    said = {
        name: run_view.about(dict(page_files.example(name).facts)) for name in page_files.examples()
    }
    assert list(said)[:3] == ["smollm2", "tiny", "systems/draft-model"]
    assert {"systems/medusa", "systems_t1/medusa", "systems_smollm2/eagle-chain"} <= set(said)
    assert "tree" in said["systems/medusa"]
    assert "drafts by prompt lookup, without a model" in said["smollm2"]
    assert "draft: tiny-draft, 135,552 parameters" in said["tiny"]
    assert all(" · on: " in line and "sha256" not in line for line in said.values())


def test_every_number_of_a_bundled_run_is_explained():
    app = AppTest.from_function(page_only, default_timeout=60).run()
    assert not app.exception
    assert all(metric.help for metric in app.metric)
    assert "Dashed: all depths together" in " ".join(entry.value for entry in app.caption)
    columns = {name.replace("_", " ") for table in TABLES for name in table.columns}
    assert columns == set(run_view.COLUMNS)


def test_what_is_taken_along_is_the_report_of_the_command_line():
    run = NamedRun(name="your run", summary=summarize_run(measured_run(**SURE)))
    assert run_view.csv_of(run) == to_csv(run_report((run,))).encode()
    assert json.loads(run_view.json_of(run))["by_gamma"][0]["gamma"] == 2
    assert run_view.png_of(run).startswith(b"\x89PNG")


def test_the_page_is_in_the_app():
    app = AppTest.from_file(APP, default_timeout=60).run()
    assert "Real runs" in [link.proto.label for link in app.get("page_link")]

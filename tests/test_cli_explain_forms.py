"""What `specdec explain` refuses, and the forms in which it prints."""

from __future__ import annotations

import csv
import io
import json
import shutil

import pytest
from commands import specdec, specdec_process
from explanations import CODE, FORMULA, LLAMA, SLOW, TINY, closed_form, net


def refused(*arguments, code=2):
    """The one sentence on stderr of a call that is refused."""
    result = specdec("explain", *arguments)
    assert result.returncode == code
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("Error: ")
    return result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Error: Give a log or a run folder; or --target"),
        (("--p", "0.7"), "or --cost-ratio and one of"),
        (("--p", "0.7", "--by-depth", "0.7", "--cost-ratio", "0.1"), "one of --p"),
        (("--p", "0.7", "--cost-ratio", "0.1"), "gamma must be given"),
        ((*FORMULA, "--verify-cost", "0"), "verify_cost must be above 0"),
        ((*FORMULA, "--verify-cost", "0.8"), "--verify-cost must be at least 1"),
        ((*FORMULA, "--verify-cost", "x"), "--verify-cost must be numbers"),
        ((*FORMULA, "--verify-cost", "1,1.1"), "gamma must be at most 1"),
        ((*FORMULA, "--overhead", "-1"), "overhead must be a finite number of at least 0; got -1"),
        ((*FORMULA, "--batch", "8"), "Error: The formula takes"),
        ((*FORMULA, "--plain-tps", "8"), "got --plain-tps too"),
        ((*FORMULA, "--seed", "0"), "got --seed too"),
        (("nosuch.log",), "nosuch.log: No such file"),
        ((CODE, "--draft", "eagle", "--log", SLOW), "got --log too"),
        ((CODE, "--p", "0.5"), "Error: A log takes --context, --cost-ratio"),
        ((CODE, "--overhead", "0.5"), "got --overhead too"),
        ((CODE, "--hardware", "H100"), "--target and --hardware must be given together"),
        ((CODE, "--draft", "eagle"), "give --target and --hardware, or measured step times"),
        ((CODE, "--context", "512"), "--context belongs to --hardware, which was not given"),
        ((CODE, *LLAMA, "--draft", "eagle p=0.7"), "--draft beside a log must say no acceptance"),
        ((CODE, *LLAMA, "--draft", "eagle", "--draft", "mtp"), "--draft must be given once"),
        ((CODE, "--gamma", "3"), "code.log: gamma must be 6, as the source says; got 3"),
        ((CODE, "--plain-tps", "-4"), "must be a number above 0; got -4"),
        ((CODE, "--plain-tps", "48", "--verify-cost", "1,1.1"), "from 0 to 6 at least; got 2"),
        ((CODE, "--layout", "none"), "has only"),
        ((CODE, "--figure", "w.png"), "--figure has no parts to draw. Acceptance is fine"),
        ((CODE, "--figure", "w.bmp"), "must end in one of .png"),
        ((TINY, "--gamma", "3"), "gamma must be one of the run's (1, 2, 4, 6, 8); got 3"),
        ((TINY, "--p", "0.3", "--verify-cost", "2"), "takes --gamma, --seed; got --p, --verify-c"),
        ((*LLAMA, "--draft", "eagle p=0.7", "--draft", "lookup p=0.7"), "--draft must be given once"),
        ((*LLAMA, "--draft", "eagle p=0.7", "--p", "0.5"), "--p is for drafts that say no acceptance"),
        ((*LLAMA, "--draft", "eagle"), "acceptance of 'eagle' must be given once"),
        ((*LLAMA, "--draft", "eagle", "--p", "0.5", "--log-gamma", "3"), "belongs to --log"),
        ((*LLAMA, "--draft", "eagle p=0.7", "--cost-ratio", "0.1"), "got --cost-ratio too"),
        ((*LLAMA, "--draft", "eagle p=0.7", "--batch", "5000"), "batch must be at most"),
        (("--steps", TINY, "--draft", "lookup p=0.7", "--kv-bits", "8"), "belongs to --target"),
        (("--target", "Llama 3.1 8B", "--draft", "eagle p=0.7"), "given together"),
        (LLAMA, "--draft must be given"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_sentence(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words in refused(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_no_run(tmp_path):
    assert "this is no run folder" in refused(str(tmp_path), code=3)


def test_a_run_cut_off_is_refused_or_explained_in_words(tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(TINY, folder)
    (folder / "requests.jsonl").write_text("", encoding="utf-8")
    assert str(folder) in refused(str(folder))


def test_csv_is_the_waterfall():
    result = specdec("explain", *FORMULA, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["part"] for row in rows] == ["tokens per round", "plain pass", "drafting", "net"]
    assert float(rows[-1]["speed_after"]) == pytest.approx(closed_form(0.7, 4) / 1.4)
    assert "CSV holds waterfall; JSON also has attack, break_even." in result.stderr


def test_the_table_fits_and_shows_bounds():
    result = specdec("explain", CODE, "--plain-tps", "48", "--verify-cost", "1.2")
    waterfall = result.stdout.split("\n\n")[0].splitlines()
    assert max(map(len, waterfall)) <= 100
    assert " ".join(waterfall[0].split()) == "part gives or takes low high left speed after"
    assert any(line.startswith("of which drafting") and "0.6376" in line for line in waterfall)
    assert len(waterfall) == 8  # no name is broken over two lines
    assert "plain_tps 48" in result.stderr


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_the_figure_is_drawn_beside_the_table(ending, tmp_path):
    file = tmp_path / f"waterfall.{ending}"
    result = specdec("explain", *FORMULA, "--figure", str(file))
    assert result.returncode == 0
    assert "drafting" in result.stdout
    head = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert file.read_bytes().startswith(head)


def test_the_installed_command_explains():
    result = specdec_process("explain", *FORMULA, "--format", "json")
    assert result.returncode == 0
    assert net(json.loads(result.stdout)) == pytest.approx(closed_form(0.7, 4) / 1.4)

"""Bad input on the command line: one sentence, the documented exit code, nothing half-written."""

from __future__ import annotations

import pytest
from commands import specdec
from sample_lines import LLAMACPP_LINE

TABLE = (
    '{"table": {"rounds": 10, "drafted": 10, "tested": [10], "accepted": [7], "discarded": 0, '
    '"length_rule": "fixed"}}'
)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["simulate", "--p", "1.5", "--gamma", "4"], "p must be a number in [0, 1]; got 1.5."),
        (["simulate", "--p", "nan", "--gamma", "4"], "p must be a number in [0, 1]; got nan."),
        (["simulate", "--p", "inf", "--gamma", "4"], "p must be a number in [0, 1]; got inf."),
        (["simulate", "--p", "0.5", "--gamma", "-1"], "gamma must be a whole number in [0, 10000]"),
        (["simulate", "--p", "0.5"], "gamma must be given with p"),
        (
            ["simulate", "--gamma", "4"],
            "give --p or --by-depth, one of the two.",
        ),
        (["simulate", "--by-depth", "0.8,x"], "--by-depth must be numbers separated by commas"),
        (["simulate", "--by-depth", "0.8,1.2"], "by_depth[1] must be a number in [0, 1]; got 1.2."),
        (
            ["simulate", "--p", "0.5", "--gamma", "4", "--rounds", "0"],
            "rounds must be a whole number",
        ),
        (["simulate", "--p", "0.5", "--gamma", "4", "--rounds", "1e12"], "--counts"),
        (
            ["simulate", "--p", "0.5", "--gamma", "4", "--seed", "-1"],
            "rng must be a seed",
        ),
        (["predict", "--p", "0.5", "--gamma", "4", "--cost-ratio", "-1"], "cost_ratio must be"),
        (["predict", "--p", "0.5", "--gamma", "4", "--cost-ratio", "inf"], "cost_ratio must be"),
        (["predict", "--p", "0.5", "--gamma", "4", "--verify-cost", "0"], "verify_cost must be"),
        (
            ["predict", "--gamma", "4"],
            "give one of --p, --accepted-fraction and --tokens-per-round",
        ),
        (["predict", "--p", "0.5"], "--gamma must be given"),
        (["predict", "--tokens-per-round", "9", "--measured-gamma", "4"], "[1, 5]; got 9"),
        (["import", "no-such-file.log"], "no-such-file.log: No such file or directory."),
        (["check", "--p", "0.5", "--gamma", "1", "--table", "no-such.json"], "No such file"),
        (["import", "server.log", "--verify-cost", "nan"], "verify_cost must be"),
        (["predict", "--p", "0.5", "--gamma", "4", "--max-gamma", "-1"], "max_gamma must be"),
        (
            ["predict", "--p", "0.5", "--gamma", "20000"],
            "gamma must be a whole number in [0, 10000]",
        ),
        (
            ["predict", "--p", "0.5", "--gamma", "4", "--measured-gamma", "4"],
            "--measured-gamma belongs to a mean, not to --p",
        ),
    ],
)
def test_usage_errors_are_one_sentence_and_exit_2(arguments, sentence, tmp_path, monkeypatch):
    (tmp_path / "server.log").write_bytes(LLAMACPP_LINE)
    monkeypatch.chdir(tmp_path)

    result = specdec(*arguments)

    assert result.returncode == 2
    assert sentence in result.stderr
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert not result.stdout


@pytest.mark.parametrize("text", ["2.5", "abc", "1e-3", "nan", "1e40"])
def test_rounds_must_be_whole(text):
    result = specdec("simulate", "--p", "0.5", "--gamma", "1", "--rounds", text)

    assert result.returncode == 2
    assert "whole number" in result.stderr
    assert not result.stdout


@pytest.mark.parametrize(
    "text",
    [
        b"nothing to see here\n",
        b"",
        b"SpecDecoding metrics: Mean acceptance length: 2.05, Accepted: 231 tok",
        b"\x00\x01\x02binary",
        b"draft acceptance rate = 1.5 (  300 accepted /   200 generated)\n",
    ],
    ids=["no known line", "empty", "half a line", "binary", "accepted above drafted"],
)
def test_bad_logs_are_one_sentence_and_exit_3(text):
    result = specdec("import", "-", stdin=text)

    assert result.returncode == 3
    assert result.stderr.startswith("Error: stdin")
    assert result.stderr.count("\n") == 1
    assert not result.stdout


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"table": 3}',
        "[" * 100_000,
        '{"table": {"rounds": 1}}',
        '{"table": {"rounds": 1' + "0" * 300 + "}}",
        TABLE.replace('"rounds": 10', '"rounds": 10.5'),
        TABLE.replace('"rounds": 10', '"rounds": true'),
        TABLE.replace('"rounds": 10', '"rounds": -10'),
        TABLE.replace('"accepted": [7]', '"accepted": [11]'),
    ],
    ids=[
        *("empty", "list", "no table", "number", "deep", "half"),
        *("huge", "fraction", "bool", "negative", "above tested"),
    ],
)
def test_bad_table_files_exit_3(tmp_path, content):
    path = tmp_path / "table.json"
    path.write_text(content, encoding="utf-8")

    result = specdec("check", "--p", "0.5", "--gamma", "1", "--table", str(path))

    assert result.returncode == 3
    assert "table.json" in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_table_of_the_tests_is_a_good_one(tmp_path):
    path = tmp_path / "table.json"
    path.write_text(TABLE, encoding="utf-8")

    assert specdec("check", "--p", "0.7", "--gamma", "1", "--table", str(path)).returncode == 0


def test_a_table_of_scheduled_drafts_is_not_judged_by_one_length(tmp_path):
    path = tmp_path / "table.json"
    path.write_text(TABLE.replace("fixed", "scheduled"), encoding="utf-8")

    result = specdec("check", "--p", "0.7", "--gamma", "1", "--table", str(path))

    assert result.returncode == 2
    assert "drafts of fixed length" in result.stderr


@pytest.mark.parametrize(("text", "code"), [(TABLE, 0), ("", 3), ("{", 3)])
def test_a_table_is_read_from_stdin(text, code):
    result = specdec(
        "check",
        "--p",
        "0.7",
        "--gamma",
        "1",
        "--table",
        "-",
        "--format",
        "json",
        stdin=text.encode(),
    )

    assert result.returncode == code
    assert "table of stdin" in result.stdout if code == 0 else "stdin" in result.stderr
    assert result.stderr.count("\n") == (code != 0)

"""The command line: streams, formats, exit codes, sentences."""

from __future__ import annotations

import csv
import io
import json
import math

import pytest
from commands import specdec

import analysis as an
import simulator as sim

LLAMACPP_LINE = (
    b"slot print_timing: id  1 | task 0 | draft acceptance = 0.64479 (  167 accepted /   259 generated), "
    b"mean acceptance length =  2.92, acceptance rate per position = (0.805, 0.632, 0.483)\n"
)


def strict_json(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is not strict JSON")

    return json.loads(text, parse_constant=refuse)


def test_article_prints_the_number_twice():
    result = specdec("article", "--format", "json")

    document = strict_json(result.stdout)
    numbers = {row["number"]: row for row in document["numbers"]}
    speedup = numbers["speedup"]
    assert result.returncode == 0
    assert round(speedup["exact"], 2) == speedup["article"] == 1.98
    assert abs(speedup["simulated"] - speedup["exact"]) < 5.73 * speedup["se"]
    assert document["parameters"] == {"rounds": 200_000, "seed": 0}


def test_simulate_json_holds_the_counts_of_the_library():
    result = specdec(
        "simulate",
        "--p",
        "0.8",
        "--gamma",
        "3",
        "--rounds",
        "5e3",
        "--seed",
        "7",
        "--format",
        "json",
    )

    document = strict_json(result.stdout)
    table = sim.simulate(sim.draft_model(p=0.8, gamma=3), rounds=5_000, rng=7)
    assert document["schema_version"] == 1
    assert tuple(document["table"]["accepted"]) == table.accepted
    assert document["parameters"]["seed"] == 7


def test_csv_is_data_only_and_the_seed_is_echoed_on_stderr():
    result = specdec(
        "simulate", "--p", "0.7", "--gamma", "2", "--rounds", "1000", "--format", "csv"
    )

    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert rows[0]["quantity"] == "tokens_per_round"
    assert "seed 0" in result.stderr
    assert "CSV holds quantities" in result.stderr


def test_by_depth_and_counts():
    result = specdec(
        "simulate", "--by-depth", "0.8,0.6", "--rounds", "1e12", "--counts", "--format", "json"
    )

    document = strict_json(result.stdout)
    assert result.returncode == 0
    assert document["table"]["rounds"] == 10**12
    assert document["parameters"]["method"] == "binomial counts"


def test_predict_marks_yours_and_best():
    result = specdec(
        "predict", "--p", "0.7", "--gamma", "2", "--cost-ratio", "0.1", "--format", "json"
    )

    document = strict_json(result.stdout)
    marks = {row["gamma"]: row["mark"] for row in document["by_gamma"]}
    speedups = {row["gamma"]: row["speedup"] for row in document["by_gamma"]}
    assert marks[2] == "yours"
    assert marks[4] == "best"
    assert speedups[4] == pytest.approx(an.speedup(0.7, 4, 0.1))
    assert document["headline"].startswith("Pays: 1.82× faster at γ = 2; γ = 4 would give 1.98×")


def test_predict_from_a_printed_rate_says_equivalent():
    result = specdec(
        "predict", "--accepted-fraction", "0.537856", "--measured-gamma", "5", "--format", "json"
    )

    document = strict_json(result.stdout)
    assert document["parameters"]["p"] == pytest.approx(0.8)
    assert "is an equivalent" in document["notes"][0]


def test_check_accepts_its_own_table_and_rejects_another(tmp_path):
    run = specdec("simulate", "--p", "0.7", "--gamma", "4", "--format", "json")
    path = tmp_path / "table.json"
    path.write_text(run.stdout, encoding="utf-8")

    right = specdec("check", "--p", "0.7", "--gamma", "4", "--table", str(path))
    wrong = specdec("check", "--p", "0.71", "--gamma", "4", "--table", str(path))

    assert right.returncode == 0
    assert wrong.returncode == 1
    assert "contradicts the exact law" in wrong.stderr


def test_import_from_stdin_finds_what_p_is():
    result = specdec("import", "-", "--cost-ratio", "0.1", "--format", "json", stdin=LLAMACPP_LINE)

    document = strict_json(result.stdout)
    rows = {row["quantity"]: row for row in reversed(document["quantities"])}
    assert result.returncode == 0
    assert rows["rounds"]["value"] == 87
    pooled = rows["p, pooled over depths"]
    assert (round(pooled["low"], 3), round(pooled["high"], 3)) == (0.788, 0.795)
    assert round(rows["accepted fraction"]["value"], 3) == 0.645
    assert math.isclose(rows["speedup"]["value"], (1 + 167 / 87) / (1 + 0.1 * 259 / 87))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["simulate", "--p", "1.5", "--gamma", "4"], "p must be a number in [0, 1]; got 1.5."),
        (["simulate", "--p", "nan", "--gamma", "4"], "p must be a number in [0, 1]; got nan."),
        (["simulate", "--p", "inf", "--gamma", "4"], "p must be a number in [0, 1]; got inf."),
        (["simulate", "--p", "0.5", "--gamma", "-1"], "gamma must be a whole number in [0, 10000]"),
        (["simulate", "--p", "0.5"], "gamma must be given with p"),
        (["simulate", "--gamma", "4"], "either p or by_depth"),
        (["simulate", "--by-depth", "0.8,x"], "--by-depth must be numbers separated by commas"),
        (["simulate", "--by-depth", "0.8,1.2"], "by_depth[1] must be a number in [0, 1]; got 1.2."),
        (
            ["simulate", "--p", "0.5", "--gamma", "4", "--rounds", "0"],
            "rounds must be a whole number",
        ),
        (["simulate", "--p", "0.5", "--gamma", "4", "--rounds", "1e12"], "--counts"),
        (["simulate", "--p", "0.5", "--gamma", "4", "--seed", "-1"], "rng must be a whole number"),
        (["predict", "--p", "0.5", "--gamma", "4", "--cost-ratio", "-1"], "cost_ratio must be"),
        (["predict", "--p", "0.5", "--gamma", "4", "--cost-ratio", "inf"], "cost_ratio must be"),
        (["predict", "--p", "0.5", "--gamma", "4", "--verify-cost", "0"], "verify_cost must be"),
        (["predict", "--gamma", "4"], "give one of p, accepted_fraction and tokens_per_round"),
        (["predict", "--p", "0.5"], "--gamma must be given"),
        (["predict", "--tokens-per-round", "9", "--measured-gamma", "4"], "[1, 5]; got 9"),
        (["import", "no-such-file.log"], "no-such-file.log: No such file or directory."),
        (["check", "--p", "0.5", "--gamma", "1", "--table", "no-such.json"], "No such file"),
    ],
)
def test_usage_errors_are_one_sentence_and_exit_2(arguments, sentence):
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
    ["", "[]", "{}", '{"table": 3}', "[" * 100_000, '{"table": {"rounds": 1}}'],
    ids=["empty", "list", "no table", "number", "deep", "half"],
)
def test_bad_table_files_exit_3(tmp_path, content):
    path = tmp_path / "table.json"
    path.write_text(content, encoding="utf-8")

    result = specdec("check", "--p", "0.5", "--gamma", "1", "--table", str(path))

    assert result.returncode == 3
    assert "table.json" in result.stderr
    assert result.stderr.count("\n") == 1


def test_no_progress_where_nobody_watches():
    result = specdec("simulate", "--p", "0.9", "--gamma", "4", "--rounds", "2e7", "--format", "csv")

    assert "\r" not in result.stderr
    assert "\x1b" not in result.stderr

"""The command line: streams, formats, exit codes, sentences."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import subprocess

import pytest
from commands import SPECDEC, specdec, specdec_process

import analysis as an
import simulator as sim

VLLM_LINE = (
    b"INFO 05-30 15:21:33 [metrics.py:101] SpecDecoding metrics: Mean acceptance length: 3.28, "
    b"Accepted throughput: 47.40 tokens/s, Drafted throughput: 62.39 tokens/s, Accepted: 474 tokens, "
    b"Drafted: 624 tokens, Per-position acceptance rate: 0.938, 0.769, 0.572, "
    b"Avg Draft acceptance rate: 76.0%\n"
)
LLAMACPP_LINE = (
    b"slot print_timing: id  1 | task 0 | draft acceptance = 0.64479 (  167 accepted /   259 generated), "
    b"mean acceptance length =  2.92, acceptance rate per position = (0.805, 0.632, 0.483)\n"
)


TABLE = (
    '{"table": {"rounds": 10, "drafted": 10, "tested": [10], "accepted": [7], "discarded": 0, '
    '"length_rule": "fixed"}}'
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


def test_the_installed_command_is_this_one():
    result = specdec_process("simulate", "--p", "0.7", "--gamma", "1", "--format", "csv")

    here = specdec("simulate", "--p", "0.7", "--gamma", "1", "--format", "csv")
    assert (result.returncode, result.stdout, result.stderr) == (0, here.stdout, here.stderr)


def test_an_error_of_the_installed_command_is_a_sentence():
    result = specdec_process("simulate", "--p", "1.5", "--gamma", "1")

    assert result.returncode == 2
    assert result.stderr == "Error: p must be a number in [0, 1]; got 1.5.\n"


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
        (
            ["simulate", "--gamma", "4"],
            "draft_model needs p or by_depth, one of the two; got neither.",
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
        (["predict", "--gamma", "4"], "give one of p, accepted_fraction and tokens_per_round"),
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
            "measured_gamma must not be given with p",
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


@pytest.mark.parametrize("output", ["table", "json", "csv"])
def test_a_reader_who_leaves_early_is_no_error(output):
    command = f"'{SPECDEC}' predict --p 0.7 --gamma 4 --max-gamma 5000 --format {output} | true"

    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, check=False, timeout=60
    )

    assert result.returncode == 0
    assert b"Traceback" not in result.stderr


def test_closed_streams_are_said():
    for command, stream in (("predict --p 0.7 --gamma 4 >&-", "stdout"), ("import - <&-", "stdin")):
        result = subprocess.run(
            ["bash", "-c", f"'{SPECDEC}' {command}"], capture_output=True, check=False, timeout=60
        )

        assert result.returncode == 2
        assert f"Error: {stream} is closed" in result.stderr.decode()


def test_greek_survives_a_redirect_with_another_encoding():
    result = subprocess.run(
        [str(SPECDEC), "predict", "--p", "0.7", "--gamma", "4"],
        capture_output=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"},
    )

    assert "γ = 4" in result.stderr.decode("utf-8")


def test_several_logs_in_one_file_are_told_apart(tmp_path):
    path = tmp_path / "server.log"
    path.write_bytes(LLAMACPP_LINE + VLLM_LINE)

    document = strict_json(specdec("import", str(path), "--format", "json").stdout)

    logs = {row["log"] for row in document["quantities"]}
    assert len(logs) == 2
    assert all(note.startswith(tuple(logs)) for note in document["notes"])


def test_no_progress_where_nobody_watches():
    result = specdec("simulate", "--p", "0.9", "--gamma", "4", "--rounds", "2e7", "--format", "csv")

    assert "\r" not in result.stderr
    assert "\x1b" not in result.stderr

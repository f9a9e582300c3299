"""The command line: streams, formats, exit codes, sentences."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import socket
import subprocess
from importlib.metadata import version

import pytest
from commands import SPECDEC, specdec, specdec_process
from sample_lines import LLAMACPP_LINE, VLLM_LINE

import analysis as an
import simulator as sim


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


def test_the_version_is_the_package_s():
    assert specdec("--version").stdout == f"specdec {version('specdec')}\n"


def test_a_port_in_use_is_said_with_another_one():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]

        result = specdec("app", "--port", str(port))

    assert result.returncode == 2
    assert f"port {port} is in use; try --port {port + 1}." in result.stderr


def test_rounds_that_are_not_in_the_log_are_bounded_by_gamma():
    line = b"draft acceptance rate = 0.57576 (  171 accepted /   297 generated)\n"

    result = specdec("import", "-", "--gamma", "3", stdin=line)

    assert "at least 99 rounds and at most 2.73 tokens per round" in result.stderr


def test_several_logs_in_one_file_are_told_apart(tmp_path):
    path = tmp_path / "server.log"
    path.write_bytes(LLAMACPP_LINE + VLLM_LINE)

    document = strict_json(specdec("import", str(path), "--format", "json").stdout)

    logs = {row["log"] for row in document["quantities"]}
    assert logs == {"llama.cpp, acceptance per request", "vLLM, interval line"}
    assert all(note.startswith(tuple(logs)) for note in document["notes"])
    table = specdec("import", str(path)).stdout.splitlines()
    assert [line for line in table if line in logs] == sorted(logs)  # each log once, as a heading


def test_no_progress_where_nobody_watches():
    result = specdec("simulate", "--p", "0.9", "--gamma", "4", "--rounds", "2e7", "--format", "csv")

    assert "\r" not in result.stderr
    assert "\x1b" not in result.stderr

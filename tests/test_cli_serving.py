"""`specdec serving`: what it prints, in every form, against exact answers, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from unittest import mock

import pytest
from commands import specdec
from serving_cases import CHAINS, make_times
from test_cli_load import CARD, MODEL, pass_s, tokens_per_round

from analysis import cli_serving, terminal
from analysis.output import Report
from analysis.serving.length_words import in_words, token_lengths
from analysis.serving.report import times_section
from simulator.serving import (
    ClosedLoop,
    EmpiricalTokens,
    FixedTokens,
    GeometricTokens,
    LogNormalTokens,
    Server,
    UniformTokens,
    Workload,
    compare_serving,
)
from simulator.serving.lengths import mean_tokens

COMMAND = ("serving", "--target", MODEL, "--hardware", CARD, "--most-running", "6", "--gamma", "3")
CHAIN = (*COMMAND, "--draft", "chain cost_ratio=0.1 p=0.7")
SHORT = (
    "--prompt-tokens",
    "60",
    "--output-tokens",
    "41",
    "--replications",
    "2",
    "--requests",
    "60",
    "--token-budget",
    "0",
)
TRACE = "timestamp,prompt_tokens,output_tokens\n10,60,21\n10.5,30,1\n12,60,41\n"


def told(*arguments: str) -> dict:
    result = specdec(*arguments, "--format", "json")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def refused(*arguments: str) -> str:
    result = specdec(*arguments)
    assert result.returncode != 0
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def alone_s(tokens, prompt=60):
    """A request alone, without drafts, by hand [s]."""
    logits = (prompt - 1) * 1024 * 32000 * 2.0 / 1e14
    steps = sum(pass_s(1, 1, prompt + 1 + j) for j in range(tokens - 1))
    return pass_s(1, prompt, (prompt + 1) / 2) - logits + steps


def test_one_user_is_a_request_alone():
    report = told(*CHAIN, *SHORT, "--users", "1,3")
    one, three = report["loads"]
    assert (one["users"], three["users"]) == (1, 3)
    assert one["e2e_s_plain"] == pytest.approx(alone_s(41), rel=0.005)
    assert one["tokens_per_s_plain"] == pytest.approx(41 / alone_s(41), rel=0.02)
    assert one["gain_e2e_low"] <= one["gain_e2e"] <= one["gain_e2e_high"]
    assert one["gain_e2e"] > 1.2
    assert (one["stable"], one["stable_plain"]) == (True, True)
    assert one["mean_batch_plain"] < 1.0 < three["mean_batch_plain"] < 3.0
    assert "users." in report["headline"] or "users;" in report["headline"]
    assert report["parameters"]["gamma"] == "3"


def test_every_measure_of_both_sides():
    report = told(*CHAIN, *SHORT, "--rate", "2,20")
    rows = report["times"]
    assert [(row["rate_per_s"], row["measure"]) for row in rows] == [
        (rate, measure) for rate in (2, 20) for measure in ("ttft", "tpot", "itl", "e2e", "waiting")
    ]
    for row in rows:
        for end in ("", "_plain"):
            assert row[f"p50_s{end}"] <= row[f"p95_s{end}"] <= row[f"p99_s{end}"]
            assert row[f"mean_low{end}"] <= row[f"mean_s{end}"] <= row[f"mean_high{end}"]
    for row, load in zip(rows[3::5], report["loads"], strict=True):
        assert row["mean_s"] == load["e2e_s"]
        assert row["mean_s_plain"] == load["e2e_s_plain"]
    low, high = report["loads"]
    assert high["e2e_s_plain"] > low["e2e_s_plain"]
    assert low["tokens_per_s"] == pytest.approx(2 * 41, rel=0.5)  # what arrives
    assert low["tokens_per_round"] == pytest.approx(tokens_per_round(0.7, 3), rel=0.1)
    assert "goodput_per_s" not in low


def test_rates_beyond_a_limit_are_not_simulated():
    report = told(*CHAIN, *SHORT, "--rate", "2,100000")
    limits = {row["side"]: row for row in report["stable_limits"]}
    plain, fast = limits["without"], limits["with speculation"]
    batch = 6 * (alone_s(41) - sum(pass_s(1, 1, 61 + j) for j in range(40)))
    cycle = batch + sum(pass_s(6, 1, 61 + j) for j in range(40))
    assert plain["requests_per_s"] == pytest.approx(6 / cycle, rel=0.005)
    assert plain["tokens_per_s"] == pytest.approx(41 * plain["requests_per_s"])
    beyond = report["loads"][1]
    assert (beyond["stable"], beyond["stable_plain"]) == (False, False)
    assert beyond["e2e_s"] is beyond["gain_e2e"] is beyond["e2e_s_plain"] is None
    assert all(row["rate_per_s"] == 2 for row in report["times"])
    assert sum("is not surely stable at 100000 requests/s" in note for note in report["notes"]) == 2
    ratio = fast["requests_per_s"] / plain["requests_per_s"]
    assert f"({ratio:.2f} of that)" in report["headline"]


def test_automatic_rates_go_beyond_both_limits():
    report = told(*CHAIN, *SHORT)
    limits = sorted(row["requests_per_s"] for row in report["stable_limits"])
    rates = [row["rate_per_s"] for row in report["loads"]]
    assert rates == sorted(rates)
    assert rates[0] == pytest.approx(0.1 * limits[0], rel=0.01)
    assert rates[-1] == pytest.approx(1.05 * limits[1], rel=0.01)
    assert report["loads"][-1]["stable"] is report["loads"][-1]["stable_plain"] is False
    assert report["loads"][-2 if limits[1] < 1.02 * limits[0] else -3]["stable"]


def test_objectives_count_requests():
    sure = told(*CHAIN, *SHORT, "--rate", "2", "--ttft", "1000", "--tpot", "1000", "--e2e", "1000")
    (row,) = sure["loads"]
    assert (row["met_share"], row["met_share_plain"]) == (1.0, 1.0)
    assert row["goodput_per_s"] == row["requests_per_s"]
    between = alone_s(41) * 0.9  # a request alone keeps it with drafts only
    (row,) = told(*CHAIN, *SHORT, "--rate", "0.5", "--e2e", str(between))["loads"]
    assert row["met_share_plain"] == 0.0
    assert row["met_share"] > 0.5


def test_a_schedule_the_plan_and_a_budget():
    schedule = (*CHAIN[:-4], "--draft", CHAIN[-1], "--gamma", "1-2:4, 3-:0")
    report = told(*schedule, *SHORT, "--rate", "2", "--token-budget", "64")
    assert report["parameters"]["gamma"] == "1-2:4, 3-:0"
    assert any("up to 64 tokens" in note for note in report["notes"])
    planned = (*CHAIN[:-4], "--draft", CHAIN[-1], "--gamma", "plan")
    gamma = told(*planned, *SHORT, "--rate", "2")["parameters"]["gamma"]
    plan = told(
        "plan", "--target", MODEL, "--hardware", CARD, "--draft", CHAIN[-1], "--batch", "1,6",
        "--context", "80",
    )["plan"]  # fmt: skip
    assert gamma.split(":")[1].split(",")[0] == str(plan[0]["gamma"])


def test_a_trace_as_recorded_and_faster(tmp_path):
    file = tmp_path / "trace.csv"
    file.write_text(TRACE)
    (row,) = told(*CHAIN, "--trace", str(file), "--replications", "2")["loads"]
    assert row["arrivals"] == "recorded"
    assert row["stable"] is row["stable_plain"] is None
    prompt_only = alone_s(1, prompt=30)
    mean = (alone_s(21) + prompt_only + alone_s(41)) / 3
    assert row["e2e_s_plain"] == pytest.approx(mean, rel=0.02)
    fast = told(*CHAIN, "--trace", str(file), "--replications", "2", "--speed-up", "100000")
    assert fast["loads"][0]["e2e_s_plain"] > row["e2e_s_plain"] * 1.05
    assert any("beyond the stable limit without and with" in note for note in fast["notes"])
    file.write_text("timestamp,prompt_tokens\n1,2\n")
    assert "line 1: no column for output" in refused(*CHAIN, "--trace", str(file))


def test_a_record_is_described_as_it_was_read(tmp_path):
    file = tmp_path / "trace.csv"
    file.write_text(TRACE)
    replayed = (*CHAIN, "--trace", str(file), "--replications", "2")
    described = (
        "3 requests in 2 s, 1 per second, with 50 tokens of prompt and 21 of answer on average"
    )
    assert any(described in note for note in told(*replayed)["notes"])
    faster = told(*replayed, "--speed-up", "4")["notes"]
    assert any("3 requests in 0.5 s, 4 per second, with 50" in note for note in faster)
    assert any("timestamp was read as seconds (call it timestamp_ms" in each for each in faster)
    assert "--speed-up must be above 0; got 0." in refused(*replayed, "--speed-up", "0")
    file.write_text("arrival_s,prompt_tokens,output_tokens\n5,60,21\n")
    alone = told(*replayed)["notes"]
    assert any("1 request at one time, with 60 tokens" in note for note in alone)
    assert not any("beyond the stable limit" in note for note in alone)
    for option, value in (("--prompt-tokens", "9"), ("--output-tokens", "9"), ("--warm-up", "0")):
        assert f"measures all of them; got {option} too." in refused(*replayed, option, value)


@pytest.mark.parametrize("goal", [(), ("--ttft", "1000")])
@pytest.mark.parametrize("loads", [("--rate", "2,4"), ("--users", "1,6")])
def test_the_table_of_loads_fits_eighty_characters(goal, loads, monkeypatch):
    monkeypatch.setattr(terminal, "_PIPED_WIDTH", 80)
    printed = specdec(*CHAIN, *SHORT, *loads, *goal)
    table = printed.stdout.split("\n\n", maxsplit=1)[0]
    assert "…" not in table
    words = table.split()
    assert ("goodput" in words, "e2e" in words) == (bool(goal), True)
    assert ("stable" in words) == ("--rate" in loads)
    assert ("tokens" in words) == ("--users" in loads)
    assert ("Goodput is" in printed.stderr) == bool(goal)


def test_the_same_seed_says_the_same_and_csv_and_tables_do_too(tmp_path):
    command = (*CHAIN, *SHORT, "--rate", "3", "--loop", "numpy")
    report = told(*command)
    assert told(*command) == report
    assert told(*command, "--seed", "1")["loads"] != report["loads"]
    figure = tmp_path / "figure.svg"
    printed = specdec(*command, "--format", "csv", "--figure", str(figure))
    (row,) = csv.DictReader(io.StringIO(printed.stdout))
    assert float(row["gain_e2e"]) == report["loads"][0]["gain_e2e"]
    assert figure.read_text().count("<path") > 10
    shown = specdec(*command)
    assert shown.returncode == 0
    assert "stable plain" in shown.stdout
    assert "waiting" in shown.stdout
    assert "note: A prompt is read alone" in shown.stderr


def test_prompts_are_read_beside_decoding_unless_they_are_to_be_read_alone():
    alone, beside = (told(*CHAIN, *more, "--rate", "3") for more in (SHORT, SHORT[:-2]))
    assert "A prompt is read alone" in " ".join(alone["notes"])
    assert "fill each pass up to 2,048 tokens" in " ".join(beside["notes"])
    limits = [report["stable_limits"][0]["requests_per_s"] for report in (alone, beside)]
    assert limits[1] > 1.05 * limits[0]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            ("--rate", "1", "--users", "2"),
            "one of --rate, --users and --trace; got --rate and --users",
        ),
        (("--speed-up", "2"), "--speed-up belongs to --trace"),
        (("--rate", "one"), "--rate must be numbers"),
        (("--rate", "-1"), "--rate must be requests per second in [1e-05, 1e+06]; got -1."),
        (("--rate", "2,0"), "--rate must be requests per second in [1e-05, 1e+06]; got 0."),
        (("--rate", "nan"), "--rate must be requests per second in [1e-05, 1e+06]; got nan."),
        (("--users", "3,0"), "--users must be whole numbers in [1, 100,000]; got 0."),
        (("--gamma", "many"), "--gamma must be a number, a schedule"),
        (("--gamma", "1-2:3, 5-:0"), "no gaps"),
        (("--gamma", "0"), "gamma must be above 0"),
        (("--loop", "cuda"), "--loop must be one of auto, numpy, numba"),
        (("--prompt-tokens", "long"), "--prompt-tokens must be such as 512"),
        (("--output-tokens", "9-3"), "--output-tokens: most must be"),
        (("--output-tokens", "geometric:0.5"), "--output-tokens: mean must be"),
        (("--output-tokens", "lognormal:9"), "--output-tokens must be such as"),
        (("--draft", "lookup p=0.5"), "--draft must be given once"),
        (("--figure", "a.gif"), "must end in one of"),
        (("--ttft", "-1"), "--ttft must be seconds, at least 0; got -1."),
        (("--tpot", "nan"), "--tpot must be seconds, at least 0; got nan."),
        (("--e2e", "inf"), "--e2e must be seconds, at least 0; got inf."),
    ],
)
def test_wrong_options_are_one_sentence(more, said):
    assert said in refused(*CHAIN, "--replications", "2", "--requests", "10", *more)


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ((), "--target, --hardware and --draft must be given (--steps FILE"),
        (("--hardware", CARD), "--target and --draft must be given, such as"),
        (("--draft", CHAIN[-1]), "--target and --hardware must be given (--steps FILE"),
        (("--target", MODEL), "--hardware and --draft must be given, such as"),
        (("--target", MODEL, "--hardware", CARD), "--draft must be given at least once"),
        (("--steps", "steps.csv"), "--draft must be given at least once"),
    ],
)
def test_all_that_is_missing_is_named_at_once(given, missing):
    assert missing in refused("serving", *given)


@pytest.mark.parametrize("narrow", [True, False])
def test_the_times_lose_no_digit_on_a_narrow_screen(narrow, monkeypatch):
    monkeypatch.setattr(terminal, "_PIPED_WIDTH", 80)
    times = make_times(pass_s=lambda *_: 20.0, prompt_s=lambda _tokens: 50.0)
    slow = Server(times=times, most_running=1, strategy=CHAINS["constant"])
    law = FixedTokens(tokens=11)
    load = Workload(arrivals=ClosedLoop(users=2), prompt=law, output=law)
    point = compare_serving(slow, slow.plain(), load, rng=0, requests=4, replications=2)
    section = times_section([point], narrow=narrow)
    shown = terminal.tables(Report(command="serving", parameters=(), sections=(section,)))
    rows = [line.split()[1:] for line in shown.splitlines() if line.startswith(("ttft", "e2e"))]
    assert [len(row) for row in rows] == ([6, 6] if narrow else [6, 6, 2, 2])  # all, in two parts
    assert point.plain.e2e.mean_s.value > 100.0
    cut = [cell for row in rows for cell in row if not re.fullmatch(r"\d+\.\d{4}", cell)]
    assert cut == []
    assert "p95_s" in section.columns  # for programs


def test_only_a_terminal_is_narrow(monkeypatch):
    monkeypatch.setattr(cli_serving.shutil, "get_terminal_size", lambda: os.terminal_size((80, 9)))
    assert not cli_serving._is_narrow()
    monkeypatch.setattr(cli_serving.sys, "stdout", mock.Mock(isatty=lambda: True))
    assert cli_serving._is_narrow()
    monkeypatch.setattr(cli_serving.shutil, "get_terminal_size", lambda: os.terminal_size((120, 9)))
    assert not cli_serving._is_narrow()


@pytest.mark.parametrize(
    ("text", "law", "mean"),
    [
        ("512", FixedTokens(tokens=512), 512.0),
        ("100-900", UniformTokens(least=100, most=900), 500.0),
        ("geometric:8,most=8", GeometricTokens(mean=8.0, most=8), 8.0 * (1.0 - 0.875**8)),
        ("lognormal:512, 1.2 ,most=4096", LogNormalTokens(mean=512.0, spread=1.2, most=4096), 512.0),
        ("lognormal:100,0", LogNormalTokens(mean=100.0, spread=0.0, most=2000), 100.0),
    ],
)  # fmt: skip
def test_lengths_in_words(text, law, mean):
    assert token_lengths("--x", text) == law
    assert mean_tokens(law) == pytest.approx(mean)
    assert token_lengths("--x", in_words(law)) == law
    assert in_words(EmpiricalTokens(values=(1, 2))) == "2 recorded lengths"

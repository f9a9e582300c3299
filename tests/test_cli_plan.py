"""`specdec plan`: the table, its other forms, schedules and configurations, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from commands import specdec

import analysis as an
from simulator import ConstantAcceptance

SERVED = ("plan", "--target", "llama-3.1-8b", "--hardware", "h100")
EAGLE = (*SERVED, "--draft", "eagle p=0.75")
SEVERAL = (*EAGLE, "--draft", "llama-3.2-1b p=0.82", "--draft", "lookup p=0.4")
RUN = Path(__file__).parent / "runs" / "tiny_pair"
CONFIG = {
    "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
}  # fmt: skip


def told(*arguments: str) -> dict:
    result = specdec(*arguments, "--format", "json")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def test_every_row_is_the_best_of_all_drafts_and_lengths():
    report = told(*SEVERAL, "--batch", "1,16,300", "--max-gamma", "6", "--context", "500")
    assert [row["batch"] for row in report["plan"]] == [1, 16, 300]
    for row in report["plan"]:
        there = [cell for cell in report["table"] if cell["batch"] == row["batch"]]
        assert row["speedup"] == pytest.approx(max(cell["speedup"] for cell in there), rel=1e-12)
        best = [cell for cell in there if cell["speedup"] >= row["speedup"] * (1 - 1e-9)]
        assert (row["use"], row["gamma"]) in {(c["strategy"], c["gamma"]) for c in best}
        assert row["tokens_per_s"] == pytest.approx(row["speedup"] * row["plain_tokens_per_s"])
    lengths = {cell["gamma"] for cell in report["table"]}
    assert lengths == set(range(7))
    assert [row["strategy"] for row in report["strategies"]] == ["eagle", "llama-3.2-1b", "lookup"]
    assert report["parameters"]["draft"] == "eagle p=0.75; llama-3.2-1b p=0.82; lookup p=0.4"


def test_the_plan_is_that_of_the_library():
    report = told(*EAGLE, "--batch", "1,64", "--context", "2000")
    kind = an.DraftKind(kind="head")
    machine = an.Machine(accelerator=an.accelerator("H100"))
    process = an.Fit.of_process(ConstantAcceptance(p=0.75))
    pair = an.deploy(an.architecture("Llama 3.1 8B"), machine, kind, process)
    for row in report["plan"]:
        parts = pair.parts(row["gamma"], row["batch"], 2000)
        assert row["speedup"] == pytest.approx(parts.speedup.value, rel=1e-12)
        assert row["round_s"] == pytest.approx(parts.round_s, rel=1e-12)


def test_batches_are_powers_of_two_that_fit_if_none_are_given():
    assert [row["batch"] for row in told(*EAGLE)["plan"]] == [2**n for n in range(9)]
    long = told(*EAGLE, "--context", "20000")
    batches = [row["batch"] for row in long["plan"]]
    room = 0.9 * 80e9 - 2 * an.architecture("Llama 3.1 8B").parameters
    most = room // (2 * an.architecture("Llama 3.1 8B").kv_numbers * 20000)
    assert batches == [2**n for n in range(9) if 2**n <= most]


def test_where_the_draft_does_not_fit_its_strategy_is_off_and_a_note_says_so():
    report = told(*SERVED, "--draft", "llama-3.2-1b p=0.9", "--batch", "1,416")
    assert [row["use"] for row in report["plan"]] == ["llama-3.2-1b", "off"]
    assert any("is off from batch 416 on" in note for note in report["notes"])


@pytest.mark.parametrize(
    ("prefer", "least"), [("gain", "0"), ("sure", "0"), ("short", "0"), ("gain", "0.9")]
)
def test_preferences_and_a_required_gain(prefer, least):
    log = (*SERVED, "--draft", "eagle", "--log", str(RUN), "--batch", "1,64,256")
    report = told(*log, "--prefer", prefer, "--require-gain", least)
    for row in report["plan"]:
        if row["gamma"]:
            assert row["speedup"] >= 1 + float(least)
            assert row["low"] <= row["speedup"] <= row["high"]
    if least != "0":
        assert any(row["use"] == "off" for row in report["plan"])
    if prefer == "short":
        gain = told(*log)["plan"]
        for row, other in zip(report["plan"], gain, strict=True):
            assert row["gamma"] <= other["gamma"]
            assert row["speedup"] >= 0.99 * other["speedup"]


def test_money_is_the_price_of_an_hour_over_its_tokens():
    for row in told(*EAGLE, "--price", "4", "--batch", "1,8")["plan"]:
        assert row["per_million"] == pytest.approx(4e6 / 3600 / row["tokens_per_s"])
        assert row["plain_per_million"] == pytest.approx(row["per_million"] * row["speedup"])


def test_a_schedule_of_ones_own_is_judged():
    report = told(*EAGLE, "--schedule", "1-8:2, 9-:0", "--batch", "1,64")
    first, last = report["losses"]
    assert (first["gamma"], last["gamma"]) == (2, 0)
    assert last["speedup"] == 1.0
    assert last["lost_share"] == pytest.approx(1 - 1 / last["best_speedup"])
    assert report["notes"][0].startswith("1-8:2, 9-:0 with eagle: The schedule loses ")
    assert "where no draft gives 1.00×" in report["notes"][0]


def test_csv_table_and_figure(tmp_path, monkeypatch):
    result = specdec(*EAGLE, "--format", "csv", "--batch", "1,2")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["batch"], row["use"]) for row in rows] == [("1", "eagle"), ("2", "eagle")]
    assert "JSON also has strategies, schedule, choices, table." in result.stderr
    monkeypatch.setattr("analysis.terminal._PIPED_WIDTH", 110)
    for ending in (".png", ".svg", ".pdf"):
        file = tmp_path / f"plan{ending}"
        result = specdec(*SEVERAL, "--figure", str(file), "--price", "3")
        assert result.returncode == 0
        assert file.stat().st_size > 5000
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 110
    assert lines[0].split() == [
        "batch",
        "use",
        "gamma",
        "flat",
        "speedup",
        "per",
        "million",
        "plain",
        "per",
        "million",
        "speedup",
        "llama-3.2-1b",
    ]
    assert "count as exact, so there are no intervals" in result.stderr


def test_a_config_json_is_a_target(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(CONFIG))
    same = told("plan", "--target", str(file), "--hardware", "h100", "--draft", "eagle p=0.75")
    assert same["plan"] == told(*EAGLE)["plan"]
    file.write_text(json.dumps({key: CONFIG[key] for key in CONFIG if key != "vocab_size"}))
    result = specdec("plan", "--target", str(file), "--hardware", "h100", "--draft", "eagle p=0.7")
    assert result.returncode == 2
    assert "vocab_size" in result.stderr


def test_a_measured_run_gives_steps_and_acceptance():
    report = told("plan", "--steps", str(RUN), "--draft", "tiny-draft", "--log", str(RUN),
                  "--context", "40")  # fmt: skip
    (row,) = report["plan"]
    assert row["batch"] == 1  # as measured
    assert row["low"] < row["speedup"] < row["high"]
    assert report["parameters"]["steps"] == str(RUN)
    assert any("acceptance fitted to" in note for note in report["notes"])
    far = told("plan", "--steps", str(RUN), "--draft", "tiny-draft p=0.7", "--batch", "1,64")
    assert "Passes were measured at batch 1" in far["notes"][-1]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--batch", "1,x"), "--batch must be whole numbers separated by commas; got '1,x'."),
        (("--batch", "4,2"), "batches must rise; got 2 after 4."),
        (("--batch", "0"), "batches must be a whole number in [1, 100000]; got 0."),
        (
            ("--batch", "454"),
            "453 (requests of 1,024 tokens that fit the memory: 453 without a draft, 428 with eagle); got",
        ),
        (("--context", "90000000"), "not even one request of 90,000,000 tokens fits the memory."),
        (("--prefer", "luck"), "prefer must be one of gain, sure, short; got 'luck'."),
        (("--require-gain", "-1"), "require_gain must be a finite number of at least 0"),
        (("--schedule", "1-16:3, 18-:0"), "a schedule must have no gaps"),
        (("--schedule", "2-:3"), "a schedule must begin at batch 1; got 2."),
        (("--schedule", "1-16:3"), "batch must be at most 16, the schedule's last; got 32."),
        (("--schedule", "often"), "a schedule must be spans of batch sizes such as"),
        (("--config", "tgi"), "engine must be one of vllm, sglang, tensorrt_llm, llamacpp"),
        (("--out", "folder"), "--out belongs to --config ENGINE; got it alone."),
        (
            ("--config", "vllm", "--falling", "--schedule", "1-:1"),
            "--falling is for the plan's own",
        ),
        (("--falling",), "--falling belongs to --config ENGINE; got it alone."),
        (("--variant", "eagle"), "--variant belongs to --config ENGINE; got it alone."),
        (("--draft-path", "a"), "--draft-path belongs to --config ENGINE; got it alone."),
        (("--target-path", "a"), "--target-path belongs to --config ENGINE; got it alone."),
        (("--config", "vllm", "--target-path", "a\nb"), "target"),
        (("--config", "vllm", "--variant", "medusa"), "variant"),
        (("--figure", "plan.gif"), "the figure's name must end in one of .png, .svg, .pdf"),
        (("--figure", "/none/plan.png"), "No such file or directory"),
        (("--weight-bits", "0"), "weight_bits must be above 0; got 0."),
        (("--kv-bits", "-1"), "kv_bits must be a finite number"),
        (("--overhead-s", "-1"), "overhead_s must be a finite number"),
        (("--draft-overlap", "1.5"), "draft_overlap must be a number in [0, 1]; got 1.5."),
        (("--p", "0.5"), "--p is for drafts that say no acceptance of their own"),
        (("--draft", "lama-3.2-1b p=0.4"), "the closest are Llama 3.2 1B"),
        (("--draft", "eagle q=1"), "--draft knows p, "),
    ],
)
def test_what_is_refused(more, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = specdec(*EAGLE, *more)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: ")
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_what_does_not_fit_or_is_unknown_is_refused_with_what_is_near():
    large = specdec(
        "plan", "--target", "llama-3.1-70b", "--hardware", "h100", "--draft", "mtp p=0.7"
    )
    assert large.returncode == 2
    assert "the target's weights must fit the memory: 141.1 GB" in large.stderr
    assert "at least 2 times the devices (devices=) or at most 55% of the bits" in large.stderr
    near = specdec("plan", "--target", "lama 8b", "--hardware", "h100", "--draft", "mtp p=0.7")
    assert near.returncode == 2
    assert "--target: model must be a known preset (the closest are Llama 3.1 8B" in near.stderr


@pytest.mark.parametrize(
    "more", [("--max-gamma", "-1"), ("--max-gamma", "1001"), ("--price", "-1")]
)
def test_what_is_out_of_range_is_a_usage_error(more):
    result = specdec(*EAGLE, *more)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"Invalid value for '{more[0]}'" in result.stderr

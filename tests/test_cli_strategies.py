"""`specdec strategies`: tables, costs by name and by machine, sizes, the figure, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import real_runs
from analysis import cli_costs, cli_strategies
from analysis.article_load import pair
from analysis.systems.presets import preset_names, preset_system

app = typer.Typer()
app.callback()(lambda: None)
cli_strategies.register(app)


def document(*arguments):
    result = CliRunner().invoke(app, ["strategies", *arguments, "--format", "json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(*arguments):
    result = CliRunner().invoke(app, ["strategies", *arguments])
    assert isinstance(result.exception, ValueError), result.output
    return str(result.exception)


def test_all_presets_exact_beside_simulated():
    shown = document("--rounds", "20000", "--seed", "3")
    assert {row["system"] for row in shown["systems"]} == set(preset_names())
    assert shown["parameters"]["seed"] == 3
    for row in shown["systems"]:
        assert abs(row["z"]) < 6.5
        assert row["verified"] > row["nodes"]
    assert {row["from"] for row in shown["sources"]} == set(preset_names())
    assert shown == document("--rounds", "20000", "--seed", "3")


def test_one_cost_for_all_or_one_each():
    shown = document(
        "--preset", "medusa,eagle-chain", "--cost-ratio", "0.05", "--verify-cost", "1", "--rounds", "0"
    )  # fmt: skip
    heads, chain = shown["systems"]
    assert "simulated" not in heads
    assert heads["round_cost"] == pytest.approx(1.05)
    assert chain["round_cost"] == pytest.approx(1.25)
    assert chain["speedup"] == pytest.approx(preset_system("eagle-chain").tokens_per_round / 1.25)
    assert not any("V(n) is that of" in note for note in shown["notes"])
    assert any("One cost ratio is taken" in note for note in shown["notes"])
    each = document(
        "--preset", "medusa", "--preset", "eagle-chain", "--preset", "prompt-lookup", "--rounds", "0",
        "--cost-ratio", "medusa=0.02,eagle-chain=0.04", "--verify-cost", "1:1,8:1.1,64:1.4",
    )  # fmt: skip
    heads, chain, looked = each["systems"]
    assert heads["round_cost"] == pytest.approx(1.42)
    assert chain["round_cost"] == pytest.approx(0.2 + 1 + 0.1 * 5 / 7)
    assert 1.0 < looked["round_cost"] < 1.1  # no step to pay for, and most rounds have no draft
    assert not any("A draft step is taken" in note for note in each["notes"])
    some = document(
        "--preset", "medusa,eagle-chain", "--cost-ratio", "medusa=0.1", "--verify-cost", "1", "--rounds", "0"
    )  # fmt: skip
    heads, chain = some["systems"]
    assert (heads["round_cost"], chain["round_cost"]) == pytest.approx((1.1, 1.25))
    assert any("plain target steps for eagle-chain: about" in note for note in some["notes"])


def test_without_costs_a_machine_and_a_draft_step_are_assumed_and_said():
    """The usual step is what printed rounds leave: (tokens / speedup − V) / steps of three systems."""
    shown = document("--rounds", "0")
    assert shown["parameters"]["cost_ratio"] == "0.05"
    assert shown["parameters"]["target"] == "Llama 3.1 8B"
    rows = {row["system"]: row for row in shown["systems"]}
    for name in ("draft-model", "medusa", "eagle-tree"):
        row = rows[name]
        left = row["printed_tokens"] / row["printed_speedup"] - row["verify_cost"]
        assert left / row["draft_steps"] == pytest.approx(cli_strategies.USUAL_RATIO, abs=0.02)
        assert row["speedup"] == pytest.approx(row["printed_speedup"], rel=0.07)
    words = ("--target", "Llama 3.1 8B", "--hardware", "h100", "--cost-ratio", "0.05")
    given = document("--rounds", "0", *words)
    assert given["systems"] == shown["systems"]
    busy = document("--rounds", "0", "--batch", "16")
    cheaper = {row["system"]: row["speedup"] for row in busy["systems"]}
    assert cheaper["medusa"] < 1.0 < cheaper["eagle-chain"]
    assert any("at batch 16, 1,024 tokens held" in note for note in busy["notes"])
    assert any("standard" in note for note in shown["notes"]) is False  # nothing was sampled


def test_a_machine_says_what_passes_take():
    shown = document(
        "--preset", "medusa", "--cost-ratio", "0.02", "--rounds", "0", "--target", "Llama 3.1 8B",
        "--hardware", "h100", "--batch", "16", "--context", "1000",
    )  # fmt: skip
    (row,) = shown["systems"]
    assert row["verify_cost"] == pytest.approx(
        pair().target.verify_cost(64, batch=16, context=1000)
    )
    assert row["speedup"] < 1.0
    assert shown["headline"].startswith("No system pays")


def test_sizes_and_the_figure(tmp_path):
    path = tmp_path / "systems.svg"
    shown = document(
        "--preset", "eagle-chain,eagle-tree", "--nodes", "4,16", "--rounds", "0", "--figure", str(path)
    )  # fmt: skip
    assert [(row["sized_system"], row["nodes"]) for row in shown["sizes"]] == [
        ("eagle-chain", 4), ("eagle-tree", 4), ("eagle-tree", 16),
    ]  # fmt: skip
    assert any(note.endswith("no acceptance so deep: eagle-chain 16.") for note in shown["notes"])
    pool = document("--preset", "lookahead", "--nodes", "9,10,16", "--rounds", "0")
    assert [row["nodes"] for row in pool["sizes"]] == [8, 16]
    assert not any("No such draft" in note for note in pool["notes"])
    assert path.read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--preset", "oracle"), "preset must be one of draft-model, prompt-lookup, lookahead, medusa"),
        (("--preset", "medusa,medusa"), "each name once; got medusa, medusa"),
        (("--cost-ratio", "cheap"), "--cost-ratio must be one number or NAME=C pairs; got 'cheap'"),
        (("--cost-ratio", "0.1,0.2"), "--cost-ratio must be one number or NAME=C pairs; got '0.1,0.2'"),
        (("--cost-ratio", "oracle=0.1"), "must name systems that are compared (draft-model, "),
        (("--cost-ratio", "medusa=0.1,medusa=0.2"), "each once; got 'medusa=0.1,medusa=0.2'"),
        (("--cost-ratio", "-1"), "cost_ratio must be"),
        (("--overhead", "-0.1"), "overhead must be a finite number of at least 0"),
        (("--verify-cost", "1:2,128:3"), "V(1) must be 1, the plain step"),
        (("--cost-ratio", "0.1", "--verify-cost", "8:1.1"), "points must be two or more"),
        (("--cost-ratio", "0.1", "--verify-cost", "1:1,x"), "one number or N:V pairs; got 'x'"),
        (("--verify-cost", "1:1,8:x"), "--verify-cost must be one number or N:V pairs; got '8:x'"),
        (("--cost-ratio", "medusa=x"), "one number or NAME=C pairs; got 'medusa=x'"),
        (("--cost-ratio", "0.1", "--verify-cost", "1:1,8:1.1"), "given for passes over 1 to 8 tokens"),
        (("--batch", "8", "--verify-cost", "1.2"), "not both; got --verify-cost '1.2' and --batch"),
        (("--target", "Llama 3.1 8B", "--cost-ratio", "0.1"), "--hardware is missing"),
        (("--nodes", "4,0"), "--nodes must be whole numbers of at least 1; got 0"),
        (("--nodes", "few"), "--nodes must be whole numbers separated by commas; got 'few'"),
        (("--rounds", "-1"), "--rounds must be at least 0; got -1"),
        (("--figure", "systems.jpg"), "must end in one of .png, .svg, .pdf"),
    ],
)  # fmt: skip
def test_wrong_calls_are_one_sentence(arguments, sentence):
    assert sentence in refused(*arguments)


def test_a_cost_and_a_machine_are_not_both_given():
    words = ("--target", "Llama 3.1 8B", "--hardware", "h100", "--cost-ratio", "0.1")
    assert "not both" in refused(*words, "--verify-cost", "1.2")


def test_the_assumed_machine_is_named_with_the_way_to_own_costs():
    shown = document("--rounds", "0")
    assert "(V(n) on Llama 3.1 8B, H100 SXM, batch 1) on Vicuna 7B" in shown["headline"]
    assert "batch 16)" in document("--rounds", "0", "--batch", "16")["headline"]
    said = " ".join(shown["notes"])
    assert "--steps RUNFOLDER" in said
    assert "--cost-ratio NAME=C" in said
    given = document("--rounds", "0", "--target", "Llama 3.1 8B", "--hardware", "h100")
    assert "V(n) on" not in given["headline"]
    assert "extrapolated" not in said


def test_measured_passes_say_beyond_which_width_they_are_extrapolated():
    tiny = Path(real_runs.__file__).with_name("data") / "runs" / "tiny"
    widest = int(cli_costs.costs_of(cli_costs.Words(steps=tiny)).fitted.ranges.tokens[1])
    shown = document("--rounds", "0", "--steps", str(tiny))
    (note,) = [note for note in shown["notes"] if "extrapolated beyond" in note]
    assert f"over up to {widest} tokens" in note
    for row in shown["systems"]:
        assert (f"{row['system']} {row['verified']}" in note) == (row["verified"] > widest)


def test_rounds_that_find_nothing_and_printed_speedups_are_told():
    shown = document("--rounds", "0")
    said = " ".join(shown["notes"])
    assert "prompt-lookup in 90% of rounds, which then verify 1 of 11" in said
    assert "lookahead in 76% of rounds, which then verify 61 of 121" in said
    rows = {row["system"]: row for row in shown["systems"]}
    (note,) = [note for note in shown["notes"] if note.startswith("Speedup against print")]
    for name, row in rows.items():
        if row["printed_speedup"] is None:
            assert name not in note
        else:
            assert f"{name} {row['speedup'] / row['printed_speedup'] - 1:+.1%}" in note
    guessed = {row["from"]: "is a guess" in row["acceptance"] for row in shown["sources"]}
    assert [name for name, guess in guessed.items() if guess] == ["prompt-lookup"]
    few = document("--preset", "medusa", "--rounds", "0")
    assert not any("at most" in note for note in few["notes"])

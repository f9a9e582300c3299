"""`specdec explain` of logs and measured runs: its numbers against arithmetic of the test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import specdec
from explanations import CODE, SLOW, SMOLLM2, TINY, costs, net, told
from sample_lines import LLAMACPP_LINE

import analysis as an
from real_runs.runs.reading import read_run


def test_a_log_without_plain_speed_says_what_is_missing():
    found = told(CODE)
    assert found["headline"].startswith(
        "Acceptance is fine; whether it pays is not known: the speed without speculation is missing."
    )
    assert found["headline"].endswith("ms. Give --plain-tps.")
    healthy = next(row for row in found["findings"] if row["finding"] == "healthy")
    assert "Nothing needs mending" not in healthy["advice"]
    assert "waterfall" not in found
    assert found["findings"]


def test_a_log_with_plain_speed_is_one_lump():
    """261 rounds, 983 kept of 1,566 drafted; a round takes what 124.5 tokens per second allow."""
    found = told(CODE, "--plain-tps", "48")
    tokens = 1.0 + 983 / 261
    parts = costs(found)
    assert parts["tokens per round"] == pytest.approx(tokens)
    assert net(found) == pytest.approx(124.5 / 48.0)
    lump = tokens * 48.0 / 124.5 - 1.0
    assert parts["drafting + verification + overhead"] == pytest.approx(lump)
    members = [row for row in found["waterfall"] if row["part"].startswith("of which")]
    assert [(row["low"], row["high"]) for row in members] == [(0.0, pytest.approx(lump))] * 3
    assert "First find out whether drafting, verification or overhead" in found["headline"]
    assert not any("--plain-tps" in note for note in found["notes"])


def test_what_is_given_beside_a_log_splits_it():
    passes = "1,1.1,1.2,1.3,1.4,1.5,1.6"
    found = told(CODE, "--plain-tps", "48", "--verify-cost", passes, "--cost-ratio", "0.02")
    parts = costs(found)
    assert parts["drafting"] == pytest.approx(6 * 0.02)
    assert parts["wider verification"] == pytest.approx(0.6)
    rest = (1.0 + 983 / 261) * 48.0 / 124.5 - 1.0 - 0.72
    assert parts["fixed overhead"] == pytest.approx(rest)
    one = told(CODE, "--plain-tps", "48", "--verify-cost", "1.6", "--cost-ratio", "0.02")
    assert costs(one) == parts


def test_overhead_that_drafting_and_judging_cannot_explain_is_attacked():
    """One drafted token: drafting it takes a plain step at most, judging it another one."""
    found = told(SLOW, "--plain-tps", "342.2")
    lump = costs(found)["drafting + verification + overhead"]
    bounds = {row["part"]: (row["low"], row["high"]) for row in found["waterfall"]}
    assert bounds["of which fixed overhead"] == pytest.approx((lump - 2.0, lump))
    assert bounds["of which drafting"] == (0.0, 1.0)
    assert "Attack fixed overhead first." in found["headline"]
    assert any("no more than a plain step to draft" in note for note in found["notes"])


def test_a_log_from_stdin_with_all_its_facts():
    line = LLAMACPP_LINE.replace(b"mean acceptance length =  2.92, ", b"")
    found = told(
        "-", "--gamma", "3", "--tps", "88", "--plain-tps", "52.5", "--running", "1",
        "--method", "eagle", "--target", "Qwen3-30B-A3B", stdin=line,
    )  # fmt: skip
    assert net(found) == pytest.approx(88.0 / 52.5)
    assert found["parameters"]["source"] == "stdin"
    assert found["parameters"]["tps"] == 88
    assert found["parameters"]["target"] == "Qwen3-30B-A3B"


def test_the_target_beside_a_log_tells_mixture_of_experts():
    def codes(name):
        found = told(
            "-", "--gamma", "3", "--tps", "40", "--plain-tps", "60", "--target", name,
            stdin=LLAMACPP_LINE,
        )  # fmt: skip
        return {row["finding"] for row in found["findings"]}

    assert "moe_verify_cost" in codes("Qwen3-30B-A3B")
    assert "moe_verify_cost" not in codes("Qwen3-32B")


def test_counts_of_simulate_are_explained(tmp_path):
    file = tmp_path / "counts.json"
    file.write_text(
        specdec(
            "simulate", "--p", "0.7", "--gamma", "4", "--rounds", "2000", "--format", "json"
        ).stdout,
        encoding="utf-8",
    )
    found = told(str(file), "--tps", "80", "--plain-tps", "50")
    assert net(found) == pytest.approx(1.6)
    result = specdec("explain", str(file), "--engine", "vllm")
    assert result.returncode == 2
    assert "JSON of `simulate` or `import` takes --context, --cost-ratio" in result.stderr


@pytest.mark.parametrize(("folder", "best"), [(TINY, 6), (SMOLLM2, 8)])
def test_a_run_folder_is_explained_at_its_best_length(folder, best):
    found = told(folder)
    summary = an.summarize_run(read_run(Path(folder)).requests, rng=0)
    entry = summary.at(best)
    assert found["parameters"]["gamma"] == summary.best == best
    assert found["parameters"]["seed"] == 0
    assert net(found) == entry.speedup.value
    rows = {row["part"]: row for row in found["waterfall"]}
    for name, cost in (
        ("drafting", entry.drafting_cost),
        ("wider verification", entry.wider_cost),
        ("fixed overhead", entry.outside_cost),
    ):
        assert rows[name]["gives_or_takes"] == cost.value
        assert (rows[name]["low"], rows[name]["high"]) == cost.interval
    assert "raft fewer tokens" not in found["headline"]
    assert "Draft more tokens" not in found["headline"]


def test_parts_of_a_run_follow_from_its_requests():
    """By hand, from the nanoseconds in the file."""
    names = ("decode", "passes", "draft", "rounds", "kept")
    sums = {gamma: dict.fromkeys(names, 0) for gamma in (0, 6)}
    for line in (Path(TINY) / "requests.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        if one["gamma"] in sums:
            here, table = sums[one["gamma"]], one["table"]
            here["decode"] += one["decode_ns"]
            here["passes"] += sum(each["total_ns"] for each in one["passes"])
            here["draft"] += one["draft_ns"]
            here["rounds"] += table["rounds"]
            here["kept"] += table["rounds"] + sum(table["accepted"]) - table["discarded"]
    plain, here = sums[0], sums[6]
    step = plain["decode"] / plain["kept"]
    parts = costs(told(TINY, "--gamma", "6"))
    assert parts["tokens per round"] == pytest.approx(here["kept"] / here["rounds"])
    assert parts["drafting"] == pytest.approx(here["draft"] / here["rounds"] / step)
    wider = here["passes"] / here["rounds"] - plain["passes"] / plain["kept"]
    assert parts["wider verification"] == pytest.approx(wider / step)
    assert parts["net"] == pytest.approx(here["decode"] / here["rounds"] / step)


def test_findings_about_other_lengths_of_a_run_are_left_out_and_none_contradicts_the_best():
    found = told(SMOLLM2, "--gamma", "2")
    assert (
        "Draft more tokens: γ = 8 gives 2.69× (of the lengths that were measured)"
        in (found["headline"])
    )
    advice = {row["finding"]: row["advice"] for row in found["findings"]}
    assert "Draft more tokens: γ = 8" in advice["verify_cost_dominates"]
    assert all("γ = 2" in row["where"] for row in found["findings"])
    assert "verify_cost_dominates" not in {row["finding"] for row in told(TINY)["findings"]}


def sweep(tmp_path, *more):
    """A plain step of 10 ms, rounds of 11 ms and 1 more for each of 2, 3 and 5 drafted tokens."""
    file = tmp_path / "sweep.jsonl"
    lines = [
        {"batch_size": 1, "steps": steps, "topk": 1, "num_draft_tokens": steps + 1,
         "acc_length": tokens, "step_time": seconds, "throughput": tokens / seconds}
        for steps, tokens, seconds in ((0, 1.0, 0.010), (2, 2.0, 0.013), (3, 2.5, 0.014), (5, 2.8, 0.016))
    ]  # fmt: skip
    lines[0] |= {"topk": 0, "num_draft_tokens": 0}
    lines += more
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(("gamma", "tokens"), [(2, 2.0), (3, 2.5), (5, 2.8)])
def test_a_log_with_several_draft_lengths_is_a_sweep(gamma, tokens, tmp_path):
    found = told(sweep(tmp_path), "--gamma", str(gamma))
    assert found["parameters"]["gamma"] == gamma
    parts = costs(found)
    assert parts["tokens per round"] == tokens
    assert parts["fixed overhead"] == pytest.approx(0.1)
    assert parts["drafting + verification"] == pytest.approx(0.1 * gamma)
    assert ("γ = 3 gives 1.79×" in found["headline"]) is (gamma != 3)
    assert any("a sweep over γ = 2, 3, 5" in note for note in found["notes"])
    fixed = next(row for row in found["waterfall"] if row["part"] == "fixed overhead")
    assert (fixed["low"], fixed["high"]) == (None, None)  # what floats leave is no range


def test_the_draft_length_of_a_sweep_must_be_one_of_it(tmp_path):
    assert told(sweep(tmp_path))["parameters"]["gamma"] == 2
    result = specdec("explain", sweep(tmp_path), "--gamma", "4")
    assert result.returncode == 2
    assert "gamma must be 2 or 3 or 5, as the source says; got 4." in result.stderr


def test_another_tree_is_not_of_the_sweep(tmp_path):
    """Cheap rounds of a tree at γ = 8 would tilt the line."""
    tree = {"batch_size": 1, "steps": 8, "topk": 4, "num_draft_tokens": 9, "acc_length": 4.0,
            "step_time": 0.012, "throughput": 333.3}  # fmt: skip
    assert costs(told(sweep(tmp_path, tree), "--gamma", "3")) == costs(
        told(sweep(tmp_path), "--gamma", "3")
    )

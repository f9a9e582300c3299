"""The kept runs of all systems hold what is said of them."""

from __future__ import annotations

import json

import numpy as np
import pytest
import systems_runs

from analysis.runs.prediction import summarize_run
from real_runs.runs.losslessness import losslessness_of
from real_runs.runs.reading import read_run
from real_runs.tiny.varied import repeats

RUNS = {name: read_run(systems_runs.RUNS / name) for name in systems_runs.COMMANDS}
SAMPLED = {name: read_run(systems_runs.SAMPLED_RUNS / name) for name in systems_runs.SAMPLED}
EVERY = [*RUNS.values(), *SAMPLED.values()]
TOKENS_PER_ROUND = {
    "medusa": 2.8,
    "eagle-chain": 3.2,
    "lookahead": 1.3,
}
SPEEDUP = {"medusa": 1.3, "eagle-chain": 1.3}


def at_largest_gamma(name):
    summary = summarize_run(RUNS[name].requests)
    return summary.at(max(point.gamma for point in summary.measured))


def test_no_text_goes_in_circles():
    for name, run in RUNS.items():
        plain = [record for record in run.records if record.gamma == 0]
        assert len(plain) == 24
        assert not any(repeats(np.array(record.tokens)) for record in plain), name


def test_every_folder_is_that_of_its_command():
    assert len(EVERY) == len(systems_runs.commands())
    for folder, options in systems_runs.commands().items():
        argv = read_run(folder).header.argv
        assert argv[: 1 + len(options)] == ("measure", *options)


def test_all_systems_continue_the_same_prompts_on_the_same_machine():
    prompts = {run.header.prompts.sha256 for run in EVERY}
    machines = {(run.header.environment, run.settings.threads) for run in EVERY}
    assert len(prompts) == len(machines) == 1


@pytest.mark.parametrize("name", RUNS)
def test_greedy_texts_are_those_of_plain_decoding(name):
    verdict = losslessness_of(RUNS[name])
    assert verdict is not None
    assert not verdict.problem


@pytest.mark.parametrize("name", TOKENS_PER_ROUND)
def test_tokens_per_round_are_what_each_system_must_reach(name):
    assert at_largest_gamma(name).tokens_per_round.value >= TOKENS_PER_ROUND[name]


def test_a_tree_accepts_more_than_the_chain_of_its_depth():
    chain = at_largest_gamma("eagle-chain").tokens_per_round.value
    assert at_largest_gamma("eagle-tree").tokens_per_round.value > chain


@pytest.mark.parametrize("name", SPEEDUP)
def test_the_measured_speedup_is_what_it_must_be(name):
    summary = summarize_run(RUNS[name].requests)
    assert summary.at(summary.best).speedup.value > SPEEDUP[name]


@pytest.mark.parametrize("run", EVERY, ids=lambda run: run.name)
def test_every_run_closes_within_seven_percent(run):
    assert summarize_run(run.requests).closure_error <= 0.07


def test_smollm2_gains_with_a_head_that_is_described_beside_its_run():
    folder = systems_runs.DATA / "systems_smollm2"
    run = read_run(folder / "eagle-chain")
    summary = summarize_run(run.requests)
    assert summary.at(summary.best).speedup.value > 1.2
    assert summary.closure_error <= 0.07
    told = json.loads((folder / "eagle-heads.json").read_text(encoding="utf-8"))
    assert run.header.heads is not None
    assert told["weights_sha256"] == run.header.heads.sha256
    assert told["target_sha256"] == run.header.target.sha256
    losses = told["curve"]["losses"]
    assert losses[-1] < losses[0] / 2

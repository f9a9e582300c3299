"""A run's own times as the costs of any draft length, and `specdec fit` that prices with them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from commands import specdec

import real_runs
from analysis.runs.own_costs import costs_of_run
from analysis.runs.prediction import summarize_run
from real_runs.runs.reading import read_run

DATA = Path(real_runs.__file__).with_name("data")
TINY = DATA / "runs" / "tiny"


@pytest.fixture(scope="module")
def summary():
    return summarize_run(read_run(TINY).requests, rng=0)


def test_costs_are_those_that_the_run_closes_with(summary):
    costs = costs_of_run(summary)

    known = dict(summary.verify_costs)
    for entry in summary.measured:
        wanted = (
            entry.gamma * summary.cost_ratio.value
            + known[entry.gamma + 1].value
            + summary.overhead.value
        )
        assert costs.cost(entry.gamma) == pytest.approx(wanted, rel=1e-12)
        assert costs.cost(entry.gamma) == pytest.approx(entry.round_cost.value, rel=0.06)
    assert costs.longest == 8


def test_between_two_measured_widths_v_lies_on_the_line(summary):
    costs, known = costs_of_run(summary), dict(summary.verify_costs)

    between = costs.cost(5) - 5 * costs.cost_ratio - costs.overhead
    assert between == pytest.approx((known[5 + 2].value + known[5].value) / 2, rel=1e-12)


def test_a_run_without_spare_time_has_no_negative_overhead(summary):
    less = replace(summary, overhead=replace(summary.overhead, value=-0.01, interval=(-0.02, 0.0)))

    assert costs_of_run(less).overhead == 0.0


@pytest.mark.parametrize("folder", [DATA / "systems" / "medusa", DATA / "runs" / "smollm2"])
def test_trees_and_drafts_that_end_early_have_no_cost_by_length(folder):
    assert costs_of_run(summarize_run(read_run(folder).requests, rng=0)) is None


def test_fit_prices_with_the_times_of_a_run_unless_told_others(summary):
    own = json.loads(specdec("fit", str(TINY), "--format", "json").stdout)
    told = json.loads(specdec("fit", str(TINY), "--cost-ratio", "0.5", "--format", "json").stdout)

    assert any("run's own times: cost ratio 0.134" in note for note in own["notes"])
    assert not any("own times" in note for note in told["notes"])
    at_4 = {row["gamma"]: row for row in own["prediction"]}[4]
    assert at_4["speedup"] == pytest.approx(
        at_4["tokens_per_round"] / costs_of_run(summary).cost(4), rel=1e-9
    )
    assert "own times" not in "".join(
        json.loads(specdec("fit", str(DATA / "runs" / "smollm2"), "--format", "json").stdout)[
            "notes"
        ]
    )

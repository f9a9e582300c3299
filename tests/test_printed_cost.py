"""Parts of a round's cost that a source prints itself: what the doctor and the explanation make of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis import diagnose, explain_measured
from simulator import Clock, Observation, ReportedRatio

PIPELINE = Observation(
    gamma=2,
    batch=1,
    method="mtp",
    printed=(ReportedRatio(quantity="survival", value=0.93, half_width=0.005, depth=0,
                           averaged_over="a run"),),
    clock=Clock(tokens_per_s=43.7, running=1, plain_tokens_per_s=61.2, overhead_s=0.025),
)  # fmt: skip
"""Of a round's 3.02 plain steps beyond one, at most, 1.53 are printed as overhead."""


def rows(cost, tps):
    """A pass over eight tokens that takes `cost` plain steps, and a speed with drafts beside 5.8 without."""
    return Observation(
        gamma=2,
        batch=1,
        printed=(
            ReportedRatio(quantity="verify_cost", value=cost, half_width=0.005, depth=7,
                          averaged_over="a run"),
        ),
        clock=Clock(tokens_per_s=tps, running=1, plain_tokens_per_s=5.8),
    )  # fmt: skip


def overhead(seconds):
    return replace(PIPELINE, clock=replace(PIPELINE.clock, overhead_s=seconds))


@pytest.mark.parametrize(("seconds", "found"), [(0.025, True), (0.0248, True), (0.0246, False)])
def test_printed_overhead_dominates_from_half_of_what_a_round_can_take(seconds, found):
    most = (1 + 2 * 0.935) / (43.7 / 61.2) - 1
    assert (seconds * 61.2 >= most / 2) is found
    assert ("fixed_overhead_dominates" in diagnose(overhead(seconds)).codes) is found


def test_without_it_nothing_is_said_of_overhead():
    assert "fixed_overhead_dominates" not in diagnose(overhead(None)).codes


@pytest.mark.parametrize(
    ("cost", "tps", "found"), [(6.54, 5.6, True), (2.39, 5.6, False), (6.54, 6.5, False)]
)
def test_a_dear_pass_is_named_where_speculation_loses(cost, tps, found):
    assert ("verify_cost_dominates" in diagnose(rows(cost, tps)).codes) is found


def test_the_explanation_splits_printed_overhead_off():
    counted = replace(PIPELINE, printed=(), drafted=200, accepted=170, rounds=100,
                      length_rule="fixed")  # fmt: skip
    explanation = explain_measured(counted)
    part = explanation.part("overhead")
    assert part.cost.number == pytest.approx(0.025 * 61.2)
    total = sum(each.cost.number for each in explanation.parts)
    assert total == pytest.approx(explanation.cost.number)

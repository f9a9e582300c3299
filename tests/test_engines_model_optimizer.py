"""Model-Optimizer's acceptance_rate.json: lengths count the bonus, keys are lengths, means are of turns."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTable


def rates(lengths, turns=None):
    """The file as specdec_bench writes it: rates by the lengths that occur, in order."""
    histogram = {str(n): lengths.count(n) for n in sorted(set(lengths))}
    left, before, conditional, joint, product = len(lengths), 1.0, {}, {}, 1.0
    for key, rounds in histogram.items():
        conditional[key] = left / len(lengths) / before
        before = left / len(lengths)
        left -= rounds
        product *= conditional[key]
        joint[key] = product
    turns = [lengths] if turns is None else turns
    means = [sum(turn) / len(turn) for turn in turns]
    return {
        "Request_AL": {str(n): {"0": mean} for n, mean in enumerate(means)},
        "Average_AL": sum(means) / len(means),
        "Acceptance_Length_Histogram": histogram,
        "Conditional_Acceptance_Rate": conditional,
        "Joint_Acceptance_Rate": joint,
    }


def test_positions_are_two_below_the_length():
    lengths = [1] * 40 + [2] * 30 + [3] * 30
    (reading,) = read_text(json.dumps(rates(lengths)))

    assert reading.counts == AcceptanceTable(
        rounds=100, drafted=200, tested=(100, 60), accepted=(60, 30), length_rule="unknown"
    )
    assert reading.counts.tokens_per_round.value == 1.9
    assert any("longest accepted draft has 2 tokens" in note for note in reading.notes)


def test_a_length_that_never_occurred_kept_what_deeper_ones_kept():
    (reading,) = read_text(json.dumps(rates([1] * 50 + [3] * 50)))

    assert reading.counts.accepted == (50, 50)


def test_the_average_is_of_turns_and_not_of_rounds():
    turns = [[1, 1, 1, 1], [3, 3]]  # means 1 and 3, six rounds of 10 tokens
    (reading,) = read_text(json.dumps(rates([1] * 4 + [3] * 2, turns)))

    assert reading.counts.tokens_per_round.value == pytest.approx(10 / 6)
    assert any("Average_AL, 2 tokens per round" in note for note in reading.notes)


def test_rates_without_a_histogram():
    whole = rates([1] * 40 + [2] * 30 + [3] * 30)
    del whole["Acceptance_Length_Histogram"]
    (reading,) = read_text(json.dumps(whole))

    assert reading.counts is None
    found = {(each.quantity, each.depth): each.value for each in reading.printed}
    assert found["survival", 0] == pytest.approx(0.6)
    assert found["survival", 1] == pytest.approx(0.3)
    assert found["conditional_acceptance", 1] == pytest.approx(0.5)
    assert found["tokens_per_round", None] == pytest.approx(1.9)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"Acceptance_Length_Histogram": {"0": 5, "1": 5}}, "outside 1 to"),
        ({"Joint_Acceptance_Rate": {"1": 0.6, "2": 0.3}}, "is 0.6 and not 1"),
        ({"Joint_Acceptance_Rate": {"2": 0.7}}, "contradicts the histogram"),
        ({"Conditional_Acceptance_Rate": {"3": 1.7}}, "is above 1"),
        ({"Average_AL": 2.4}, "is not the mean of Request_AL"),
        ({"Acceptance_Length_Histogram": {"1": 10}}, "no draft, or none kept"),
    ],
)
def test_contradictions_are_refused(change, reason):
    file = {**rates([1] * 40 + [2] * 30 + [3] * 30), **change}
    if reason.startswith("no draft"):
        file = {**rates([1] * 10)}
    with pytest.raises(MetricsFormatError) as problem:
        read_text(json.dumps(file))
    assert reason in str(problem.value) or reason.startswith("no draft")


@given(st.lists(st.integers(1, 6), min_size=1, max_size=60).filter(lambda each: max(each) > 1))
def test_what_specdec_bench_writes_is_read(lengths):
    (reading,) = read_text(json.dumps(rates(lengths)))

    assert reading.counts.ended == tuple(lengths.count(n) for n in range(1, max(lengths) + 1))

"""What a comparison says, and leaves unsaid: one sentence for both sides, nothing where nothing is known."""

from __future__ import annotations

import math

import pytest

from analysis.compare import compare_runs
from analysis.comparison.inputs import observation_of_table
from simulator import AcceptanceTable, AcceptanceTotals, Clock, CountedUnit, Observation


def table(rounds, *kept):
    """Drafts of as many tokens as `kept` has depths, all rounds at the first."""
    return AcceptanceTable(
        rounds=rounds,
        drafted=rounds * len(kept),
        tested=(rounds, *kept[:-1]),
        accepted=kept,
    )


def intervals(*tables):
    return Observation(unit="interval", units=tuple(CountedUnit(counts=each) for each in tables))


def sums(accepted, speed=50.0):
    counts = AcceptanceTotals(rounds=400, drafted=1_200, accepted=accepted, longest_draft=3)
    return Observation(counts=counts, clock=Clock(tokens_per_s=speed))


def test_a_depth_that_one_unit_tested_has_no_interval():
    one_deep = intervals(table(100, 70, 50), table(100, 60, 40), table(100, 65, 45, 30))
    all_deep = intervals(*(table(100, 70 - i, 50 - i, 30 - i) for i in range(4)))

    depths = compare_runs(one_deep, all_deep).depths
    assert [change.difference.interval is None for change in depths] == [False, False, True]
    assert depths[2].difference.value != 0.0
    assert all(change.difference.interval for change in compare_runs(all_deep, all_deep).depths)


def test_what_holds_for_both_sides_is_said_once():
    notes = compare_runs(sums(700), sums(650)).notes

    assert len(notes) == len(set(notes)) == 2
    assert all(note.startswith("before and after: ") for note in notes)


def test_without_times_it_says_what_is_compared():
    simulated = observation_of_table(table(1_000, 700, 490))

    both = compare_runs(simulated, simulated)
    assert both.notes == (
        "tokens per round are compared, not speed: before and after say nothing of time.",
    )
    one = compare_runs(sums(700), simulated)
    assert "tokens per round are compared, not speed: after says nothing of time." in one.notes
    assert not any("not speed" in note for note in compare_runs(sums(700), sums(600)).notes)
    assert "slowdown" not in both.sentence
    assert "a loss of tokens per round" in both.sentence


def test_the_same_numbers_are_neither_faster_nor_slower():
    timed = compare_runs(sums(700), sums(700)).sentence
    assert timed.startswith("after decodes as fast as before (×")

    simulated = observation_of_table(table(1_000, 700, 490))
    untimed = compare_runs(simulated, simulated).sentence
    assert untimed.startswith("after emits as many tokens per round as before (×")


def test_a_verdict_by_an_interval_that_leaves_something_out_says_so():
    sure = compare_runs(
        *(observation_of_table(table(9_000, kept, kept // 2)) for kept in (8_000, 3_000)),
        regression=0.05,
    )
    unsure = compare_runs(sums(1_100, 90.0), sums(100, 30.0), regression=0.05)

    assert sure.verdict == unsure.verdict == "regressed"
    assert "beyond 5 %: regressed." in sure.sentence
    assert "beyond 5 %: regressed, though the interval is a lower bound." in unsure.sentence


def test_more_of_each_kind_of_unit_is_asked_for():
    before = intervals(*(table(100, 70 + i, 50) for i in (-3, 0, 3)))
    after = Observation(counts=table(300, 205, 150), length_rule="fixed", gamma=2)

    result = compare_runs(before, after)
    assert result.needed is not None
    assert result.needed.units == ("interval", "round")
    assert "more intervals before and " in result.sentence
    assert "more rounds after would decide" in result.sentence


def test_survival_of_sums_has_the_interval_of_two_shares():
    def side(rounds, *kept):
        counts = AcceptanceTotals(
            rounds=rounds,
            drafted=3 * rounds - 2,  # two drafts were cut, so what was tested is not known
            accepted=sum(kept),
            accepted_by_depth=kept,
            longest_draft=3,
        )
        return Observation(counts=counts)

    depths = compare_runs(side(400, 320, 200, 90), side(900, 630, 300, 200)).depths

    for change, before, after in zip(depths, (320, 200, 90), (630, 300, 200), strict=True):
        first, second = before / 400, after / 900
        se = math.sqrt(first * (1 - first) / 400 + second * (1 - second) / 900)
        middle = second - first
        assert change.quantity == "survival"
        assert change.difference.interval == pytest.approx(
            (middle - 1.959964 * se, middle + 1.959964 * se), abs=1e-6
        )

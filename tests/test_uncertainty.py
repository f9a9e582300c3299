"""Bounds against every small configuration of rounds; intervals against SciPy."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from analysis import estimate_p, estimate_p_by_depth, p_bounds, p_by_depth_bounds
from analysis.uncertainty import rejection_bounds
from simulator import AcceptanceTable, AcceptanceTotals


class Run:
    """Rounds as (drafted length, accepted) pairs; a round is rejected if it kept fewer."""

    def __init__(self, rounds, longest):
        self.rounds = len(rounds)
        self.drafted = sum(length for length, _ in rounds)
        self.accepted = sum(kept for _, kept in rounds)
        self.rejected = sum(kept < length for length, kept in rounds)
        self.by_depth = tuple(sum(kept > i for _, kept in rounds) for i in range(longest))
        self.tested = tuple(
            sum(length > i and kept >= i for length, kept in rounds) for i in range(longest)
        )
        self.longest = longest

    def totals(self, **more):
        return AcceptanceTotals(drafted=self.drafted, accepted=self.accepted, **more)


def all_runs():
    for longest in (1, 2, 3):
        shapes = [(length, kept) for length in range(longest + 1) for kept in range(length + 1)]
        for count in range(1, 5):
            for rounds in combinations_with_replacement(shapes, count):
                yield Run(rounds, longest)


RUNS = list(all_runs())


def true_bounds(runs, totals_of):
    """For each distinct totals, the rejections of all runs that print so."""
    groups = defaultdict(list)
    for run in runs:
        groups[totals_of(run)].append(run.rejected)
    return {totals: (min(rejected), max(rejected)) for totals, rejected in groups.items()}


def test_bounds_from_depths_are_exact():
    truth = true_bounds(
        RUNS,
        lambda run: run.totals(
            rounds=run.rounds, accepted_by_depth=run.by_depth, longest_draft=run.longest
        ),
    )
    assert {totals: rejection_bounds(totals) for totals in truth} == truth


def test_bounds_from_totals_are_exact():
    truth = true_bounds(RUNS, lambda run: run.totals(rounds=run.rounds, longest_draft=run.longest))
    assert {totals: rejection_bounds(totals) for totals in truth} == truth


@pytest.mark.parametrize("known", [(), ("rounds",), ("longest_draft",)])
def test_bounds_from_fewer_totals_contain_the_truth(known):
    for run in RUNS:
        everything = {"rounds": run.rounds, "longest_draft": run.longest}
        totals = run.totals(**{name: everything[name] for name in known})
        least, most = rejection_bounds(totals)
        assert least <= run.rejected <= most


@pytest.mark.parametrize("slack", [0, 1])
def test_bounds_from_rounded_depths_contain_the_truth(slack):
    for run in RUNS:
        bounds = tuple(
            (max(count - slack, 0), min(count + slack, run.rounds)) for count in run.by_depth
        )
        totals = run.totals(
            rounds=run.rounds, accepted_by_depth_bounds=bounds, longest_draft=run.longest
        )
        least, most = rejection_bounds(totals)
        assert least <= run.rejected <= most
        check_depth_bounds(run, p_by_depth_bounds(totals))


def test_true_p_lies_in_the_bounds():
    for run in RUNS:
        totals = run.totals(rounds=run.rounds, accepted_by_depth=run.by_depth)
        low, high = p_bounds(totals)
        tested = run.accepted + run.rejected
        if tested:
            assert low <= run.accepted / tested <= high
        else:
            assert math.isnan(low)
            assert math.isnan(high)
        check_depth_bounds(run, p_by_depth_bounds(totals))


def check_depth_bounds(run, bounds):
    for accepted, tested, (low, high) in zip(run.by_depth, run.tested, bounds, strict=True):
        if tested:
            assert low <= accepted / tested <= high


def test_depth_bounds_need_depths_and_rounds():
    assert p_by_depth_bounds(AcceptanceTotals(drafted=3, accepted=1, rounds=1)) is None
    assert (
        p_by_depth_bounds(AcceptanceTotals(drafted=3, accepted=1, accepted_by_depth=(1,))) is None
    )


def test_full_drafts_leave_nothing_unknown():
    totals = AcceptanceTotals(
        rounds=10, drafted=20, accepted=12, accepted_by_depth=(7, 5), longest_draft=2
    )
    assert p_bounds(totals) == (12 / 17, 12 / 17)
    assert p_by_depth_bounds(totals) == ((0.7, 0.7), (5 / 7, 5 / 7))


def test_impossible_totals_are_refused():
    with pytest.raises(ValueError, match=r"rounds × longest_draft \(2 × 1\); got 3"):
        AcceptanceTotals(rounds=2, drafted=3, accepted=1, accepted_by_depth=(1,), longest_draft=1)
    with pytest.raises(ValueError, match="longest_draft must be above 0 with 5 drafted"):
        AcceptanceTotals(drafted=5, accepted=1, longest_draft=0)


@given(st.integers(1, 2000), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_interval_is_wilsons(trials, data, level):
    kept = data.draw(st.integers(0, trials))
    table = AcceptanceTable(rounds=trials, drafted=trials, tested=(trials,), accepted=(kept,))
    expected = binomtest(kept, trials).proportion_ci(level, method="wilson")
    for estimate in (estimate_p(table, level=level), *estimate_p_by_depth(table, level=level)):
        assert estimate.value == kept / trials
        assert estimate.level == level
        assert estimate.interval == pytest.approx((expected.low, expected.high), abs=1e-12)
        assert 0.0 <= estimate.interval[0] <= estimate.value <= estimate.interval[1] <= 1.0


def test_p_pools_tested_tokens_over_depths():
    table = AcceptanceTable(rounds=100, drafted=200, tested=(100, 70), accepted=(70, 50))
    assert estimate_p(table).value == 120 / 170
    assert [estimate.value for estimate in estimate_p_by_depth(table)] == [0.7, 50 / 70]


def test_p_of_untested_tokens_is_unknown():
    table = AcceptanceTable(rounds=4, drafted=0, tested=(0,), accepted=(0,))
    assert str(estimate_p(table)) == "unknown"
    assert str(estimate_p_by_depth(table)[0]) == "unknown"


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, float("nan")])
def test_level_outside_its_range_is_refused(level):
    table = AcceptanceTable(rounds=1, drafted=1, tested=(1,), accepted=(1,))
    with pytest.raises(ValueError, match="level must be a number between 0 and 1; got"):
        estimate_p(table, level=level)

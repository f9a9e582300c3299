"""How sure a plan is: intervals that hold the truth, choices that wait for evidence, even strategies."""

from __future__ import annotations

import pytest
from plans import assumed, lookup, measured, pair
from scipy.stats import norm

import analysis as an
from analysis.pass_cost import PassCost
from simulator import AcceptanceByDepth

BATCHES = (1, 24, 48, 75, 79, 200)
LEVEL = 1.0 - 1e-9
EVEN = PassCost(weights_s=0.0066, compute_s=0.0)  # 0.66 plain steps: little gained at p = 0.7


def truth(p, choice):
    return pair(p).parts(choice.gamma, choice.batch).speedup.value


def holds(estimate, value):
    return estimate.interval[0] <= value <= estimate.interval[1]


def test_intervals_hold_the_truth_of_what_was_simulated():
    """False-alarm rate 1e-9: one error of p behind all intervals. Another p is told from it."""
    fitted = measured(0.7, requests=400, intervals="sandwich", level=LEVEL)
    found = an.plan(pair(acceptance=fitted), BATCHES)
    assert [row.gamma for row in found.rows] == [4, 3, 1, 1, 1, 0]
    for point in found.table:
        exact = pair(0.7).parts(point.gamma, point.batch).speedup.value
        assert point.speedup.value == pytest.approx(exact, rel=0.2)
        if point.gamma:
            assert holds(point.speedup, exact)
    assert all(truth(0.7, row.chosen) > 1.0 or row.gamma == 0 for row in found.rows)
    assert not any(holds(row.speedup, truth(0.8, row.chosen)) for row in found.rows if row.gamma)


def test_intervals_are_those_of_the_tokens_per_round():
    """The price of a round is exact, so that the interval is the fit's own, stretched."""
    fitted = measured(0.7, requests=40, intervals="resampling")
    for choice in an.plan(pair(acceptance=fitted), BATCHES[:4]).choices:
        own = fitted.tokens_per_round(choice.gamma)
        assert choice.tokens_per_round == own
        assert choice.speedup.interval == pytest.approx(
            tuple(end / choice.round_cost for end in own.interval), rel=1e-12
        )
        assert choice.sure is (choice.speedup.interval[0] > 1.0)
        costs = pair().round_costs(16, choice.batch)
        best = fitted.best_gamma(costs)
        assert (choice.gamma, choice.flat, choice.ties) == (best.gamma, best.flat, best.ties)


def test_little_evidence_is_not_sure_and_the_sure_plan_waits_for_more():
    few, many = (measured(0.7, requests=n, tokens=32, intervals="sandwich") for n in (4, 2000))
    unsure = pair(acceptance=few, step=EVEN)
    row = an.plan(unsure, (1,)).rows[0]
    assert row.gamma == 1
    assert row.speedup.interval[0] < 1.0 < row.speedup.value
    assert row.sure is False
    found = an.plan(unsure, (1,), prefer="sure")
    assert (found.rows[0].use, found.rows[0].speedup.value) == ("off", 1.0)
    assert found.rows[0].sure is False
    assert "not sure whether a draft gains or loses" in found.notes[-1]
    told = an.plan(pair(acceptance=many, step=EVEN), (1,), prefer="sure").rows[0]
    assert (told.gamma, told.sure) == (1, True)


def test_off_is_sure_where_every_interval_is_below():
    fitted = measured(0.3, requests=500)
    rows = an.plan(pair(acceptance=fitted), (70, 200)).rows
    assert [(row.gamma, row.sure) for row in rows] == [(0, True), (0, True)]
    assert an.plan(pair(0.3), (200,)).rows[0].sure is None  # nothing is known of the error


def test_the_sure_plan_takes_the_largest_low_end():
    fitted = measured(0.75, requests=8, tokens=40)
    once = an.Fit.of_process(AcceptanceByDepth(by_depth=(0.6,)))
    strategies = (pair(acceptance=fitted), lookup(acceptance=once))
    found = an.plan(strategies, BATCHES, prefer="sure")
    for row in found.rows:
        for choice in row.choices:
            ends = [1.0, *(_low(s) for s in choice.speedups[1:] if s is not None)]
            assert choice.gamma == ends.index(max(ends))
        worth = [_low(choice.speedup) for choice in row.choices]
        assert row.chosen is row.choices[worth.index(max(worth))]
    assert {row.use for row in found.rows} == {"pair", "lookup", "off"}


def _low(speedup):
    return speedup.interval[0] if speedup.interval else speedup.value


def test_strategies_that_cannot_be_told_apart_are_named():
    one, two, worse = (
        measured(p, requests=50, rng=seed) for p, seed in ((0.7, 1), (0.7, 2), (0.4, 3))
    )
    several = [
        pair(name=name, acceptance=fitted)
        for name, fitted in (("one", one), ("again", one), ("two", two), ("worse", worse))
    ]
    row = an.plan(several, (1,)).rows[0]
    assert row.use in {"one", "two"}
    assert set(row.even) == {"one", "again", "two"} - {row.use}
    assert row.chosen.speedup.value > row.choices[3].speedup.value


def test_of_one_acceptance_even_a_small_difference_is_told():
    """Whatever p is, a dearer draft of the same tokens is slower: the shared error cancels."""
    fitted = measured(0.7, requests=20)
    dearer = pair(name="dearer", acceptance=fitted, overhead_s=1e-4)
    row = an.plan((dearer, pair(acceptance=fitted)), (1,)).rows[0]
    one, other = (choice.speedup for choice in row.choices)
    assert one.interval[1] > other.value  # alone the intervals could not tell
    assert (row.use, row.even) == ("pair", ())


def test_differences_of_independent_acceptances_add_their_squares():
    """Against the normal law: two equal half-widths h tell a difference from √2 h on."""
    z = norm.ppf(0.975)
    fitted = measured(0.7, requests=300, intervals="sandwich")
    here = an.plan(pair(acceptance=fitted), (1,)).rows[0].speedup
    assert here.interval[1] - here.value == pytest.approx(z * here.se, rel=0.02)
    for share, even in ((1.2, True), (1.6, False)):
        gap = share * (here.interval[1] - here.value)
        slower = pair(
            name="slower", acceptance=measured(0.7, requests=300, intervals="sandwich"),
            overhead_s=0.014 * gap / (here.value - gap),
        )  # fmt: skip
        row = an.plan((pair(acceptance=fitted), slower), (1,), gammas=(4,)).rows[0]
        assert row.speedup.value - row.choices[1].speedup.value == pytest.approx(gap, rel=1e-6)
        assert (row.even == ("slower",)) is even


def test_assumed_acceptance_has_no_interval_and_says_so():
    row = an.plan(pair(acceptance=assumed(0.7)), (1,)).rows[0]
    assert row.speedup.interval is None
    assert (row.sure, row.chosen.extrapolated) == (None, False)


def test_drafts_longer_than_any_that_was_measured_are_marked():
    fitted = measured(0.9, requests=50, gamma=2)
    found = an.plan(pair(acceptance=fitted), (1,))
    assert found.rows[0].gamma > 2
    assert found.rows[0].chosen.extrapolated
    assert any("extrapolated" in note for note in found.notes)
    for gamma in (2, 3):
        only = an.plan(pair(acceptance=fitted), (1,), gammas=(gamma,))
        assert only.rows[0].gamma == gamma
        assert only.rows[0].chosen.extrapolated is (gamma > 2)

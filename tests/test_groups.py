"""Groups of requests and parts of a log: counts, intervals by request, tests with a stated error rate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import analysis as an
from analysis.group_tests import _between
from simulator import AcceptanceTable, AcceptanceTotals, CountedUnit

FALSE_ALARM = 1e-8
ROUNDS = 40


def unit(accepted, *, rounds=ROUNDS, **labels):
    table = AcceptanceTable(rounds=rounds, drafted=rounds, tested=(rounds,), accepted=(accepted,))
    return CountedUnit(counts=table, labels=tuple(labels.items()))


def drawn(generator, count, p, label):
    """Requests that differ: their own p around p, so rounds are far from independent."""
    own = generator.beta(p * 5.0, (1.0 - p) * 5.0, size=count)
    return [unit(int(generator.binomial(ROUNDS, each)), task=label) for each in own]


def test_counts_are_pooled_by_label():
    units = [
        unit(10, task="a"),
        unit(30, task="b"),
        unit(20, task="a"),
        unit(5),
        unit(7, other="x"),
    ]
    found = an.by_label(units, "task")
    assert [(g.label, g.units, g.rounds) for g in found.groups] == [("a", 2, 80), ("b", 1, 40)]
    assert found.groups[0].tokens_per_round.value == pytest.approx(1.0 + 30 / 80)
    assert found.groups[0].first.value == pytest.approx(30 / 80)
    assert found.groups[1].tokens_per_round.interval is None  # one request shows no spread
    assert found.unlabelled == 2


def test_units_without_counts_by_depth_are_counted():
    totals = CountedUnit(counts=AcceptanceTotals(drafted=10, accepted=4), labels=(("task", "a"),))
    found = an.by_label([unit(10, task="a"), unit(12, task="b"), totals], "task")
    assert (found.unusable, len(found.groups)) == (1, 2)


def test_numbers_sort_as_numbers_and_fall_into_buckets():
    units = [unit(20, context=str(n)) for n in (100, 900, 5000, 40_000)] + [
        unit(20, context="long")
    ]
    assert [g.label for g in an.by_label(units, "context").groups] == [
        "100",
        "900",
        "5000",
        "40000",
        "long",
    ]
    found = an.by_label(units, "context", buckets=(1000, 10_000))
    labels = ["below 1000", "1000 to below 10000", "10000 and above"]
    assert [(g.label, g.units) for g in found.groups] == list(zip(labels, (2, 1, 1), strict=True))
    assert found.unlabelled == 1  # "long" is no number
    with pytest.raises(ValueError, match="buckets must be rising"):
        an.by_label(units, "context", buckets=(10, 10))


def test_the_exact_permutation_of_four_against_four():
    """All of one group above all of the other: 2 of 70 ways are as extreme."""
    units = [unit(10 + i, task="a") for i in range(4)] + [unit(30 + i, task="b") for i in range(4)]
    found = an.by_label(units, "task", permutations=20_000)
    assert found.method == "permutation"
    assert found.smallest_p == pytest.approx(1 / 70)
    assert found.p_value == pytest.approx(2 / 70, abs=0.007)  # 5.9 standard errors of 20,000
    assert found.differ


@pytest.mark.parametrize(("count", "method"), [(5, "permutation"), (40, "wald")])
def test_alike_groups_differ_as_often_as_stated(count, method):
    generator = np.random.default_rng(1)
    replications = 200
    alarms = 0
    for _ in range(replications):
        units = drawn(generator, count, 0.7, "a") + drawn(generator, count, 0.7, "b")
        found = an.by_label(units, "task", permutations=200, rng=generator)
        alarms += found.differ
        assert found.method == method
    assert alarms <= binom.isf(FALSE_ALARM, replications, 0.05)


def test_rounds_taken_as_independent_would_alarm_far_too_often():
    """The control: what the tests above would see of a test that ignores requests."""
    generator = np.random.default_rng(1)
    alarms = 0
    for _ in range(200):
        sums = [sum(u.counts.accepted[0] for u in drawn(generator, 20, 0.7, "a")) for _ in range(2)]
        rounds = 20 * ROUNDS
        shares = np.asarray(sums) / rounds
        se = np.sqrt((shares * (1 - shares) / rounds).sum())
        alarms += abs(shares[0] - shares[1]) > 1.96 * se
    assert alarms > binom.isf(FALSE_ALARM, 200, 0.05)


@pytest.mark.parametrize("count", [8, 40])
def test_different_groups_are_seen(count):
    generator = np.random.default_rng(2)
    units = drawn(generator, count, 0.9, "a") + drawn(generator, count, 0.3, "b")
    found = an.by_label(units, "task", permutations=5000)
    assert found.p_value < (1e-3 if count == 8 else FALSE_ALARM)


def test_intervals_by_request_cover():
    generator = np.random.default_rng(3)
    held = 0
    for _ in range(200):
        group = an.by_label(drawn(generator, 30, 0.7, "a"), "task").groups[0]
        low, high = group.tokens_per_round.interval
        held += low <= 1.7 <= high
    assert held >= binom.ppf(FALSE_ALARM, 200, 0.95)


def test_one_group_has_nothing_to_compare():
    found = an.by_label([unit(10, task="a"), unit(12, task="a")], "task")
    assert np.isnan(found.p_value)
    assert not found.differ


def test_parts_of_a_log_hold_every_unit_once():
    found = an.over_time([unit(20)] * 23, parts=5)
    assert sum(g.units for g in found.groups) == 23
    assert [g.label for g in found.groups][0::4] == ["1–5", "19–23"]
    assert an.over_time([unit(20)] * 3, parts=10).groups[-1].label == "3–3"


def test_a_falling_log_is_seen_and_a_steady_one_is_not():
    generator = np.random.default_rng(4)
    falling = [unit(int(generator.binomial(ROUNDS, 0.9 - 0.5 * i / 99))) for i in range(100)]
    found = an.over_time(falling, parts=4)
    assert found.p_value == found.smallest_p < 1e-3  # no permutation differs as much
    assert found.trend.interval[0] < -0.5 < found.trend.interval[1]
    steady = [unit(int(generator.binomial(ROUNDS, 0.7))) for _ in range(100)]
    found = an.over_time(steady, parts=4)
    assert found.p_value > FALSE_ALARM
    assert abs(found.trend.value) < 6.5 * found.trend.se


def test_the_trend_covers():
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(200):
        units = [unit(int(generator.binomial(ROUNDS, 0.8 - 0.3 * i / 29))) for i in range(30)]
        low, high = an.over_time(units, parts=3, permutations=100).trend.interval
        held += low <= -0.3 <= high
    assert held >= binom.ppf(FALSE_ALARM, 200, 0.95)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: an.by_label([], "task"), "units must hold one unit"),
        (lambda: an.over_time([]), "units must hold one unit"),
        (
            lambda: an.over_time([unit(1)] * 5, parts=1),
            "parts must be a whole number of at least 2",
        ),
        (lambda: an.by_label([unit(1, a="b")], "a", level=2.0), "level must be a number"),
        (lambda: an.by_label([unit(1, a="b")], "a", permutations=5), "permutations must be"),
    ],
)
def test_arguments_are_checked(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def spread_apart(generator):
    """Five requests far apart from each other, forty close together, with one mean."""
    far, near = generator.choice([8, 32], size=5), generator.integers(18, 23, size=40)
    return [unit(int(n), task="a") for n in far] + [unit(int(n), task="b") for n in near]


def test_groups_that_differ_in_spread_only_are_alike():
    """Negative control: the same permutations of an unstudentised statistic alarm far too often."""
    generator = np.random.default_rng(6)
    alarms = plain = 0
    for _ in range(200):
        units = spread_apart(generator)
        alarms += an.by_label(units, "task", permutations=200, rng=generator).differ
        sums = np.asarray([[u.counts.accepted[0], ROUNDS] for u in units], dtype=float)
        order = generator.permuted(np.tile(np.arange(45), (200, 1)), axis=1)
        starts = np.asarray([0, 5])
        plain += np.mean(_between(sums[order], starts) >= _between(sums[None], starts)) < 0.05
    assert alarms <= binom.isf(FALSE_ALARM, 200, 0.1)  # five requests: not exact, but near
    assert plain > binom.isf(FALSE_ALARM, 200, 0.1)

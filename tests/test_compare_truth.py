"""Comparisons of runs whose truth is known: intervals keep their level, real changes are found."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from analysis.compare import compare_runs
from analysis.comparison.measures import measure
from analysis.comparison.resampling import Logs, estimate, intervals
from analysis.comparison.sides import side_of
from simulator import AcceptanceTable, AcceptanceTotals, CountedUnit, Observation

FALSE_ALARM = 1e-8
GAMMA, ROUND_S = 4, 0.03


def requests(
    rng, count, *, p=0.7, spread=0.0, slow=1.0, rounds=40, jitter=0.05, names=None, hard=None
):
    """`count` requests of known acceptance: each has its own p (sd `spread`) and its own pace."""
    shifts = spread * rng.standard_normal(count) if hard is None else hard
    units = []
    for i in range(count):
        own = float(np.clip(p + shifts[i], 0.02, 0.98))
        lengths = np.minimum(rng.geometric(1.0 - own, size=rounds) - 1, GAMMA)
        pace = ROUND_S * slow * math.exp(jitter * rng.standard_normal())
        units.append(
            CountedUnit(
                name=f"r{i}" if names is None else names[i],
                counts=AcceptanceTable.from_lengths(lengths, gamma=GAMMA),
                decode_s=pace * rounds,
            )
        )
    return tuple(units)


def observed(units, **changes):
    table = sum((unit.counts for unit in units[1:]), start=units[0].counts)
    return Observation(units=units, counts=table, gamma=GAMMA, length_rule="fixed", **changes)


def alone(rng, count, **settings):
    """Requests with prompts of their own."""
    names = [f"{rng.integers(2**62)}" for _ in range(count)]
    return observed(requests(rng, count, names=names, **settings))


def expected(p):
    return sum(p**i for i in range(GAMMA + 1))


def mean_tokens(spread, p=0.7):
    """Tokens per round of requests with p ~ N(p, spread), cut to what `requests` allows."""
    grid = np.linspace(-6, 6, 4001)
    weights = np.exp(-(grid**2) / 2)
    return float(
        np.average([expected(np.clip(p + spread * z, 0.02, 0.98)) for z in grid], weights=weights)
    )


@pytest.mark.parametrize("count", [5, 20])
def test_intervals_hold_the_truth_as_often_as_stated(rng, count):
    """Requests with p of their own: a true coverage of 92.5 % or more fails one time in 1e8."""
    runs, spread = 300, 0.12
    truth = math.log(mean_tokens(spread) / mean_tokens(spread, 0.6) * 1.2)
    held = {"whole": 0, "acceptance": 0, "rounds": 0}
    for _ in range(runs):
        before = alone(rng, count, p=0.6, spread=spread, slow=1.2)
        after = alone(rng, count, spread=spread)
        result = measure(
            side_of(before, "before"), side_of(after, "after"), paired=False, rng=rng, level=0.95
        )
        low, high = result.whole.interval
        held["whole"] += low <= truth <= high
        low, high = result.parts["acceptance"].interval
        held["acceptance"] += low <= truth - math.log(1.2) <= high
        by_rounds = compare_runs(
            Observation(counts=before.counts), Observation(counts=after.counts), rng=0
        )
        low, high = by_rounds.whole.factor.interval
        held["rounds"] += low <= math.exp(truth) / 1.2 <= high
    least = binom.ppf(FALSE_ALARM, runs, 0.925)
    assert held["whole"] >= least
    assert held["acceptance"] >= least
    # The negative control: rounds taken as independent hold far less than they say, hence the note.
    assert held["rounds"] < least


def test_the_same_law_twice_is_rarely_called_a_change(rng):
    runs = 300
    called = 0
    for _ in range(runs):
        sides = [side_of(alone(rng, 16, spread=0.1), role) for role in ("before", "after")]
        found = measure(*sides, paired=False, rng=rng, level=0.95)
        low, high = found.whole.interval
        called += not low <= 0.0 <= high
    assert called <= binom.isf(FALSE_ALARM, runs, 0.075)


def test_the_same_law_twice_is_rarely_a_regression(rng):
    verdicts = [
        compare_runs(
            alone(rng, 16, spread=0.1), alone(rng, 16, spread=0.1), regression=0.05, rng=rng
        ).verdict
        for _ in range(100)
    ]
    assert verdicts.count("regressed") <= binom.isf(FALSE_ALARM, 100, 0.0375)


def test_a_slowdown_of_ten_percent_is_found_with_enough_requests(rng):
    """Standard error of the log factor about 0.012 with 300 requests: 10 % is 9 of them away."""
    result = compare_runs(
        alone(rng, 300, spread=0.1), alone(rng, 300, spread=0.1, slow=1 / 0.9), regression=0.05
    )

    assert result.whole.change == "slower"
    assert result.verdict == "regressed"
    assert result.part("pass_time").change == "slower"
    assert result.needed is None


def test_with_few_requests_it_stays_undecided_and_says_how_many_would_do(rng):
    before, after = alone(rng, 8, spread=0.15), alone(rng, 8, spread=0.15, slow=1 / 0.93)

    result = compare_runs(before, after, regression=0.05)

    assert result.verdict == "undecided"
    assert result.needed.units == ("request", "request")
    assert result.needed.more_before >= 1


def test_the_number_of_requests_asked_for_does_decide(rng):
    """At the standard error of the grown data the effect is z_level + z_power of them away."""
    result = compare_runs(alone(rng, 10, spread=0.15), alone(rng, 10, spread=0.15, slow=1.04))
    needed = result.needed
    assert needed is not None
    se = result.whole.factor.se / result.whole.factor.value  # of the log

    grown = se / math.sqrt(needed.growth)
    assert abs(result.whole.log_factor) / grown == pytest.approx(1.959964 + 0.841621, rel=1e-5)
    assert needed.more_before == math.ceil((needed.growth - 1) * 10)


def test_the_same_prompts_are_drawn_together(rng):
    """What prompts have in common cancels: the paired interval is much narrower."""
    hard = 0.15 * rng.standard_normal(40)
    before = observed(requests(rng, 40, hard=hard))
    after = observed(requests(rng, 40, hard=hard, slow=1.05))
    renamed = observed(tuple(replace(unit, name=f"x {unit.name}") for unit in after.units))

    together, apart = compare_runs(before, after), compare_runs(before, renamed)

    assert together.paired
    assert not apart.paired
    assert together.whole.factor.se < 0.6 * apart.whole.factor.se
    assert any("different prompts" in note for note in apart.notes)
    unpaired = compare_runs(before, after, paired=False)
    assert unpaired.whole.factor == apart.whole.factor
    with pytest.raises(ValueError, match="paired runs must share"):
        compare_runs(before, renamed, paired=True)


def test_thousands_of_requests_take_the_linearised_interval(rng):
    few, many = alone(rng, 20, rounds=5), alone(rng, 2_001, rounds=5)

    first, second = compare_runs(few, many, rng=1), compare_runs(few, many, rng=2)

    assert first.whole == second.whole  # nothing was drawn


def test_paired_intervals_hold_the_truth_as_often_as_stated(rng):
    runs, held = 300, 0
    for _ in range(runs):
        hard = 0.15 * rng.standard_normal(12)
        before = observed(requests(rng, 12, hard=hard))
        after = observed(requests(rng, 12, hard=hard, slow=1.1))
        sides = side_of(before, "before"), side_of(after, "after")
        low, high = measure(*sides, paired=True, rng=rng, level=0.95).whole.interval
        held += low <= -math.log(1.1) <= high
    assert held >= binom.ppf(FALSE_ALARM, runs, 0.925)


def test_prompts_of_one_side_only_are_left_out(rng):
    names = [f"r{i}" for i in range(20)]
    before = observed(requests(rng, 20, names=names))
    after = observed(requests(rng, 17, names=names[3:]))

    result = compare_runs(before, after)

    assert result.paired
    assert result.units == (17, 17)
    assert "3 requests with prompts of one side only were left out." in result.notes
    kept = sum((u.counts for u in before.units[4:]), start=before.units[3].counts)
    assert result.part("acceptance").before == pytest.approx(kept.tokens_per_round.value, abs=1e-12)


def test_drawn_and_linearised_intervals_agree_for_many_requests(rng):
    """Two ways to the same interval, as the number of requests grows."""
    columns = np.stack([rng.gamma(4.0, size=1500), rng.gamma(9.0, size=1500)], axis=1)
    logs = Logs(columns=columns, signs=np.array([[-1.0, 1.0]]))
    (drawn,) = intervals([(logs, 1500)], rng=rng, level=0.95)

    value, variance = logs(np.ones((1, 1500)))
    half = 1.959964 * math.sqrt(variance[0, 0])
    assert drawn.interval == pytest.approx(
        (value[0, 0] - half, value[0, 0] + half), abs=0.15 * half
    )
    # and the variance is that of the mean of the influences
    influence = columns[:, 1] / columns[:, 1].sum() - columns[:, 0] / columns[:, 0].sum()
    assert variance[0, 0] == pytest.approx(influence @ influence * 1500 / 1499, rel=1e-12)


def test_the_depth_that_changed_is_the_one_that_shows(rng):
    def by_depth(chances, count=200, rounds=60):
        units = []
        for i in range(count):
            flips = rng.random((rounds, GAMMA)) < chances
            lengths = np.where(flips.all(axis=1), GAMMA, np.argmin(flips, axis=1))
            units.append(
                CountedUnit(
                    name=f"{rng.integers(2**62)}-{i}",
                    counts=AcceptanceTable.from_lengths(lengths, gamma=GAMMA),
                )
            )
        return observed(tuple(units))

    result = compare_runs(
        by_depth([0.8, 0.7, 0.7, 0.7]), by_depth([0.8, 0.7, 0.55, 0.7]), level=1 - 1e-9
    )

    outside = [
        d.depth
        for d in result.depths
        if not d.difference.interval[0] <= 0 <= d.difference.interval[1]
    ]
    assert outside == [2]
    assert [d.quantity for d in result.depths] == ["conditional_acceptance"] * 4
    assert not result.timed


def test_totals_without_depths_take_the_geometric_law_at_most(rng):
    """Their standard error is that of one p: the table of such rounds has the same."""
    lengths = np.minimum(rng.geometric(0.3, size=200_000) - 1, GAMMA)
    table = AcceptanceTable.from_lengths(lengths, gamma=GAMMA)
    totals = AcceptanceTotals(
        rounds=table.rounds,
        drafted=table.drafted,
        accepted=sum(table.accepted),
        longest_draft=GAMMA,
    )

    ours = side_of(Observation(counts=totals), "before").accepted_se
    assert ours == pytest.approx(table.tokens_per_round.se, rel=0.02)


@pytest.mark.parametrize("waited", [(50.0,), (400.0, 90.0)])
def test_a_few_slow_requests_do_not_send_an_end_beyond_every_draw(waited):
    seconds = np.array([*waited, *[1.0] * (8 - len(waited))])
    statistic = Logs(columns=np.stack([np.ones(8), seconds], axis=1), signs=np.array([[1.0, -1.0]]))

    (found,) = intervals([(statistic, 8)], rng=np.random.default_rng(0), level=0.95)

    low, high = found.interval
    assert (
        -math.log(max(waited)) <= low < found.value < high <= 0.0
    )  # no set of these is faster than 1
    unbounded = estimate(found.value, found.se, level=0.95, degrees=7.0)
    assert len(waited) > 1 or unbounded.interval[1] > 0.0

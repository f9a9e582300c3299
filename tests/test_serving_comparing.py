"""Replications, the stable limit, and the same load with and without speculation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom
from serving_cases import CHAINS, make_server, make_times, serve
from stats import FALSE_ALARM

from simulator import draft_model
from simulator.serving import (
    ClosedLoop,
    FixedTokens,
    PoissonArrivals,
    RecordedArrivals,
    Server,
    ServingEstimates,
    UniformTokens,
    Workload,
    compare_rates,
    compare_serving,
    comparing,
    is_stable,
    mean_of,
    ratio_of,
    replicate,
    stable_limit,
)
from simulator.serving.limits import settling_requests

FAST = make_times(
    pass_s=lambda _requests, _tokens, _context: 0.02,
    drafting_s=lambda gamma, _requests, _context: gamma * 0.001,
    prompt_s=lambda _tokens: 0.05,
)
CHAT = Workload(
    arrivals=PoissonArrivals(rate_per_s=1.0),
    prompt=FixedTokens(tokens=1),
    output=FixedTokens(tokens=11),
)
SURE = Server(times=FAST, most_running=1, strategy=draft_model(p=1.0, gamma=4))
LIMIT, PLAIN_LIMIT = 1 / (0.05 + 2 * 0.024), 1 / (0.05 + 10 * 0.02)  # 10.2 and 4 per second
FEW = {"rng": 0, "requests": 60, "replications": 3, "loop": "numpy"}


def limit_of(server, load=CHAT, **options):
    return stable_limit(server, load, **{"rng": 0, "loop": "numpy", "requests": 100, **options})


def test_the_limit_of_one_at_a_time_is_exact():
    assert limit_of(SURE).value == pytest.approx(LIMIT)
    assert limit_of(SURE.plain()).value == pytest.approx(PLAIN_LIMIT)
    assert limit_of(SURE).interval == pytest.approx((LIMIT, LIMIT))


@pytest.mark.parametrize("requests", [1, 50, 101])
@pytest.mark.parametrize("batch", [2, 3, 7, 8])
def test_the_limit_of_a_batch_in_step_is_exact(batch, requests):
    """Answers of one length begin and end together: b prompts and ten passes for b answers."""
    server = Server(times=FAST, most_running=batch)
    exact = batch / (batch * 0.05 + 10 * 0.02)
    assert limit_of(server, requests=requests).value == pytest.approx(exact)


def test_recorded_arrivals_have_the_limit_of_their_tokens():
    arrivals = RecordedArrivals(arrival_s=(0.0, 9.0), prompt_tokens=(1, 1), output_tokens=(11, 11))
    assert limit_of(SURE, Workload(arrivals=arrivals)).value == pytest.approx(LIMIT)


def test_arrivals_below_the_limit_are_stable_and_above_it_are_not():
    """Waiting stays as it is, or grows with the number of requests: the limit says which."""
    for share, grows in ((0.7, False), (1.3, True)):
        load = Workload(
            arrivals=PoissonArrivals(rate_per_s=share * PLAIN_LIMIT),
            prompt=CHAT.prompt,
            output=CHAT.output,
        )
        few, many = (
            serve(SURE.plain(), load, requests=n, warm_up=50).waiting.mean_s for n in (300, 1200)
        )
        assert (many > 2.0 * few) is grows
        assert is_stable(load, limit_of(SURE.plain())) is not grows


def test_a_side_that_is_not_stable_is_none():
    done = []
    slow, between, beyond = compare_rates(
        SURE, SURE.plain(), CHAT, (1.0, 6.0, 20.0), progress=done.append, **FEW
    )
    assert done == pytest.approx([1 / 3, 2 / 3, 1.0])
    for point in (slow, between, beyond):
        assert point.limit.value == pytest.approx(LIMIT)
        assert point.plain_limit.value == pytest.approx(PLAIN_LIMIT)
        assert point.users is None
    assert [point.rate_per_s for point in (slow, between, beyond)] == [1.0, 6.0, 20.0]
    assert slow.plain.replications == slow.speculative.replications == 3
    assert slow.gain_e2e.value > 1.0
    assert (
        between.plain is between.gain_e2e is between.gain_tpot is between.throughput_ratio is None
    )
    assert between.speculative.e2e.mean_s.value > 0.0
    assert beyond.speculative is beyond.plain is beyond.gain_ttft is None


def test_progress_ends_at_1_also_where_a_side_is_missing():
    load = Workload(
        arrivals=PoissonArrivals(rate_per_s=6.0), prompt=CHAT.prompt, output=CHAT.output
    )
    done = []
    limits = (mean_of([LIMIT]), mean_of([PLAIN_LIMIT]))
    point = compare_serving(SURE, SURE.plain(), load, limits=limits, progress=done.append, **FEW)
    assert point.plain is None
    assert done == pytest.approx([1 / 6, 2 / 6, 3 / 6, 1.0])


def test_a_rate_at_the_limit_is_not_stable():
    load = Workload(
        arrivals=PoissonArrivals(rate_per_s=LIMIT), prompt=CHAT.prompt, output=CHAT.output
    )
    assert not is_stable(load, mean_of([LIMIT]))
    assert is_stable(load, mean_of([LIMIT * 1.001]))
    assert not is_stable(load, mean_of([LIMIT * 0.9, LIMIT * 1.2]))  # its interval reaches below


def test_a_comparison_alone_is_that_of_its_rate():
    """`compare_serving` finds the limits itself; gains are those of runs on the same requests.

    Half of the plain limit settles within 16 requests: that is the warm-up, longer than the usual 6.
    """
    load = Workload(
        arrivals=PoissonArrivals(rate_per_s=2.0), prompt=CHAT.prompt, output=CHAT.output
    )
    limits = (limit_of(SURE), limit_of(SURE.plain()))
    done = []
    found = compare_serving(SURE, SURE.plain(), load, progress=done.append, **FEW)
    assert done == pytest.approx([number / 6 for number in range(1, 7)])
    assert found.limit.value == pytest.approx(limits[0].value)
    given = compare_serving(SURE, SURE.plain(), load, limits=limits, **FEW)
    seed = int(np.random.default_rng(0).integers(0, 1 << 63))
    sides = [
        replicate(side, load, warm_up=16, **{**FEW, "rng": seed}) for side in (SURE, SURE.plain())
    ]
    fast, slow = ([run.e2e.mean_s for run in runs] for runs in sides)
    assert given.gain_e2e == ratio_of(slow, fast)
    assert given.gain_e2e.value == pytest.approx(
        given.plain.e2e.mean_s.value / given.speculative.e2e.mean_s.value
    )
    assert given.speculative == ServingEstimates.of(sides[0])


def test_a_closed_loop_is_always_stable_and_its_gain_is_exact():
    load = Workload(arrivals=ClosedLoop(users=1), prompt=CHAT.prompt, output=CHAT.output)
    point = compare_serving(SURE, SURE.plain(), load, **FEW)
    assert point.limit is point.plain_limit is point.rate_per_s is None
    assert point.users == 1
    assert point.gain_ttft.value == pytest.approx(1.0)
    assert point.gain_tpot.value == pytest.approx(0.2 / 0.048)
    assert point.gain_e2e.value == pytest.approx(0.25 / 0.098)
    assert point.throughput_ratio.value == pytest.approx(0.25 / 0.098)


def test_recorded_arrivals_are_compared_whole():
    arrivals = RecordedArrivals(arrival_s=(0.0, 9.0), prompt_tokens=(1, 1), output_tokens=(11, 11))
    point = compare_serving(
        SURE, SURE.plain(), Workload(arrivals=arrivals), **{**FEW, "requests": None}
    )
    assert point.gain_e2e.value == pytest.approx(0.25 / 0.098)


def test_both_sides_measure_the_same_requests_also_where_they_run_more():
    """The warm-up of the larger batch holds for both: twice its eight."""
    plain = SURE.plain(most_running=8)
    limits = (limit_of(SURE), limit_of(plain))
    options = {**FEW, "limits": limits}
    usual = compare_serving(SURE, plain, CHAT, **options)
    assert usual == compare_serving(SURE, plain, CHAT, warm_up=16, **options)
    assert usual != compare_serving(SURE, plain, CHAT, warm_up=6, **options)


def test_limits_that_are_given_are_not_looked_for(monkeypatch):
    server = Server(times=make_times(), most_running=1, strategy=CHAINS["constant"])
    known = (mean_of([0.5]), mean_of([2.0]))
    found = compare_rates(server, server.plain(), CHAT, [0.4, 1.0], limits=known, **FEW)
    assert {(point.limit, point.plain_limit) for point in found} == {known}
    assert [(p.speculative is None, p.plain is None) for p in found] == [
        (False, False),
        (True, False),
    ]
    monkeypatch.setattr(comparing, "stable_limit", None)  # would fail if it were asked
    assert compare_rates(server, server.plain(), CHAT, [0.4, 1.0], limits=known, **FEW) == found
    with pytest.raises(TypeError):
        compare_rates(server, server.plain(), CHAT, [0.4], **FEW)


@pytest.mark.parametrize(
    ("rate", "limits", "expected"),
    [
        (1.0, (10.0, 20.0), 5),  # 4 / 0.9²
        (9.0, (10.0, 20.0), 400),
        (9.0, (20.0, 9.0), 14),  # of the side that can take it: 4 / 0.55²
        (9.9, (10.0,), 2500),  # as for 96 %
        (9.0, (9.0, 8.0), 0),
    ],
)
def test_a_queue_settles_the_later_the_nearer_it_is_to_the_limit(rate, limits, expected):
    load = Workload(
        arrivals=PoissonArrivals(rate_per_s=rate), prompt=CHAT.prompt, output=CHAT.output
    )
    assert settling_requests(load, [mean_of([limit]) for limit in limits]) == expected
    closed = Workload(arrivals=ClosedLoop(users=3), prompt=CHAT.prompt, output=CHAT.output)
    assert settling_requests(closed, [mean_of([limit]) for limit in limits]) == 0


def test_prompts_and_answers_that_take_no_time_have_no_gain():
    """A ratio of nothing to nothing is unknown, not an error."""
    server = Server(
        times=make_times(prompt_s=lambda _tokens: 0.0), most_running=1, strategy=CHAINS["constant"]
    )
    for output in (1, 11):
        load = Workload(
            arrivals=ClosedLoop(users=1), prompt=CHAT.prompt, output=FixedTokens(tokens=output)
        )
        point = compare_serving(server, server.plain(), load, **FEW)
        assert math.isnan(point.gain_ttft.value)
        assert math.isnan(point.gain_e2e.value) is (output == 1)
        assert math.isnan(point.gain_tpot.value) is (output == 1)


def test_replications_are_independent_and_repeatable():
    server = make_server(CHAINS["constant"])
    law = UniformTokens(least=1, most=20)
    load = Workload(arrivals=PoissonArrivals(rate_per_s=9.0), prompt=law, output=law)
    seen = []
    runs = replicate(
        server, load, replications=4, rng=1, requests=20, loop="numpy", progress=seen.append
    )
    again = replicate(server, load, replications=4, rng=1, requests=20, loop="numpy")
    means = [run.e2e.mean_s for run in runs]
    assert means == [run.e2e.mean_s for run in again]
    assert len(set(means)) == 4
    assert seen == [0.25, 0.5, 0.75, 1.0]
    estimates = ServingEstimates.of(runs)
    assert estimates.e2e.mean_s == mean_of(means)
    assert estimates.waiting.p95_s == mean_of([run.waiting.p95_s for run in runs])
    assert estimates.tokens_per_round == mean_of([run.tokens_per_round for run in runs])


TRIALS = 2_000


def covered(intervals, truth):
    return sum(low <= truth <= high for low, high in intervals)


def assert_95_percent(inside):
    low, high = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], TRIALS, 0.95)
    assert low <= inside <= high


@pytest.mark.parametrize("size", [3, 8])
def test_intervals_cover_what_they_are_of(size, rng):
    """Of normal values Student's t is exact; nearly so of ratios of pairs that vary by a few percent."""
    values = rng.normal(5.0, 2.0, (TRIALS, size))
    assert_95_percent(covered([mean_of(row).interval for row in values], 5.0))
    shared, one, other = rng.normal(0.0, 0.04, (3, TRIALS, size))
    above, below = 1.3 * (1.0 + shared + one), 1.0 + shared + other
    found = [ratio_of(*pair).interval for pair in zip(above, below, strict=True)]
    assert_95_percent(covered(found, 1.3))
    if size > 3:  # pairs that are not of the same run: too wide
        mixed = zip(above, 1.0 - shared + other, strict=True)
        wide = [ratio_of(*pair).interval for pair in mixed]
        assert np.mean(np.diff(wide)) > 1.4 * np.mean(np.diff(found))


def test_intervals_of_the_normal_law_are_rejected(rng):
    """Negative control: 1.96 standard errors of three values cover 81 %."""
    found = [mean_of(row) for row in rng.normal(5.0, 2.0, (TRIALS, 3))]
    narrow = [(m.value - 1.96 * m.se, m.value + 1.96 * m.se) for m in found]
    with pytest.raises(AssertionError):
        assert_95_percent(covered(narrow, 5.0))


def test_means_and_ratios_of_few_and_of_unknown_values():
    assert mean_of([2.0]).interval is ratio_of([2.0], [1.0]).interval is None
    assert (mean_of([2.0]).value, ratio_of([2.0], [1.0]).value) == (2.0, 2.0)
    assert mean_of([1.0, 1.0]).interval == (1.0, 1.0)
    for unknown in (math.nan, math.inf):
        assert math.isnan(mean_of([1.0, unknown]).value)
        assert math.isnan(ratio_of([1.0, unknown], [1.0, 1.0]).value)
        assert math.isnan(ratio_of([1.0, 1.0], [1.0, unknown]).value)
    for bad in (0.0, -1.0):
        assert math.isnan(ratio_of([1.0], [bad]).value)
        assert math.isnan(ratio_of([bad], [1.0]).value)
    ratio, back = ratio_of([4.0, 2.0], [1.0, 2.0]), ratio_of([1.0, 2.0], [4.0, 2.0])
    assert (ratio.value, back.value) == (2.0, 0.5)
    assert ratio.interval == pytest.approx((1 / back.interval[1], 1 / back.interval[0]))
    assert ratio_of([3.0, 6.0], [1.0, 2.0]).interval == (3.0, 3.0)  # the same ratio in every run
    with pytest.raises(ValueError, match="above and below must be as many; got 1 and 2"):
        ratio_of([1.0], [1.0, 2.0])

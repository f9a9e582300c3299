"""Times that were seen, in narrow bins: sums exact, percentiles to 0.5 %, whatever the times are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.serving.records import LatencyObjective, Portions, Sink
from simulator.serving.times_seen import SeenTimes

WIDTH = 0.005  # what `SeenLatency` promises
LEVELS = (0.0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
TINY = 1e-9  # below it every time is 0


def seen_of(times, counts=None):
    seen = SeenTimes()
    seen.add(times, counts)
    return seen


def assert_quantiles(seen, times, width=WIDTH):
    """Against NumPy's: the smallest time that a share `level` of all does not exceed."""
    for level in LEVELS:
        exact = np.quantile(times, level, method="inverted_cdf")
        assert seen.quantile(level) == pytest.approx(exact, rel=width, abs=TINY)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.exponential(0.03, 5_000),
        lambda rng: rng.lognormal(0.0, 3.0, 5_000),
        lambda rng: 10.0 ** rng.uniform(-8.5, 8.5, 5_000),
        lambda rng: np.where(rng.random(5_000) < 0.6, 0.0, rng.exponential(2.0, 5_000)),
        lambda _rng: np.full(77, 0.125),
        lambda rng: rng.integers(0, 3, 500) * 1e6,
        lambda _rng: np.array([3e-12, 5e-10, 2e-9, 1e-3, 9e8]),
    ],
    ids=["exponential", "lognormal", "all sizes", "zeros", "one time", "huge", "extremes"],
)
def test_quantiles_are_numpys_to_half_a_percent(draw, rng):
    times = draw(rng)
    seen = seen_of(times)
    assert_quantiles(seen, times)
    latency = seen.latency
    assert (latency.count, latency.longest_s) == (times.size, times.max())
    assert latency.mean_s == pytest.approx(times.mean(), rel=1e-12)
    assert (latency.p50_s, latency.p95_s, latency.p99_s) == tuple(
        seen.quantile(level) for level in (0.5, 0.95, 0.99)
    )


def test_a_tenth_of_that_width_is_not_kept(rng):
    """Negative control: the bins are as wide as they say, so that a narrower promise fails."""
    times = rng.exponential(0.03, 20)
    with pytest.raises(AssertionError):
        assert_quantiles(seen_of(times), times, width=WIDTH / 10)


@given(
    st.lists(
        st.tuples(
            st.one_of(st.just(0.0), st.floats(1e-8, 1e8)), st.integers(min_value=0, max_value=9)
        ),
        min_size=1,
        max_size=40,
    )
)
def test_a_count_is_as_many_single_times(pairs):
    times, counts = (np.array(column) for column in zip(*pairs, strict=True))
    at_once = seen_of(times, counts)
    single = SeenTimes()
    for time, count in pairs:
        for _ in range(count):
            single.add(time)
    assert at_once.count == single.count == counts.sum()
    assert at_once.total_s == pytest.approx(math.fsum(times * counts), rel=1e-12)
    assert single.total_s == pytest.approx(at_once.total_s, rel=1e-12)
    if at_once.count:
        for level in LEVELS:
            assert at_once.quantile(level) == single.quantile(level)
        assert_quantiles(at_once, np.repeat(times, counts))
        assert at_once.latency.longest_s == times[counts > 0].max()
    else:
        assert math.isnan(at_once.quantile(0.5))


@given(st.lists(st.floats(0.0, 1e8), min_size=1, max_size=50))
def test_quantiles_rise_and_stay_within_what_was_seen(times):
    quantiles = [seen_of(times).quantile(level) for level in LEVELS]
    assert quantiles == sorted(quantiles)
    assert min(times) <= quantiles[0]
    assert quantiles[-1] == pytest.approx(max(times), rel=WIDTH, abs=TINY)
    assert quantiles[-1] <= max(times)


def test_nothing_seen_is_unknown():
    for seen in (SeenTimes(), seen_of([]), seen_of([1.0, 2.0], [0, 0])):
        latency = seen.latency
        assert latency.count == seen.count == 0
        assert all(
            math.isnan(value) for value in (latency.mean_s, latency.p99_s, latency.longest_s)
        )


@pytest.mark.parametrize("level", [-0.1, 1.1, math.nan, "0.5"])
def test_a_level_is_a_share(level):
    with pytest.raises(ValueError, match=r"^level must be a number in \[0, 1\]; got "):
        seen_of([1.0]).quantile(level)


def test_portions_hand_on_what_they_were_given():
    requests = [(0.0, 1.0, 2.0, 6.0, 3), (1.0, 1.0, 4.0, 4.0, 1), (2.0, 5.0, 5.5, 8.0, 2)]
    objective = LatencyObjective(ttft_s=3.0, tpot_s=2.0)
    sink = Sink(objective, keep=True)
    portions = Portions(sink)
    for request in requests:
        portions.request(*request)
    portions.gap(0.5, 3)
    assert sink.e2e.count == 0
    portions.hand_on()
    portions.hand_on()  # and nothing twice
    assert (sink.ttft.total_s, sink.e2e.total_s, sink.waiting.total_s) == (8.5, 15.0, 4.0)
    assert (sink.tpot.count, sink.tpot.total_s) == (2, 4.5)
    assert (sink.gaps.count, sink.gaps.total_s) == (3, 1.5)
    assert sink.met == 2  # the third takes 3.5 s to its first token
    assert sink.requests.output_tokens.tolist() == [3, 1, 2]
    assert sink.requests.end_s.tolist() == [6.0, 4.0, 8.0]


def test_a_run_without_requests_keeps_empty_columns():
    requests = Sink(LatencyObjective(), keep=True).requests
    assert requests.end_s.size == requests.output_tokens.size == 0
    assert Sink(LatencyObjective()).requests is None
    assert not LatencyObjective().asks
    assert LatencyObjective(e2e_s=0.0).asks

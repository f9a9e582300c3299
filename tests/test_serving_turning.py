"""Where speculation turns from a gain into a loss: against gains whose crossing is known."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from serving_cases import make_times

from analysis.serving.report import unstable_notes
from analysis.serving.turning import turning_rate
from simulator import Estimate
from simulator.serving import (
    ClosedLoop,
    FixedTokens,
    PoissonArrivals,
    RecordedArrivals,
    Server,
    ServingComparison,
    ServingEstimates,
    Workload,
    simulate_serving,
)

LENGTH = FixedTokens(tokens=9)
SEEN = ServingEstimates.of(
    [
        simulate_serving(
            Server(times=make_times(), most_running=1),
            Workload(arrivals=ClosedLoop(users=1), prompt=LENGTH, output=LENGTH),
            requests=2, warm_up=0, rng=0,
        )
    ]
)  # fmt: skip


def point(arrivals, gain=None, *, limits=(None, None), **gains):
    """A comparison with nothing but what is looked at; a gain is (value, low, high), or a value."""

    def estimate(one):
        if one is None or isinstance(one, Estimate):
            return one
        value, *ends = one if isinstance(one, tuple) else (one,)
        return Estimate(value=value, interval=tuple(ends) or None)

    recorded = isinstance(arrivals, RecordedArrivals)
    length = None if recorded else LENGTH
    named = {"gain_e2e": gain, "gain_ttft": None, "gain_tpot": None, "throughput_ratio": None}
    found = {name: estimate(one) for name, one in (named | gains).items()}
    return ServingComparison(
        workload=Workload(arrivals=arrivals, prompt=length, output=length),
        speculative=None, plain=None, limit=estimate(limits[0]), plain_limit=estimate(limits[1]),
        **found,
    )  # fmt: skip


def at(rate, gain=None, **more):
    return point(PoissonArrivals(rate_per_s=rate), gain, **more)


def line(rate, *, crosses=7.3, slope=0.11, spread=0.0):
    """A gain whose logarithm falls in a straight line."""
    value = math.exp(slope * (crosses - rate))
    return value if not spread else (value, value / spread, value * spread)


@pytest.mark.parametrize("order", [1, -1])
def test_a_straight_logarithm_is_crossed_exactly(order):
    points = [at(rate, line(rate)) for rate in (1.0, 4.0, 6.0, 9.5, 12.0)][::order]
    found = turning_rate(points)
    assert found.kind == "turns"
    assert found.at.value == pytest.approx(7.3, rel=1e-12)
    assert (found.first, found.last, found.unit) == (1.0, 12.0, "requests/s")
    assert found.at.interval is None
    assert "stops gaining in end-to-end time at 7.3 requests/s" in found.sentence


def test_a_straight_gain_is_not_its_logarithm():
    gains = {2.0: 2.0, 4.0: 0.25}
    found = turning_rate([at(rate, gain) for rate, gain in gains.items()])
    assert found.at.value == pytest.approx(2.0 + 2.0 / 3.0)
    assert found.at.value != pytest.approx(2.0 + 2.0 / 1.75, rel=1e-3)  # linear would say so


def test_the_interval_is_where_the_ends_cross():
    spread = math.exp(0.11 * 0.4)
    points = [at(rate, line(rate, spread=spread)) for rate in (1.0, 5.0, 11.0)]
    found = turning_rate(points)
    assert found.at.interval == pytest.approx((6.9, 7.7))
    assert "(6.9 to 7.7)" in found.sentence
    short = turning_rate([at(rate, line(rate, spread=spread)) for rate in (1.0, 7.5)])
    assert short.at.value == pytest.approx(7.3)
    assert short.at.interval is None  # one end does not cross within the points


@pytest.mark.parametrize(("gains", "kind"), [((1.5, 1.2), "gains"), ((0.9, 0.7), "loses")])
def test_all_the_way(gains, kind):
    found = turning_rate([at(1.0, gains[0]), at(2.0, gains[1])])
    assert (found.kind, found.at) == (kind, None)
    assert f"Speculation {kind} in end-to-end time from 1 to 2 requests/s." in found.sentence


OPEN = [
    (
        ((1.5, 1.4, 1.6), (1.2, 1.1, 1.3), (1.02, 0.72, 1.41)),
        ("gains", (2.0, 4.0), (6.0,)),
        (
            "surely gains in end-to-end time from 2 to 4 requests/s; beyond that it is open, for the "
            "interval at 6 holds 1."
        ),
    ),
    (
        ((0.99, 0.9, 1.1), (0.98, 0.9, 1.0), (0.7, 0.6, 0.8)),
        ("loses", (6.0, 6.0), (2.0, 4.0)),
        (
            "surely loses in end-to-end time at 6 requests/s; below that it is open, for the intervals at 2, 4 "
            "hold 1."
        ),
    ),
    (
        ((1.1, 0.9, 1.3), (1.2, 1.1, 1.3), (1.1, 0.9, 1.3)),
        ("gains", (4.0, 4.0), (2.0, 6.0)),
        (
            "surely gains in end-to-end time at 4 requests/s; elsewhere it is open, for the intervals at 2, 6 "
            "hold 1."
        ),
    ),
    (
        ((1.1, 0.9, 1.3), (1.1, 0.8, 1.3), (1.1, 0.9, 1.3)),
        ("gains", None, (2.0, 4.0, 6.0)),
        "Whether speculation gains in end-to-end time from 2 to 6 requests/s is open: the intervals hold 1.",
    ),
    (
        ((1.3, 1.2, 1.4), (1.1, 1.05, 1.15), (0.9, 0.7, 1.15)),
        ("turns", (2.0, 4.0), (6.0,)),
        "requests/s by the means alone; it surely gains from 2 to 4 requests/s.",
    ),
    (
        ((1.3, 0.7, 2.4), (1.1, 0.7, 1.5), (0.9, 0.7, 1.15)),
        ("turns", None, (2.0, 4.0, 6.0)),
        "requests/s by the means alone; it surely gains nowhere.",
    ),
]


@pytest.mark.parametrize(("gains", "found", "said"), OPEN)
def test_no_gain_is_claimed_that_an_interval_denies(gains, found, said):
    points = [at(rate, gain) for rate, gain in zip((2.0, 4.0, 6.0), gains, strict=True)]
    turn = turning_rate(points)
    assert (turn.kind, turn.sure, turn.open_at) == found
    assert turn.sentence.endswith(said)
    narrow = [
        at(rate, (value, value / 1.001, value * 1.001))
        for rate, (value, *_) in zip((2.0, 4.0, 6.0), gains, strict=True)
    ]
    sure = turning_rate(narrow)
    assert (sure.kind, sure.open_at) == (turn.kind, ())
    assert not any(word in sure.sentence for word in ("open", "surely", "means"))


def test_a_gain_that_begins():
    found = turning_rate([at(1.0, 0.5), at(3.0, 2.0)])
    assert (found.kind, found.at.value) == ("begins to gain", pytest.approx(2.0))


def test_one_side_ends_first():
    limits = ((10.0, 9.9, 10.1), (12.0, 11.9, 12.1))
    points = [at(4.0, 1.5, limits=limits), at(8.0, 1.1, limits=limits), at(11.0, limits=limits)]
    found = turning_rate(points)
    assert (found.kind, found.ends, found.ends_at, found.last) == (
        "gains",
        "speculative",
        10.0,
        8.0,
    )
    assert "with speculation the server is stable up to 10 requests/s only" in found.sentence
    other = turning_rate([at(4.0, 1.5, limits=limits[::-1])])
    assert (other.ends, other.ends_at) == ("plain", 10.0)
    assert turning_rate([at(4.0, 1.5, limits=(limits[0], limits[0]))]).ends is None
    near = ((10.0, 9.0, 11.5), (12.0, 11.0, 13.0))
    assert turning_rate([at(4.0, 1.5, limits=near)]).ends is None  # not told apart


def test_nothing_is_stable():
    found = turning_rate([at(99.0, limits=((10.0,), (12.0,)))])
    assert found.kind == "nothing to compare"
    assert "none of the loads" in found.sentence


def test_other_measures_and_users():
    points = [
        point(ClosedLoop(users=users), 1.0, gain_tpot=gain, limits=((1.0,), (2.0,)))
        for users, gain in ((1, 2.0), (9, 0.5))
    ]
    found = turning_rate(points, "tpot")
    assert (found.unit, found.at.value) == ("users", pytest.approx(5.0))
    assert found.ends is None  # a closed loop is always stable
    assert "time per token at 5 users" in found.sentence


def test_gains_that_are_not_known_are_left_out():
    nan = Estimate(value=math.nan)
    found = turning_rate([at(1.0, 2.0), at(2.0, nan), at(3.0, 0.5)])
    assert found.at.value == pytest.approx(2.0)
    assert turning_rate([at(2.0, nan)]).kind == "nothing to compare"


def test_what_is_refused():
    with pytest.raises(ValueError, match="points must hold one"):
        turning_rate([])
    with pytest.raises(ValueError, match="of must be one of e2e"):
        turning_rate([at(1.0, 2.0)], "itl")
    recorded = RecordedArrivals(arrival_s=(0.0,), prompt_tokens=(1,), output_tokens=(1,))
    for mixed in ([at(1.0, 2.0), point(ClosedLoop(users=2), 2.0)], [point(recorded, 2.0)]):
        with pytest.raises(ValueError, match="must all be Poisson arrivals or all closed loops"):
            turning_rate(mixed)


def test_notes_name_who_is_beyond_a_limit_and_who_is_too_near_to_it():
    limits = {"limits": ((20.0, 19.0, 21.0), (10.0, 9.9, 10.1))}
    calm, near = (replace(at(rate, **limits), speculative=SEEN, plain=SEEN) for rate in (9.5, 9.7))
    beyond = replace(at(19.5, **limits), plain=None, speculative=None)
    assert unstable_notes([calm]) == ()
    (said,) = unstable_notes([calm, near])
    assert said.startswith("Without speculation 9.7 requests/s are so near to what the server can")
    notes = unstable_notes([calm, near, beyond])
    assert [note.split(" the ")[0] for note in notes if "not surely stable" in note] == [
        "Without speculation",
        "With speculation",
    ]
    assert all(" 9.5" not in note for note in notes)
    assert unstable_notes([point(ClosedLoop(users=4))]) == ()

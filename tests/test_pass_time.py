"""Seconds per round and the cost of a round in plain steps, from whatever clock a source has."""

from __future__ import annotations

import math

import pytest

from analysis import pass_time
from simulator import (
    AcceptanceTable,
    AcceptanceTotals,
    Clock,
    Observation,
    ReportedRatio,
    draft_model,
    simulate,
)


def length(value, half_width=0.005):
    return ReportedRatio(
        quantity="tokens_per_round", value=value, half_width=half_width, averaged_over="run"
    )


def test_every_clock_of_one_run_says_the_same():
    """1,000 rounds of 2.5 tokens in 40 s: the pass takes 40 ms however it is written down."""
    counts = AcceptanceTotals(rounds=1_000, drafted=3_000, accepted=1_500)
    clocks = [
        Clock(s_per_round=0.04),
        Clock(decode_s=40.0),
        Clock(s_per_token=0.016),
        Clock(tokens_per_s=62.5),
        Clock(tokens_per_s=62.5 * 8, running=8),
    ]

    seconds = [
        pass_time(Observation(counts=counts, clock=clock)).seconds_per_round for clock in clocks
    ]

    assert [each.number for each in seconds] == pytest.approx([0.04] * 5, rel=1e-12)
    assert len({each.how for each in seconds}) == len(clocks)


def test_the_batch_stands_in_for_running_requests_and_one_is_said_to_be_taken():
    alone = Observation(printed=(length(2.5),), clock=Clock(tokens_per_s=100.0))
    eight = Observation(printed=(length(2.5),), clock=Clock(tokens_per_s=100.0), batch=8)

    assert pass_time(eight).seconds_per_round.number == pytest.approx(0.2)
    assert pass_time(alone).seconds_per_round.number == pytest.approx(0.025)
    assert "if one request ran at a time" in pass_time(alone).seconds_per_round.how
    assert "if one request" not in pass_time(eight).seconds_per_round.how


def test_the_cost_is_tokens_over_speedup_and_the_time_over_a_plain_step():
    clock = Clock(s_per_token=0.010, plain_s_per_token=0.020)
    time = pass_time(Observation(printed=(length(3.0),), clock=clock))

    assert time.speedup.number == pytest.approx(2.0)
    assert time.round_cost.number == pytest.approx(1.5)
    assert time.round_cost.number == pytest.approx(time.seconds_per_round.number / 0.020)
    assert time.rounds_per_s.number == pytest.approx(1.0 / 0.030)


def test_a_throughput_at_a_batch_compares_with_one_at_the_same_batch():
    clock = Clock(tokens_per_s=447.9, running=4, plain_tokens_per_s=566.21)
    time = pass_time(Observation(printed=(length(1.86),), clock=clock))

    assert time.speedup.number == pytest.approx(447.9 / 566.21)
    assert time.round_cost.number == pytest.approx(1.86 * 566.21 / 447.9)


def test_times_come_before_the_printed_speedup():
    clock = Clock(s_per_token=0.01, plain_s_per_token=0.02, speedup=1.5)

    assert pass_time(Observation(clock=clock)).speedup.number == pytest.approx(2.0)
    assert pass_time(Observation(clock=Clock(speedup=1.5))).speedup.number == 1.5


def test_a_measured_round_and_a_plain_step_give_the_speedup():
    clock = Clock(s_per_round=0.03, plain_s_per_token=0.02)
    time = pass_time(Observation(printed=(length(3.0),), clock=clock))

    assert time.round_cost.number == pytest.approx(1.5)
    assert time.speedup.number == pytest.approx(2.0)


def test_the_rounding_of_the_length_stays_in_the_ranges():
    time = pass_time(
        Observation(printed=(length(2.0, 0.5),), clock=Clock(tokens_per_s=10.0, speedup=2.0))
    )

    assert time.seconds_per_round.range == pytest.approx((0.15, 0.25))
    assert time.rounds_per_s.range == pytest.approx((4.0, 1 / 0.15))
    assert time.round_cost.range == pytest.approx((0.75, 1.25))


def test_sampling_error_is_one_of_the_speedup_not_of_the_time():
    """The rounds that were timed are the rounds that were counted; other requests differ in tokens."""
    table = simulate(draft_model(p=0.7, gamma=4), rounds=400, rng=0)
    time = pass_time(Observation(counts=table, clock=Clock(decode_s=8.0, plain_s_per_token=0.014)))

    relative = table.tokens_per_round.se / table.tokens_per_round.value
    assert time.seconds_per_round.number == 0.02
    assert time.seconds_per_round.value.se is None
    assert time.round_cost.value.se is None
    assert time.speedup.value.se == pytest.approx(time.speedup.number * relative)


def test_rounds_without_a_draft_take_time_too():
    counts = AcceptanceTotals(rounds=993, drafted=4_960, accepted=3_562)
    time = pass_time(Observation(counts=counts, undrafted_rounds=821, clock=Clock(decode_s=18.14)))

    assert time.tokens_per_round.number == pytest.approx(5_376 / 1_814)
    assert time.seconds_per_round.number == pytest.approx(0.01)


def test_the_share_of_drafting():
    """llama.cpp, PR 24536: 325.555 ms of 2296.72 ms."""
    counts = AcceptanceTotals(rounds=87, drafted=259, accepted=167)
    time = pass_time(Observation(counts=counts, clock=Clock(decode_s=2.29672, draft_s=0.325555)))

    assert time.draft_share.number == pytest.approx(0.325555 / 2.29672)
    assert time.seconds_per_round.number == pytest.approx(0.0264, abs=5e-5)


@pytest.mark.parametrize(
    ("clock", "words"),
    [
        (Clock(decode_s=2.0), "decoding alone"),
        (Clock(s_per_token=0.01), "decoding alone"),
        (Clock(tokens_per_s=100.0), "prefill or idle"),
        (Clock(speedup=2.0), "whole requests"),
    ],
)
def test_the_clock_is_told_in_words(clock, words):
    seen = Observation(rounds=10, drafted=30, accepted=15, clock=clock)
    assert words in pass_time(seen).clock


@pytest.mark.parametrize(
    "seen",
    [
        Observation(),
        Observation(counts=AcceptanceTable(rounds=10, drafted=20, tested=(10, 7), accepted=(7, 5))),
        Observation(clock=Clock(tokens_per_s=100.0)),  # tokens per round are not known
        Observation(clock=Clock(draft_s=1.0, decode_s=2.0)),
        Observation(clock=Clock(tokens_per_s=0.0, speedup=math.nan), printed=(length(2.0),)),
        Observation(clock=Clock(s_per_round=-1.0, s_per_token=math.inf), printed=(length(2.0),)),
    ],
)
def test_where_nothing_follows_nothing_is_said(seen):
    assert pass_time(seen) is None


@pytest.mark.parametrize(
    ("running", "batch", "said"),
    [(None, None, True), (1.0, None, False), (None, 1.0, False)],
    ids=["nobody says", "the log says", "the settings say"],
)
def test_one_request_at_a_time_is_an_assumption_only_where_nobody_says(running, batch, said):
    seen = Observation(
        counts=AcceptanceTotals(rounds=100, drafted=300, accepted=190),
        clock=Clock(tokens_per_s=58.0, running=running),
        batch=batch,
    )

    seconds = pass_time(seen).seconds_per_round
    assert seconds.number == pytest.approx(2.9 / 58.0)
    assert ("if one request ran at a time" in seconds.how) is said

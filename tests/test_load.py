"""What a request and what a server gain: closed loops, whole requests, money, the break-even batch."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import replace

import numpy as np
import pytest
from deployments import MACHINE, TARGET, accepted, mixture, pair, short_cache, simple
from hypothesis import given
from hypothesis import strategies as st

import analysis as an
from analysis.deployment.break_even import break_even_batch
from analysis.deployment.building import DraftKind, deploy
from analysis.deployment.drafting import Drafting
from analysis.deployment.grid import speedups
from analysis.deployment.load import over_concurrency, under_load
from analysis.deployment.memory import Memory
from analysis.deployment.prefill import prefill_s
from analysis.deployment.report import break_even_section, load_section
from analysis.deployment.served import Served, through
from analysis.pass_cost import PassCost
from simulator import AcceptanceTable, Estimate

ROOM = Memory(
    capacity_bytes=100e9, usable=1.0, target_bytes=20e9, target_kv_bytes=1e6, draft_bytes=40e9
)
"""80 requests of 1,000 tokens fit alone and 40 beside the draft."""


@given(
    p=st.floats(0.0, 1.0),
    gamma=st.integers(1, 8),
    clients=st.integers(1, 60),
    context=st.integers(1, 5000),
)
def test_at_the_same_batch_both_gain_alike(p, gamma, clients, context):
    point = under_load(pair(p), gamma, concurrency=clients, context=context)
    assert point.plain.running == point.speculative.running == clients
    same = pytest.approx(point.latency_speedup.value, rel=1e-12)
    assert point.throughput_ratio.value == same
    assert point.speculative.parts.speedup.value == same
    assert point.plain.waiting == 0
    assert point.request_speedup is None


def test_a_full_server_can_gain_latency_and_lose_throughput():
    # without arithmetic a step takes as long for any batch: each of 40 gains what the formula says,
    # but 80 would have run
    point = under_load(simple(memory=ROOM), 4, concurrency=100, context=1000)
    gain = float(an.speedup(0.7, 4, 0.1))
    assert (point.plain.running, point.speculative.running) == (80, 40)
    assert (point.plain.waiting, point.speculative.waiting) == (20, 60)
    assert point.batch_lost == 40
    assert point.latency_speedup.value == pytest.approx(gain, rel=1e-12)
    assert point.throughput_ratio.value == pytest.approx(gain / 2, rel=1e-12)
    assert point.throughput_ratio.value < 1.0 < point.latency_speedup.value
    assert point.sentence.startswith("At concurrency 100 (40 instead of 80 running)")


def test_a_limit_of_the_engine_holds_for_both_sides():
    point = under_load(simple(memory=ROOM), 4, concurrency=100, context=1000, most_running=30)
    assert (point.plain.running, point.speculative.running) == (30, 30)
    assert point.latency_speedup.value == pytest.approx(point.throughput_ratio.value, rel=1e-12)
    half = under_load(simple(memory=ROOM), 4, concurrency=100, context=1000, most_running=60)
    assert (half.plain.running, half.speculative.running) == (60, 40)


def test_without_a_draft_nothing_changes():
    point = under_load(simple(memory=ROOM), 0, concurrency=100, context=1000)
    assert point.latency_speedup.value == point.throughput_ratio.value == 1.0
    assert point.batch_lost == 0.0
    assert point.speculative == point.plain


def test_a_whole_request_alone_follows_amdahl():
    lookup = deploy(TARGET, MACHINE, DraftKind(kind="lookup"), accepted(0.7))
    point = under_load(
        lookup, 4, concurrency=1, context=1000, prompt_tokens=4000, output_tokens=101
    )
    prompt = prefill_s(lookup.target, 4000)
    share = prompt / (prompt + 100 * lookup.parts(0, 1, 1000).plain_s)
    expected = float(an.whole_request_speedup(point.latency_speedup.value, share))
    assert point.request_speedup.value == pytest.approx(expected, rel=1e-12)
    assert point.request_speedup.value < point.latency_speedup.value
    assert point.plain.service_s.value == pytest.approx(prompt / share, rel=1e-12)


def test_prompts_that_the_draft_reads_too_cost_it():
    job = {"concurrency": 4, "context": 1000, "prompt_tokens": 3000, "output_tokens": 200}
    model, own = pair(), short_cache()
    with_model, with_own = under_load(model, 4, **job), under_load(own, 4, **job)
    target = prefill_s(model.target, 3000)
    assert with_model.plain.prefill_s == with_own.plain.prefill_s == target
    assert with_own.speculative.prefill_s == target  # its cache is cut out of the target's
    draft = prefill_s(model.drafting.step, 3000)
    assert with_model.speculative.prefill_s == pytest.approx(target + draft, rel=1e-12)
    assert 0.0 < draft < target


@pytest.mark.parametrize("budget", [None, 7, 40, 1000])
@pytest.mark.parametrize("prompt", [1, 7, 40, 333])
def test_prefill_is_the_sum_over_the_prompts_tokens(budget, prompt):
    cost = PassCost(
        weights_s=0.01, output_s=0.002, compute_s=3e-5, output_compute_s=5e-5, attention_s=2e-6,
        token_s=1e-6, fixed_s=1e-3, kv_budget=budget, overlap=1.0,
    )  # fmt: skip
    arithmetic = 5e-5  # one output layer, for the last token
    for i in range(1, prompt + 1):
        arithmetic += 3e-5 + 2e-6 * min(i, budget or i)
    expected = 0.012 + arithmetic + 1e-3 + prompt * 1e-6
    assert prefill_s(cost, prompt) == pytest.approx(expected, rel=1e-12)


def test_an_event_by_event_closed_loop_agrees():
    # p = 1: every round gives exactly four tokens, so that the loop can be walked event by event
    room = replace(ROOM, target_kv_bytes=20e6, draft_bytes=0.0)  # 4 requests of 1,000 tokens
    deployment = simple(1.0, compute_s=0.002, memory=room)
    job = {"concurrency": 6, "context": 1000, "prompt_tokens": 100, "output_tokens": 13}
    served = under_load(deployment, 3, **job).speculative
    assert (served.running, served.waiting) == (4, 2)
    done, answered = closed_loop(
        clients=6, room=4, rounds=3, prefill=served.prefill_s, round_s=served.parts.round_s
    )
    window = slice(120, 120 + 1200)  # whole periods of 12 requests, after the start
    speed = 1200 / (done[window.stop] - done[window.start])
    assert served.tokens_per_s.value == pytest.approx(13 * speed, rel=1e-9)
    assert served.response_s.value == pytest.approx(np.mean(answered[window]), rel=1e-9)
    assert served.response_s.value * speed == pytest.approx(6, rel=1e-9)  # Little's law


def closed_loop(*, clients, room, rounds, prefill, round_s, answers=1500):
    """When each request was answered, and how long it took since it was sent."""
    now, waiting, running = 0.0, deque([0.0] * clients), []
    done, answered = [], []
    while len(done) < answers:
        while waiting and len(running) < room:
            now += prefill
            running.append([rounds, waiting.popleft()])
            if not done:
                break  # at the beginning one per round, so that requests end at different rounds
        now += round_s
        for one in running:
            one[0] -= 1
        for one in [one for one in running if one[0] == 0]:
            running.remove(one)
            done.append(now)
            answered.append(now - one[1])
            waiting.append(now)
    return done, answered


def test_response_times_and_throughput_are_one_ratio():
    job = {"concurrency": 100, "context": 1000, "prompt_tokens": 500, "output_tokens": 300}
    point = under_load(simple(memory=ROOM), 4, **job)
    times = point.plain.response_s.value / point.speculative.response_s.value
    assert times == pytest.approx(point.throughput_ratio.value, rel=1e-12)
    services = point.plain.service_s.value / point.speculative.service_s.value
    assert point.request_speedup.value == pytest.approx(services, rel=1e-12)
    assert point.request_speedup.value > 1.0 > point.throughput_ratio.value


def test_money_by_hand():
    point = under_load(simple(), 4, concurrency=2, context=0, price_per_hour=3.6)
    # 2 requests, a token each in 10 ms: 200 tokens/s for 0.001 per second
    assert point.plain.price_per_million.value == pytest.approx(5.0)
    gain = float(an.speedup(0.7, 4, 0.1))
    assert point.speculative.price_per_million.value == pytest.approx(5.0 / gain)
    assert "A million tokens cost 2.52 instead of 5.00." in point.sentence
    assert under_load(simple(), 4, concurrency=2, context=0).plain.price_per_million is None


def test_intervals_go_through():
    table = AcceptanceTable(rounds=1000, drafted=2000, tested=(1000, 700), accepted=(700, 490))
    fitted = replace(simple(compute_s=1e-4), acceptance=an.fit(table))
    job = {"concurrency": 5, "context": 0, "prompt_tokens": 64, "output_tokens": 128}
    point = under_load(fitted, 2, price_per_hour=2.0, **job)
    served, tokens = point.speculative, fitted.acceptance.tokens_per_round(2)
    assert point.latency_speedup.interval == pytest.approx(
        [end * point.latency_speedup.value / tokens.value for end in tokens.interval]
    )
    for name in ("tokens_per_s", "service_s", "response_s", "price_per_million"):
        found = getattr(served, name)
        ends = [
            getattr(replace(served, parts=replace(served.parts, tokens_per_round=end)), name).value
            for end in (Estimate(value=value) for value in tokens.interval)
        ]
        assert found.interval == pytest.approx(sorted(ends), rel=1e-12)
        assert found.interval[0] < found.value < found.interval[1]
        assert found.se == pytest.approx(abs(ends[1] - ends[0]) / (2 * 1.96), rel=0.1)
    assert point.request_speedup.interval[0] < point.request_speedup.value


def test_the_slope_of_a_function_carries_the_error():
    found = through(Estimate(value=4.0, se=0.1), lambda x: 8.0 / x)
    assert (found.value, found.interval) == (2.0, None)
    assert found.se == pytest.approx(8.0 / 16.0 * 0.1, rel=1e-8)


def test_over_concurrency_is_one_load_after_the_other():
    job = {"context": 1000, "prompt_tokens": 100, "output_tokens": 50, "price_per_hour": 2.0}
    found = over_concurrency(pair(), 3, (1, 8, 500), **job)
    assert found == tuple(under_load(pair(), 3, concurrency=n, **job) for n in (1, 8, 500))
    assert found[2].speculative.running < found[2].plain.running < 500
    assert over_concurrency(pair(), 0, (1,), context=10)[0].latency_speedup.value == 1.0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"concurrency": 0}, "concurrency must be a whole number of at least 1; got 0"),
        ({"context": -1}, "context must be a finite number of at least 0; got -1"),
        ({"prompt_tokens": 10}, "prompt_tokens and output_tokens must be given together"),
        (
            {"prompt_tokens": 0, "output_tokens": 9},
            "prompt_tokens must be a whole number of at least 1",
        ),
        (
            {"prompt_tokens": 9, "output_tokens": 0},
            "output_tokens must be a whole number of at least 1",
        ),
        ({"price_per_hour": -2}, "price_per_hour must be a finite number of at least 0; got -2"),
        ({"most_running": 0}, "most_running must be a whole number of at least 1; got 0"),
        ({"context": 90_000}, "a request of 90,000 tokens must fit the memory"),
        ({"gamma": -1}, "gamma must be a whole number of at least 0; got -1"),
    ],
)
def test_what_a_load_refuses(changes, sentence):
    values = {"gamma": 4, "concurrency": 8, "context": 1000, **changes}
    with pytest.raises(ValueError, match=sentence):
        under_load(simple(memory=ROOM), values.pop("gamma"), **values)


@pytest.mark.parametrize("make", [pair, short_cache, mixture])
@pytest.mark.parametrize("context", [100, 3000, 30_000])
@pytest.mark.parametrize("gamma", [1, 4, 9])
def test_the_break_even_batch_is_the_first_that_does_not_pay(make, context, gamma):
    found = break_even_batch(make(), gamma, context=context, most=500)
    gains = speedups(make(), [gamma], range(1, found.tried + 1), context)[:, 0]
    losing = [batch for batch, gain in enumerate(gains, start=1) if gain <= 1.0]
    assert found.batch == (losing[0] if losing else None)
    later = [
        batch
        for batch, gain in enumerate(gains, start=1)
        if losing and batch > losing[0] and gain > 1.0
    ]
    assert found.again == (later[0] if later else None)
    assert found.monotone is not bool(later)
    assert np.isfinite(gains).all()
    assert found.limited is (found.tried < 500)
    if found.limited:
        assert np.isnan(speedups(make(), [gamma], [found.tried + 1], context)).all()


def test_the_break_even_batch_by_hand():
    # plain max(10, b) ms, a round max(10, 2 b) ms for 1.5 tokens, drafts are free: 15 = 2 b
    free = replace(simple(0.5, compute_s=0.001), drafting=Drafting(shape="lookup"))
    assert break_even_batch(free, 1, context=0).batch == 8
    assert break_even_batch(free, 1, context=0, most=7).batch is None
    assert break_even_batch(simple(0.0), 1, context=0).batch == 1
    # plain max(8, b) s, a round max(8, 2 b) s for 2 tokens: from batch 8 on neither faster nor slower
    even = replace(simple(1.0, step_s=8.0, compute_s=1.0), drafting=Drafting(shape="lookup"))
    assert (break_even_batch(even, 1, context=0).batch, even.parts(1, 8).speedup.value) == (8, 1.0)
    always = break_even_batch(simple(0.7), 4, context=0)
    assert (always.batch, always.tried, always.limited) == (None, 4096, False)


def test_break_even_sentences():
    assert break_even_batch(simple(), 4, context=0).sentence == (
        "γ = 4 at 0 tokens of context pays at every batch up to 4,096, the most tried."
    )
    assert "pays at every batch up to 40, the most that fit." in (
        break_even_batch(simple(memory=ROOM), 4, context=1000).sentence
    )
    steadily = break_even_batch(pair(), 4, context=500)
    assert f"pays below batch {steadily.batch} and no longer there, nor beyond" in steadily.sentence
    rising = break_even_batch(short_cache(), 4, context=32_000)
    assert rising.batch == 1 < rising.again
    assert rising.sentence.endswith(
        f"does not pay at batch 1, but again from batch {rising.again} on: the gain does not fall steadily."
    )
    assert not rising.monotone


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"gamma": 0}, "gamma must be a whole number of at least 1; got 0"),
        ({"most": 0}, r"most must be a whole number in \[1, 1000000\]; got 0"),
        ({"most": 2_000_000}, r"most must be a whole number in \[1, 1000000\]"),
        ({"context": math.nan}, "context must be a finite number of at least 0"),
        ({"context": 90_000}, "a request of 90,000 tokens must fit the memory beside the draft"),
    ],
)
def test_what_a_break_even_refuses(changes, sentence):
    values = {"gamma": 4, "context": 1000, **changes}
    with pytest.raises(ValueError, match=sentence):
        break_even_batch(simple(memory=ROOM), values.pop("gamma"), **values)


def test_served_needs_no_deployment():
    parts = simple().parts(4, 3)
    served = Served(parts=parts, clients=5)
    assert served.waiting == 2
    assert served.tokens_per_s.value == pytest.approx(3 * served.request_tokens_per_s.value)
    assert served.service_s is served.response_s is None


def test_tables_say_what_the_points_say():
    job = {"context": 1000, "prompt_tokens": 500, "output_tokens": 300, "price_per_hour": 3.0}
    points = over_concurrency(simple(memory=ROOM), 4, (10, 100), **job)
    section = load_section(points)
    assert {len(row) for row in section.rows} == {len(section.columns)}
    last = dict(zip(section.columns, section.rows[1], strict=True))
    counts = [last["running_plain"], last["running"], last["batch_lost"]]
    assert counts == [80, 40, 40]
    assert {type(count) for count in counts} == {int}  # "80", not "80.0000"
    assert last["throughput_ratio"] == points[1].throughput_ratio.value
    assert last["response_s"] == points[1].speculative.response_s.value
    assert last["price_per_million_plain"] == points[1].plain.price_per_million.value
    short = load_section(over_concurrency(simple(), 4, (1,), context=0))
    assert len(short.columns) == len(short.rows[0]) == len(section.columns) - 5
    assert set(section.too_wide) <= set(section.columns)

    found = break_even_batch(pair(), 4, context=500)
    (row,) = break_even_section([found]).rows
    assert found.batch is not None
    assert row == (4, 500, found.batch - 1, found.batch, None, found.tried, found.sentence)
    (row,) = break_even_section([break_even_batch(simple(), 1)]).rows
    assert row[2:6] == (4096, None, None, 4096)


def test_a_cache_that_takes_next_to_nothing_is_no_overflow():
    # found by a random context of 1e-308 tokens: free bytes / bytes per request is infinite
    tiny = Memory(capacity_bytes=100e9, target_bytes=1e9, target_kv_bytes=1e-3)
    assert tiny.most_requests(5e-324) == tiny.most_requests(1e-308) == math.inf
    assert tiny.batch_lost(1e-308) == 0.0

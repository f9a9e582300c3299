"""Queueing theory against the simulated server: one slot, zero load, a full server, and the plan's drafts.

Sampled means are compared within Student's t of independent runs at a false alarm of 1e-8 each.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from deployments import pair, simple
from scipy.stats import t as student

import analysis as an
from analysis.deployment.load import under_load
from analysis.pass_cost import PassCost
from analysis.runs.first_passage import expected_rounds, survival_of_constant
from analysis.serving.expected import OneSlot, one_slot, one_slot_of, saturated_plain_rate
from analysis.serving.loads import stable_limits
from analysis.serving.tables import server_of
from simulator.serving import (
    ClosedLoop,
    FixedTokens,
    GeometricTokens,
    LogNormalTokens,
    PoissonArrivals,
    UniformTokens,
    Workload,
    compare_serving,
    replicate,
    simulate_serving,
    stable_limit,
)

FALSE_ALARM = 1e-8
GAMMA, P, PROMPT = 3, 0.7, 40
ANSWERS = {
    "fixed": FixedTokens(tokens=6),
    "geometric": GeometricTokens(mean=6.0, most=200),
    "uniform": UniformTokens(least=1, most=12),
}


def growing(p=P):
    """Rounds that take longer as the request holds more, a prompt that takes time."""
    target = PassCost(weights_s=0.01, compute_s=1e-4, kv_s=4e-5)
    return replace(simple(p), target=target)


def survival(gamma, p=P):
    return survival_of_constant(np.array([p]), gamma)[0]


def slot_of(gamma, output, deployment=None):
    return one_slot_of(
        deployment or growing(), gamma, survival(gamma), output, prompt_tokens=PROMPT
    )


def alone(output, deployment=None):
    """The servers of one request at a time."""
    return server_of(
        deployment or growing(), gamma=GAMMA, most_running=1, most_prompt=PROMPT,
        most_output=output.most,
    )  # fmt: skip


def load(arrivals, output):
    return Workload(arrivals=arrivals, prompt=FixedTokens(tokens=PROMPT), output=output)


def off_by(runs, value, expected):
    """How far the mean of independent runs is from a value, as a share of what chance allows."""
    found = np.array([value(run) for run in runs])
    allowed = student.isf(FALSE_ALARM / 2.0, found.size - 1) * found.std(ddof=1)
    return abs(found.mean() - expected) / (allowed / math.sqrt(found.size))


@pytest.mark.parametrize(
    ("gamma", "name", "busy"),
    [
        (0, "geometric", 0.5),
        (GAMMA, "geometric", 0.3),
        (GAMMA, "geometric", 0.5),
        (0, "fixed", 0.5),
    ],
)
def test_the_wait_for_one_slot_is_pollaczeks_and_khinchines(gamma, name, busy):
    output = ANSWERS[name]
    slot = slot_of(gamma, output)
    rate = busy / slot.service_s
    both = alone(output)
    runs = replicate(
        both.speculative if gamma else both.plain,
        load(PoissonArrivals(rate_per_s=rate), output),
        replications=28, rng=11, requests=900, warm_up=60,
    )  # fmt: skip
    assert off_by(runs, lambda run: run.waiting.mean_s, slot.waiting_s(rate)) < 1.0
    assert off_by(runs, lambda run: run.e2e.mean_s, slot.response_s(rate)) < 1.0
    # answers taken for what they are not: all alike, or as different as exponential times
    factor = 2.0 if name == "fixed" else 1.0
    wrong = replace(slot, service_s2=factor * slot.service_s**2)
    assert off_by(runs, lambda run: run.waiting.mean_s, wrong.waiting_s(rate)) > 1.0


@pytest.mark.parametrize("gamma", [0, GAMMA])
@pytest.mark.parametrize("name", ANSWERS)
def test_one_user_sees_the_service_time(gamma, name):
    output = ANSWERS[name]
    slot = slot_of(gamma, output)
    both = alone(output)
    side = both.speculative if gamma else both.plain
    run = simulate_serving(side, load(ClosedLoop(users=1), output), rng=5, requests=2000)
    spread = math.sqrt(max(slot.service_s2 - slot.service_s**2, 0.0) / 2000)
    assert run.e2e.mean_s == pytest.approx(slot.service_s, abs=6.2 * spread + 1e-6)
    assert run.requests_per_s == pytest.approx(
        slot.limit_per_s, rel=6.2 * spread / slot.service_s + 0.01
    )
    if gamma:
        other = slot_of(1, output).service_s
        assert abs(run.e2e.mean_s - other) > 6.2 * spread  # a wrong gamma is told


def by_enumeration(kept, tokens, prompt_s, round_s):
    """Mean and mean square over all histories of a fixed answer: (probability, time) of each."""
    emits = -np.diff([1.0, *kept, 0.0])

    def histories(done):
        if done >= tokens - 1:
            return [(1.0, 0.0)]
        taken = float(round_s(np.array([PROMPT + 1.0 + done]))[0])
        return [
            (chance * q, taken + time)
            for k, chance in enumerate(emits, start=1)
            for q, time in histories(done + k)
        ]

    found = [(q, prompt_s + time) for q, time in histories(0)]
    return [sum(q * time**power for q, time in found) for power in (0, 1, 2)]


@pytest.mark.parametrize("kept", [(), (0.7,), (0.9, 0.4, 0.4), (1.0, 1.0), (0.0,)])
@pytest.mark.parametrize("tokens", [1, 2, 6])
def test_moments_are_those_of_all_histories(kept, tokens):
    def round_s(held):
        return 0.01 + 0.001 * held

    one, mean, square = by_enumeration(kept, tokens, 0.5, round_s)
    slot = one_slot(
        kept, FixedTokens(tokens=tokens), prompt_tokens=PROMPT, prompt_s=0.5, round_s=round_s
    )
    assert one == pytest.approx(1.0)
    assert (slot.service_s, slot.service_s2) == pytest.approx((mean, square), rel=1e-12)
    assert slot.tokens == tokens


@pytest.mark.parametrize("law", [GeometricTokens(mean=4.0, most=9), UniformTokens(least=2, most=7)])
def test_laws_of_answers_are_mixed_right(law):
    chances = {}
    if isinstance(law, UniformTokens):
        chances = dict.fromkeys(range(2, 8), 1 / 6)
    else:
        chances = {n: 0.25 * 0.75 ** (n - 1) for n in range(1, 9)} | {9: 0.75**8}
    parts = [
        (q, by_enumeration((0.8, 0.5), n, 0.2, lambda held: 0.001 * held))
        for n, q in chances.items()
    ]
    slot = one_slot(
        (0.8, 0.5), law, prompt_tokens=PROMPT, prompt_s=0.2, round_s=lambda held: 0.001 * held
    )
    exact = [sum(q * part[power] for q, part in parts) for power in (1, 2)]
    assert (slot.service_s, slot.service_s2) == pytest.approx(exact, rel=1e-12)
    assert slot.tokens == pytest.approx(sum(n * q for n, q in chances.items()))


def test_rounds_of_equal_time_are_counted_as_first_passages():
    kept = survival(4)
    rounds = expected_rounds(kept[np.newaxis], 200)[0, 200]
    slot = one_slot(
        kept, FixedTokens(tokens=201), prompt_tokens=1, prompt_s=0.0, round_s=np.ones_like
    )
    assert slot.service_s == pytest.approx(rounds, rel=1e-12)


def test_a_long_geometric_answer_needs_no_end():
    slot = one_slot(
        (), GeometricTokens(mean=50.0), prompt_tokens=1, prompt_s=0.0, round_s=np.ones_like
    )
    assert slot.tokens == pytest.approx(50.0, rel=1e-12)
    assert slot.service_s == pytest.approx(49.0, rel=1e-12)
    assert slot.service_s2 - slot.service_s**2 == pytest.approx(50.0 * 49.0, rel=1e-9)


@pytest.mark.parametrize("gamma", [1, 4])
def test_at_zero_load_sure_drafts_gain_what_the_formula_says(gamma):
    """p = 1 and answers that end with a round: nothing is random, nothing thrown away."""
    deployment = simple(1.0)
    answers = FixedTokens(tokens=1 + 6 * (gamma + 1))
    both = server_of(
        deployment, gamma=gamma, most_running=4, most_prompt=PROMPT, most_output=answers.tokens
    )
    point = compare_serving(
        both.speculative, both.plain, load(PoissonArrivals(rate_per_s=1e-4), answers), rng=0,
        requests=5, warm_up=0, replications=2,
    )  # fmt: skip
    formula = an.speedup(p=1.0, gamma=gamma, cost_ratio=0.1)
    assert point.gain_tpot.value == pytest.approx(formula, rel=1e-9)
    assert point.gain_tpot.interval == pytest.approx((formula, formula), rel=1e-6)
    assert point.throughput_ratio.value == pytest.approx(1.0, abs=0.01)  # what arrives is answered


def exact_gain(tokens):
    """Decoding time without / with speculation of an answer alone, exact: its last round overshoots."""
    flat = replace(simple(P), target=PassCost(weights_s=0.01, compute_s=0.0))
    plain, fast = (
        one_slot_of(flat, gamma, survival(gamma), FixedTokens(tokens=tokens), prompt_tokens=PROMPT)
        for gamma in (0, 4)
    )
    reads = [0.01, 0.011]
    return (plain.service_s - reads[0]) / (fast.service_s - reads[1])


def test_at_zero_load_uncertain_drafts_gain_what_the_formula_says_of_long_answers():
    formula = an.speedup(p=P, gamma=4, cost_ratio=0.1)
    gaps = [1.0 - exact_gain(tokens) / formula for tokens in (21, 201, 2001)]
    assert gaps == sorted(gaps, reverse=True)
    assert 0.02 < gaps[0] < 0.1
    assert 0.0 < gaps[2] < 1e-3
    answers = FixedTokens(tokens=11)
    both = server_of(simple(P), gamma=4, most_running=4, most_prompt=PROMPT, most_output=11)
    rare = load(PoissonArrivals(rate_per_s=1e-3), answers)
    runs = [
        replicate(side, rare, replications=20, rng=2, requests=150, warm_up=0)
        for side in (both.speculative, both.plain)
    ]
    pairs = list(zip(*runs, strict=True))

    def gain(pair_of):
        return pair_of[1].tpot.mean_s / pair_of[0].tpot.mean_s

    assert off_by(pairs, gain, exact_gain(11)) < 1.0
    assert off_by(pairs, gain, formula) > 1.0  # which knows of no end


def test_a_full_server_answers_what_its_cycle_says():
    deployment = pair()
    for running in (8, 64):
        both = server_of(
            deployment, gamma=4, most_running=running, most_prompt=300, most_output=100
        )
        work = Workload(
            arrivals=ClosedLoop(users=1),
            prompt=FixedTokens(tokens=300),
            output=FixedTokens(tokens=100),
        )
        exact = saturated_plain_rate(deployment, running, prompt_tokens=300, output_tokens=100)
        fast, slow = stable_limits(both, work, rng=1, requests=1500)
        assert slow.value == pytest.approx(exact, rel=0.005)
        # the usual approximation: one round at the middle context, all in step
        point = under_load(
            deployment, 4, concurrency=running, context=350, prompt_tokens=300, output_tokens=100
        )
        assert point.plain.tokens_per_s.value / 100 == pytest.approx(exact, rel=0.01)
        # which does not know that the last round of an answer overshoots
        assert 0.99 < point.speculative.tokens_per_s.value / 100 / fast.value < 1.02


@pytest.mark.parametrize("batches", [4, 8])
def test_the_limit_does_not_depend_on_where_a_burst_lies(batches):
    """Answers that began together end in bursts; every slot takes its prompt and E[rounds] rounds of all.

    Counted between two moments they give 0.8 to 1.3 % too much, on average over many runs.
    """
    running, tokens, p = 64, 41, 0.7
    flat = replace(simple(p), target=PassCost(weights_s=0.01, compute_s=0.0))
    both = server_of(flat, gamma=4, most_running=running, most_prompt=PROMPT, most_output=tokens)
    server, work = both.speculative, load(ClosedLoop(users=running + 1), FixedTokens(tokens=tokens))
    rounds = expected_rounds(survival(4, p)[np.newaxis], tokens - 1)[0, tokens - 1]
    exact = running / (running * 0.011 + rounds * flat.round_s(4, running, PROMPT))
    found = stable_limit(server, work, rng=3, requests=batches * running, replications=8)
    assert found.value == pytest.approx(exact, rel=0.004)
    counted = [
        run.requests_per_s
        for run in replicate(server, work, replications=8, rng=3, requests=batches * running)
    ]
    assert np.mean(counted) > 1.006 * exact


def test_the_limit_does_not_depend_on_which_answers_a_run_drew():
    """Of geometric answers a run's mean is off by a few percent, and the rate with it; not the limit."""
    answers = GeometricTokens(mean=20.0, most=400)
    flat = replace(simple(P), target=PassCost(weights_s=0.01, compute_s=0.0))
    both = server_of(flat, gamma=2, most_running=1, most_prompt=PROMPT, most_output=answers.most)
    exact = 1.0 / (0.01 + 0.01 * 19.0)
    found = stable_limit(both.plain, load(ClosedLoop(users=2), answers), rng=1, requests=300)
    assert found.value == pytest.approx(exact, rel=0.005)
    rates = [
        run.requests_per_s
        for run in replicate(
            both.plain, load(ClosedLoop(users=2), answers), rng=1, requests=300, replications=4
        )
    ]
    assert np.std(rates) > 4.0 * found.se


def test_the_plans_draft_is_not_slower_than_none():
    """At a few batches, as closed loops of as many users; a long draft at the largest is slower."""
    deployment = pair(0.7)
    prompt, answer = 16, 300
    held = prompt + answer // 2
    batches = (1, 16, 128)
    made = an.plan(deployment, batches, context=held)
    lengths = [row.gamma for row in made.rows]
    assert lengths[0] > lengths[-1]

    def gain(gamma, users):
        both = server_of(
            deployment, gamma=gamma, most_running=users, most_prompt=prompt, most_output=answer
        )
        point = compare_serving(
            both.speculative, both.plain,
            Workload(
                arrivals=ClosedLoop(users=users), prompt=FixedTokens(tokens=prompt),
                output=FixedTokens(tokens=answer),
            ),
            rng=3, requests=max(30, 2 * users), warm_up=users, replications=4,
        )  # fmt: skip
        return point.gain_e2e

    for users, gamma in zip(batches, lengths, strict=True):
        if gamma:
            assert gain(gamma, users).interval[1] >= 1.0
    assert gain(16, batches[-1]).interval[1] < 1.0


def test_what_is_refused():
    slot = OneSlot(service_s=2.0, service_s2=5.0, tokens=3.0)
    for rate in (0.5, 0.6):
        with pytest.raises(ValueError, match=r"rate_per_s must be below 0\.5"):
            slot.waiting_s(rate)
    for kept in ((0.5, 0.6), (-0.1,), (1.1,), ((0.5,),), (math.nan,)):
        with pytest.raises(ValueError, match="survival must fall"):
            one_slot(kept, ANSWERS["fixed"], prompt_tokens=1, prompt_s=0.0, round_s=np.ones_like)
    with pytest.raises(ValueError, match="output must be"):
        one_slot(
            (),
            LogNormalTokens(mean=9, spread=1),
            prompt_tokens=1,
            prompt_s=0.0,
            round_s=np.ones_like,
        )
    with pytest.raises(ValueError, match="survival must have 2 entries"):
        one_slot_of(growing(), 2, survival(3), ANSWERS["fixed"], prompt_tokens=1)

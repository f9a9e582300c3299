"""Tables of a deployment's times: every look-up against the deployment itself, and what it is served with."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from deployments import MACHINE, TARGET, accepted, mixture, pair, short_cache, simple

from analysis.deployment.building import DraftKind, deploy
from analysis.deployment.prefill import prefill_s
from analysis.fitting import Fit
from analysis.planning.schedule import Schedule
from analysis.serving.acceptance import served_strategy
from analysis.serving.marks import refined
from analysis.serving.tables import fastest_gamma, server_of, serving_times
from simulator import (
    AcceptanceByDepth,
    BetaMixture,
    ConstantAcceptance,
    Estimate,
    HitMiss,
)
from simulator.serving import ClosedLoop, FixedTokens, PassTable, Workload, simulate_serving
from simulator.serving.round_times import RoundTimes

WITHIN = 0.005
GAMMA = 4
RUNNING, PROMPT, OUTPUT = 300, 3000, 1000


def roofline(deployment):
    """Reading and computing at once: the time bends where one overtakes the other."""
    step = deployment.drafting.step
    drafting = deployment.drafting
    if step is not None:
        drafting = replace(drafting, step=replace(step, overlap=math.inf))
    target = replace(deployment.target, overlap=math.inf)
    return replace(deployment, target=target, drafting=drafting)


def looked_up(coverage):
    law = HitMiss(coverage=coverage, right=1.0, p_right=0.7, p_wrong=0.7)
    return deploy(TARGET, MACHINE, DraftKind(kind="lookup"), Fit.of_process(law))


DEPLOYMENTS = {
    "pair": pair(),
    "pair at once": roofline(pair()),
    "beside": replace(pair(), draft_overlap=0.5, overhead_s=0.001),
    "short cache": short_cache(budget=512),
    "short cache at once": roofline(short_cache(budget=700)),
    "experts": mixture(),
    "experts at once": roofline(mixture()),
    "block": deploy(TARGET, MACHINE, DraftKind(kind="block"), accepted(0.7)),
    "two kernels": replace(pair(), target=replace(pair().target, several_s=0.003)),
}


def served(deployment, **options):
    given = {"gamma": GAMMA, "most_running": RUNNING, "most_prompt": PROMPT, "most_output": OUTPUT}
    # memory is another question
    return server_of(replace(deployment, memory=None), **(given | options))


def worst(times, deployment, *, gamma, points=2000):
    """The largest miss of a round over random batches and contexts."""
    generator = np.random.default_rng(7)
    batches = np.exp(generator.uniform(0.0, math.log(RUNNING + 0.99), points)).astype(int)
    contexts = generator.uniform(0.0, PROMPT + OUTPUT, points)
    exact = deployment.round_s([gamma], batches[:, None], contexts[:, None])[:, 0]
    found = [
        times.round_s(int(b), int(b) if gamma else 0, float(c))
        for b, c in zip(batches, contexts, strict=True)
    ]
    return float(np.abs(np.asarray(found) / exact - 1.0).max())


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_rounds_are_the_deployments(name):
    deployment = DEPLOYMENTS[name]
    both = served(deployment)
    assert worst(RoundTimes(both.speculative), deployment, gamma=GAMMA) < WITHIN
    assert worst(RoundTimes(both.plain), deployment, gamma=0) < WITHIN


def test_two_marks_of_the_context_would_not_do():
    deployment = DEPLOYMENTS["pair at once"]
    server = served(deployment).plain
    passes = server.times.passes
    ends = [0, np.size(passes.contexts) - 1]
    coarse = PassTable(
        requests=passes.requests,
        tokens=passes.tokens,
        contexts=np.asarray(passes.contexts)[ends],
        seconds=np.asarray(passes.seconds)[:, :, ends],
    )
    drafting = np.asarray(server.times.drafting_s)[:, :, ends]
    times = replace(server.times, passes=coarse, drafting_s=drafting)
    assert worst(RoundTimes(replace(server, times=times)), deployment, gamma=0) > 2 * WITHIN


@pytest.mark.parametrize("at_once", [False, True])
def test_passes_in_which_only_some_have_a_draft(at_once):
    deployment = looked_up(0.3)
    deployment = roofline(deployment) if at_once else deployment
    times = RoundTimes(served(deployment).speculative)
    generator = np.random.default_rng(3)
    for _ in range(400):
        batch = int(generator.integers(1, RUNNING + 1))
        drafted = int(generator.integers(0, batch + 1))
        context = float(generator.uniform(0, PROMPT + OUTPUT))
        exact = deployment.target.seconds(batch, 1.0 + GAMMA * drafted / batch, context)
        assert times.round_s(batch, drafted, context) == pytest.approx(exact, rel=WITHIN)


def test_a_pass_over_one_token_keeps_its_kernel_where_drafts_are_missing():
    target = replace(looked_up(0.3).target, several_s=0.003)
    deployment = replace(looked_up(0.3), target=target)
    times = RoundTimes(served(deployment).speculative)
    for drafted, width in ((0, 1.0), (1, 1.0 + GAMMA / 40), (40, 1.0 + GAMMA)):
        exact = target.seconds(40, width, 900.0)
        assert times.round_s(40, drafted, 900.0) == pytest.approx(exact, rel=WITHIN)


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_prompts_are_the_deployments(name):
    deployment = DEPLOYMENTS[name]
    prompts = served(deployment).speculative.times.prompts
    tokens = np.unique(np.random.default_rng(1).integers(1, PROMPT + 1, 300))
    target = np.array([prefill_s(deployment.target, int(n)) for n in tokens])
    draft = np.array([deployment.drafting.prefill_s(int(n)) for n in tokens])
    np.testing.assert_allclose(prompts.read_s(tokens, drafting=False), target, rtol=WITHIN)
    np.testing.assert_allclose(prompts.read_s(tokens, drafting=True), target + draft, rtol=WITHIN)


@pytest.mark.parametrize("name", ["pair", "pair at once", "experts at once"])
def test_a_prompt_alone_in_a_wide_pass_is_a_prompt(name):
    deployment = DEPLOYMENTS[name]
    server = served(deployment, token_budget=2048).plain
    times = RoundTimes(server)
    for tokens in (2, 17, 300, 1025, 2048):
        exact = prefill_s(deployment.target, tokens)
        assert times.mixed_s(1, tokens, 0.0, 0) == pytest.approx(exact, rel=2 * WITHIN)


def test_decoding_beside_a_prompt_has_the_logits_of_those_who_decode():
    deployment = pair()
    server = served(deployment, token_budget=2048).plain
    requests, tokens, context = 17, 16 + 1000, 800.0
    cost = replace(deployment.target, output_compute_s=0.0)
    body = float(cost.seconds(requests, tokens / requests, context + (tokens / requests + 1) / 2))
    exact = body + requests * deployment.target.output_compute_s
    assert RoundTimes(server).mixed_s(requests, tokens, context, 16) == pytest.approx(
        exact, rel=2 * WITHIN
    )


def test_batches_that_fit_the_memory():
    deployment = pair()
    both = server_of(
        deployment,
        gamma=2,
        most_running=None,
        most_prompt=8000,
        most_output=2000,
        mean_context=6000.0,
    )
    fits = [deployment.most_requests(6000.0, drafting=on) for on in (True, False)]
    assert [both.speculative.most_running, both.plain.most_running] == fits
    assert fits[0] < fits[1] < 256
    assert any(f"{fits[0]:,.0f} requests" in note for note in both.notes)
    few = server_of(deployment, gamma=2, most_running=5, most_prompt=8000, most_output=2000)
    assert (few.speculative.most_running, few.plain.most_running) == (5, 5)
    with pytest.raises(ValueError, match="must fit the memory"):
        server_of(deployment, gamma=2, most_running=5, most_prompt=900_000, most_output=2000)


def test_a_schedule_is_served_batch_by_batch():
    both = served(simple(), gamma=Schedule.read("1-3:5, 4-9:2, 10-:0"), most_running=12)
    assert both.speculative.lengths.tolist() == [0, 5, 5, 5, 2, 2, 2, 2, 2, 2, 0, 0, 0]
    with pytest.raises(ValueError, match="batch must be at most 9"):
        served(simple(), gamma=Schedule.read("1-3:5, 4-9:2"), most_running=12)
    with pytest.raises(ValueError, match="gamma must be above 0"):
        served(simple(), gamma=0)


def test_without_a_length_it_is_the_fastest_alone():
    deployment = simple(0.8, cost_ratio=0.05)
    speedups = [deployment.parts(g).speedup.value for g in range(1, 17)]
    assert fastest_gamma(deployment, 1, 0.0) == 1 + int(np.argmax(speedups))
    assert served(deployment, gamma=None).speculative.most_gamma == 1 + int(np.argmax(speedups))


def test_drafts_that_are_not_found_are_drawn_not_averaged():
    """The share without a draft and tokens per round, each within a bound of false alarm 1e-8."""
    deployment = looked_up(0.3)
    server = served(deployment, most_running=8).speculative
    load = Workload(
        arrivals=ClosedLoop(users=8), prompt=FixedTokens(tokens=50), output=FixedTokens(tokens=400)
    )
    run = simulate_serving(server, load, rng=4, requests=200, warm_up=16)
    rounds = run.counters.rounds
    bound = math.sqrt(math.log(2.0 / 1e-8) / (2.0 * rounds))  # Hoeffding
    assert abs(run.counters.undrafted / rounds - 0.7) < bound
    exact = deployment.acceptance.tokens_per_round(GAMMA).value
    assert abs(run.tokens_per_round - exact) < GAMMA * bound
    assert abs(run.counters.undrafted / rounds - 0.7**2) > bound  # the expectation twice


def test_the_strategy_of_a_fit():
    strategy, notes = served_strategy(simple(0.7), 3)
    assert strategy.acceptance == ConstantAcceptance(p=0.7)
    assert (strategy.draft.gamma, strategy.steps, notes) == (3, "sequential", ())
    assert served_strategy(mixture(), 3)[0].steps == "none"
    deep = replace(simple(), acceptance=Fit.of_process(AcceptanceByDepth(by_depth=(0.8, 0.5))))
    assert served_strategy(deep, 1)[0].conditional_acceptance == (0.8,)
    with pytest.raises(ValueError, match="gamma must be at most 2"):
        served_strategy(deep, 3)


def test_rounds_without_a_draft_in_a_fit():
    share = Estimate(value=0.9)
    one = replace(accepted(0.7), coverage=share)
    strategy, _ = served_strategy(replace(simple(), acceptance=one), 3)
    assert strategy.acceptance == HitMiss(coverage=0.9, right=1.0, p_right=0.7, p_wrong=0.7)
    depths = replace(Fit.of_process(AcceptanceByDepth(by_depth=(0.8, 0.5))), coverage=share)
    strategy, notes = served_strategy(replace(simple(), acceptance=depths), 2)
    assert strategy.conditional_acceptance == (pytest.approx(0.72), 0.5)
    assert "10.0% of its rounds had no draft" in notes[0]
    mixed = replace(Fit.of_process(BetaMixture(p=0.7, concentration=5.0)), coverage=share)
    with pytest.raises(ValueError, match=r"10\.0% of the rounds had no draft"):
        served_strategy(replace(simple(), acceptance=mixed), 2)


@pytest.mark.parametrize(
    ("fit", "said"),
    [
        (Fit(name="none", refusal="The drafts are trees."), "The drafts are trees."),
        (Fit(name="nothing"), "nothing is known of how often"),
    ],
)
def test_what_has_no_process_is_refused(fit, said):
    with pytest.raises(ValueError, match=said):
        served_strategy(replace(simple(), acceptance=fit), 2)


def test_of_a_range_its_middle_is_served():
    middle = Estimate(value=0.79, interval=(0.788, 0.795))
    one = Fit(name="constant p", parameters={"p": middle}, how="range")
    strategy, notes = served_strategy(replace(simple(), acceptance=one), 3)
    assert strategy.acceptance == ConstantAcceptance(p=0.79)
    assert "0.788 to 0.795; its middle is served" in notes[0]
    assert "the error of the fit is not in the intervals" in notes[1]
    deep = {"by_depth[0]": Estimate(value=0.8), "by_depth[1]": Estimate(value=0.6)}
    each = Fit(name="by depth, as a range", parameters=deep, how="range")
    strategy, _ = served_strategy(replace(simple(), acceptance=each), 2)
    assert strategy.acceptance == AcceptanceByDepth(by_depth=(0.8, 0.6))


def test_a_replay_says_that_the_process_is_served():
    replayed = replace(accepted(0.7), name="constant p", replayed=4)
    _, notes = served_strategy(replace(simple(), acceptance=replayed), 2)
    assert "follow the fitted process, constant p" in notes[0]


def test_marks_stop_where_nothing_is_missed():
    assert refined(lambda x: 1.0 + x, [0.0, 8.0], miss=1e-9).tolist() == [0.0, 8.0]
    bent = refined(lambda x: np.maximum(x, 3.0), [0.0, 8.0], miss=1e-3)
    points = np.linspace(0.0, 8.0, 999)
    line = np.interp(points, bent, np.maximum(bent, 3.0))
    assert np.abs(line / np.maximum(points, 3.0) - 1.0).max() < 2e-3


@pytest.mark.parametrize(
    ("name", "value"),
    [("most_running", 0), ("most_gamma", -1), ("most_context", 0), ("most_prompt", 0), ("token_budget", 0)],
)  # fmt: skip
def test_sizes_out_of_range_are_refused(name, value):
    sizes = {"most_running": 2, "most_gamma": 2, "most_context": 9, "most_prompt": 4}
    with pytest.raises(ValueError, match=name):
        serving_times(simple(), **(sizes | {name: value}))

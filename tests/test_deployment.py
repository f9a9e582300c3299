"""What a round takes: the article's formula in its limit, one net figure everywhere, batch and context."""

from __future__ import annotations

import math

import numpy as np
import pytest
from deployments import MACHINE, TARGET, accepted, mixture, pair, short_cache, simple
from hypothesis import given
from hypothesis import strategies as st

import analysis as an
from analysis.deployment.building import DraftKind, deploy
from analysis.deployment.deployment import Deployment
from analysis.deployment.drafting import Drafting
from analysis.deployment.grid import batches_up_to, speedups
from analysis.deployment.load import under_load
from analysis.pass_cost import PassCost

seconds = st.floats(0.0, 0.1)


@st.composite
def passes(draw):
    return PassCost(
        weights_s=draw(st.floats(1e-4, 0.1)),
        compute_s=draw(st.floats(0.0, 1e-3)),
        kv_s=draw(st.floats(0.0, 1e-7)),
        attention_s=draw(st.floats(0.0, 1e-8)),
        fixed_s=draw(st.floats(0.0, 1e-2)),
        overlap=draw(st.sampled_from([1.0, 2.0, math.inf])),
    )


@st.composite
def any_deployment(draw):
    shape = draw(st.sampled_from(["chain", "block", "lookup"]))
    step = None if shape == "lookup" else draw(passes())
    return Deployment(
        name="any",
        target=draw(passes()),
        drafting=Drafting(shape=shape, step=step, round_s=draw(seconds)),
        acceptance=accepted(draw(st.floats(0.0, 1.0))),
        overhead_s=draw(seconds),
        draft_overlap=draw(st.floats(0.0, 1.0)),
    )


@pytest.mark.parametrize("p", [0.0, 0.3, 0.7, 0.95, 1.0])
@pytest.mark.parametrize("cost_ratio", [0.01, 0.1, 1.0])
def test_without_arithmetic_it_is_the_articles_formula(p, cost_ratio):
    for gamma in (0, 1, 4, 16):
        expected = float(an.speedup(p, gamma, cost_ratio))
        for batch in (1, 32):  # where passes are free of arithmetic, batch changes nothing
            found = simple(p, cost_ratio=cost_ratio).parts(gamma, batch).speedup.value
            assert found == pytest.approx(expected, rel=1e-13)


def test_arithmetic_is_what_the_article_leaves_out():
    found = simple(0.7, compute_s=0.004).parts(4).speedup.value  # 5 · 4 ms > 10 ms
    assert found == pytest.approx(float(an.speedup(0.7, 4, 0.1, verify_cost=2.0)), rel=1e-13)


@given(any_deployment(), st.integers(0, 12), st.integers(1, 300), st.integers(0, 50_000))
def test_one_net_figure(deployment, gamma, batch, context):
    parts = deployment.parts(gamma, batch, context)
    costs = deployment.round_costs(16, batch, context)
    tokens = deployment.acceptance.tokens_per_round(gamma).value if gamma else 1.0
    net = pytest.approx(parts.speedup.value, rel=1e-12)

    assert parts.round_s == pytest.approx(
        float(deployment.round_s(gamma, batch, context)), rel=1e-12
    )
    assert costs.cost(gamma) == pytest.approx(parts.round_cost, rel=1e-12)
    assert tokens / costs.cost(gamma) == net
    assert deployment.acceptance.speedup(gamma, costs).value == net
    assert speedups(deployment, [gamma], [batch], context)[0, 0] == net
    point = under_load(deployment, gamma, concurrency=batch, context=context)
    assert point.latency_speedup.value == net
    assert point.throughput_ratio.value == net


@given(any_deployment(), st.integers(1, 300), st.integers(0, 50_000))
def test_the_best_length_has_the_same_net_figure(deployment, batch, context):
    gammas = range(9)
    best = deployment.acceptance.best_gamma(deployment.round_costs(8, batch, context), gammas)
    nets = [deployment.parts(gamma, batch, context).speedup.value for gamma in gammas]

    assert best.speedup.value == pytest.approx(max(nets), rel=1e-12)
    assert nets[best.gamma] == pytest.approx(max(nets), rel=1e-12)


def test_rounds_broadcast_over_batch_and_context():
    deployment = pair()
    found = deployment.round_s([0, 3], np.array([[1.0], [20.0]]), np.array([[[0.0]], [[900.0]]]))
    assert found.shape == (2, 2, 2)
    assert found[1, 1, 1] == pytest.approx(deployment.parts(3, 20, 900).round_s, rel=1e-12)


@given(any_deployment(), st.integers(1, 12), st.integers(1, 300))
def test_overlap_ends_at_the_sum_and_at_the_longer_of_the_two(deployment, gamma, batch):
    alone, beside = (
        Deployment(
            name="any", target=deployment.target, drafting=deployment.drafting,
            acceptance=deployment.acceptance, draft_overlap=overlap,
        ).parts(gamma, batch)
        for overlap in (0.0, 1.0)
    )  # fmt: skip
    verify = alone.plain_s + alone.wider_s

    assert alone.round_s == pytest.approx(alone.drafting_s + verify, rel=1e-12)
    assert beside.round_s == pytest.approx(max(alone.drafting_s, verify), rel=1e-12)


@pytest.mark.parametrize("p", [0.0, 0.2, 0.5, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("cost_ratio", [0.05, 0.1, 0.2, 0.25])
def test_dsi_lies_between_no_overlap_and_all(p, cost_ratio):
    # Timor et al. 2024 count per burst: a draft step for every token, one target pass when a token is
    # refused, and never more than plain decoding takes. With ceil(1 / (gamma c)) = 1 target server
    # gamma = 1 / c, which is what a round here has too.
    gamma = round(1 / cost_ratio)
    kept = np.arange(5000.0)
    chance = (1 - p) * p**kept
    for refused in (0.0, cost_ratio):  # whether the refused token's own drafting counts
        time = float(chance @ np.minimum(kept * cost_ratio + refused + 1.0, kept + 1.0))
        per_token = time / float(chance @ (kept + 1.0))
        none, all_ = (
            1.0 / simple(p, cost_ratio=cost_ratio, draft_overlap=overlap).parts(gamma).speedup.value
            for overlap in (0.0, 1.0)
        )
        assert all_ - 1e-9 <= per_token <= none


def test_at_short_context_the_gain_falls_with_batch():
    found = speedups(pair(), [1, 2, 4, 8], batches_up_to(600), 500)
    assert (np.diff(found, axis=0) < 0.0).all()
    assert (found[0] > 1.0).all()
    assert (found[-1][2:] < 1.0).all()


def test_at_long_context_the_gain_rises_with_batch_if_the_draft_reads_little_of_it():
    own = short_cache()
    rising = speedups(own, [2, 4], batches_up_to(13), 32_000)
    assert (np.diff(rising, axis=0) > 0.0).all()
    assert rising[0, 1] < 1.0 < rising[-1, 1]
    falling = speedups(own, [2, 4], batches_up_to(400), 300)  # the same draft at short context
    assert (np.diff(falling, axis=0) < 0.0).all()


def test_the_gain_rises_with_context_where_the_cache_is_read_once_for_all_tokens():
    own = short_cache()
    over = [own.parts(4, 8, context).speedup.value for context in (512, 2000, 8000, 32_000)]
    assert over == sorted(over)
    shared = own.target.verify_cost(5, 64, [0, 1000, 4000, 16_000])
    assert (np.diff(shared) < 0.0).all()  # V tends to 1: reading prevails again (MagicDec)


def test_experts_make_the_gain_rise_first_and_fall_later():
    found = speedups(mixture(), [4], (1, 16, 512), 300)[:, 0]
    assert found[0] < found[1]
    assert found[2] < found[1]


def test_a_block_takes_one_step_and_a_lookup_none():
    step = PassCost(weights_s=0.001, compute_s=1e-5)
    assert Drafting(shape="chain", step=step).seconds([0, 1, 5]) == pytest.approx([0, 0.001, 0.005])
    assert Drafting(shape="block", step=step).seconds(500) == pytest.approx(500 * 1e-5)
    assert Drafting(shape="lookup", round_s=2e-4).seconds([0, 1, 9]) == pytest.approx(
        [0, 2e-4, 2e-4]
    )
    assert [Drafting(shape="chain", step=step).steps(n) for n in (0, 3)] == [0, 3]
    assert [Drafting(shape="block", step=step).steps(n) for n in (0, 3)] == [0, 1]


def test_a_round_without_a_draft_is_a_plain_step():
    parts = simple(overhead_s=0.5).parts(0, 7)
    assert (parts.round_cost, parts.speedup.value, parts.overhead_s) == (1.0, 1.0, 0.0)
    assert parts.tokens_per_s.value == parts.plain_tokens_per_s == 700.0
    assert simple(overhead_s=0.5).round_costs(3).cost(0) == 1.0


def test_batches_that_do_not_fit_are_refused():
    most = pair().most_requests(4000)
    with pytest.raises(
        ValueError, match=f"batch must be at most {most:.0f} for 8B, draft_model.*beside the draft"
    ):
        pair().parts(4, most + 1, 4000)
    assert pair().parts(4, most, 4000).batch == most
    plainly = pair().most_requests(4000, drafting=False)
    assert pair().parts(0, plainly, 4000).round_cost == 1.0
    with pytest.raises(ValueError, match=r"no more requests of 4,000 tokens fit the memory; got"):
        pair().parts(0, plainly + 1, 4000)
    with pytest.raises(ValueError, match=r"a request of 900,000 tokens must fit the memory beside"):
        pair().parts(1, 1, 900_000)
    with pytest.raises(ValueError, match=r"batch must be at least 1; got 0"):
        simple().parts(1, 0)
    assert np.isnan(speedups(pair(), [4], [int(most) + 1], 4000)).all()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: simple(draft_overlap=1.5), r"draft_overlap must be a number in \[0, 1\]"),
        (lambda: simple(overhead_s=-1), "overhead_s must be a finite number of at least 0"),
        (lambda: simple().parts(-1), "gamma must be a whole number of at least 0; got -1"),
        (lambda: Drafting(shape="tree"), "shape must be one of chain, block, lookup; got 'tree'"),
        (lambda: Drafting(shape="chain"), "step must be given for a chain and a block"),
        (lambda: DraftKind(kind="medium"), "kind must be one of model, head, block, lookup, self"),
        (lambda: DraftKind(kind="model"), "model must be given for the kind 'model'"),
        (lambda: DraftKind(kind="lookup", model=TARGET), "and for no other"),
        (lambda: DraftKind(kind="self"), "kv_budget must be given for the kind 'self'"),
    ],
)
def test_what_is_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_deploying_says_how_each_kind_drafts():
    kinds = {
        "head": ("chain", "eagle", True),
        "block": ("block", "block", True),
        "lookup": ("lookup", "ngram", True),
    }
    for kind, (shape, method, reads) in kinds.items():
        found = deploy(TARGET, MACHINE, DraftKind(kind=kind), accepted(0.7))
        assert (found.drafting.shape, found.method) == (shape, method)
        assert found.drafting.reads_prompt is reads
    own = short_cache(budget=300)
    assert (own.drafting.step.kv_budget, own.drafting.reads_prompt) == (300, False)
    assert own.drafting.step.weights_s == own.target.weights_s
    half = deploy(TARGET, MACHINE, DraftKind(kind="head", weight_bits=8), accepted(0.7))
    whole = deploy(TARGET, MACHINE, DraftKind(kind="head"), accepted(0.7))
    assert half.drafting.step.weights_s == pytest.approx(whole.drafting.step.weights_s / 2)

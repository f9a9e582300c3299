"""The plan: equal to the article's formula, to brute force, and to the parts of a round."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plans import FAST, KINDS, SMALL, STEP, assumed, lookup, pair, real

import analysis as an
from analysis.deployment.building import DraftKind
from analysis.deployment.deployment import Deployment
from analysis.deployment.drafting import Drafting
from analysis.deployment.load import under_load
from analysis.pass_cost import PassCost
from simulator import AcceptanceByDepth

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@pytest.mark.parametrize("overhead", [0.0, 0.3])
def test_one_request_and_free_verification_is_the_articles_formula(overhead):
    """On a grid with exact ties: p = c gains nothing with one token, and nothing is not drafted."""
    target, drafts = PassCost(weights_s=1.0, compute_s=0.0), 0
    for k in range(21):
        p = k / 20
        for c in (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5):
            step = PassCost(weights_s=c, compute_s=0.0) if c else None
            drafting = Drafting(shape="chain" if c else "lookup", step=step)
            deployment = Deployment(
                name="d", target=target, drafting=drafting, acceptance=assumed(p),
                overhead_s=overhead,
            )  # fmt: skip
            row = an.plan(deployment, (1,)).rows[0]
            best = an.best_gamma(p, c, max_gamma=16, overhead=overhead)
            assert row.speedup.value == pytest.approx(best.speedup, rel=1e-12)
            if c == 0.0 and p < 0.15:  # further tokens gain less than 1e-14: floats are equal there
                assert row.gamma <= best.gamma
                continue
            assert (row.gamma, row.chosen.flat) == (best.gamma, best.flat), (p, c)
            drafts += row.gamma > 0
    assert drafts > 40


@pytest.mark.parametrize("kind", KINDS)
def test_the_plan_the_parts_and_the_load_have_one_net_figure(kind):
    deployment = real(kind)
    for row in an.plan(deployment, (1, 7, 64, 100), context=1500).rows:
        parts = deployment.parts(row.gamma, row.batch, 1500)
        served = under_load(deployment, row.gamma, concurrency=row.batch, context=1500)
        assert row.gamma > 0
        assert row.speedup.value == pytest.approx(parts.speedup.value, rel=1e-12)
        assert row.speedup.value == pytest.approx(served.latency_speedup.value, rel=1e-12)
        assert row.speedup.value == pytest.approx(served.throughput_ratio.value, rel=1e-12)
        assert row.chosen.round_s == pytest.approx(parts.round_s, rel=1e-12)
        assert row.chosen.round_cost == pytest.approx(parts.round_cost, rel=1e-12)
        assert row.chosen.tokens_per_s.value == pytest.approx(parts.tokens_per_s.value, rel=1e-12)
        assert row.chosen.plain_tokens_per_s == pytest.approx(parts.plain_tokens_per_s, rel=1e-12)
        costs = deployment.round_costs(16, row.batch, 1500)
        assert deployment.acceptance.best_gamma(costs).gamma == row.gamma


times = st.floats(1e-5, 1e-1)
steps = st.builds(
    PassCost, weights_s=times, compute_s=times, kv_s=st.floats(0.0, 1e-4),
    overlap=st.sampled_from((1.0, 2.0, math.inf)), fixed_s=st.floats(0.0, 1e-3),
)  # fmt: skip
draftings = st.builds(Drafting, shape=st.sampled_from(("chain", "block")), step=steps) | st.builds(
    Drafting, shape=st.just("lookup"), round_s=st.floats(0.0, 1e-3)
)


@settings(max_examples=40, deadline=None)
@given(
    steps, st.lists(st.tuples(draftings, st.floats(0.0, 1.0), st.floats(0.0, 1.0)), min_size=1,
    max_size=3), st.floats(0.0, 1e-2), st.floats(0.0, 4000.0),
)  # fmt: skip
def test_brute_force_over_strategies_and_lengths(target, drafts, overhead, context):
    deployments = [
        Deployment(
            name=str(i), target=target, drafting=drafting, acceptance=assumed(p),
            overhead_s=overhead, draft_overlap=overlap, memory=SMALL if i == 1 else None,
        )
        for i, (drafting, p, overlap) in enumerate(drafts)
    ]  # fmt: skip
    batches = (1, 3, 40)
    context = min(context, 900.0 / 40) if len(drafts) > 1 else context
    found = an.plan(deployments, batches, context=context, gammas=range(7))
    for row in found.rows:
        values = {}
        for each, choice in zip(deployments, row.choices, strict=True):
            alone = {0: 1.0}
            if row.batch <= each.most_requests(context):
                for gamma in range(1, 7):
                    alone[gamma] = each.parts(gamma, row.batch, context).speedup.value
            top = max(alone.values())
            assert choice.speedup.value == pytest.approx(top, rel=1e-12)
            assert alone[choice.gamma] >= top * (1.0 - 2e-14)
            shorter = [alone[gamma] for gamma in alone if gamma < choice.gamma]
            assert max(shorter, default=0.0) < alone[choice.gamma] * (1.0 - 5e-15)
            assert set(choice.flat) >= {g for g in alone if alone[g] > 0.99 * top * (1 + 1e-9)}
            assert set(choice.flat) <= {g for g in alone if alone[g] > 0.99 * top * (1 - 1e-9)}
            shown = dict(zip(found.gammas, choice.speedups, strict=True))
            assert {g for g, s in shown.items() if s is not None} == set(alone)
            for gamma, value in alone.items():
                assert shown[gamma].value == pytest.approx(value, rel=1e-12)
            values[each.name] = top
        assert row.speedup.value == pytest.approx(max(values.values()), rel=1e-12)
        assert row.use == "off" if row.gamma == 0 else values[row.use] >= row.speedup.value * 0.999


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", [0.3, 0.6, 0.9])
def test_at_short_context_longer_batches_want_shorter_drafts(kind, p):
    lengths = [row.gamma for row in an.plan(real(kind, p), BATCHES, context=64).rows]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] > lengths[-1]


def test_at_long_context_a_short_cache_wants_longer_drafts_as_the_batch_grows():
    """Reading caches is what costs then, of which the draft reads little (MagicDec, Chen et al. 2024)."""
    short = DraftKind(kind="self", kv_budget=512)
    deployment = real("self", 0.85, devices=8, draft=short)
    rows = an.plan(deployment, (1, 4, 16, 32, 64), context=32_000).rows
    lengths, gains = [row.gamma for row in rows], [row.speedup.value for row in rows]
    assert lengths == sorted(lengths)
    assert gains == sorted(gains)
    assert lengths[-1] > lengths[0]
    at_short = an.plan(deployment, (1, 4, 16, 32, 64), context=256).rows
    assert [row.gamma for row in at_short] == [0] * 5


def test_off_where_nothing_pays():
    dear = pair(0.5, step=PassCost(weights_s=0.02, compute_s=0.0))
    found = an.plan((dear, lookup(0.0)), BATCHES)
    assert {(row.use, row.gamma, row.speedup.value) for row in found.rows} == {("off", 0, 1.0)}
    assert found.sentence == "Do not speculate: no draft gains at any planned batch."
    assert found.schedule().text == "1-:0"


def test_the_plan_changes_its_strategy_where_another_is_better():
    cheap, good = lookup(0.4), pair(0.9, step=PassCost(weights_s=0.001, compute_s=0.00008))
    found = an.plan((cheap, good), BATCHES)
    used = [row.use for row in found.rows]
    assert used[0] == "pair"
    assert "lookup" in used
    for row, lost in zip(found.rows, found.lost(found.best_single), strict=True):
        own = next(c for c in row.choices if c.strategy == found.best_single)
        assert lost == pytest.approx(1.0 - own.speedup.value / row.speedup.value, abs=1e-15)
        assert (lost == 0.0) == (row.use in {found.best_single, "off"})
    assert found.of("lookup") == tuple(row.choices[0] for row in found.rows)
    assert len(found.table) == len(BATCHES) * 2 * 17
    worth = {
        name: math.prod(choice.speedup.value for choice in found.of(name))
        for name in found.strategies
    }
    assert worth[found.best_single] == max(worth.values()) > min(worth.values())


def test_equal_strategies_are_even_and_the_first_is_taken():
    found = an.plan((pair(name="a"), pair(name="b"), pair(0.3, name="c")), (1, 200))
    assert (found.rows[0].use, found.rows[0].even) == ("a", ("b",))
    assert (found.rows[1].use, found.rows[1].even) == ("off", ())


def test_short_takes_the_shortest_of_the_flat_region_and_off_counts():
    target = PassCost(weights_s=1.0, compute_s=0.0)
    flat = pair(0.8, target=target, step=PassCost(weights_s=0.01, compute_s=0.0))
    by_gain, short = (an.plan(flat, (1,), prefer=way).rows[0] for way in ("gain", "short"))
    assert short.gamma == by_gain.chosen.flat[0] < by_gain.gamma
    assert short.speedup.value >= 0.99 * by_gain.speedup.value
    assert short.chosen.flat == by_gain.chosen.flat
    nearly = pair(0.104, target=target, step=PassCost(weights_s=0.1, compute_s=0.0))
    assert an.plan(nearly, (1,)).rows[0].gamma == 1
    assert an.plan(nearly, (1,), prefer="short").rows[0].use == "off"


def test_a_required_gain():
    rows = {gain: an.plan(pair(), (64, 79), require_gain=gain).rows for gain in (0.0, 0.05)}
    assert [row.gamma for row in rows[0.0]] == [1, 1]
    assert rows[0.0][1].speedup.value < 1.05 < rows[0.0][0].speedup.value
    assert [row.gamma for row in rows[0.05]] == [1, 0]
    assert rows[0.05][1].chosen.best.gamma == 1


def test_a_draft_that_does_not_fit_is_off_and_said():
    found = an.plan(pair(memory=SMALL), (1, 6, 7, 9), context=100.0)
    assert [row.gamma > 0 for row in found.rows] == [True, True, False, False]
    assert [row.chosen.fits for row in found.rows] == [True, True, False, False]
    assert found.rows[2].chosen.speedups[1:] == (None,) * 16
    assert found.rows[2].sure  # nothing else is possible
    assert "pair is off from batch 7 on: no more than 6 requests fit" in found.notes[0]
    assert found.schedule().text == "1-6:4, 7-:0"


def test_what_the_acceptance_says_nothing_about_is_left_out_and_said():
    by_depth = an.Fit.of_process(AcceptanceByDepth(by_depth=(0.9, 0.9, 0.9)))
    found = an.plan(lookup(acceptance=by_depth), (1,))
    assert found.rows[0].gamma == 3
    assert found.rows[0].chosen.best.left_out == tuple(range(4, 17))
    assert found.rows[0].chosen.at_limit
    assert any("nothing beyond γ = 3" in note for note in found.notes)
    assert not any("try longer ones" in note for note in found.notes)  # of which nothing is known
    known = an.plan(lookup(), (1,), gammas=range(3))
    assert any("try longer ones" in note for note in known.notes)


def test_the_target_is_the_fast_one():
    """The tests above lean on where this pair turns: by hand, γ = 1 at batch 79 and 80."""
    for batch, gains in ((79, True), (80, False)):
        plain = max(FAST.weights_s, batch * FAST.compute_s)
        verify = max(FAST.weights_s, 2 * batch * FAST.compute_s)
        draft = max(STEP.weights_s, batch * STEP.compute_s)
        assert (1.7 * plain / (verify + draft) > 1.0) is gains

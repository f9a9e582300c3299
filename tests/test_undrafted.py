"""Batches in which only some requests have a draft: the pass, the round, the plan, the explanation."""

from __future__ import annotations

from dataclasses import replace
from math import comb, inf

import numpy as np
import pytest
from deployments import MACHINE, TARGET, mixture
from hypothesis import given
from hypothesis import strategies as st

import analysis as an
from analysis.deployment.building import DraftKind, deploy
from analysis.deployment.undrafted import drafted_share, verify_s
from analysis.pass_cost import PassCost
from simulator import AcceptanceTable, ConstantAcceptance, HitMiss

ROOFLINE = PassCost(weights_s=0.01, compute_s=0.0001)
LINEAR = replace(ROOFLINE, overlap=1.0, several_s=0.002)


def enumerated(cost, gamma, batch, share, context=0):
    """The expectation over how many of the batch have a draft, term by term."""
    weights = [comb(batch, n) * share**n * (1.0 - share) ** (batch - n) for n in range(batch + 1)]
    times = [cost.seconds(batch, 1.0 + n * gamma / batch, context) for n in range(batch + 1)]
    return float(np.dot(weights, times))


@given(
    gamma=st.integers(0, 16),
    share=st.floats(0.0, 1.0),
    cost=st.sampled_from((ROOFLINE, LINEAR, mixture().target)),
)
def test_one_request_has_a_draft_or_none(gamma, share, cost):
    wide, plain = cost.seconds(1, gamma + 1), cost.seconds(1, 1)
    found = float(verify_s(cost, gamma, 1, 0, share=share))
    assert found == pytest.approx(share * wide + (1.0 - share) * plain, rel=1e-6)


@given(gamma=st.integers(0, 16), share=st.floats(0.01, 0.99), batch=st.integers(1, 60))
def test_without_overlap_the_mean_is_exact(gamma, share, batch):
    cost = replace(LINEAR, several_s=0.0)
    found = float(verify_s(cost, gamma, batch, 0, share=share))
    assert found == pytest.approx(enumerated(cost, gamma, batch, share), rel=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("batch", [2, 8, 40, 200])
def test_elsewhere_it_is_close(share, batch):
    """Experts are concave and the knee of a roofline is convex: far closer than a wide pass for all."""
    for cost, error in ((mixture().target, 0.005), (ROOFLINE, 0.06)):
        exact = enumerated(cost, 4, batch, share)
        found = float(verify_s(cost, 4, batch, 0, share=share))
        assert found == pytest.approx(exact, rel=error)
        assert abs(found - exact) <= abs(float(cost.seconds(batch, 5)) - exact) + 1e-12


def test_the_share_is_that_of_the_acceptance():
    table = AcceptanceTable(rounds=1000, drafted=1600, tested=(400, 300), accepted=(300, 200))
    fitted = an.fit(table, processes=("constant p",))
    full = an.fit(AcceptanceTable(rounds=400, drafted=800, tested=(400, 300), accepted=(300, 200)))
    assert drafted_share(full) == drafted_share(an.Fit.of_process(ConstantAcceptance(p=0.7))) == 1.0
    assert drafted_share(fitted) == fitted.coverage.value == pytest.approx(0.4)


def test_parts_rounds_costs_and_the_plan_say_one_number():
    hit = HitMiss(coverage=0.3, right=1.0, p_right=0.6, p_wrong=0.6)
    lookup = deploy(TARGET, MACHINE, DraftKind(kind="lookup", round_s=1e-4), an.Fit.of_process(hit))
    found = an.plan(lookup, (1, 16, 64), context=500)
    for row in found.rows:
        parts = lookup.parts(row.gamma, row.batch, 500)
        costs = lookup.round_costs(16, row.batch, 500)
        assert row.gamma > 0
        assert row.speedup.value == pytest.approx(parts.speedup.value, rel=1e-12)
        assert costs.cost(row.gamma) == pytest.approx(parts.round_cost, rel=1e-12)
        rounds = lookup.round_s(range(17), row.batch, 500)
        assert rounds[row.gamma] == pytest.approx(parts.round_s, rel=1e-12)
    one = lookup.parts(4, 1, 500)
    wide = lookup.target.seconds(1, 5, 500) - lookup.target.seconds(1, 1, 500)
    assert one.wider_s == pytest.approx(0.3 * wide, rel=1e-9)
    assert one.drafting_s == 1e-4  # one has to look in every round


def test_a_wide_pass_in_every_round_would_be_told():
    """The control: a lookup that finds seldom, priced as if it always found, drafts less."""
    cost = replace(ROOFLINE, overlap=inf)
    assert float(verify_s(cost, 4, 64, 0, share=0.1)) < 0.8 * float(cost.seconds(64, 5))

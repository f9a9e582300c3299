"""The exact laws of acceptance that is not one p: against enumeration, integrals, and the closed form."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import betaln

from analysis import (
    expected_tokens,
    process_law,
    process_survival,
    process_tokens_per_round,
    round_law,
    survival,
)
from analysis.process_laws import beta_quadrature, start_law
from simulator import (
    AcceptanceByDepth,
    BetaMixture,
    ConstantAcceptance,
    EasyHardChain,
    HitMiss,
    TraceReplay,
    calibrated_acceptance,
    draft_model,
)

CHAIN = EasyHardChain(p_easy=0.9, p_hard=0.3, stay_easy=0.9, stay_hard=0.7)
CHAINS = [
    ("9/10", "3/10", "9/10", "7/10"),
    ("3/4", "0", "1/2", "1/2"),
    ("1", "1/5", "1/10", "19/20"),
    ("1/3", "2/3", "0", "0"),  # easy is harder, and positions take turns
    ("1", "0", "0", "3/4"),
    ("4/5", "1/5", "1", "1/2"),  # in the end all is easy
]
chances = st.floats(0.0, 1.0)


def rounds_by_enumeration(kept, stay, gamma):
    """{first state: {(accepted, state in which the next round begins): probability}}, path by path."""
    laws = {}
    for first in (0, 1):
        law = laws[first] = {}
        for states in product((0, 1), repeat=gamma + 1):  # of positions 1..gamma + 1
            path = (first, *states)
            walked = Fraction(1)
            for here, there in pairwise(path):
                walked *= stay[here] if here == there else 1 - stay[here]
            for verdicts in product((True, False), repeat=gamma):
                judged = Fraction(1)
                for here, good in zip(path, verdicts, strict=False):
                    judged *= kept[here] if good else 1 - kept[here]
                accepted = (*verdicts, False).index(False)
                cell = accepted, path[accepted + 1]
                law[cell] = law.get(cell, 0) + walked * judged
    return laws


def law_by_enumeration(kept, stay, gamma):
    """P(n accepted) and P(easy) of a round in the long run, in fractions."""
    laws = rounds_by_enumeration(kept, stay, gamma)
    to_hard = sum(weight for (_, state), weight in laws[0].items() if state == 1)
    to_easy = sum(weight for (_, state), weight in laws[1].items() if state == 0)
    easy = to_easy / (to_easy + to_hard)
    pmf = [
        sum(
            share * weight
            for first, share in ((0, easy), (1, 1 - easy))
            for (n, _), weight in laws[first].items()
            if n == accepted
        )
        for accepted in range(gamma + 1)
    ]
    return pmf, easy


@pytest.mark.parametrize("gamma", range(5))
@pytest.mark.parametrize("values", CHAINS, ids=str)
def test_the_chain_is_the_enumeration_of_states_and_verdicts(values, gamma):
    p_easy, p_hard, stay_easy, stay_hard = map(Fraction, values)
    pmf, easy = law_by_enumeration((p_easy, p_hard), (stay_easy, stay_hard), gamma)
    chain = EasyHardChain(
        p_easy=float(p_easy),
        p_hard=float(p_hard),
        stay_easy=float(stay_easy),
        stay_hard=float(stay_hard),
    )
    law = process_law(chain, gamma)
    assert law.pmf == pytest.approx([float(weight) for weight in pmf], abs=1e-14)
    assert start_law(chain, gamma)[0] == pytest.approx(float(easy), abs=1e-14)
    tokens = 1 + sum(n * weight for n, weight in enumerate(pmf))
    assert process_tokens_per_round(chain, gamma) == pytest.approx(float(tokens), rel=1e-14)


def test_states_that_no_round_changes_keep_their_shares():
    chain = EasyHardChain(p_easy=1.0, p_hard=1.0, stay_easy=0.0, stay_hard=0.0)
    assert start_law(chain, 1) == (0.5, 0.5)
    assert process_tokens_per_round(chain, 1) == 2.0


def test_longer_drafts_select_hard_starts():
    first = [process_law(CHAIN, gamma).conditional[0] for gamma in range(1, 17)]
    assert np.all(np.diff(first) < 0.0)
    # A round of a draft of no token begins at every position.
    assert start_law(CHAIN, 0)[0] == pytest.approx(CHAIN.easy_share, abs=1e-15)
    assert first[0] < 0.9 * CHAIN.easy_share + 0.3 * (1 - CHAIN.easy_share)


def test_a_text_without_memory_selects_nothing():
    chain = EasyHardChain(p_easy=0.9, p_hard=0.3, stay_easy=0.75, stay_hard=0.25)
    for gamma in (1, 4, 9):
        assert process_survival(chain, gamma) == pytest.approx(survival(0.75, gamma), rel=1e-13)


@given(p=chances, stay_easy=chances, stay_hard=st.floats(0.0, 0.999), gamma=st.integers(0, 40))
def test_one_p_is_the_closed_form(p, stay_easy, stay_hard, gamma):
    exact = expected_tokens(p, gamma)
    for process in (
        ConstantAcceptance(p=p),
        EasyHardChain(p_easy=p, p_hard=p, stay_easy=stay_easy, stay_hard=stay_hard),
        BetaMixture(p=p, concentration=math.inf),
        HitMiss(coverage=1.0, right=1.0, p_right=p, p_wrong=0.3),
        HitMiss(coverage=1.0, right=0.4, p_right=p, p_wrong=p),
    ):
        assert process_tokens_per_round(process, gamma) == pytest.approx(exact, rel=1e-12)
        assert process_survival(process, gamma) == pytest.approx(survival(p, gamma), rel=1e-12)


@pytest.mark.parametrize("gamma", [1, 8, 100])
def test_a_mixture_that_narrows_tends_to_one_p(gamma):
    exact = expected_tokens(0.7, gamma)
    off = [
        abs(process_tokens_per_round(BetaMixture(p=0.7, concentration=s), gamma) / exact - 1.0)
        for s in (1e2, 1e4, 1e6, 1e300)
    ]
    assert off == sorted(off, reverse=True)
    assert off[2] < 2e-6
    assert off[3] < 1e-14


def test_laws_of_independent_rounds_are_those_of_the_simulator():
    for process in (
        AcceptanceByDepth(by_depth=(0.9, 0.5, 0.7)),
        calibrated_acceptance(p=0.7, concentration=2.0),
    ):
        law = process_law(process, 3)
        same = round_law(draft_model(acceptance=process, gamma=3))
        assert law.pmf == pytest.approx(same.pmf, abs=1e-15)
        assert law.conditional == pytest.approx(same.conditional, rel=1e-14)


@pytest.mark.parametrize(
    ("gamma", "per_token"),
    [(1, math.log(2.0)), (2, math.pi / (3.0 * math.sqrt(3.0)))],  # ∫ dp / (1 + p), / (1 + p + p²)
)
def test_a_uniform_p_is_the_integral_by_hand(gamma, per_token):
    uniform = BetaMixture(p=0.5, concentration=2.0)
    assert process_tokens_per_round(uniform, gamma) == pytest.approx(1 / per_token, rel=1e-13)


@pytest.mark.parametrize("gamma", [1, 5, 16, 200])
@pytest.mark.parametrize(("p", "s"), [(0.5, 2.0), (0.8, 10.0), (0.9, 300.0), (0.3, 4.0)])
def test_the_mixture_is_the_integral_over_requests(p, s, gamma):
    def weighed(function):
        def integrand(x):
            log = (p * s - 1) * math.log(x) + ((1 - p) * s - 1) * math.log1p(-x)
            return function(x) * math.exp(log - betaln(p * s, (1 - p) * s))

        return quad(integrand, 0.0, 1.0, epsabs=1e-13, epsrel=1e-12, limit=500, points=[p])[0]

    per_token = weighed(lambda x: 1.0 / expected_tokens(x, gamma))
    mixture = BetaMixture(p=p, concentration=s)
    assert process_tokens_per_round(mixture, gamma) == pytest.approx(1.0 / per_token, rel=1e-9)
    deep = weighed(lambda x: x**gamma / expected_tokens(x, gamma)) / per_token
    assert process_survival(mixture, gamma)[-1] == pytest.approx(deep, rel=1e-8)


@pytest.mark.parametrize(("first", "second"), [(6, 2), (1, 1), (40, 3)])
def test_the_quadrature_has_all_moments(first, second):
    nodes, weights = beta_quadrature(float(first), float(second), 12)
    for k in range(24):
        moment = math.prod(Fraction(first + i, first + second + i) for i in range(k))
        assert weights @ nodes**k == pytest.approx(float(moment), rel=1e-12)


@pytest.mark.parametrize("s", [1e-9, 1e-3, 1.0, 2.0, 1e8, 1e200])
def test_the_quadrature_holds_at_extreme_shapes(s):
    nodes, weights = beta_quadrature(0.75 * s, 0.25 * s, 40)
    assert weights.sum() == pytest.approx(1.0, rel=1e-13)
    assert weights @ nodes == pytest.approx(0.75, rel=1e-12)
    variance = 0.75 * 0.25 / (s + 1.0)
    assert weights @ (nodes - 0.75) ** 2 == pytest.approx(variance, rel=1e-6, abs=1e-25)


def test_hopeless_and_perfect_requests_mix_harmonically():
    # All requests keep all or nothing: a token takes 1 / (gamma + 1) rounds in three of four.
    mixture = BetaMixture(p=0.75, concentration=1e-9)
    assert process_tokens_per_round(mixture, 3) == pytest.approx(1 / (0.75 / 4 + 0.25), rel=1e-8)


@pytest.mark.parametrize("gamma", range(4))
def test_hits_and_misses_are_their_enumeration(gamma):
    process = HitMiss(coverage=0.6, right=0.7, p_right=0.9, p_wrong=0.2)
    pmf = np.zeros(gamma + 1)
    pmf[0] += 0.4
    for weight, p in ((0.6 * 0.7, 0.9), (0.6 * 0.3, 0.2)):
        for n in range(gamma + 1):
            pmf[n] += weight * p**n * (1 - p if n < gamma else 1.0)
    law = process_law(process, gamma)
    assert law.pmf == pytest.approx(pmf, abs=1e-15)
    assert law.tokens_per_round == pytest.approx(1 + pmf @ np.arange(gamma + 1), rel=1e-15)
    assert sum(law.pmf) == pytest.approx(1.0, rel=1e-15)


def test_a_trace_is_counted_and_unknown_where_it_was_never_tested():
    trace = TraceReplay(texts=(((2, 1), (2, 2), (2, 0)),))
    assert process_tokens_per_round(trace, 2) == 2.0
    assert process_survival(trace, 2) == pytest.approx((2 / 3, 1 / 3))
    assert math.isnan(process_tokens_per_round(trace, 3))
    with pytest.raises(ValueError, match="process must be a law; a TraceReplay is a record"):
        process_law(trace, 2)


@pytest.mark.parametrize("gamma", [-1, 2.5, 10_001])
def test_a_gamma_out_of_range_is_refused(gamma):
    with pytest.raises(ValueError, match="gamma must be a whole number in"):
        process_law(CHAIN, gamma)

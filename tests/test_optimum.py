"""The best draft length against brute force in exact fractions, ties included."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from references import exact_speedup

from analysis import any_gamma_pays, best_gamma, break_even_p, equivalent_p, speedup

MOST = 12
probabilities = st.floats(0.0, 1.0) | st.integers(0, 16).map(lambda k: k / 16)
costs = st.floats(0.0, 1.5) | st.integers(0, 24).map(lambda k: k / 16)
pass_costs = st.floats(0.25, 4.0) | st.integers(4, 64).map(lambda k: k / 16)


def brute_force(p, cost_ratio, verify_costs, overhead=0.0, most=MOST):
    """The shortest gamma of the largest exact speedup; `verify_costs` holds V(gamma + 1)."""
    values = [
        exact_speedup(p, gamma, cost_ratio, verify_costs[gamma], overhead)
        for gamma in range(most + 1)
    ]
    return values.index(max(values))


@given(probabilities, costs, pass_costs, costs)
@example(0.5, 0.5, 1.0, 0.0)  # p = c: gamma 1 only equals plain decoding
@example(0.5, 0.25, 1.0, 0.0)  # S(1) = 1.5 / 1.25, S(2) = 1.75 / 1.5
@example(0.5, 0.3, 1.0, 0.0)
@example(1.0, 1.0, 1.0, 0.0)  # a perfect draft as dear as the target: nothing gains
@example(1.0, 0.5, 0.5, 0.0)  # every gamma has speedup 2
@example(0.0, 0.0, 1.0, 0.0)
@example(float(np.nextafter(1.0, 0.0)), 1.0, 1.0, 0.0)
@example(0.1, float(np.nextafter(0.1, 0.0)), 1.0, 0.0)  # gains in the last bit
def test_one_verify_cost_equals_brute_force(p, cost_ratio, verify_cost, overhead):
    best = best_gamma(p, cost_ratio, max_gamma=MOST, verify_cost=verify_cost, overhead=overhead)
    assert best.gamma == brute_force(p, cost_ratio, [verify_cost] * (MOST + 1), overhead)
    assert best.pays == (best.gamma > 0)
    assert best.speedup == pytest.approx(
        float(exact_speedup(p, best.gamma, cost_ratio, verify_cost, overhead)), rel=1e-13
    )


@given(probabilities, costs, st.lists(pass_costs, min_size=MOST + 1, max_size=MOST + 1), costs)
def test_verify_cost_per_gamma_equals_brute_force(p, cost_ratio, verify_costs, overhead):
    expected = brute_force(p, cost_ratio, verify_costs, overhead)
    more = {"max_gamma": MOST, "overhead": overhead}
    assert best_gamma(p, cost_ratio, verify_cost=verify_costs, **more).gamma == expected
    by_call = best_gamma(p, cost_ratio, verify_cost=lambda n: verify_costs[n - 1], **more)
    assert by_call.gamma == expected


@st.composite
def exact_ties(draw):
    """p, c, B of floats with S(gamma) == S(gamma + 1) exactly: c = B x / (E - gamma x)."""
    p = Fraction(draw(st.integers(1, 7)), 8)
    gamma = draw(st.integers(1, 4))
    tokens = sum(p**i for i in range(gamma + 1))
    step = p ** (gamma + 1)
    # With B = E - gamma x and c = x both numbers are short binary fractions.
    return float(p), float(step), float(tokens - gamma * step), gamma


@given(exact_ties())
def test_of_two_equal_drafts_the_shorter_is_best(tie):
    p, cost_ratio, base, gamma = tie
    first = exact_speedup(p, gamma, cost_ratio, base)
    assert first == exact_speedup(p, gamma + 1, cost_ratio, base)
    expected = gamma if first > 1 else 0
    assert best_gamma(p, cost_ratio, verify_cost=base).gamma == expected
    assert best_gamma(p, cost_ratio, verify_cost=[base] * 65).gamma == expected


def test_ties_that_floats_cannot_tell_are_decided_exactly(rng):
    # Without fractions a third of these go wrong: the cost ratio of an exact tie, and its neighbours.
    for p, gamma in zip(rng.integers(1, 1000, 60) / 1000, rng.integers(1, 5, 60), strict=True):
        step = Fraction(p) ** int(gamma + 1)
        tokens = sum(Fraction(p) ** k for k in range(gamma + 1))
        tie = float(step / (tokens - int(gamma) * step))
        for cost_ratio in (np.nextafter(tie, 0.0), tie, np.nextafter(tie, 2.0)):
            expected = brute_force(p, cost_ratio, [1.0] * (MOST + 1))
            assert best_gamma(p, cost_ratio, max_gamma=MOST).gamma == expected
            assert best_gamma(p, cost_ratio, verify_cost=[1.0] * 65).gamma == expected


@pytest.mark.parametrize("verify_cost", [1.0, [1.0] * 65, lambda _: 1.0])
def test_a_draft_as_dear_as_it_is_right_never_pays(verify_cost):
    for p in np.linspace(0.0, 1.0, 201):
        best = best_gamma(float(p), float(p), verify_cost=verify_cost)
        assert (best.gamma, best.speedup, best.at_limit) == (0, 1.0, False)


@given(probabilities, st.floats(0.0, 1.5))
def test_some_draft_pays_exactly_when_p_exceeds_the_cost_ratio(p, cost_ratio):
    assert any_gamma_pays(p, cost_ratio) == (p > cost_ratio)
    assert any_gamma_pays(cost_ratio / 1.5, cost_ratio / 1.5) is False


@pytest.mark.parametrize(("p", "cost_ratio"), [(0.3, 0.0), (1.0, 0.0), (1.0, 0.9), (0.99, 1e-4)])
def test_at_limit_when_a_longer_draft_still_gains(p, cost_ratio):
    best = best_gamma(p, cost_ratio, max_gamma=16)
    assert (best.gamma, best.at_limit) == (16, True)


@pytest.mark.parametrize(
    ("p", "cost_ratio", "more", "at_limit"),
    [
        (0.7, 0.1, {}, False),
        (0.0, 0.0, {}, False),
        (0.5, 0.0, {"verify_cost": 3.0}, False),  # no draft ever emits 3 tokens a round
        (1.0, 0.5, {"verify_cost": 50.0}, True),  # gains from gamma 99 on
        (0.5, 0.7, {"max_gamma": 0}, False),
        (0.7, 0.5, {"max_gamma": 0}, True),
        (0.7, 0.0, {"verify_cost": [1.0] * 65}, True),
    ],
)
def test_at_limit(p, cost_ratio, more, at_limit):
    assert best_gamma(p, cost_ratio, **more).at_limit is at_limit


@given(probabilities, costs, pass_costs)
def test_flat_holds_every_gamma_within_one_percent(p, cost_ratio, verify_cost):
    best = best_gamma(p, cost_ratio, max_gamma=MOST, verify_cost=verify_cost)
    values = np.asarray(speedup(p, np.arange(MOST + 1), cost_ratio, verify_cost=verify_cost))
    values[0] = 1.0
    assert best.flat == tuple(np.flatnonzero(values >= 0.99 * best.speedup))
    assert best.gamma in best.flat


def test_plain_decoding_has_no_overhead_and_ignores_the_first_verify_cost():
    best = best_gamma(0.1, 0.5, verify_cost=[9.0, 1.2, 1.3], overhead=0.4, max_gamma=2)
    assert (best.gamma, best.speedup) == (0, 1.0)


def test_a_target_pass_cheaper_than_a_plain_step_pays_without_acceptance():
    best = best_gamma(0.0, 0.0, verify_cost=0.5)
    assert (best.gamma, best.speedup) == (1, 2.0)


def test_long_ties_stay_affordable():
    just_below = float(np.nextafter(1.0, 0.0))
    assert best_gamma(just_below, 1.0 - 1e-9, max_gamma=1000).at_limit
    everywhere_equal = best_gamma(0.7, 0.0, verify_cost=[1.0] * 5001, max_gamma=5000)
    assert everywhere_equal.gamma == 5000


def test_break_even_p_where_no_p_pays_or_every_p_does():
    assert break_even_p(2, 1.5) is None
    assert break_even_p(2, 1.0) == 1.0
    assert break_even_p(2, 0.0) == 0.0


@settings(max_examples=30)
@given(st.integers(1, 10_000), st.floats(0.0, 1.0))
def test_equivalent_p_reproduces_the_mean(gamma, share):
    tokens = 1.0 + share * gamma
    p = equivalent_p(gamma=gamma, tokens_per_round=tokens)
    # One ulp of p near 1 moves the mean by up to gamma (gamma + 1) / 2 ulp.
    assert speedup(p, gamma, 0.0) == pytest.approx(tokens, abs=2e-16 * gamma * (gamma + 10))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"p": 1.2}, r"p must be a number in \[0, 1\]; got 1.2"),
        ({"p": float("nan")}, "p must be .* got nan"),
        ({"cost_ratio": -0.1}, "cost_ratio must be .* got -0.1"),
        ({"cost_ratio": float("inf")}, "cost_ratio must be a finite .* got inf"),
        ({"overhead": -1}, "overhead must be .* got -1"),
        ({"max_gamma": -1}, "max_gamma must be .* got -1"),
        ({"max_gamma": 10_001}, "max_gamma must be .* got 10001"),
        ({"max_gamma": 2.5}, "max_gamma must be .* got 2.5"),
        ({"verify_cost": 0.0}, "verify_cost must be finite and above 0; got 0.0"),
        ({"verify_cost": [1.0, 1.1]}, "verify_cost must give a value for each gamma .* got 2"),
        ({"verify_cost": lambda n: 1.0 - n}, "verify_cost must be finite and above 0"),
    ],
)
def test_bad_input_is_refused(more, message):
    arguments = {"p": 0.7, "cost_ratio": 0.1} | more
    with pytest.raises(ValueError, match=message):
        best_gamma(**arguments)

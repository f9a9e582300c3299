"""The closed forms: printed numbers, limits, identities, inverses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import (
    best_gamma,
    break_even_cost_ratio,
    break_even_p,
    equivalent_p,
    expected_tokens,
    operations_factor,
    oracle_tokens,
    round_cost,
    speedup,
    survival,
    tokens_pmf,
    tokens_variance,
    whole_request_speedup,
)

probabilities = st.floats(0.0, 1.0)
gammas = st.integers(0, 64)
costs = st.floats(0.0, 3.0)

# Derived from Theorem 3.8 of Leviathan et al. 2023: (gamma*, S*) by p and cost ratio
OPTIMA = {
    0.5: "5 1.875  4 1.794  3 1.630  2 1.458  1 1.250",
    0.6: "7 2.297  6 2.170  4 1.921  3 1.674  2 1.400",
    0.7: "9 2.972  8 2.758  6 2.353  4 1.981  3 1.583",
    0.8: "14 4.232  11 3.817  8 3.092  6 2.470  4 1.868",
    0.9: "24 7.486  19 6.365  13 4.674  10 3.431  7 2.373",
    0.95: "40 12.542  31 9.954  21 6.600  15 4.479  10 2.875",
}


@pytest.mark.parametrize("p", OPTIMA)
def test_golden_optimum_table(p):
    numbers = OPTIMA[p].split()
    for cost_ratio, gamma, value in zip(
        (0.01, 0.02, 0.05, 0.1, 0.2), numbers[::2], numbers[1::2], strict=True
    ):
        best = best_gamma(p, cost_ratio)
        assert best.gamma == int(gamma)
        assert best.speedup == pytest.approx(float(value), abs=5e-4)
        assert best.speedup == speedup(p, best.gamma, cost_ratio)


@pytest.mark.parametrize(
    ("p", "gamma", "tokens"), [(0.0, 7, 1.0), (1.0, 7, 8.0), (0.3, 0, 1.0), (1.0, 0, 1.0)]
)
def test_edges(p, gamma, tokens):
    assert expected_tokens(p, gamma) == tokens
    assert sum(tokens_pmf(p, gamma)) == 1.0
    assert tokens_variance(p, gamma) == 0.0


@given(probabilities, probabilities, gammas)
def test_expected_tokens_rise_with_p_and_gamma(p, other, gamma):
    low, high = sorted((p, other))
    slack = 1.0 + 1e-14  # a few roundings
    assert expected_tokens(low, gamma) <= expected_tokens(high, gamma) * slack
    assert expected_tokens(p, gamma) <= expected_tokens(p, gamma + 1) * slack


@given(probabilities, gammas)
def test_expected_tokens_are_bounded_by_the_draft_and_the_oracle(p, gamma):
    tokens = expected_tokens(p, gamma)
    assert tokens * (1.0 + 1e-15) >= 1.0
    assert tokens <= (gamma + 1.0) * (1.0 + 1e-15)
    assert tokens <= oracle_tokens(p) * (1.0 + 1e-15)


def test_oracle_is_infinite_at_one():
    assert oracle_tokens(1.0) == math.inf


@given(probabilities, gammas)
def test_mean_and_variance_are_those_of_the_pmf(p, gamma):
    pmf, accepted = tokens_pmf(p, gamma), np.arange(gamma + 1)
    mean = pmf @ accepted
    assert pmf.sum() == pytest.approx(1.0, abs=1e-12)
    assert expected_tokens(p, gamma) == pytest.approx(1.0 + mean, rel=1e-12)
    assert expected_tokens(p, gamma) == pytest.approx(1.0 + survival(p, gamma).sum(), rel=1e-12)
    variance = pmf @ (accepted - mean) ** 2
    assert tokens_variance(p, gamma) == pytest.approx(variance, rel=1e-9, abs=1e-9)


def test_functions_broadcast():
    p, gamma = np.array([[0.0], [0.5], [1.0]]), np.array([0, 1, 2, 3])
    assert np.shape(expected_tokens(p, gamma)) == (3, 4)
    np.testing.assert_allclose(expected_tokens(p, gamma)[1], [1.0, 1.5, 1.75, 1.875], rtol=1e-15)
    assert np.shape(speedup(p, gamma, [0.1, 0.2, 0.3, 0.4], verify_cost=1.2)) == (3, 4)
    assert survival(p[:, 0], 5).shape == (3, 5)
    assert tokens_pmf(p[:, 0], 5).shape == (3, 6)
    assert np.shape(tokens_variance(p[:, 0], 5)) == (3,)


def test_scalars_give_plain_floats():
    for value in (
        expected_tokens(0.7, 4),
        tokens_variance(0.7, 4),
        round_cost(4, 0.1),
        speedup(0.7, 4, 0.1),
        operations_factor(0.7, 4, 0.1),
        oracle_tokens(0.7),
        whole_request_speedup(2.0, 0.1),
        break_even_cost_ratio(0.7, 4),
        expected_tokens(np.float64(0.7), np.int64(4)),
    ):
        assert type(value) is float


@given(probabilities, gammas, costs, st.floats(0.1, 5.0), costs)
def test_speedup_is_tokens_over_cost(p, gamma, cost_ratio, verify_cost, overhead):
    value = speedup(p, gamma, cost_ratio, verify_cost=verify_cost, overhead=overhead)
    cost = round_cost(gamma, cost_ratio, verify_cost=verify_cost, overhead=overhead)
    assert cost == gamma * cost_ratio + verify_cost + overhead
    assert value == pytest.approx(expected_tokens(p, gamma) / cost, rel=1e-14)


def test_whole_request_limits():
    assert whole_request_speedup(3.0, 0.0) == pytest.approx(3.0)
    assert whole_request_speedup(3.0, 1.0) == 1.0
    assert whole_request_speedup(1e12, 0.25) == pytest.approx(4.0)
    assert whole_request_speedup(1.0, 0.4) == pytest.approx(1.0)
    assert whole_request_speedup(0.0, 0.4) == 0.0
    assert whole_request_speedup(0.0, 1.0) == 1.0  # nothing but prefill: decoding does not matter


@given(probabilities, st.integers(1, 64), costs)
def test_operations_are_drafted_and_verified_tokens_over_emitted(p, gamma, ratio):
    expected = (gamma * ratio + gamma + 1) / expected_tokens(p, gamma)
    assert operations_factor(p, gamma, ratio) == pytest.approx(expected, rel=1e-14)
    assert operations_factor(p, 0, ratio) == 1.0


@given(probabilities, st.integers(1, 10_000))
def test_equivalent_p_inverts_expected_tokens(p, gamma):
    tokens = expected_tokens(p, gamma)
    found = equivalent_p(gamma=gamma, tokens_per_round=min(max(tokens, 1.0), gamma + 1.0))
    assert found == pytest.approx(p, abs=1e-14)


@given(probabilities, st.integers(1, 64))
def test_equivalent_p_inverts_the_accepted_fraction(p, gamma):
    fraction = min(max((expected_tokens(p, gamma) - 1.0) / gamma, 0.0), 1.0)
    assert equivalent_p(gamma=gamma, accepted_fraction=fraction) == pytest.approx(p, abs=1e-13)


@given(st.integers(1, 64), costs, st.floats(1.0, 3.0), costs)
def test_speedup_is_one_at_the_break_even_p(gamma, cost_ratio, verify_cost, overhead):
    more = {"verify_cost": verify_cost, "overhead": overhead}
    p = break_even_p(gamma, cost_ratio, **more)
    if p is None:
        assert speedup(1.0, gamma, cost_ratio, **more) < 1.0
    else:
        assert speedup(p, gamma, cost_ratio, **more) == pytest.approx(1.0, abs=1e-11)


@given(probabilities, st.integers(1, 64), st.floats(0.1, 1.0), st.floats(0.0, 0.5))
def test_speedup_is_one_at_the_break_even_cost_ratio(p, gamma, verify_cost, overhead):
    more = {"verify_cost": verify_cost, "overhead": overhead}
    cost_ratio = break_even_cost_ratio(p, gamma, **more)
    if cost_ratio < 0.0:
        assert speedup(p, gamma, 0.0, **more) < 1.0
    else:
        assert speedup(p, gamma, cost_ratio, **more) == pytest.approx(1.0, abs=1e-11)


@given(probabilities)
def test_one_token_breaks_even_where_p_is_the_cost_ratio(p):
    assert break_even_p(1, p) == pytest.approx(p, abs=1e-15)

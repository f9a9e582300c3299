"""Closed forms against slow exact arithmetic: enumeration for short drafts, fractions near p = 1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from references import enumerated_pmf, exact_expected_tokens, exact_variance, mean_and_variance

from analysis import expected_tokens, survival, tokens_pmf, tokens_variance

FEW_ULP = 4e-15
LAST_BELOW_ONE = np.nextafter(1.0, 0.0)
NEAR_ONE = [1.0 - 2.0**-k for k in (1, 2, 5, 10, 17, 24, 31, 40, 48, 52)] + [LAST_BELOW_ONE]
LONG = [1, 2, 5, 64, 1000, 10_000]
SMALL = [5e-324, 1e-300, 1e-100, 1e-17, 2.0**-53, 1e-8, 1e-3, 0.1, 0.3]


@settings(max_examples=40)
@given(st.floats(0.0, 1.0), st.integers(0, 7))
def test_closed_forms_equal_the_enumeration_of_all_verdicts(p, gamma):
    pmf = enumerated_pmf([p] * gamma)
    mean, variance = mean_and_variance(pmf)
    kept = [float(sum(pmf[depth:])) for depth in range(1, gamma + 1)]
    assert expected_tokens(p, gamma) == pytest.approx(float(1 + mean), rel=1e-12)
    assert tokens_variance(p, gamma) == pytest.approx(float(variance), rel=1e-12, abs=1e-15)
    np.testing.assert_allclose(
        tokens_pmf(p, gamma), [float(w) for w in pmf], rtol=1e-12, atol=1e-15
    )
    np.testing.assert_allclose(survival(p, gamma), kept, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("gamma", LONG)
@pytest.mark.parametrize("p", NEAR_ONE)
def test_expected_tokens_do_not_cancel_near_one(p, gamma):
    p = float(p)
    assert expected_tokens(p, gamma) == pytest.approx(exact_expected_tokens(p, gamma), rel=FEW_ULP)


@pytest.mark.parametrize("gamma", LONG)
@pytest.mark.parametrize("p", NEAR_ONE)
def test_variance_does_not_cancel_near_one(p, gamma):
    p = float(p)
    assert tokens_variance(p, gamma) == pytest.approx(exact_variance(p, gamma), rel=2 * FEW_ULP)


@pytest.mark.parametrize("gamma", [1, 2, 5, 64])
@pytest.mark.parametrize("p", SMALL)
def test_small_p_keeps_its_digits(p, gamma):
    assert expected_tokens(p, gamma) == pytest.approx(exact_expected_tokens(p, gamma), rel=FEW_ULP)
    assert tokens_variance(p, gamma) == pytest.approx(exact_variance(p, gamma), rel=2 * FEW_ULP)


@given(st.floats(0.0, 1.0, exclude_max=True, allow_subnormal=False), st.integers(0, 40))
def test_expected_tokens_of_any_p_are_exact_to_a_few_ulp(p, gamma):
    if p < 1e-30:  # whole numbers of a million bits teach nothing new
        p += 1e-30
    assert expected_tokens(p, gamma) == pytest.approx(exact_expected_tokens(p, gamma), rel=FEW_ULP)

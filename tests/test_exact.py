"""The exact law of a round: against enumeration for any depths, against closed forms for one p."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from references import enumerated_pmf, mean_and_variance

from analysis import expected_tokens, round_law, survival, tokens_pmf, tokens_variance
from simulator import draft_model

probabilities = st.floats(0.0, 1.0)


@settings(max_examples=40)
@given(st.lists(probabilities, max_size=7))
def test_law_equals_the_enumeration_of_all_verdicts(by_depth):
    law = round_law(draft_model(by_depth=by_depth))
    pmf = enumerated_pmf(by_depth)
    mean, variance = mean_and_variance(pmf)
    np.testing.assert_allclose(law.pmf, [float(weight) for weight in pmf], rtol=1e-12, atol=1e-15)
    assert law.tokens_per_round == pytest.approx(float(1 + mean), rel=1e-12)
    assert law.variance == pytest.approx(float(variance), rel=1e-12, abs=1e-15)
    assert law.conditional == tuple(by_depth)


@given(probabilities, st.integers(0, 64))
def test_law_of_one_p_equals_the_closed_forms(p, gamma):
    law = round_law(draft_model(p=p, gamma=gamma))
    assert law.tokens_per_round == pytest.approx(expected_tokens(p, gamma), rel=1e-12)
    assert law.variance == pytest.approx(tokens_variance(p, gamma), rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(law.survival, survival(p, gamma), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(law.pmf, tokens_pmf(p, gamma), rtol=1e-12, atol=1e-300)


@given(st.lists(probabilities, min_size=1, max_size=20))
def test_identities(by_depth):
    law = round_law(draft_model(by_depth=by_depth))
    assert sum(law.pmf) == pytest.approx(1.0, abs=1e-14)
    assert law.accepted_fraction == pytest.approx((law.tokens_per_round - 1.0) / law.drafted)
    assert list(law.survival) == sorted(law.survival, reverse=True)
    assert all(0.0 <= weight <= 1.0 for weight in law.pmf)


def test_empty_draft():
    law = round_law(draft_model(p=0.7, gamma=0))
    assert (law.pmf, law.survival, law.tokens_per_round, law.variance) == ((1.0,), (), 1.0, 0.0)
    assert math.isnan(law.accepted_fraction)


@pytest.mark.parametrize(
    ("survival_printed", "tokens"),
    [  # golden test G9: lines of vLLM, the last one of llama.cpp
        ((0.707, 0.453, 0.307, 0.253), 2.72),
        ((0.837, 0.669, 0.524), 3.03),
        ((0.723, 0.455, 0.291, 0.160), 2.63),
        ((0.470,), 1.47),
        ((0.805, 0.632, 0.483), 2.92),
    ],
)
def test_tokens_are_one_plus_the_printed_survival(survival_printed, tokens):
    reached = (1.0, *survival_printed)
    conditional = [after / before for before, after in pairwise(reached)]
    law = round_law(draft_model(by_depth=conditional))
    assert law.tokens_per_round == pytest.approx(tokens, abs=0.0051)
    np.testing.assert_allclose(law.survival, survival_printed, rtol=1e-12)

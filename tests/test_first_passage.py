"""Rounds that a text takes: against enumeration in fractions, and at the ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.exact import round_law
from analysis.runs.first_passage import expected_rounds, survival_of_constant, survival_of_counts
from simulator import draft_model


def enumerated(law, tokens):
    """Σ over all sequences of rounds: probability × rounds, until `tokens` are there."""

    def walk(left, probability, rounds):
        if left <= 0:
            return probability * rounds
        return sum(walk(left - k, probability * f, rounds + 1) for k, f in law.items() if f)

    return walk(tokens, Fraction(1), 0)


@pytest.mark.parametrize("acceptance", [(Fraction(3, 4),), (Fraction(1, 2), Fraction(1, 3))])
def test_expected_rounds_is_the_enumeration(acceptance):
    survival, law, alive = [], {}, Fraction(1)
    for i, a in enumerate(acceptance):
        law[i + 1] = alive * (1 - a)
        alive *= a
        survival.append(float(alive))
    law[len(acceptance) + 1] = alive
    needed = expected_rounds(np.array([survival]), 9)[0]
    for tokens in range(10):
        assert needed[tokens] == pytest.approx(float(enumerated(law, tokens)), rel=1e-14)


def test_expected_rounds_agrees_with_the_law_of_a_round():
    strategy = draft_model(p=0.7, gamma=4)
    pmf = round_law(strategy).pmf
    needed = expected_rounds(survival_of_constant(np.array([0.7]), 4), 40)[0]
    for tokens in range(1, 41):
        after = sum(pmf[k] * needed[max(tokens - k - 1, 0)] for k in range(5))
        assert needed[tokens] == pytest.approx(1.0 + after, rel=1e-13)


@given(
    p=st.floats(0.0, 1.0),
    gamma=st.integers(1, 8),
    tokens=st.integers(1, 80),
)
def test_a_text_takes_at_least_its_rounds_and_the_rate_tends_from_below(p, gamma, tokens):
    survival = survival_of_constant(np.array([p]), gamma)
    needed = expected_rounds(survival, tokens)[0]
    mean = 1.0 + survival.sum()
    assert np.all(np.diff(needed) >= -1e-9)
    assert tokens / (gamma + 1) - 1e-9 <= needed[-1] <= tokens + 1e-9
    overshoot = needed[-1] * mean - tokens  # Wald's identity
    assert -1e-6 <= overshoot <= gamma + 1e-6


def test_draws_do_not_mix():
    both = expected_rounds(survival_of_constant(np.array([0.2, 0.9]), 3), 20)
    for i, p in enumerate((0.2, 0.9)):
        alone = expected_rounds(survival_of_constant(np.array([p]), 3), 20)
        assert np.array_equal(both[i], alone[0])


def test_depths_that_nobody_reached_are_never_survived():
    survival = survival_of_counts(
        np.array([4.0]), np.array([[4.0, 2.0, 0.0]]), np.array([[2.0, 0.0, 0.0]]), 3
    )
    assert survival.tolist() == [[0.5, 0.0, 0.0]]


def test_depths_that_were_reached_and_never_tested_are_unknown():
    survival = survival_of_counts(
        np.array([4.0]), np.array([[4.0, 0.0]]), np.array([[2.0, 0.0]]), 2
    )
    assert survival[0, 0] == 0.5
    assert np.isnan(survival[0, 1])


def test_a_negative_length_is_refused():
    with pytest.raises(ValueError, match="tokens must be a whole number of at least 0; got -1"):
        expected_rounds(np.array([[0.5]]), -1)

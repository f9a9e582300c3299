"""The one-sentence verdict over the whole range of inputs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import best_gamma, speedup
from analysis.verdict import verdict


@given(
    p=st.floats(0, 1),
    gamma=st.integers(0, 20),
    cost_ratio=st.floats(0, 2),
    verify_cost=st.floats(0.5, 3),
    overhead=st.floats(0, 1),
)
def test_the_verdict_agrees_with_the_speedup(p, gamma, cost_ratio, verify_cost, overhead):
    best = best_gamma(p, cost_ratio, max_gamma=20, verify_cost=verify_cost, overhead=overhead)
    gain = speedup(p, gamma, cost_ratio, verify_cost=verify_cost, overhead=overhead)

    sentence = verdict(gamma, gain, best)

    assert sentence.endswith(".")
    if gamma and gain > 1.006:
        assert sentence.startswith("Pays")
    if gamma and gain < 0.994:
        assert sentence.startswith("Costs")
    if not best.pays and gamma:
        assert ("a longer one would" in sentence) == best.at_limit
        assert ("no draft length pays" in sentence) != best.at_limit


@pytest.mark.parametrize(
    ("p", "gamma", "cost_ratio", "start"),
    [
        (0.7, 4, 0.1, "Pays: 1.98× faster at γ = 4, the best draft length."),
        (0.8, 7, 0.05, "Pays: 3.08× faster at γ = 7, within 1 % of the best (γ = 8)."),
        (0.9, 16, 0.0, "Pays: 8.33× faster at γ = 16, the longest draft tried."),
        (0.2, 1, 0.2, "Neither pays nor costs: 1.00× at γ = 1; no draft length pays"),
        (0.7, 0, 0.1, "Nothing is drafted at γ = 0, plain decoding; γ = 4 would give 1.98×."),
    ],
)
def test_sentences(p, gamma, cost_ratio, start):
    best = best_gamma(p, cost_ratio, max_gamma=16)

    assert verdict(gamma, speedup(p, gamma, cost_ratio), best).startswith(start)

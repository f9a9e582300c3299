"""The table over draft lengths is the closed form, point by point."""

from __future__ import annotations

import math

import pytest

from analysis import best_gamma, expected_tokens, over_gamma, round_cost, speedup, tokens_variance


def test_each_point_is_the_closed_form():
    costs = [1.0, 1.1, 1.2, 1.4]

    curve = over_gamma(0.8, 0.05, max_gamma=3, verify_cost=costs, overhead=0.1)

    for point in curve.points[1:]:
        cost = {"verify_cost": costs[point.gamma], "overhead": 0.1}
        assert point.tokens_per_round == expected_tokens(0.8, point.gamma)
        assert point.sd == pytest.approx(math.sqrt(tokens_variance(0.8, point.gamma)))
        assert point.round_cost == round_cost(point.gamma, 0.05, **cost)
        assert point.speedup == speedup(0.8, point.gamma, 0.05, **cost)
    assert curve.best == best_gamma(0.8, 0.05, max_gamma=3, verify_cost=costs, overhead=0.1)


def test_it_starts_at_plain_decoding():
    (plain,) = over_gamma(0.8, 0.05, max_gamma=0, overhead=0.5).points

    assert (plain.gamma, plain.tokens_per_round, plain.round_cost, plain.speedup) == (0, 1, 1, 1)

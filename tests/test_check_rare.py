"""`check` keeps its false-alarm rate where accepting is rare and the normal law fails."""

from __future__ import annotations

import math

import numpy as np

from analysis import check
from simulator import AcceptanceTable, draft_model


def table_with(accepted, rounds):
    return AcceptanceTable(rounds=rounds, drafted=rounds, tested=(rounds,), accepted=(accepted,))


def test_a_rare_but_possible_count_passes():
    """2 kept where 0.02 are expected: z is 14, the chance 2e-4."""
    strategy = draft_model(p=1e-7, gamma=1)

    result = check(strategy, table_with(2, 200_000))

    assert result.passed
    assert result.comparisons[0].z > 13.0
    assert result.comparisons[0].tail_z < 5.0


def test_an_impossible_count_of_rare_events_is_rejected():
    strategy = draft_model(p=1e-7, gamma=1)

    assert not check(strategy, table_with(20, 200_000)).passed


def test_right_engines_with_rare_events_pass(rng):
    """2,000 right runs of three rare laws: at 1e-8 a comparison none is rejected."""
    for p, rounds in ((1e-6, 200_000), (1e-4, 200_000), (1 - 1e-6, 200_000)):
        strategy = draft_model(p=p, gamma=1)
        for kept in rng.binomial(rounds, p, size=2_000):
            assert check(strategy, table_with(int(kept), rounds)).passed


def test_common_events_keep_the_plain_z():
    strategy = draft_model(p=0.5, gamma=1)
    kept = 100_500

    (tokens, *_rest) = check(strategy, table_with(kept, 200_000)).comparisons

    assert np.isclose(tokens.z, 500 / math.sqrt(200_000 * 0.25))

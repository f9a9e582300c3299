"""What counts say about acceptance at each depth: bounds, and whether one p rules them all."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy import stats as scipy_stats

from analysis import p_by_depth_bounds
from analysis.checking import FALSE_ALARM_RATE
from analysis.uncertainty import one_p_probability
from simulator import AcceptanceTable, AcceptanceTotals, draft_model, simulate

LONGEST = 3
ROUND_KINDS = [(length, kept) for length in range(1, LONGEST + 1) for kept in range(length + 1)]


def counts_of(rounds):
    """tested and accepted by depth of rounds given as (draft length, kept)."""
    tested = [sum(kept >= d and length > d for length, kept in rounds) for d in range(LONGEST)]
    accepted = [sum(kept > d for _, kept in rounds) for d in range(LONGEST)]
    return tested, tuple(accepted)


def test_the_truth_is_within_the_bounds_of_every_small_run():
    groups = defaultdict(list)
    for count in (1, 2, 3, 4):
        for rounds in combinations_with_replacement(ROUND_KINDS, count):
            tested, accepted = counts_of(rounds)
            groups[count, accepted, sum(length for length, _ in rounds)].append(tested)

    for (count, accepted, drafted), possible in groups.items():
        totals = AcceptanceTotals(
            rounds=count,
            drafted=drafted,
            accepted=sum(accepted),
            accepted_by_depth=accepted,
            longest_draft=LONGEST,
        )
        bounds = p_by_depth_bounds(totals)
        for depth, (low, high) in enumerate(bounds):
            shares = [accepted[depth] / tested[depth] for tested in possible if tested[depth]]
            assert all(low <= share <= high for share in shares), (totals, depth)


def test_full_drafts_leave_nothing_open():
    totals = AcceptanceTotals(
        rounds=10, drafted=20, accepted=12, accepted_by_depth=(7, 5), longest_draft=2
    )

    assert p_by_depth_bounds(totals) == ((0.7, 0.7), (5 / 7, 5 / 7))


def test_depths_that_are_not_printed_have_no_bounds():
    assert p_by_depth_bounds(AcceptanceTotals(rounds=10, drafted=20, accepted=12)) is None


def test_depths_never_reached_are_unknown():
    totals = AcceptanceTotals(rounds=5, drafted=10, accepted=0, accepted_by_depth=(0, 0))

    assert all(map(math.isnan, p_by_depth_bounds(totals)[1]))


def test_one_p_is_not_rejected_by_its_own_rounds():
    table = simulate(draft_model(p=0.8, gamma=5), rounds=200_000, rng=0)

    assert one_p_probability(table) > FALSE_ALARM_RATE


def test_a_last_depth_of_78_instead_of_80_per_cent_is_noticed():
    strategy = draft_model(by_depth=(0.8, 0.8, 0.8, 0.8, 0.78))
    table = simulate(strategy, rounds=200_000, rng=0)

    assert one_p_probability(table) < FALSE_ALARM_RATE


def test_the_probability_is_that_of_scipys_g_test():
    table = AcceptanceTable(
        rounds=300, drafted=900, tested=(300, 250, 180), accepted=(250, 180, 150)
    )
    cells = np.array([[250, 180, 150], [50, 70, 30]])

    expected = scipy_stats.chi2_contingency(cells, correction=False, lambda_="log-likelihood")

    assert one_p_probability(table) == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize("accepted", [(0, 0), (10, 10)], ids=["nothing kept", "all kept"])
def test_certain_outcomes_do_not_contradict_one_p(accepted):
    tested = (10, accepted[0])
    table = AcceptanceTable(rounds=10, drafted=20, tested=tested, accepted=accepted)

    chance = one_p_probability(table)

    assert math.isnan(chance) or chance == pytest.approx(1.0)

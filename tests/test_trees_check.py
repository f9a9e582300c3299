"""The walk through trees against their exact law, and walks that are wrong and must be found out.

Every comparison rejects a right walk with a chance of about 1e-8; seeds are fixed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from stats import assert_all

from analysis import best_tree, check, check_nodes, node_probabilities, round_law
from simulator import (
    AcceptanceTable,
    Context,
    DynamicTree,
    RankAcceptance,
    Strategy,
    Tree,
    draft_model,
    eagle,
    lookahead,
    medusa,
    simulate,
    simulate_counts,
    simulate_lengths,
    simulate_nodes,
)

HEADS = ((0.55, 0.15, 0.05), (0.4, 0.1, 0.08), (0.3, 0.1, 0.02))
ROUNDS = 200_000
CONTEXTS = (
    Context(share=0.4, by_depth=((0.9, 0.05, 0.02),) * 4),
    Context(share=0.6, by_depth=((0.3, 0.25, 0.2),) * 4),
)
ONE_TREE = {
    "medusa": medusa(accuracies=HEADS, nodes=12),
    "eagle": eagle(ranks=((0.7, 0.1), (0.6, 0.2), (0.6, 0.1)), tree=Tree.from_widths([2, 2, 1])),
    "contexts": eagle(contexts=CONTEXTS, tree=Tree.from_widths([3, 2, 1])),
    "candidates": lookahead(window=4, ngram=5, candidates=6, p=0.5),
    "candidates at times": lookahead(
        window=4, ngram=4, candidates=3, by_depth=(0.6, 0.5, 0.9), hit=0.3
    ),
}
ALL = ONE_TREE | {"dynamic": eagle(contexts=CONTEXTS, tree=DynamicTree(nodes=8, depth=4, expand=3))}


@pytest.mark.parametrize("name", ALL)
def test_the_walk_follows_the_exact_law(name):
    strategy = ALL[name]
    for run in (simulate, simulate_counts):
        table = run(strategy, rounds=ROUNDS, rng=5)
        result = check(strategy, table)
        assert result.passed, result
        assert_all(table, round_law(strategy))
    lengths = np.bincount(
        simulate_lengths(strategy, rounds=ROUNDS, rng=6), minlength=strategy.draft.gamma + 1
    )
    assert tuple(lengths) == simulate(strategy, rounds=ROUNDS, rng=6).ended


@pytest.mark.parametrize("name", ONE_TREE)
def test_every_node_is_kept_as_often_as_it_should(name):
    strategy = ONE_TREE[name]
    kept = simulate_nodes(strategy, rounds=ROUNDS, rng=7)
    result = check_nodes(strategy, kept, rounds=ROUNDS)
    assert result.passed, result
    by_depth = np.bincount(np.array(strategy.draft.depths) - 1, weights=kept)
    assert tuple(by_depth.astype(int)) == simulate(strategy, rounds=ROUNDS, rng=7).accepted


def test_a_swapped_rank_is_found_out():
    """Two leaves of one parent that swap: depths stay as they are, the nodes tell."""
    right = ONE_TREE["medusa"]
    assert isinstance(right.draft, Tree)
    swapped = replace(
        right,
        acceptance=RankAcceptance(by_depth=(HEADS[0], HEADS[1], (HEADS[2][1], HEADS[2][0], 0.02))),
    )
    kept = simulate_nodes(swapped, rounds=ROUNDS, rng=8)
    assert not check_nodes(right, kept, rounds=ROUNDS).passed
    rows = ((0.5, 0.2), (0.4, 0.1))
    tree = Tree.from_widths([2, 2])
    alike = Strategy(name="eagle", draft=tree, acceptance=RankAcceptance(by_depth=rows))
    mirrored = Strategy(
        name="eagle", draft=tree, acceptance=RankAcceptance(by_depth=(rows[0], rows[1][::-1]))
    )
    assert check(alike, simulate(mirrored, rounds=ROUNDS, rng=9)).passed
    kept = simulate_nodes(mirrored, rounds=ROUNDS, rng=9)
    assert not check_nodes(alike, kept, rounds=ROUNDS).passed


def test_a_missing_leaf_is_found_out():
    right = ONE_TREE["medusa"]
    leaves = [
        path
        for path, below in zip(right.draft.paths, right.draft.children[1:], strict=True)
        if not below
    ]
    for leaf in (leaves[0], leaves[-1]):
        lacking = Tree.from_paths(path for path in right.draft.paths if path != leaf)
        table = simulate(replace(right, draft=lacking), rounds=ROUNDS, rng=10)
        table = replace(table, drafted=ROUNDS * right.draft.nodes)  # it claims to have had all
        assert not check(right, table).passed


def test_a_leaf_that_tests_on_is_found_out():
    """Rounds that count a test behind every kept token, as chains do."""
    right = ONE_TREE["medusa"]
    table = simulate(right, rounds=ROUNDS, rng=11)
    as_chain = replace(table, tested=(ROUNDS, *table.accepted[:-1]))
    assert check(right, table).passed
    result = check(right, as_chain)
    assert not result.passed
    wrong = [row.quantity for row in result.comparisons if abs(row.tail_z) > result.z_limit]
    assert "tested[2]" in wrong  # every node at depth 1 has children here


def test_rates_off_by_a_hundredth_are_found_out():
    right = ONE_TREE["eagle"]
    off = replace(right, acceptance=RankAcceptance(by_depth=((0.7, 0.11), (0.6, 0.2), (0.6, 0.1))))
    assert not check(right, simulate(off, rounds=ROUNDS, rng=12)).passed


def test_dependent_candidates_are_found_out():
    """All candidates of a round fail together: what real pools do, and the law does not say."""
    right = ONE_TREE["candidates"]
    together = simulate(draft_model(p=0.5, gamma=4), rounds=ROUNDS, rng=13)
    table = replace(together, drafted=ROUNDS * right.draft.nodes)
    assert not check(right, table).passed


def test_a_miss_that_drafts_is_found_out():
    right = ONE_TREE["candidates at times"]
    table = simulate(right, rounds=ROUNDS, rng=14)
    assert table.drafted == table.tested[0] * right.draft.nodes
    always = replace(table, drafted=ROUNDS * right.draft.nodes, tested=(ROUNDS, *table.tested[1:]))
    assert not check(right, always).passed


def test_a_node_that_cannot_be_kept_is_named():
    strategy = medusa(accuracies=((0.5, 0.0),), tree=Tree.from_widths([2]))
    assert check_nodes(strategy, [50, 0], rounds=100).support_ok
    assert not check_nodes(strategy, [50, 1], rounds=100).support_ok


def test_rounds_that_draft_nothing_add_nothing_to_the_spread_of_the_fraction():
    """Var(accepted - fraction · drafted), summed over both kinds of rounds; 0 of both where none is found."""
    strategy, p, hit = lookahead(window=1, ngram=3, candidates=1, p=0.5, hit=0.25), 0.5, 0.25
    found = {0: 1 - p, 1: p * (1 - p), 2: p * p}
    fraction = sum(chance * n for n, chance in found.items()) / 2  # of 2 drafted tokens
    spread = hit * sum(chance * (n - 2 * fraction) ** 2 for n, chance in found.items())
    law = round_law(strategy)
    assert law.accepted_fraction == pytest.approx(fraction, rel=1e-14)
    assert law.fraction_variance == pytest.approx(spread, rel=1e-14)
    (row,) = [
        row
        for row in check(strategy, simulate(strategy, rounds=10_000, rng=1)).comparisons
        if row.quantity == "accepted_fraction"
    ]
    drafted = simulate(strategy, rounds=10_000, rng=1).drafted
    assert row.se == pytest.approx((spread * 10_000) ** 0.5 / drafted, rel=1e-12)


def test_a_table_of_other_drafts_is_refused():
    dynamic, static = ALL["dynamic"], ONE_TREE["contexts"]
    with pytest.raises(ValueError, match=r"must hold rounds of 3 depths; got .* of 4"):
        check(static, simulate(dynamic, rounds=100, rng=0))
    fixed = AcceptanceTable(rounds=1, drafted=8, tested=(1, 0, 0, 0), accepted=(0, 0, 0, 0))
    with pytest.raises(
        ValueError, match="drafts of length_rule 'confidence'; got length_rule 'fixed'"
    ):
        check(dynamic, fixed)


@pytest.mark.parametrize(
    ("strategy", "kept", "rounds", "message"),
    [
        (ALL["dynamic"], [1] * 8, 10, "one tree for all rounds; got eagle with a DynamicTree"),
        (draft_model(p=0.5, gamma=2), [1, 1], 10, "got draft_model with a Chain"),
        (ONE_TREE["medusa"], [1, 1], 10, r"kept must be 12 counts, one per node; got .* \(2,\)"),
        (ONE_TREE["medusa"], [0.5] * 12, 10, "kept must be 12 counts"),
        (ONE_TREE["medusa"], [5] * 12, 10, "kept must not grow from a node to its children"),
        (ONE_TREE["medusa"], [11] + [0] * 11, 10, "got more below the root than at it"),
        (ONE_TREE["medusa"], [0] * 11 + [1], 10, r"got more below node \d+ than at it"),
        (ONE_TREE["medusa"], [0] * 12, 0, "rounds must be"),
    ],
)
def test_bad_input_is_one_sentence(strategy, kept, rounds, message):
    with pytest.raises(ValueError, match=message) as error:
        check_nodes(strategy, kept, rounds=rounds)
    assert "\n" not in str(error.value)


def test_the_best_tree_is_as_good_as_it_says():
    rates = ((0.5, 0.05, 0.2), (0.3, 0.3, 0.1))
    best = best_tree(rates, 9)
    strategy = Strategy(name="eagle", draft=best.tree, acceptance=RankAcceptance(by_depth=rates))
    table = simulate_counts(strategy, rounds=10**8, rng=15)
    assert check(strategy, table).passed
    assert best.tokens_per_round == pytest.approx(round_law(strategy).tokens_per_round, rel=1e-13)
    total = 1.0 + node_probabilities(best.tree, rates).sum()
    assert best.tokens_per_round == pytest.approx(total, rel=1e-13)

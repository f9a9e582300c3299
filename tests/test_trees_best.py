"""The best tree: dynamic program against all trees there are, growth against it, published trees."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published_trees import SEQUOIA_DEMO, VICUNA_TOP_K

from analysis import best_tree, grow_tree, tree_value, tree_values
from simulator import RankAcceptance, medusa

DEPTH, WIDTH = 4, 3


def all_trees(nodes, *, width=WIDTH, depth=None, gaps=False):
    """Every tree of 0, 1, … `nodes` nodes as a set of paths, each size from the one before."""
    sizes = [{frozenset()}]
    for _ in range(nodes):
        larger = set()
        for tree in sizes[-1]:
            for above in ((), *tree):
                ranks = [rank for rank in range(width) if (*above, rank) not in tree]
                if depth is not None and len(above) >= depth:
                    ranks = []
                larger.update(tree | {(*above, rank)} for rank in (ranks if gaps else ranks[:1]))
        sizes.append(larger)
    return sizes


def exact_value(tree, rows):
    """1 + Σ path products, in fractions; `rows` by depth, or one for all."""
    return 1 + sum(
        prod(Fraction(rows[0 if len(rows) == 1 else d][rank]) for d, rank in enumerate(path))
        for path in tree
    )


TREES = all_trees(7)
SHALLOW = all_trees(7, depth=2)
WITH_GAPS = all_trees(5, gaps=True)


def rows(depths):
    """Rates in any order, so also such that grow with the rank, some of them 0."""
    row = st.lists(st.integers(0, 8), min_size=WIDTH, max_size=WIDTH).map(
        lambda parts: [part / 24 for part in parts]
    )
    return st.lists(row, min_size=depths, max_size=depths)


def test_there_are_as_many_trees_as_catalan_says():
    plain = all_trees(7, width=7)
    assert [len(trees) for trees in plain] == [1, 1, 2, 5, 14, 42, 132, 429]


@settings(max_examples=15)
@given(rows(1))
def test_a_vector_gives_the_best_of_all_trees(given_rows):
    values = tree_values(given_rows[0], 7)
    for nodes, trees in enumerate(TREES):
        exact = max(exact_value(tree, given_rows) for tree in trees)
        assert values[nodes] == pytest.approx(float(exact), rel=1e-13)
    shallow = tree_values(given_rows[0], 7, max_depth=2)
    for nodes, trees in enumerate(SHALLOW):
        exact = max(exact_value(tree, given_rows) for tree in trees)
        assert shallow[nodes] == pytest.approx(float(exact), rel=1e-13)


@settings(max_examples=15)
@given(rows(7))
def test_rates_by_depth_give_the_best_of_all_trees(given_rows):
    values = tree_values(given_rows, 7)
    for nodes, trees in enumerate(TREES):
        exact = max(exact_value(tree, given_rows) for tree in trees)
        assert values[nodes] == pytest.approx(float(exact), rel=1e-13)


@settings(max_examples=10)
@given(rows(5))
def test_with_gaps_any_ranks_may_be_taken(given_rows):
    values = tree_values(given_rows, 5, gaps=True)
    for nodes, trees in enumerate(WITH_GAPS):
        exact = max(exact_value(tree, given_rows) for tree in trees)
        assert values[nodes] == pytest.approx(float(exact), rel=1e-13)
    np.testing.assert_allclose(grow_tree(given_rows, 5, gaps=True).values, values, rtol=1e-13)


@settings(max_examples=40)
@given(rows(DEPTH), st.integers(0, 40), st.integers(1, WIDTH), st.integers(1, DEPTH), st.booleans())
def test_a_tree_has_the_nodes_the_limits_and_the_value_it_says(
    given_rows, nodes, width, depth, gaps
):
    room = sum(width**level for level in range(1, depth + 1))
    nodes = min(nodes, room)
    best = best_tree(given_rows, nodes, max_depth=depth, max_width=width, gaps=gaps)
    assert (best.tree.nodes, best.tree.gamma <= depth) == (nodes, True)
    for children in best.tree.children:
        ranks = [best.tree.ranks[child] for child in children]
        assert len(ranks) <= width
        assert gaps or ranks == list(range(len(ranks)))
    assert best.tokens_per_round == pytest.approx(tree_value(best.tree, given_rows), rel=1e-13)
    grown = grow_tree(given_rows, nodes, max_depth=depth, max_width=width, gaps=gaps)
    assert grown.tokens_per_round <= best.tokens_per_round + 1e-12
    assert grown.tokens_per_round == pytest.approx(tree_value(grown.tree, given_rows), rel=1e-13)


@settings(max_examples=30)
@given(rows(DEPTH), st.integers(1, DEPTH), st.integers(1, WIDTH))
def test_growth_is_best_wherever_rates_fall_with_rank(given_rows, depth, width):
    falling = [sorted(row, reverse=True) for row in given_rows]
    nodes = min(30, sum(width**level for level in range(1, depth + 1)))
    options = {"max_depth": depth, "max_width": width}
    grown = grow_tree(falling, nodes, **options)
    np.testing.assert_allclose(grown.values, tree_values(falling, nodes, **options), rtol=1e-13)
    assert all(later <= earlier for earlier, later in pairwise(grown.gains))


def test_growth_falls_short_where_a_good_child_hides_behind_a_bad_one():
    hidden = [0.3, 0.01, 0.6]
    assert tree_values(hidden, 3)[3] == pytest.approx(1.0 + 0.3 + 0.01 + 0.6)
    assert grow_tree(hidden, 3).values[3] == pytest.approx(1.0 + 0.3 + 0.09 + 0.027)
    assert tree_values(hidden, 3, gaps=True)[3] == pytest.approx(1.0 + 0.6 + 0.36 + 0.3)


def test_sequoias_vector_gives_the_published_values():
    """Golden test G7; sizes count the root, as Sequoia does."""
    values = tree_values(SEQUOIA_DEMO, 127)
    printed = {1: 1.0, 2: 1.6342, 3: 2.0364, 4: 2.2914, 8: 2.7322, 16: 3.1303, 32: 3.5007}
    for size, value in printed.items():
        assert values[size - 1] == pytest.approx(value, abs=2e-4)
    grown = grow_tree(SEQUOIA_DEMO, 127).values
    for size in printed:
        assert grown[size - 1] == pytest.approx(values[size - 1], rel=1e-13)
    short = np.flatnonzero(values - grown > 1e-12)
    assert short[0] + 1 == 75
    assert values[74] - grown[74] == pytest.approx(2.4e-4, abs=5e-6)


def test_bounded_search_is_the_unbounded_one_where_no_depth_binds():
    deep = tree_values(SEQUOIA_DEMO, 60, max_depth=59)
    np.testing.assert_allclose(deep[:60], tree_values(SEQUOIA_DEMO, 60)[:60], rtol=1e-13)
    rows_of_it = [SEQUOIA_DEMO] * 12
    np.testing.assert_array_equal(
        tree_values(rows_of_it, 60), tree_values(SEQUOIA_DEMO, 60, max_depth=12)
    )


def test_medusas_heads_give_the_published_tree():
    """Golden test G8: values at the printed sizes, the first nodes in order."""
    law = RankAcceptance.from_top_k(VICUNA_TOP_K)
    grown = grow_tree(law, 63)
    assert grown.order[:6] == ((0,), (0, 0), (1,), (0, 1), (2,), (0, 0, 0))
    printed = {1: 1.560, 2: 1.737, 4: 1.909, 8: 2.070, 16: 2.223, 32: 2.320}
    for nodes, value in printed.items():
        assert grown.values[nodes] == pytest.approx(value, abs=6e-4)
    np.testing.assert_allclose(grown.values, tree_values(law, 63), rtol=1e-13)
    own = medusa(accuracies=law.by_depth, nodes=63)
    assert set(own.draft.paths) == set(grown.order)


def test_a_swapped_head_changes_the_published_values():
    """Negative control: these digits do tell one tree from another."""
    rows_in_order = RankAcceptance.from_top_k(VICUNA_TOP_K).by_depth
    swapped = (rows_in_order[1], rows_in_order[0], *rows_in_order[2:])
    assert abs(tree_values(swapped, 4)[4] - 1.909) > 0.1


def test_large_trees_are_consistent():
    rates = np.random.default_rng(1).dirichlet(np.ones(9), size=6)[:, :8]
    values = tree_values(rates, 300)
    best = best_tree(rates, 300)
    assert best.tokens_per_round == values[300]
    assert best.tokens_per_round == pytest.approx(tree_value(best.tree, rates), rel=1e-12)
    assert np.all(np.diff(values) >= 0.0)
    falling = -np.sort(-rates, axis=1)
    np.testing.assert_allclose(
        grow_tree(falling, 300).values, tree_values(falling, 300), rtol=1e-12
    )


@pytest.mark.parametrize("search", [best_tree, tree_values, grow_tree])
@pytest.mark.parametrize(
    ("rates", "nodes", "options", "message"),
    [
        ([0.6, 0.5], 3, {}, r"rates must sum to at most 1 .*; got 1.1\."),
        ([[0.6], [0.6, 0.5]], 3, {}, r"rates\[1\] must sum to at most 1 .*; got 1.1\."),
        ([0.6, -0.1], 3, {}, r"rates\[1\] must be a number in \[0, 1\]; got -0.1\."),
        ([0.6, float("nan")], 3, {}, r"rates\[1\] must be a number in \[0, 1\]; got nan\."),
        ([], 3, {}, r"rates must be numbers .*; got \[\]\."),
        ([[0.5], []], 3, {}, r"rates must be numbers"),
        ("0.5", 3, {}, r"rates\[0\] must be a number in \[0, 1\]; got '0'\."),
        (0.5, 3, {}, r"rates must be numbers"),
        ([[0.5], 0.2, *[[0.1]] * 999], 3, {}, r"rates must be .*; got \[\[0.5\], 0.2, .*\.\.\."),
        ([0.5], -1, {}, r"nodes must be .*; got -1\."),
        ([0.5], 10**6, {}, r"nodes must be .*; got 1000000\."),
        ([0.5], 3, {"max_depth": 0}, r"max_depth must be .*; got 0\."),
        ([0.5], 3, {"max_width": 0}, r"max_width must be .*; got 0\."),
        ([0.5, 0.1], 7, {"max_depth": 2}, r"nodes must be at most the 6 that .*; got 7\."),
        ([[0.5, 0.1], [0.3]], 5, {}, r"nodes must be at most the 4 that .*; got 5\."),
    ],
)
def test_bad_input_is_one_sentence(search, rates, nodes, options, message):
    with pytest.raises(ValueError, match=message) as error:
        search(rates, nodes, **options)
    assert "\n" not in str(error.value)

"""The exact law of trees: against enumeration of all that a round can do, and against closed forms."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published_trees import SEQUOIA_DEMO

from analysis import (
    expected_tokens,
    lookahead_tokens,
    node_probabilities,
    round_law,
    sequences_value,
    stopped_law,
    tree_bounds,
    tree_value,
    tree_values,
)
from simulator import (
    Chain,
    Context,
    ContextMixture,
    DynamicTree,
    ParallelCandidates,
    RankAcceptance,
    Strategy,
    Tree,
    draft_model,
    eagle,
    lookahead,
    medusa,
)

WIDTH = 3


@st.composite
def trees(draw):
    """Any tree of up to 9 nodes, ranks with gaps among them."""
    paths = set()
    for _ in range(draw(st.integers(0, 9))):
        above = draw(st.sampled_from([(), *sorted(paths)]))
        free = [rank for rank in range(WIDTH) if (*above, rank) not in paths]
        if free:
            paths.add((*above, draw(st.sampled_from(free))))
    return Tree.from_paths(paths)


rates = st.lists(
    st.lists(st.integers(0, 8), min_size=WIDTH, max_size=WIDTH).map(
        lambda parts: tuple(part / 24 for part in parts)
    ),
    min_size=9,
    max_size=9,
).map(tuple)
chances = st.integers(0, 8).map(lambda parts: parts / 8)


def walks(paths, by_depth, path=(), chance=Fraction(1)):
    """Every way a round can go: the paths it kept and its chance, told by what happens next."""
    children = sorted(way[-1] for way in paths if len(way) == len(path) + 1 and way[:-1] == path)
    going = Fraction(0)
    for rank in children:
        here = Fraction(by_depth[len(path)][rank])
        going += here
        yield from walks(paths, by_depth, (*path, rank), chance * here)
    yield path, bool(children), chance * (1 - going)


def assert_law_is(law, ended, tested, depth):
    """`ended`, `tested`: chance by depth, from an enumeration."""
    pmf = [float(ended.get(n, 0)) for n in range(depth + 1)]
    np.testing.assert_allclose(law.pmf, pmf, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(law.survival, np.cumsum(pmf[::-1])[::-1][1:], rtol=1e-12, atol=1e-15)
    found = [float(tested.get(n, 0)) for n in range(depth)]
    np.testing.assert_allclose(law.tested, found, rtol=1e-12, atol=1e-15)
    mean = sum(n * weight for n, weight in enumerate(pmf))
    assert law.tokens_per_round == pytest.approx(1.0 + mean, rel=1e-12)
    square = sum((n - mean) ** 2 * weight for n, weight in enumerate(pmf))
    assert law.variance == pytest.approx(square, rel=1e-9, abs=1e-13)


def enumerated(tree, by_depth, share=1, ended=None, tested=None):
    ended, tested = ended if ended is not None else {}, tested if tested is not None else {}
    for path, has_children, chance in walks(set(tree.paths), by_depth):
        ended[len(path)] = ended.get(len(path), 0) + share * chance
        for depth in range(len(path) + has_children):
            tested[depth] = tested.get(depth, 0) + share * chance
    return ended, tested


@settings(max_examples=60)
@given(trees(), rates)
def test_law_of_a_tree_is_the_enumeration(tree, by_depth):
    strategy = Strategy(name="eagle", draft=tree, acceptance=RankAcceptance(by_depth=by_depth))
    law = round_law(strategy)
    assert_law_is(law, *enumerated(tree, by_depth), tree.gamma)
    assert law.drafted == tree.nodes
    kept = dict.fromkeys(tree.paths, 0.0)
    for path, _, chance in walks(set(tree.paths), by_depth):
        for end in range(1, len(path) + 1):
            kept[path[:end]] += float(chance)
    found = node_probabilities(tree, strategy.acceptance)
    np.testing.assert_allclose(found, [kept[path] for path in tree.paths], rtol=1e-12, atol=1e-15)
    assert tree_value(tree, strategy.acceptance) == pytest.approx(law.tokens_per_round, rel=1e-13)


@settings(max_examples=30)
@given(trees(), rates, rates, chances)
def test_law_of_contexts_is_their_mean(tree, one, other, share):
    contexts = (Context(share=share, by_depth=one), Context(share=1.0 - share, by_depth=other))
    law = round_law(
        Strategy(name="eagle", draft=tree, acceptance=ContextMixture(contexts=contexts))
    )
    ended, tested = enumerated(tree, one, Fraction(share))
    assert_law_is(law, *enumerated(tree, other, 1 - Fraction(share), ended, tested), tree.gamma)


def test_a_dynamic_tree_is_the_mean_over_the_trees_it_grows():
    sure = Context(share=0.25, by_depth=((0.9, 0.05, 0.02),) * 4)
    unsure = Context(share=0.75, by_depth=((0.3, 0.25, 0.2),) * 4)
    tree = DynamicTree(nodes=6, depth=4, expand=3)
    strategy = eagle(contexts=(sure, unsure), tree=tree)
    law = round_law(strategy)
    ended, tested = {}, {}
    for context in (sure, unsure):
        grown = tree.grow(context.by_depth)
        enumerated(grown, context.by_depth, Fraction(context.share), ended, tested)
    assert_law_is(law, ended, tested, 4)
    best = [
        context.share * tree_values(context.by_depth, 6)[6] for context in (sure, unsure)
    ]  # enough is expanded here for the best tree of each context
    assert law.tokens_per_round == pytest.approx(sum(best), rel=1e-12)
    static = [tree_value(tree.grow(each.by_depth), strategy.acceptance) for each in (sure, unsure)]
    assert law.tokens_per_round > max(static) + 0.01


def test_wrong_confidences_cost_a_dynamic_tree():
    rows = ((0.6, 0.3),) * 3
    fooled = Context(share=1.0, by_depth=rows, confidences=((0.3, 0.6),) * 3)
    tree = DynamicTree(nodes=3, depth=3, expand=2)
    assert tree_value(tree, rows) == pytest.approx(1.0 + 0.6 + 0.36 + 0.3)
    assert tree_value(tree, rows) == tree_value(tree, RankAcceptance(by_depth=rows))
    misled = tree_value(tree, ContextMixture(contexts=(fooled,)))  # keeps (1,), (1, 1) and (0,)
    assert misled == pytest.approx(1.0 + 0.3 + 0.09 + 0.6)


@settings(max_examples=30)
@given(st.lists(chances, min_size=1, max_size=3), st.integers(1, 3), chances)
def test_law_of_candidates_is_the_enumeration(by_depth, candidates, hit):
    """All lengths of all candidates; of the longest the first is kept."""
    length = len(by_depth)
    reached = [Fraction(1)]
    for p in by_depth:
        reached.append(reached[-1] * Fraction(p))
    alone = [reached[n] - (reached[n + 1] if n < length else 0) for n in range(length + 1)]
    ended, tested = {0: 1 - Fraction(hit)}, {}
    kept = np.zeros((candidates, length))
    for lengths in product(range(length + 1), repeat=candidates):
        chance = Fraction(hit)
        for n in lengths:
            chance *= alone[n]
        longest = max(lengths)
        ended[longest] = ended.get(longest, 0) + chance
        for depth in range(min(longest + 1, length)):
            tested[depth] = tested.get(depth, 0) + chance
        kept[lengths.index(longest), :longest] += float(chance)
    strategy = lookahead(
        window=2, ngram=length + 1, candidates=candidates, by_depth=by_depth, hit=hit
    )
    law = round_law(strategy)
    assert_law_is(law, ended, tested, length)
    assert law.drafted == pytest.approx(hit * candidates * length)
    found = node_probabilities(strategy.draft, strategy.acceptance)
    np.testing.assert_allclose(found, kept.ravel(), rtol=1e-12, atol=1e-14)


@given(chances, st.integers(1, 12), st.integers(1, 20), chances)
def test_lookaheads_formula_is_its_law(p, ngram, candidates, hit):
    law = round_law(lookahead(window=3, ngram=ngram, candidates=candidates, p=p, hit=hit))
    formula = lookahead_tokens(p, ngram, candidates, hit=hit)
    assert formula == pytest.approx(law.tokens_per_round, rel=1e-12)
    literal = ngram - sum((1.0 - p**i) ** candidates for i in range(1, ngram))
    assert lookahead_tokens(p, ngram, candidates) == pytest.approx(literal, rel=1e-12)


@given(st.floats(0.0, 1.0), st.integers(1, 40))
def test_lookahead_of_one_candidate_is_the_chain(p, ngram):
    """Golden test G10, with the other end: candidates without end keep everything."""
    assert lookahead_tokens(p, ngram, 1) == pytest.approx(expected_tokens(p, ngram - 1), rel=1e-12)
    certain = lookahead_tokens(max(p, 0.5), min(ngram, 12), 10**9)
    assert certain == pytest.approx(min(ngram, 12), rel=1e-12)


def test_lookahead_broadcasts_and_rests_between_hits():
    table = lookahead_tokens([[0.3], [0.7]], [2, 5, 9], 4)
    assert table.shape == (2, 3)
    assert table[1, 2] == lookahead_tokens(0.7, 9, 4)
    once_in_four = lookahead_tokens(0.7, 9, 4, hit=0.25)
    assert once_in_four == pytest.approx((4 - 1 + lookahead_tokens(0.7, 9, 4)) / 4)


@settings(max_examples=30)
@given(st.lists(chances, min_size=WIDTH, max_size=WIDTH), st.integers(1, 3), st.integers(1, 6))
def test_sequences_have_a_closed_form(parts, count, length):
    row = [part / WIDTH for part in parts]
    value = sequences_value(row, count=count, length=length)
    wide = Tree.sequences(count, length)
    assert value == pytest.approx(tree_value(wide, row), rel=1e-12)
    bounds = tree_bounds(row, width=count)
    assert value <= bounds.sequences + 1e-12
    assert bounds.chain - 1e-12 <= bounds.sequences <= bounds.chain + 1.0 + 1e-12
    full = Tree.from_widths([count] * min(length, 4))
    assert tree_value(full, row) <= bounds.tree * (1.0 + 1e-12)


def test_bounds_are_reached_in_the_end():
    row = SEQUOIA_DEMO
    bounds = tree_bounds(row, width=2)
    assert sequences_value(row, count=1, length=200) == pytest.approx(bounds.chain, rel=1e-9)
    assert sequences_value(row, count=2, length=200) == pytest.approx(bounds.sequences, rel=1e-9)
    assert bounds.tree == pytest.approx(1.0 / (1.0 - 0.6342 - 0.1079), rel=1e-12)
    assert tree_values(row, 500, max_width=2)[500] < bounds.tree
    assert tree_values(row, 500, max_width=2)[500] > 0.95 * bounds.tree
    assert tree_bounds([0.75, 0.25], width=2).tree == float("inf")
    assert tree_bounds([0.0, 0.5], width=1).sequences == 1.0


def test_a_tree_that_is_a_chain_has_the_law_of_the_chain():
    by_depth = (0.8, 0.5, 0.9)
    chain = round_law(draft_model(by_depth=by_depth))
    tree = round_law(eagle(ranks=[(p,) for p in by_depth], tree=Tree.chain(3)))
    np.testing.assert_allclose(tree.conditional, chain.conditional, rtol=1e-12)
    np.testing.assert_allclose(tree.pmf, chain.pmf, rtol=1e-12)
    np.testing.assert_allclose(tree.tested, chain.tested, rtol=1e-12)
    assert tree.fraction_variance == pytest.approx(chain.variance, rel=1e-12)


def test_a_leaf_tests_nothing_behind_it():
    law = round_law(medusa(accuracies=((0.6, 0.2), (0.5, 0.1)), nodes=3))
    assert law.tested == pytest.approx((1.0, 0.6))
    assert law.conditional == pytest.approx((0.8, 0.5))


def test_an_empty_tree_is_plain_decoding():
    law = round_law(lookahead(window=4, ngram=1, candidates=3, p=0.7))
    assert (law.pmf, law.survival, law.drafted, law.tokens_per_round) == ((1.0,), (), 0, 1.0)
    assert tree_value(Tree(parents=()), [0.5]) == 1.0


def test_rates_that_pass_one_by_rounding_stay_probabilities():
    law = round_law(eagle(ranks=[(0.5, 0.5 + 5e-10)], tree=Tree.from_widths([2])))
    assert (law.survival, law.conditional) == ((1.0,), (1.0,))
    assert law.pmf[0] == 0.0


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: tree_value(Tree.chain(3), [[0.5], [0.5]]), "rates must know every depth"),
        (lambda: tree_value(Tree.from_widths([3]), [0.5, 0.1]), "rates must know every rank"),
        (
            lambda: tree_value(Tree.chain(3), ParallelCandidates(p=0.5, candidates=2)),
            r"must be 2 chains of one length side by side, .* got a tree of 3 nodes and depth 3\.",
        ),
        (
            lambda: tree_value(Chain(gamma=2), [0.5]),
            r"draft must be a Tree or a DynamicTree; got Chain\(gamma=2\)\.",
        ),
        (
            lambda: node_probabilities(DynamicTree(nodes=2, depth=1, expand=2), [0.5, 0.2]),
            r"tree must be a Tree, the same in every round; got DynamicTree",
        ),
        (lambda: sequences_value([[0.5]], count=1, length=2), "rates must be one vector"),
        (lambda: sequences_value([0.5], count=2, length=2), "count must be"),
        (lambda: tree_bounds([0.5], width=0), "width must be"),
        (lambda: lookahead_tokens(0.5, 0, 3), r"ngram must be at least 1; got 0\."),
        (lambda: lookahead_tokens(0.5, 3, [2, 0]), r"candidates must be at least 1; got 0\."),
        (lambda: lookahead_tokens(1.5, 3, 2), r"p must be in \[0, 1\]; got 1.5\."),
        (
            lambda: stopped_law(medusa(accuracies=((0.6,),), nodes=1)),
            r"stopped_law takes chains; got a tree of 1 nodes",
        ),
    ],
)
def test_bad_input_is_one_sentence(run, message):
    with pytest.raises(ValueError, match=message) as error:
        run()
    assert "\n" not in str(error.value)

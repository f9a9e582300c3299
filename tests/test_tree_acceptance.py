"""Laws of trees as data, and the tree that grows by confidence."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator import (
    Context,
    ContextMixture,
    DynamicTree,
    ParallelCandidates,
    RankAcceptance,
    Tree,
)

ROWS = ((0.5, 0.2, 0.1), (0.6, 0.15))


def test_rates_of_nodes_are_those_of_their_depth_and_rank():
    tree = Tree.from_paths([(0,), (2,), (2, 1), (0, 0)])
    assert RankAcceptance(by_depth=ROWS).rates(tree) == (0.5, 0.1, 0.6, 0.15)


def test_top_k_accuracies_become_rates_of_single_ranks():
    law = RankAcceptance.from_top_k([(0.5, 0.7, 0.7), (0.25,)])
    assert law.by_depth == ((0.5, pytest.approx(0.2), 0.0), (0.25,))


def test_one_vector_everywhere():
    law = RankAcceptance.everywhere([0.6, 0.2], 3)
    assert law == RankAcceptance(by_depth=[[0.6, 0.2]] * 3)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: RankAcceptance(by_depth=((0.5, 0.6),)), "by_depth[0] must sum to at most 1"),
        (lambda: RankAcceptance(by_depth=((math.nan,),)), "by_depth[0][0] must be a number in [0, 1]"),
        (lambda: RankAcceptance(by_depth=(0.5,)), "by_depth must be numbers by depth and rank"),
        (lambda: RankAcceptance.everywhere((0.6, 0.6), 2), "rates[0] must sum to at most 1"),
        (lambda: RankAcceptance.everywhere((0.6,), 0), "depth must be a whole number in [1,"),
        (lambda: RankAcceptance.from_top_k([(0.5, 0.4)]), "cumulative[0] must not fall"),
        (lambda: RankAcceptance.from_top_k([(0.5, 1.4)]), "cumulative[0][1] must be a number"),
        (lambda: Context(share=1.5, by_depth=ROWS), "share must be a number in [0, 1]; got 1.5"),
        (lambda: Context(share=0.5, by_depth=ROWS, confidences=((2.0,),)), "confidences[0][0] must"),
        (lambda: ParallelCandidates(p=0.5, candidates=0), "candidates must be a whole number"),
        (lambda: ParallelCandidates(by_depth=0.5, candidates=2), "by_depth must be a sequence"),
        (lambda: RankAcceptance.everywhere(0.6, 2), "rates must be a sequence of numbers in [0, 1]; got"),
        (lambda: ParallelCandidates(by_depth=(2.0,), candidates=2), "by_depth[0] must be a number"),
        (lambda: DynamicTree(nodes=0, depth=2, expand=2), "nodes must be a whole number in [1,"),
        (lambda: DynamicTree(nodes=2, depth=0, expand=2), "depth must be a whole number in [1,"),
        (lambda: DynamicTree(nodes=2, depth=2, expand=0), "expand must be a whole number in [1,"),
        (lambda: DynamicTree(nodes=7, depth=2, expand=2), "at most 6, all that depth 2 and expand 2 put"),
        (lambda: DynamicTree(nodes=2, depth=2, expand=2).grow([(0.5,)]), "each of the 2 depths"),
        (lambda: DynamicTree(nodes=2, depth=1, expand=2).grow(0.5), "confidences must be numbers by depth"),
        (lambda: DynamicTree(nodes=2, depth=1, expand=2).grow([0.5]), "confidences must be numbers by depth"),
        (lambda: DynamicTree(nodes=2, depth=1, expand=2).grow([(0.5, 7)]), "confidences[0][1] must"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(build, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        build()


def test_contexts_that_never_occur_are_left_out():
    law = ContextMixture(
        contexts=(Context(share=1.0, by_depth=ROWS), Context(share=0.0, by_depth=()))
    )
    kinds = law.kinds(Tree.from_widths([3, 2]))
    assert [kind.share for kind in kinds] == [1.0]


def test_a_dynamic_tree_grows_deep_where_the_draft_is_sure_and_wide_where_not():
    draft = DynamicTree(nodes=5, depth=3, expand=2)
    sure = draft.grow([(0.8, 0.1), (0.85, 0.1), (0.9, 0.05)])
    assert sure.paths == ((0,), (1,), (0, 0), (1, 0), (0, 0, 0))
    hard = draft.grow([(0.3, 0.25), (0.2, 0.2), (0.1, 0.1)])
    assert hard.paths == ((0,), (1,), (0, 0), (0, 1), (1, 0))


def eagle2(confidences, nodes, depth, expand):
    """EAGLE-2's own steps on arrays: per layer top-k of top-k, then top-m of the flat list of all."""
    scores, paths = [], []
    frontier = [((), 1.0)]
    for layer in range(depth):
        row = np.array(confidences[layer])
        best = np.argsort(-row, kind="stable")[:expand].tolist()
        offered = [((*path, r), score * row[r]) for path, score in frontier for r in best]
        paths += [path for path, _ in offered]
        scores += [score for _, score in offered]
        frontier = sorted(offered, key=lambda one: -one[1])[:expand]
    order = np.argsort(-np.array(scores), kind="stable")[:nodes]
    return {paths[i] for i in order}


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 4), st.floats(0.0, 1.0))
def test_a_dynamic_tree_is_what_eagle2_steps_end_with(seed, depth, expand, part):
    confidences = np.random.default_rng(seed).dirichlet(np.full(6, 0.7), size=depth)
    most = expand + (depth - 1) * expand**2
    nodes = 1 + round(part * (most - 1))
    tree = DynamicTree(nodes=nodes, depth=depth, expand=expand).grow(confidences.tolist())
    assert set(tree.paths) == eagle2(confidences, nodes, depth, expand)


def test_a_layer_puts_up_the_children_of_expanded_nodes_alone():
    """Two of the four nodes of layer 2 are expanded: 2 + 4 + 4 nodes stand for choice, not 2 + 4 + 8."""
    tree = DynamicTree(nodes=10, depth=3, expand=2).grow([(0.6, 0.4), (0.6, 0.4), (1.0, 0.9)])
    assert tree.widths == (2, 4, 4)
    assert {path[:2] for path in tree.paths if len(path) == 3} == {(0, 0), (0, 1)}


def test_only_the_best_of_a_layer_are_expanded():
    """With one expanded node a layer the second child stays a leaf, whatever its children are worth."""
    tree = DynamicTree(nodes=4, depth=4, expand=1).grow([(0.5, 0.49), (0.9, 0.1)] * 2)
    assert tree.paths == ((0,), (0, 0), (0, 0, 0), (0, 0, 0, 0))
    wide = DynamicTree(nodes=5, depth=2, expand=2).grow([(0.4, 0.35, 0.2), (0.9, 0.01, 0.0)])
    assert (2,) not in wide.paths  # two children a node, as many as are expanded


def test_children_are_ranked_by_confidence_and_ties_by_depth_and_path():
    tree = DynamicTree(nodes=3, depth=2, expand=3).grow([(0.1, 0.5, 0.2), (1.0, 0.0, 0.0)])
    assert tree.paths == ((1,), (2,), (1, 0))
    none = DynamicTree(nodes=3, depth=2, expand=2).grow([(0.0, 0.0), (0.0, 0.0)])
    assert none.paths == ((0,), (1,), (0, 0))


def test_confidences_shape_the_tree_and_rates_decide():
    context = Context(share=1.0, by_depth=((0.1, 0.8),), confidences=((0.9, 0.05),))
    (kind,) = ContextMixture(contexts=(context,)).kinds(DynamicTree(nodes=1, depth=1, expand=1))
    assert (kind.tree.paths, kind.rates) == (((0,),), (0.1,))

"""The shape of a tree as data: builders, what is read off it, and what is no tree."""

from __future__ import annotations

import numpy as np
import pytest

from simulator import Tree
from simulator.trees import MAX_NODES

LONG_CYCLE = (*range(1, MAX_NODES), 0)


def test_builders_say_the_same_in_other_words():
    chain = Tree.chain(3)
    assert chain == Tree.from_paths([(0,), (0, 0), (0, 0, 0)]) == Tree.from_widths([1, 1, 1])
    assert chain == Tree.sequences(1, 3) == Tree(parents=(-1, 0, 1), ranks=(0, 0, 0))
    assert Tree.sequences(4, 1) == Tree.from_widths([4]) == Tree(parents=(-1,) * 4)
    assert Tree.chain(0) == Tree.from_paths([]) == Tree.from_widths([]) == Tree(parents=())


def test_what_is_read_off_a_tree():
    tree = Tree.from_paths([(2, 1), (0,), (2,), (2, 1, 0), (0, 0)])
    assert tree.paths == ((0,), (2,), (0, 0), (2, 1), (2, 1, 0))
    assert (tree.depths, tree.gamma, tree.widths) == ((1, 1, 2, 2, 3), 3, (2, 2, 1))
    assert tree.children == ((0, 1), (2,), (3,), (), (4,), ())
    assert Tree.from_paths(tree.paths) == tree


def test_specinfers_expansion_has_as_many_nodes_as_its_paper_says():
    """SpecInfer (2305.09781): Σ over depths of the product of widths; <1,1,3,1,1,1,1,1> has 20."""
    assert Tree.from_widths([1, 1, 3, 1, 1, 1, 1, 1]).nodes == 20


def test_arrays_do_as_well_as_tuples():
    tree = Tree(parents=np.array([-1, 0, 0]), ranks=np.array([0, 1, 0]))
    assert tree == Tree(parents=(-1, 0, 0), ranks=(0, 1, 0))
    assert all(type(value) is int for value in (*tree.parents, *tree.ranks))


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Tree(parents=(1, 2, 0)), r"go round in a cycle: 0 → 1 → 2 → 0\."),
        (lambda: Tree(parents=(-1, 1)), r"go round in a cycle: 1 → 1\."),
        (lambda: Tree(parents=(1, 2, 1)), r"go round in a cycle: 1 → 2 → 1\."),
        (lambda: Tree(parents=LONG_CYCLE), r"0 → 1 → 2 → 3 → 4 → 5 → 6 → 7 → … → 0\."),
        (lambda: Tree(parents=(1, -1)), r"before their children; node 0 has parent 1\."),
        (lambda: Tree(parents=(-1, 7)), r"node 1 is an orphan, its parent 7 does not exist\."),
        (lambda: Tree(parents=(-2,)), r"node 0 is an orphan, its parent -2 does not exist\."),
        (lambda: Tree(parents=(-1, -1), ranks=(1, 1)), r"nodes 0 and 1 are both child 1 of the root"),
        (lambda: Tree(parents=(-1, 0, 0), ranks=(0, 2, 2)), "are both child 2 of node 0"),
        (lambda: Tree(parents=(-1, 0), ranks=(0,)), "one entry per node; got 1 for 2 nodes"),
        (lambda: Tree(parents=(-1,), ranks=(-1,)), r"ranks\[0\] must be .* at least 0; got -1"),
        (lambda: Tree(parents=(-1.0,)), r"parents must be whole numbers; got -1\.0"),
        (lambda: Tree(parents=3), "parents must be whole numbers in a row; got 3"),
        (lambda: Tree.from_paths([(0,), (0, 1, 2)]), r"\(0, 1, 2\) is an orphan without \(0, 1\)"),
        (lambda: Tree.from_paths([(0,), (0,)]), r"no duplicate child; \(0,\) is twice"),
        (lambda: Tree.from_paths([()]), "the root needs none"),
        (lambda: Tree.from_paths([0]), "path must be whole numbers in a row; got 0"),
        (lambda: Tree.from_paths(5), "paths must be rows of ranks, one per node; got 5"),
        (lambda: Tree.from_widths([2, 0]), r"widths\[1\] must be .* at least 1; got 0"),
        (lambda: Tree.from_widths([300, 300]), r"nodes must be .*65536\]; got 90300"),
        (lambda: Tree.sequences(0, 2), "count must be .*; got 0"),
        (lambda: Tree.sequences(300, 300), "nodes must be .*; got 90000"),
        (lambda: Tree.chain(-1), "gamma must be .*; got -1"),
    ],
)  # fmt: skip
def test_what_is_no_tree_is_one_sentence(build, sentence):
    with pytest.raises(ValueError, match=sentence) as refused:
        build()
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200

"""Whole trees: which path is kept. Exact where nothing is left to chance, else against a law by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from stats import CHI_SQUARE_LIMIT, FEWEST_EXPECTED

import simulator as sim
from analysis import children_law
from simulator import Tree, verify_tree
from simulator._rows import ProbabilityRows
from simulator.tree_verification import judge_tree

SURE = [rule for rule in sim.TREE_RULES if rule.lossless_for]
TREE = Tree.from_paths([(0,), (1,), (0, 0), (0, 1), (1, 0)])
NEXT = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])  # after each token
DRAFT = np.array([[0.3, 0.3, 0.4], [0.5, 0.2, 0.3], [0.1, 0.6, 0.3]])
ROUNDS = 2_000


@st.composite
def sure_trees(draw):
    """A tree of random tokens, and target rows that leave nothing to chance."""
    parents = [draw(st.integers(-1, node - 1)) for node in range(draw(st.integers(0, 12)))]
    tokens = draw(st.lists(st.integers(0, 2), min_size=len(parents), max_size=len(parents)))
    wanted = draw(st.lists(st.integers(0, 2), min_size=len(parents) + 1, max_size=len(parents) + 1))
    return Tree(parents=parents), tokens, wanted


def follow(tree, tokens, wanted):
    """The path of wanted tokens, the first of equal children, by definition."""
    path, here = [], -1
    while True:
        below = [n for n in tree.children[here + 1] if tokens[n] == wanted[here + 1]]
        if not below:
            return tuple(path), wanted[here + 1], len(path) + bool(tree.children[here + 1])
        here = below[0]
        path.append(here)


@given(sure_trees(), st.sampled_from(SURE))
def test_a_sure_target_is_followed_by_every_lossless_rule(case, rule):
    tree, tokens, wanted = case
    draft = np.full((tree.nodes, 3), 1 / 3)
    if rule.name == "without_replacement":  # siblings of one token cannot have come about
        kept = [len({tokens[n] for n in below}) == len(below) for below in tree.children]
        if not all(kept):
            return
    verdict = verify_tree(np.eye(3)[wanted], draft, tokens, tree.parents, rule=rule, rng=0)
    assert (verdict.path, verdict.next_token, verdict.tested) == follow(tree, tokens, wanted)


@given(sure_trees(), st.integers(0, 1000))
def test_typical_acceptance_keeps_the_longest_typical_path(case, seed):
    tree, tokens, _ = case
    rule = sim.typical_acceptance(epsilon=0.3, delta=1.0)
    target = np.random.default_rng(seed).dirichlet(np.ones(3), size=tree.nodes + 1)
    typical = []
    for node, parent in enumerate(tree.parents):
        row = target[parent + 1]
        typical.append(row[tokens[node]] > min(0.3, np.exp((row * np.log(row)).sum())))
    ways = {-1: ()}
    for node, parent in enumerate(tree.parents):
        if parent in ways and typical[node]:
            ways[node] = (*ways[parent], node)
    longest = max(map(len, ways.values()))
    verdict = verify_tree(target, None, tokens, tree.parents, rule=rule, rng=0)
    assert len(verdict.path) == longest
    assert verdict.path in ways.values()
    assert verdict.next_token == target[verdict.path[-1] + 1 if verdict.path else 0].argmax()
    judged = {len(way) + 1 for node, way in ways.items() if tree.children[node + 1]}
    assert verdict.tested == max(judged, default=0)


def drawn_tree(rng, picked):
    """Tokens of TREE behind token 0, and what each was drawn from."""
    tokens, rows = np.empty(TREE.nodes, np.int64), np.empty((TREE.nodes, 3))
    for above, below in enumerate(TREE.children):
        row = DRAFT[0 if above == 0 else tokens[above - 1]]
        rows[list(below)] = row
        if picked == "chosen":
            tokens[list(below)] = np.argsort(-row, kind="stable")[: len(below)]
        else:
            left = row.copy()
            for node in below:
                tokens[node] = np.searchsorted(left.cumsum(), rng.random() * left.sum())
                left[tokens[node]] *= picked == "drawn"
    return tokens, rows


def two_tokens(rule, picked, seed=0):
    """Counts of the first two tokens that rounds from token 0 emit, [9]; the target draws what is missing."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(9, dtype=np.int64)
    for _ in range(ROUNDS):
        tokens, rows = drawn_tree(rng, picked)
        verdict = judge_tree(
            ProbabilityRows(NEXT[[0, *tokens]]),
            ProbabilityRows(rows),
            tokens,
            [list(below) for below in TREE.children],
            rule=rule,
            rng=rng,
        )
        text = [*tokens[list(verdict.path)], verdict.next_token]
        if len(text) == 1:
            text.append(rng.choice(3, p=NEXT[text[0]]))
        counts[3 * text[0] + text[1]] += 1
    return counts


def fits(counts, law):
    expected = law.ravel() * ROUNDS
    some = expected > 1e-9
    assert expected[some].min() >= FEWEST_EXPECTED
    likely = chisquare(counts[some], expected[some]).pvalue >= CHI_SQUARE_LIMIT
    return likely and not counts[~some].any()


@pytest.mark.parametrize(
    ("rule", "picked"),
    [
        (sim.speculative_sampling(), "drawn"),
        (sim.without_replacement(), "distinct"),
        (sim.one_hot(), "chosen"),
        (sim.sample_and_match(), "chosen"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_two_tokens_together_follow_the_target(rule, picked):
    assert fits(two_tokens(rule, picked), NEXT[0][:, None] * NEXT)


def test_a_wrong_pair_emits_what_the_enumeration_says_and_not_the_target():
    rule = sim.without_replacement()
    counts = two_tokens(rule, "chosen")
    behind = {  # a token, by how many children it has: the emitted law there
        (above, count): np.array(
            children_law(NEXT[above], DRAFT[above], count, rule=rule, picked="chosen").emitted
        )
        for above, count in product(range(3), (1, 2))
    }
    first = children_law(NEXT[0], DRAFT[0], 2, rule=rule, picked="chosen")
    law = np.zeros((3, 3))
    for token in range(3):
        for rank, children in ((0, 2), (1, 1)):
            law[token] += first.kept[rank][token] * behind[token, children]
        law[token] += first.following[token] * NEXT[token]
    assert fits(counts, law)
    assert not fits(counts, NEXT[0][:, None] * NEXT)


def test_siblings_of_different_distributions_are_refused():
    draft = np.array([[0.5, 0.5], [0.6, 0.4]])
    target = np.full((3, 2), 0.5)
    for rule in (sim.speculative_sampling(), sim.without_replacement()):
        with pytest.raises(ValueError, match="siblings must carry one distribution"):
            verify_tree(target, draft, [0, 1], [-1, -1], rule=rule, rng=0)
    verify_tree(target, draft, [0, 1], [-1, -1], rule=sim.one_hot(), rng=0)
    verify_tree(target, draft, [0, 1], [-1, 0], rule=sim.speculative_sampling(), rng=0)


def test_no_nodes_are_plain_decoding():
    for rule in sim.TREE_RULES:
        verdict = verify_tree([[0.0, 1.0]], np.empty((0, 2)), [], [], rule=rule, rng=0)
        assert verdict == sim.TreeVerdict(path=(), next_token=1, tested=0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rule": sim.lenience(0.5)}, "rule must be one that can judge a tree.*got lenience"),
        ({"rule": sim.block_verification()}, "rule must be one that can judge a tree"),
        ({"rule": sim.greedy}, "rule must be one of simulator's rules"),
        ({"rng": None}, "rng must be a seed"),
        ({"parents": [-1, 1]}, "parents must lead to the root .* cycle"),
        ({"parents": [-1, 5]}, "node 1 is an orphan, its parent 5 does not exist"),
        ({"parents": [1, -1]}, "parents must come before their children; node 0 has parent 1"),
        ({"parents": [[-1, -1]]}, r"parents must be node numbers in a row.* of shape \[1, 2\]"),
        ({"parents": [-1.0, 0.5]}, "parents must be node numbers in a row.*got float64"),
        ({"parents": [-1]}, r"target_probs must have shape \[2, vocabulary\].*got \[3, 2\]"),
        ({"tokens": [0, 2]}, r"tokens must lie in \[0, 1\]; got 0 to 2"),
        ({"tokens": [0]}, r"tokens must be token numbers of shape \[2\].*got int64 of shape \[1\]"),
        ({"tokens": [0.0, 1.0]}, "tokens must be token numbers .* got float64"),
        ({"target_probs": [[0.6, 0.6]] * 3}, "target_probs must have rows that sum to 1"),
        ({"target_probs": [0.5, 0.5]}, r"target_probs must have shape \[3, vocabulary\]"),
        ({"draft_probs": [[0.5, 0.5]] * 3}, r"draft_probs must have shape \[2, 2\]"),
        ({"draft_probs": None}, "draft_probs must be given: speculative_sampling asks"),
        ({"draft_probs": [[1.0, 0.0]] * 2, "tokens": [1, 0]}, "token 1 has draft probability 0"),
    ],
)
def test_bad_input_is_one_sentence(change, sentence):
    arguments = {
        "target_probs": np.full((3, 2), 0.5),
        "draft_probs": np.full((2, 2), 0.5),
        "tokens": [0, 1],
        "parents": [-1, 0],
        "rule": sim.speculative_sampling(),
        "rng": 0,
    } | change
    places = [arguments.pop(n) for n in ("target_probs", "draft_probs", "tokens", "parents")]
    with pytest.raises(ValueError, match=sentence) as refused:
        verify_tree(*places, **arguments)
    assert "\n" not in str(refused.value)

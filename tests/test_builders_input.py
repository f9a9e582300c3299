"""What the builders of systems refuse, and who refuses trees: one sentence each."""

from __future__ import annotations

import re

import pytest

import analysis as an
import simulator as sim
from analysis.fitting import Fit
from analysis.length_chain import length_laws

ACCURACIES = ((0.6, 0.2), (0.4, 0.1))
TREE = sim.Tree.from_paths([(0,), (1,), (0, 0)])
DYNAMIC = sim.DynamicTree(nodes=3, depth=2, expand=2)
CONTEXTS = (
    sim.Context(share=0.25, by_depth=ACCURACIES),
    sim.Context(share=0.75, by_depth=((0.3, 0.2), (0.2, 0.1))),
)
UNSURE = sim.Context(share=1.0, by_depth=ACCURACIES, confidences=((0.5, 0.4),))
FORM = {"window": 2, "ngram": 3, "candidates": 2}
ONE_P = sim.ConstantAcceptance(p=0.5)


def refused(build, arguments, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        build(**arguments)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"accuracies": ((0.7, 0.4),), "nodes": 2}, "accuracies[0] must sum to at most 1"),
        ({"accuracies": ((0.7, -0.1),), "nodes": 2}, "accuracies[0][1] must be a number"),
        ({"accuracies": 0.7, "nodes": 2}, "accuracies must be numbers by depth and rank"),
        ({}, "medusa needs a tree or nodes, one of them; got neither"),
        ({"tree": TREE, "nodes": 3}, "one of them; got both"),
        ({"tree": DYNAMIC}, "tree must be a Tree; got DynamicTree"),
        ({"nodes": 0}, "nodes must be a whole number in [1,"),
        ({"nodes": 7}, "nodes must be at most the 6 that"),
        ({"tree": sim.Tree.chain(3)}, "none for node 2, the child of rank 0 at depth 3"),
        ({"tree": sim.Tree.from_widths([3])}, "none for node 2, the child of rank 2 at depth 1"),
        ({"tree": sim.Tree.chain(3)}, "accuracies must have a rate for every node"),
        ({"tree": TREE, "vocabulary": 1}, "at most 1 candidates, the vocabulary; got 2"),
        ({"tree": sim.Tree.from_paths([(1,)]), "vocabulary": 1}, "at most 1 candidates"),
    ],
)
def test_medusa_refuses(arguments, sentence):
    refused(sim.medusa, {"accuracies": ACCURACIES} | arguments, sentence)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "eagle needs by_depth, ranks or contexts, one of them; got 0"),
        ({"by_depth": (0.5,), "ranks": ACCURACIES}, "one of them; got 2"),
        ({"by_depth": (0.5,), "tree": TREE}, "got by_depth and tree"),
        ({"by_depth": (1.5,)}, "by_depth[0] must be a number in [0, 1]; got 1.5"),
        ({"ranks": ACCURACIES}, "beside ranks or contexts; got None"),
        ({"ranks": ((0.7, 0.4),), "tree": TREE}, "ranks[0] must sum to at most 1"),
        ({"contexts": CONTEXTS[:1], "tree": TREE}, "must sum to 1; got 0.25"),
        ({"contexts": (), "tree": TREE}, "must sum to 1; got 0"),
        ({"contexts": 3, "tree": TREE}, "contexts must be Contexts in a row; got 3"),
        ({"contexts": (0.5,), "tree": TREE}, "contexts[0] must be a Context; got 0.5"),
        (
            {"contexts": CONTEXTS, "tree": sim.Tree.from_widths([3])},
            "contexts[0].by_depth must have a rate for every node of the tree",
        ),
        (
            {"contexts": CONTEXTS, "tree": sim.DynamicTree(nodes=12, depth=2, expand=3)},
            "contexts[0].by_depth must offer candidates for the 12 nodes of the dynamic tree; got 6",
        ),
        (
            {"contexts": (UNSURE,), "tree": DYNAMIC},
            "contexts[0].confidences must have a row for each of the 2 depths of the tree; got 1",
        ),
        ({"ranks": ACCURACIES[:1], "tree": DYNAMIC}, "ranks must have a row for each of the 2"),
        ({"ranks": ACCURACIES, "tree": sim.Tree.chain(3)}, "ranks must have a rate for every node"),
        ({"by_depth": (0.5,), "vocabulary": 0}, "vocabulary must be a whole number of at least 1"),
        (
            {"ranks": ACCURACIES, "tree": DYNAMIC, "vocabulary": 1},
            "at most 1 candidates, the vocabulary; got 2",
        ),
    ],
)
def test_eagle_refuses(arguments, sentence):
    refused(sim.eagle, arguments, sentence)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"window": 0}, "window must be a whole number of at least 1; got 0"),
        ({"ngram": 0}, "ngram must be a whole number in [1, 10001]; got 0"),
        ({"candidates": 0}, "candidates must be a whole number in [1, 65536]; got 0"),
        ({"candidates": 9, "ngram": 4, "vocabulary": 2}, "at most the 8 n-grams that 2 tokens"),
        ({"p": 1.5}, "p must be a number in [0, 1]; got 1.5"),
        ({"p": None}, "parallel candidates need p or by_depth, one of them; got neither"),
        ({"by_depth": (0.5, 0.5)}, "one of them; got both"),
        ({"p": None, "by_depth": (0.5,)}, "for each of the 2 tokens of a candidate; got 1"),
        ({"p": None, "by_depth": 0.5}, "by_depth must be a sequence of numbers in [0, 1]; got 0.5"),
        ({"hit": -0.5}, "hit must be a number in [0, 1]; got -0.5"),
    ],
)
def test_lookahead_refuses(arguments, sentence):
    refused(sim.lookahead, FORM | {"p": 0.5} | arguments, sentence)


@pytest.mark.parametrize(
    ("build", "arguments", "sentence"),
    [
        (sim.prompt_lookup, {"gamma": 3}, "got coverage None and p None"),
        (sim.prompt_lookup, {"gamma": 3, "p": 0.5, "acceptance": ONE_P}, "not both; got both"),
        (
            sim.mtp,
            {},
            "mtp needs p or by_depth (or a process as acceptance), one of them; got neither",
        ),
        (sim.block, {"p": 0.5, "by_depth": (0.5,)}, "block needs p or by_depth"),
        (sim.mtp, {"by_depth": 0.5}, "by_depth must be a sequence of numbers in [0, 1]; got 0.5"),
        (sim.block, {"p": 0.5}, "gamma must be given"),
    ],
)
def test_chains_refuse(build, arguments, sentence):
    refused(build, arguments, sentence)


LAW = sim.RankAcceptance(by_depth=ACCURACIES)
SIDE_BY_SIDE = sim.ParallelCandidates(p=0.5, candidates=2)


@pytest.mark.parametrize(
    ("draft", "acceptance", "sentence"),
    [
        (sim.Chain(gamma=2), LAW, "RankAcceptance needs a tree as its draft; got Chain(gamma=2)"),
        (sim.Chain(gamma=2), SIDE_BY_SIDE, "ParallelCandidates needs a tree as its draft"),
        (TREE, ONE_P, "a tree needs one of RankAcceptance, ContextMixture, ParallelCandidates"),
        (TREE, SIDE_BY_SIDE, "Tree.sequences(2, length); got a tree of 3 nodes, 2 deep"),
        (sim.Tree.from_widths([2, 2]), SIDE_BY_SIDE, "Tree.sequences(2, length)"),
        (DYNAMIC, SIDE_BY_SIDE, "Tree.sequences(2, length); got DynamicTree"),
    ],
)
def test_a_law_that_does_not_go_with_the_draft_is_refused(draft, acceptance, sentence):
    refused(sim.Strategy, {"name": "mine", "draft": draft, "acceptance": acceptance}, sentence)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"steps": "two"}, "steps must be one of sequential, one, none; got 'two'"),
        ({"extra_nodes": -1}, "extra_nodes must be a whole number of at least 0; got -1"),
    ],
)
def test_what_a_strategy_may_cost(change, sentence):
    chain = {"name": "mine", "draft": sim.Chain(gamma=2), "acceptance": ONE_P}
    refused(sim.Strategy, chain | change, sentence)


TREES = [
    sim.medusa(accuracies=ACCURACIES, tree=TREE),
    sim.eagle(contexts=CONTEXTS, tree=DYNAMIC),
    sim.lookahead(p=0.5, **FORM),
]


@pytest.mark.parametrize("strategy", TREES, ids=lambda strategy: strategy.name)
def test_what_is_of_chains_refuses_trees(strategy):
    law = strategy.acceptance
    for function in (
        lambda: strategy.conditional_acceptance,
        lambda: sim.simulate_requests(strategy, requests=2, tokens=8, rng=0),
        lambda: an.stopped_law(strategy),
        lambda: an.stopping_speedup(strategy, cost_ratio=0.1),
    ):
        refused(function, {}, f" ({strategy.name}): simulate, simulate_lengths and simulate_")
    for function in (
        lambda: an.process_law(law, 2),
        lambda: an.process_survival(law, 2),
        lambda: an.process_tokens_per_round(law, 2),
        lambda: Fit.of_process(law),
    ):
        refused(function, {}, f"of chains; got {type(law).__name__}, which is of trees")
    refused(lambda: length_laws(strategy, rounds=3), {}, "must draft by a Heuristic; got ")
    with pytest.raises(ValueError, match="acceptance must be one of ConstantAcceptance, "):
        sim.draft_model(acceptance=law, gamma=2)


def test_kinds_of_rounds_are_of_trees():
    chain = sim.draft_model(p=0.5, gamma=2)
    refused(lambda: chain.kinds, {}, "got Chain(gamma=2) under ConstantAcceptance")
    refused(lambda: TREES[2].kinds, {}, "a tree of 4 nodes, 2 deep under ParallelCandidates")

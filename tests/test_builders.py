"""The builders of all systems: what a round costs, which tree grows, which rounds are drawn."""

from __future__ import annotations

import numpy as np
import pytest

import simulator as sim

ACCURACIES = ((0.6, 0.2), (0.4, 0.1))
TREE = sim.Tree.from_paths([(0,), (1,), (0, 0)])
DYNAMIC = sim.DynamicTree(nodes=3, depth=2, expand=2)
CONTEXTS = (
    sim.Context(share=0.25, by_depth=ACCURACIES),
    sim.Context(share=0.75, by_depth=((0.3, 0.2), (0.2, 0.1))),
)
# Top-1 to top-5 accuracies of heads on Vicuna-7B in training: FasterDecoding/Medusa, medusa_acc.csv.
VICUNA = sim.RankAcceptance.from_top_k(
    (
        (0.560, 0.672, 0.727, 0.760, 0.780),
        (0.316, 0.424, 0.485, 0.528, 0.562),
        (0.201, 0.288, 0.348, 0.383, 0.417),
        (0.147, 0.225, 0.274, 0.311, 0.340),
        (0.118, 0.187, 0.235, 0.272, 0.300),
    )
)


@pytest.mark.parametrize(
    ("strategy", "costs"),
    [
        (sim.draft_model(p=0.7, gamma=4), ("draft_model", 4, 5, 4)),
        (sim.draft_model(p=0.7, gamma=0), ("draft_model", 0, 1, 0)),
        (sim.medusa(accuracies=ACCURACIES, tree=TREE), ("medusa", 3, 4, 1)),
        (sim.medusa(accuracies=ACCURACIES, nodes=6), ("medusa", 6, 7, 1)),
        (sim.eagle(by_depth=(0.8, 0.7, 0.6)), ("eagle", 3, 4, 3)),
        (sim.eagle(ranks=ACCURACIES, tree=TREE), ("eagle", 3, 4, 2)),
        (sim.eagle(contexts=CONTEXTS, tree=DYNAMIC), ("eagle", 3, 4, 2)),
        (sim.eagle(ranks=ACCURACIES, tree=DYNAMIC), ("eagle", 3, 4, 2)),
        (sim.lookahead(p=0.5, window=15, ngram=5, candidates=15), ("lookahead", 60, 121, 0)),
        (sim.lookahead(p=0.5, window=7, ngram=1, candidates=2), ("lookahead", 0, 1, 0)),
        (sim.prompt_lookup(gamma=8, coverage=0.3, p=0.9), ("prompt_lookup", 8, 9, 0)),
        (sim.mtp(by_depth=(0.85, 0.8)), ("mtp", 2, 3, 2)),
        (sim.mtp(p=0.8, gamma=3), ("mtp", 3, 4, 3)),
        (sim.block(p=0.7, gamma=8), ("block", 8, 9, 1)),
        (sim.block(by_depth=(0.9, 0.7, 0.5)), ("block", 3, 4, 1)),
    ],
    ids=lambda value: value.name if isinstance(value, sim.Strategy) else "",
)
def test_what_a_round_costs(strategy, costs):
    name, nodes, verified, steps = costs
    found = (strategy.name, strategy.nodes, strategy.verified_tokens, strategy.draft_steps)
    assert found == (name, nodes, verified, steps)


@pytest.mark.parametrize("nodes", [1, 2, 6, 16, 63])
def test_medusas_own_tree_is_what_adding_the_best_neighbour_ends_with(nodes):
    rows, paths = VICUNA.by_depth, []

    def value(path):
        product = 1.0
        for depth, rank in enumerate(path):
            product *= rows[depth][rank]
        return product

    for _ in range(nodes):
        neighbours = [
            (*above, rank)
            for above in ((), *paths)
            if len(above) < len(rows)
            for rank in range(5)
            if (*above, rank) not in paths
        ]
        paths.append(max(neighbours, key=value))
    assert set(sim.medusa(accuracies=rows, nodes=nodes).draft.paths) == set(paths)
    if nodes == 6:
        assert paths == [(0,), (0, 0), (1,), (0, 1), (2,), (0, 0, 0)]


def test_prompt_lookup_finds_or_not():
    strategy = sim.prompt_lookup(gamma=4, coverage=0.5, p=1.0)
    table = sim.simulate(strategy, rounds=4000, rng=0)
    assert table.accepted == table.tested == (table.drafted // 4,) * 4
    assert 1500 < table.tested[0] < 2500
    hits = sim.HitMiss(coverage=0.5, right=0.5, p_right=1.0, p_wrong=0.0)
    assert sim.prompt_lookup(gamma=4, acceptance=hits).acceptance == hits


def test_chains_by_another_name_draw_the_same_rounds():
    expected = sim.simulate(sim.draft_model(by_depth=(0.8, 0.6)), rounds=1000, rng=0)
    for build in (sim.eagle, sim.mtp, sim.block):
        assert sim.simulate(build(by_depth=(0.8, 0.6)), rounds=1000, rng=0) == expected


def test_a_law_is_as_good_as_its_rates():
    law = sim.RankAcceptance(by_depth=ACCURACIES)
    assert sim.eagle(ranks=law, tree=TREE) == sim.eagle(ranks=ACCURACIES, tree=TREE)
    assert sim.medusa(accuracies=law, nodes=3) == sim.medusa(accuracies=ACCURACIES, nodes=3)


def test_arrays_are_as_good_as_tuples():
    rates = np.array(ACCURACIES)
    assert sim.eagle(ranks=rates, tree=TREE) == sim.eagle(ranks=ACCURACIES, tree=TREE)
    assert sim.medusa(accuracies=rates, nodes=3) == sim.medusa(accuracies=ACCURACIES, nodes=3)

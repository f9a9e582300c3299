"""The walk over trees against laws by enumeration, and engines with an error that must be noticed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from stats import assert_all
from tree_laws import by_rank, depth_law, mixed, node_table, where_rounds_end

from simulator import (
    AcceptanceTable,
    Context,
    DynamicTree,
    Tree,
    choices,
    draft_model,
    eagle,
    engine,
    medusa,
    simulate,
    simulate_counts,
    simulate_lengths,
    simulate_nodes,
    tree_walk,
)

ROUNDS = 200_000
ROWS = ((0.5, 0.2, 0.1), (0.6, 0.15), (0.4, 0.3))
SURE = ((0.8, 0.1, 0.05), (0.85, 0.1), (0.9, 0.05))
HARD = ((0.3, 0.25, 0.2), (0.2, 0.2), (0.1, 0.1))
CONTEXTS = (
    Context(share=0.5, by_depth=SURE),
    Context(share=0.375, by_depth=HARD),
    Context(share=0.125, by_depth=ROWS, confidences=HARD),
)
PATHS = [(0,), (1,), (2,), (0, 0), (0, 1), (2, 0), (0, 0, 1), (2, 0, 0)]
TREE = Tree.from_paths(PATHS)
GAPS = Tree.from_paths([(2,), (0,), (2, 1), (2, 1, 1)])
DYNAMIC = DynamicTree(nodes=5, depth=3, expand=2)
STRATEGIES = {
    "medusa": medusa(accuracies=ROWS, tree=TREE),
    "grown": medusa(accuracies=ROWS, nodes=12),
    "ranks with gaps": eagle(ranks=ROWS, tree=GAPS),
    "one sum is 1": eagle(ranks=((0.7, 0.2, 0.1), (0.5, 0.5)), tree=Tree.from_widths([3, 2])),
    "a rate of 0": eagle(ranks=((0.0, 0.4), (0.5,)), tree=Tree.from_widths([2, 1])),
    "wide": medusa(accuracies=((0.9 / 20,) * 20,), nodes=20),
    "contexts": eagle(contexts=CONTEXTS, tree=TREE),
    "dynamic": eagle(contexts=CONTEXTS, tree=DYNAMIC),
    "empty": eagle(ranks=(), tree=Tree(parents=())),
}
ONE_TREE = [name for name in STRATEGIES if name != "dynamic"]


def ends(name):
    """Where the rounds of a strategy with one tree end."""
    strategy = STRATEGIES[name]
    paths = strategy.draft.paths
    if name == "contexts":
        parts = [(c.share, where_rounds_end(paths, by_rank(c.by_depth))) for c in CONTEXTS]
        return mixed(parts)
    return where_rounds_end(paths, by_rank(strategy.acceptance.by_depth))


def law(name):
    strategy = STRATEGIES[name]
    gamma = strategy.draft.gamma
    if name != "dynamic":
        return depth_law(strategy.draft.paths, ends(name), gamma)
    grown = {  # by hand: the best five of what two expanded nodes a layer offer
        0: [(0,), (1,), (0, 0), (1, 0), (0, 0, 0)],
        1: [(0,), (1,), (0, 0), (0, 1), (1, 0)],
        2: [(0,), (1,), (0, 0), (0, 1), (1, 0)],
    }
    parts = []
    for index, context in enumerate(CONTEXTS):
        own = where_rounds_end(grown[index], by_rank(context.by_depth))
        parts.append((context.share, depth_law(grown[index], own, gamma).pmf))
    return SimpleNamespace(pmf=mixed(parts))


def flipped(strategy, rng):
    return simulate(strategy, rounds=ROUNDS, rng=rng)


def counted(strategy, rng):
    return simulate_counts(strategy, rounds=ROUNDS, rng=rng)


@pytest.mark.parametrize("run", [flipped, counted])
@pytest.mark.parametrize("name", STRATEGIES)
def test_depths_follow_the_law_by_enumeration(name, run, rng):
    strategy = STRATEGIES[name]
    table = run(strategy, rng)
    assert (table.rounds, table.depths) == (ROUNDS, strategy.draft.gamma)
    assert table.drafted == ROUNDS * strategy.nodes
    assert table.length_rule == ("confidence" if name == "dynamic" else "fixed")
    assert_all(table, law(name))


@pytest.mark.parametrize("name", ONE_TREE)
def test_nodes_follow_the_law_by_enumeration(name, rng):
    tree = STRATEGIES[name].draft
    kept = simulate_nodes(STRATEGIES[name], rounds=ROUNDS, rng=rng)
    assert kept.shape == (tree.nodes,)
    assert_all(node_table(tree, ROUNDS, kept), SimpleNamespace(pmf=ends(name)))


def test_a_billion_rounds_drawn_at_once(rng):
    strategy = STRATEGIES["one sum is 1"]
    table = simulate_counts(strategy, rounds=10**9, rng=rng)
    assert table.accepted == (10**9, 10**9)
    assert_all(simulate_counts(STRATEGIES["medusa"], rounds=10**9, rng=rng), law("medusa"))


def test_a_chain_is_a_tree_of_one_candidate(rng):
    tree = eagle(ranks=((0.8,), (0.7,), (0.6,)), tree=Tree.chain(3))
    chain = eagle(by_depth=(0.8, 0.7, 0.6))
    table = simulate(tree, rounds=ROUNDS, rng=rng)
    assert table.tested == (ROUNDS, *table.accepted[:-1])
    assert_all(table, SimpleNamespace(pmf=[0.2, 0.8 * 0.3, 0.56 * 0.4, 0.336]))
    assert chain.draft_steps == tree.draft_steps == 3


@pytest.mark.parametrize("name", ONE_TREE)
def test_table_nodes_and_lengths_are_the_same_rounds(name):
    strategy = STRATEGIES[name]
    table = simulate(strategy, rounds=5000, rng=7)
    kept = simulate_nodes(strategy, rounds=5000, rng=7)
    lengths = simulate_lengths(strategy, rounds=5000, rng=7)
    depths = np.array(strategy.draft.depths, dtype=int)
    with_children = np.array([bool(below) for below in strategy.draft.children])
    assert lengths.shape == (5000,)
    for depth in range(strategy.draft.gamma):
        here = depths == depth
        reached = int(kept[here & with_children[1:]].sum()) if depth else 5000
        assert table.tested[depth] == reached  # a round that stands at a leaf tests nothing
        assert table.accepted[depth] == kept[depths == depth + 1].sum()
        assert table.accepted[depth] == np.count_nonzero(lengths > depth)


def test_lengths_of_a_dynamic_tree_are_those_of_the_table():
    table = simulate(STRATEGIES["dynamic"], rounds=5000, rng=7)
    lengths = simulate_lengths(STRATEGIES["dynamic"], rounds=5000, rng=7)
    assert AcceptanceTable.from_lengths(lengths, gamma=3).accepted == table.accepted


def test_rounds_keep_their_context_from_depth_to_depth(rng):
    """Sure and hopeless rounds: mixing anew at every depth would keep one token more than half the time."""
    contexts = (
        Context(share=0.5, by_depth=((1.0,), (1.0,))),
        Context(share=0.5, by_depth=((0.0,), (0.0,))),
    )
    lengths = simulate_lengths(eagle(contexts=contexts, tree=Tree.chain(2)), rounds=2000, rng=rng)
    assert set(lengths.tolist()) == {0, 2}


@pytest.mark.parametrize("chunk", [2, 14, 1000, 10**6])
@pytest.mark.parametrize("name", ["medusa", "wide", "dynamic"])
def test_chunk_size_does_not_change_the_counts(name, chunk, monkeypatch):
    expected = simulate(STRATEGIES[name], rounds=5000, rng=11)
    monkeypatch.setattr(choices, "_CHUNK", chunk)
    assert simulate(STRATEGIES[name], rounds=5000, rng=11) == expected


@pytest.mark.parametrize("run", [flipped, counted])
def test_same_rng_same_counts(run):
    strategy = STRATEGIES["dynamic"]
    assert run(strategy, 3) == run(strategy, 3) == run(strategy, np.random.default_rng(3))
    assert run(strategy, 3) != run(strategy, 4)


def test_streams_change_nothing():
    strategy = STRATEGIES["contexts"]
    table = simulate(strategy, rounds=1000, rng=1)
    assert simulate(strategy, rounds=1000, rng=1, streams=10) == table


@pytest.mark.parametrize("name", STRATEGIES)
def test_exactly_one_draw_per_tested_depth(name, monkeypatch):
    made = []

    def recorded(generator, chances, n, *rest):
        made.append(n)
        return choices.count_choices(generator, chances, n, *rest)

    monkeypatch.setattr(tree_walk, "count_choices", recorded)
    table = simulate(STRATEGIES[name], rounds=3000, rng=5)
    contexts = 3000 * (name in {"contexts", "dynamic"})
    assert sum(made) == sum(table.tested) + contexts


@pytest.mark.parametrize("name", STRATEGIES)
def test_progress_rises_within_zero_and_one(name, monkeypatch):
    monkeypatch.setattr(choices, "_CHUNK", 64)
    monkeypatch.setattr(choices, "_CHUNKS_PER_REPORT", 2)
    reports = []
    table = simulate(STRATEGIES[name], rounds=2000, rng=0, progress=reports.append)
    assert reports == sorted(reports)
    assert all(0.0 <= share <= 1.0 for share in reports)
    assert bool(reports) == (name != "empty")
    assert table == simulate(STRATEGIES[name], rounds=2000, rng=0)


def swapped(counts):
    return np.array([counts[1], counts[0], *counts[2:]])


def lost(counts):
    return np.array([*counts[:-2], 0, counts[-1] + counts[-2]])


@pytest.mark.parametrize(("sick", "siblings"), [(swapped, 2), (lost, 3)])
def test_a_walk_with_an_error_is_noticed(sick, siblings, monkeypatch, rng):
    """Negative control: one node's children are mixed up, or its last child is never kept."""

    def wrong(generator, chances, n, *rest):
        counts = choices.count_choices(generator, chances, n, *rest)
        return sick(counts) if len(chances) == siblings else counts

    monkeypatch.setattr(tree_walk, "count_choices", wrong)
    kept = simulate_nodes(STRATEGIES["medusa"], rounds=ROUNDS, rng=rng)
    with pytest.raises(AssertionError):
        assert_all(node_table(TREE, ROUNDS, kept), SimpleNamespace(pmf=ends("medusa")))


SWAPPED = Tree.from_paths([(0,), (1,), (2,), (1, 0), (1, 1), (2, 0), (1, 0, 1), (2, 0, 0)])
WITHOUT_LEAF = Tree.from_paths(path for path in PATHS if path != (2, 0, 0))


@pytest.mark.parametrize("tree", [SWAPPED, WITHOUT_LEAF], ids=["swapped rank", "missing leaf"])
@pytest.mark.parametrize("run", [flipped, counted])
def test_another_tree_is_noticed_in_the_counts_by_depth(run, tree, rng):
    """Negative control: children hang on the wrong sibling, or a leaf is not there."""
    table = run(medusa(accuracies=ROWS, tree=tree), rng)
    with pytest.raises(AssertionError):
        assert_all(table, law("medusa"))


@pytest.mark.parametrize("run", [simulate, simulate_nodes])
def test_too_many_draws_are_refused_with_an_offer(run):
    with pytest.raises(ValueError, match=r"got 1000000000000, .* hours here: simulate_counts"):
        run(STRATEGIES["medusa"], rounds=10**12, rng=0)


@pytest.mark.parametrize("run", [simulate, simulate_lengths, simulate_counts, simulate_nodes])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rounds": 0}, r"^rounds must be a whole number .*1.*; got 0\."),
        ({"rng": None}, r"^rng must be a seed .* or a numpy Generator; got None"),
    ],
)
def test_bad_input_is_refused(run, change, message):
    with pytest.raises(ValueError, match=message):
        run(STRATEGIES["medusa"], **({"rounds": 10, "rng": 0} | change))


@pytest.mark.parametrize(
    ("strategy", "got"),
    [(draft_model(p=0.5, gamma=3), r"Chain\(gamma=3\)"), (STRATEGIES["dynamic"], "DynamicTree")],
)
def test_nodes_need_one_tree(strategy, got):
    with pytest.raises(ValueError, match=f"takes one tree for all rounds; got {got}"):
        simulate_nodes(strategy, rounds=10, rng=0)


def test_counts_at_the_limit_of_rounds(rng):
    strategy = eagle(ranks=((0.75, 0.25), (1.0,)), tree=Tree.from_widths([2, 1]))
    table = simulate_counts(strategy, rounds=engine.MAX_COUNTED, rng=rng)
    assert table.emitted == 3 * 2**62

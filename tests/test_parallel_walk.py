"""Candidates side by side against every combination of kept and lost tokens."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from stats import assert_all
from tree_laws import longest_of

from simulator import (
    draft_model,
    lookahead,
    parallel_walk,
    simulate,
    simulate_counts,
    simulate_lengths,
    simulate_nodes,
)

ROUNDS = 100_000
FORM = {"window": 5, "ngram": 4, "candidates": 3}
STRATEGIES = {
    "p 0.6": (lookahead(p=0.6, **FORM), (0.6,) * 3, 3, 1.0),
    "pool misses": (lookahead(p=0.6, hit=0.7, **FORM), (0.6,) * 3, 3, 0.7),
    "by depth": (lookahead(by_depth=(0.9, 0.5, 0.2), hit=0.5, **FORM), (0.9, 0.5, 0.2), 3, 0.5),
    "one": (lookahead(p=0.7, window=1, ngram=5, candidates=1), (0.7,) * 4, 1, 1.0),
    "many": (lookahead(p=0.3, window=1, ngram=3, candidates=7), (0.3,) * 2, 7, 1.0),
    "never": (lookahead(p=0.0, hit=0.5, **FORM), (0.0,) * 3, 3, 0.5),
    "always": (lookahead(p=1.0, **FORM), (1.0,) * 3, 3, 1.0),
    "no pool": (lookahead(p=0.6, hit=0.0, **FORM), (0.6,) * 3, 3, 0.0),
    "n-grams of 1": (lookahead(p=0.6, window=2, ngram=1, candidates=2), (), 2, 1.0),
}


def flipped(strategy, rng):
    return simulate(strategy, rounds=ROUNDS, rng=rng)


def counted(strategy, rng):
    return simulate_counts(strategy, rounds=ROUNDS, rng=rng)


@pytest.mark.parametrize("run", [flipped, counted])
@pytest.mark.parametrize("name", STRATEGIES)
def test_the_longest_follows_the_law_by_enumeration(name, run, rng):
    strategy, conditional, candidates, hit = STRATEGIES[name]
    table = run(strategy, rng)
    assert (table.rounds, table.depths) == (ROUNDS, strategy.draft.gamma)
    assert_all(table, longest_of(candidates, conditional, hit))
    if table.depths:
        assert table.tested[1:] == table.accepted[:-1]
        assert_all(  # a round that finds nothing tests nothing
            SimpleNamespace(rounds=ROUNDS, accepted=table.tested[:1]),
            SimpleNamespace(pmf=[1.0 - hit, hit]),
        )
        assert table.drafted == table.tested[0] * strategy.nodes


@pytest.mark.parametrize("name", STRATEGIES)
def test_table_nodes_and_lengths_are_the_same_rounds(name):
    strategy = STRATEGIES[name][0]
    table = simulate(strategy, rounds=5000, rng=7)
    lengths = simulate_lengths(strategy, rounds=5000, rng=7)
    kept = simulate_nodes(strategy, rounds=5000, rng=7)
    kept = kept.reshape(strategy.acceptance.candidates, strategy.draft.gamma)
    assert lengths.shape == (5000,)
    assert tuple(kept.sum(axis=0).tolist()) == table.accepted
    for depth, accepted in enumerate(table.accepted):
        assert np.count_nonzero(lengths > depth) == accepted


def test_the_first_of_the_longest_counts(rng):
    """Of three independent candidates of one token: p, (1 - p) p, (1 - p)² p."""
    strategy = lookahead(p=0.5, window=1, ngram=2, candidates=3)
    first, second, third = simulate_nodes(strategy, rounds=ROUNDS, rng=rng).tolist()
    counts = SimpleNamespace(
        rounds=ROUNDS, accepted=(first + second + third, second + third, third)
    )
    assert_all(counts, SimpleNamespace(pmf=[0.125, 0.5, 0.25, 0.125]))


@pytest.mark.parametrize("chunk", [1, 64, 1000, 10**6])
def test_chunk_size_does_not_change_the_counts(chunk, monkeypatch):
    strategy = STRATEGIES["by depth"][0]
    expected = simulate(strategy, rounds=3000, rng=11)
    lengths = simulate_lengths(strategy, rounds=3000, rng=11)
    monkeypatch.setattr(parallel_walk, "_CHUNK", chunk)
    assert simulate(strategy, rounds=3000, rng=11) == expected
    np.testing.assert_array_equal(simulate_lengths(strategy, rounds=3000, rng=11), lengths)


@pytest.mark.parametrize("run", [flipped, counted])
def test_same_rng_same_counts(run):
    strategy = STRATEGIES["p 0.6"][0]
    assert run(strategy, 3) == run(strategy, 3) == run(strategy, np.random.default_rng(3))
    assert run(strategy, 3) != run(strategy, 4)


def test_progress_rises_to_one(monkeypatch):
    monkeypatch.setattr(parallel_walk, "_CHUNK", 64)
    reports = []
    simulate(STRATEGIES["p 0.6"][0], rounds=1000, rng=0, progress=reports.append)
    assert reports == sorted(reports)
    assert reports[-1] == 1.0


@pytest.mark.parametrize("run", [flipped, counted])
def test_other_candidates_are_noticed(run, rng):
    """Negative control: one candidate too few, and a chain instead of candidates side by side."""
    expected = longest_of(3, (0.6,) * 3, 1.0)
    for wrong in (
        lookahead(p=0.6, window=5, ngram=4, candidates=2),
        draft_model(p=0.6, gamma=3),
    ):
        with pytest.raises(AssertionError):
            assert_all(run(wrong, rng), expected)


def test_candidates_that_share_their_luck_are_noticed(monkeypatch, rng):
    """Negative control for the walk: all candidates flip the same coins."""
    seeded = np.random.default_rng
    monkeypatch.setattr(
        parallel_walk.np.random, "default_rng", lambda seed: seeded(int(np.sum(seed) * 0 + 1))
    )
    with pytest.raises(AssertionError):
        assert_all(flipped(STRATEGIES["p 0.6"][0], rng), longest_of(3, (0.6,) * 3, 1.0))


def test_too_many_flips_are_refused_with_an_offer():
    with pytest.raises(ValueError, match=r"got 100000000000, .* hours here: simulate_counts"):
        simulate(STRATEGIES["p 0.6"][0], rounds=10**11, rng=0)

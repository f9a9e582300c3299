"""The engine against the exact law, and the promises it makes about its random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from stats import assert_all

from analysis import round_law
from simulator import (
    AcceptanceTable,
    draft_model,
    engine,
    flips,
    simulate,
    simulate_counts,
    simulate_lengths,
)

ROUNDS = 100_000
STRATEGIES = {
    "p 0.7": draft_model(p=0.7, gamma=4),
    "p 0.05": draft_model(p=0.05, gamma=3),
    "p 0.95": draft_model(p=0.95, gamma=16),
    "rising": draft_model(by_depth=(0.3, 0.6, 0.9)),
    "falling": draft_model(by_depth=(0.95, 0.8, 0.6, 0.4, 0.2)),
    "stops": draft_model(by_depth=(1.0, 0.5, 0.0, 0.7)),
    "never": draft_model(p=0.0, gamma=3),
    "always": draft_model(p=1.0, gamma=3),
    "empty": draft_model(p=0.7, gamma=0),
}


def flipped(strategy, rng):
    return simulate(strategy, rounds=ROUNDS, rng=rng)


def from_lengths(strategy, rng):
    lengths = simulate_lengths(strategy, rounds=ROUNDS, rng=rng)
    return AcceptanceTable.from_lengths(lengths, gamma=strategy.draft.gamma)


def counted(strategy, rng):
    return simulate_counts(strategy, rounds=ROUNDS, rng=rng)


@pytest.mark.parametrize("run", [flipped, from_lengths, counted])
@pytest.mark.parametrize("name", STRATEGIES)
def test_counts_follow_the_exact_law(name, run, rng):
    table = run(STRATEGIES[name], rng)
    assert table.rounds == ROUNDS
    assert table.drafted == ROUNDS * STRATEGIES[name].draft.gamma
    assert table.tested == (ROUNDS, *table.accepted)[: table.depths]
    assert_all(table, round_law(STRATEGIES[name]))


@pytest.mark.parametrize("run", [flipped, from_lengths, counted])
def test_certain_verdicts_are_exact(run, rng):
    assert run(STRATEGIES["never"], rng).accepted == (0, 0, 0)
    assert run(STRATEGIES["always"], rng).accepted == (ROUNDS,) * 3
    assert run(STRATEGIES["empty"], rng).accepted == ()
    assert run(STRATEGIES["stops"], rng).accepted[2:] == (0, 0)


@pytest.mark.parametrize("name", STRATEGIES)
def test_lengths_and_flips_give_the_same_counts(name):
    assert from_lengths(STRATEGIES[name], 7) == flipped(STRATEGIES[name], 7)


@pytest.mark.parametrize("run", [flipped, from_lengths, counted])
def test_same_rng_same_counts(run):
    strategy = STRATEGIES["p 0.7"]
    assert run(strategy, 3) == run(strategy, 3) == run(strategy, np.random.default_rng(3))
    assert run(strategy, 3) != run(strategy, 4)


@pytest.mark.parametrize("chunk", [2, 14, 1000, 10**6])
def test_chunk_size_does_not_change_the_counts(chunk, monkeypatch):
    strategy = STRATEGIES["falling"]
    expected = simulate(strategy, rounds=5000, rng=11)
    monkeypatch.setattr(flips, "_CHUNK", chunk)
    assert simulate(strategy, rounds=5000, rng=11) == expected


@pytest.mark.parametrize("run", [flipped, from_lengths])
@pytest.mark.parametrize("name", STRATEGIES)
def test_exactly_one_flip_per_tested_token(name, run, monkeypatch):
    made = []

    def recorded(flip_them):
        def wrapper(generator, p, n, *rest):
            made.append(n)
            return flip_them(generator, p, n, *rest)

        return wrapper

    monkeypatch.setattr(engine, "flip", recorded(engine.flip))
    monkeypatch.setattr(engine, "count_flips", recorded(engine.count_flips))
    table = run(STRATEGIES[name], 5)
    assert tuple(made) == table.tested


def test_survivors_are_flipped_in_the_order_of_their_rounds():
    strategy = draft_model(by_depth=(0.6, 0.5))
    generator = np.random.default_rng(2)
    first = flips.flip(generator, 0.6, 12)
    second = flips.flip(generator, 0.5, int(first.sum()))
    lengths = first.astype(int)
    lengths[first] += second
    np.testing.assert_array_equal(simulate_lengths(strategy, rounds=12, rng=2), lengths)


def test_counts_of_a_billion_rounds(rng):
    strategy = STRATEGIES["falling"]
    table = simulate_counts(strategy, rounds=10**9, rng=rng)
    assert_all(table, round_law(strategy))


@pytest.mark.parametrize("name", STRATEGIES)
def test_progress_rises_within_zero_and_one(name, monkeypatch):
    monkeypatch.setattr(flips, "_CHUNK", 64)
    monkeypatch.setattr(flips, "_CHUNKS_PER_REPORT", 2)
    reports = []
    simulate(STRATEGIES[name], rounds=2000, rng=0, progress=reports.append)
    assert reports == sorted(reports)
    assert all(0.0 <= share <= 1.0 for share in reports)
    assert bool(reports) == (name != "empty")


def test_progress_does_not_change_the_counts():
    strategy = STRATEGIES["p 0.7"]
    assert simulate(strategy, rounds=999, rng=1, progress=lambda _: None) == simulate(
        strategy, rounds=999, rng=1
    )


def test_too_many_flips_are_refused_with_an_offer():
    with pytest.raises(ValueError, match=r"got 1000000000000, .* hours here: simulate_counts"):
        simulate(STRATEGIES["p 0.7"], rounds=10**12, rng=0)


@pytest.mark.parametrize("run", [simulate, simulate_lengths, simulate_counts])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rounds": 0}, r"rounds must be a whole number .*1.*; got 0\."),
        ({"rounds": 2.5}, r"rounds must be a whole number .*; got 2.5\."),
        ({"rounds": "9"}, r"rounds must be a whole number .*; got '9'\."),
        ({"rng": None}, r"rng must be a seed .* or a numpy Generator; got None"),
        ({"rng": -1}, "rng must be .* got -1"),
        ({"rng": 0.5}, "rng must be .* got 0.5"),
        ({"rng": True}, "rng must be .* got True"),
    ],
)
def test_bad_input_is_refused(run, change, message):
    with pytest.raises(ValueError, match=message):
        run(STRATEGIES["p 0.7"], **({"rounds": 10, "rng": 0} | change))


@pytest.mark.parametrize(
    ("run", "limit"),
    [(simulate_lengths, engine.MAX_LENGTHS), (simulate_counts, engine.MAX_COUNTED)],
)
def test_limits_of_rounds(run, limit):
    with pytest.raises(ValueError, match=rf"\[1, {limit}\]; got {limit + 1}"):
        run(STRATEGIES["p 0.7"], rounds=limit + 1, rng=0)


def test_counts_at_the_limit_of_rounds(rng):
    table = simulate_counts(draft_model(p=1.0, gamma=2), rounds=engine.MAX_COUNTED, rng=rng)
    assert table.emitted == 3 * 2**62

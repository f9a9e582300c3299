"""Whole requests: exactly the plain loop on the same draws, whatever the size of the chunks."""

from __future__ import annotations

import numpy as np
import pytest
from request_runs import HITS, PROCESSES, plain_loop

from simulator import (
    AcceptanceTable,
    CountedUnit,
    Heuristic,
    _streams,
    draft_model,
    requests,
    simulate,
    simulate_requests,
)

ARRAYS = ("tokens", "rounds", "undrafted", "drafted", "discarded", "tested", "accepted", "ended")


@pytest.mark.parametrize("tokens", [1, 2, 75])
@pytest.mark.parametrize("gamma", [0, 1, 4, 20, 300])
@pytest.mark.parametrize("name", PROCESSES)
def test_requests_are_the_plain_loop_on_the_same_draws(name, gamma, tokens):
    strategy, count = PROCESSES[name](gamma), 21
    run = simulate_requests(strategy, requests=count, tokens=tokens, rng=5, record_steps=True)
    unrecorded = simulate_requests(strategy, requests=count, tokens=tokens, rng=5)
    for r, steps in enumerate(plain_loop(strategy, count, tokens, 5)):
        assert run.steps(r) == tuple((drafted, accepted) for drafted, accepted, _ in steps)
        last = steps[-1]
        lengths = [accepted for _, accepted, _ in steps]
        expected = {
            "tokens": tokens,
            "rounds": len(steps),
            "undrafted": sum(drafted == 0 for drafted, *_ in steps) if gamma else 0,
            "drafted": sum(drafted for drafted, *_ in steps),
            "discarded": last[2] + last[1] + 1 - tokens,
            "tested": [sum(a >= d and n > d for n, a, _ in steps) for d in range(gamma)],
            "accepted": [sum(a > d for a in lengths) for d in range(gamma)],
            "ended": [lengths.count(n) for n in range(gamma + 1)],
        }
        for array in ARRAYS:
            assert np.array_equal(getattr(run, array)[r], expected[array]), array
    for array in ARRAYS:
        assert np.array_equal(getattr(run, array), getattr(unrecorded, array))
    assert unrecorded.in_order is None
    assert not run.untested.any()
    assert not run.untested_tokens.any()


@pytest.mark.parametrize("chunk", [1, 500, 4000])
@pytest.mark.parametrize("name", PROCESSES)
def test_counts_do_not_depend_on_the_chunk_nor_on_the_number_of_requests(name, chunk, monkeypatch):
    strategy = PROCESSES[name](4)
    whole = simulate_requests(strategy, requests=203, tokens=50, rng=9, record_steps=True)
    fewer = simulate_requests(strategy, requests=74, tokens=50, rng=9)
    monkeypatch.setattr(requests, "_CHUNK", chunk)
    parts = simulate_requests(
        strategy, requests=203, tokens=50, rng=np.random.default_rng(9), record_steps=True
    )
    for array in ARRAYS:
        assert np.array_equal(getattr(whole, array), getattr(parts, array)), array
        assert np.array_equal(getattr(whole, array)[:74], getattr(fewer, array)), array
    assert whole.table == parts.table
    assert [whole.steps(r) for r in range(203)] == [parts.steps(r) for r in range(203)]


@pytest.mark.parametrize("gamma", [0, 1, 4, 30])
@pytest.mark.parametrize("name", ["mixture", "chain", "hit or miss"])
def test_rounds_of_streams_are_the_plain_loop_on_the_same_draws(name, gamma, monkeypatch):
    strategy = PROCESSES[name](gamma)
    for streams, each in ((1, 60), (3, 25), (90, 7)):
        texts = plain_loop(strategy, streams, None, 6, rounds=each)
        steps = [step for text in texts for step in text]
        undrafted = sum(drafted == 0 for drafted, *_ in steps) if gamma else 0
        expected = AcceptanceTable(
            rounds=streams * each,
            drafted=sum(drafted for drafted, *_ in steps),
            tested=tuple(sum(a >= d and n > d for n, a, _ in steps) for d in range(gamma)),
            accepted=tuple(sum(a > d for _, a, _ in steps) for d in range(gamma)),
            length_rule="scheduled" if undrafted else "fixed",
        )
        for chunk, narrow in ((1 << 20, 64), (1 << 20, 0), (1, 64), (40, 0)):
            monkeypatch.setattr(_streams, "_CHUNK", chunk)
            monkeypatch.setattr(_streams, "_NARROW", narrow)
            shares = []
            table = simulate(
                strategy, rounds=streams * each, streams=streams, rng=6, progress=shares.append
            )
            assert table == expected
            assert shares == sorted(shares)
            assert shares[-1] == pytest.approx(1.0)


def test_counts_of_requests_add_up():
    run = simulate_requests(
        draft_model(acceptance=HITS, gamma=3), requests=50, tokens=40, rng=2, record_steps=True
    )
    units = run.units()
    assert all(isinstance(unit, CountedUnit) and unit.counts.emitted == 40 for unit in units)
    assert sum((unit.counts for unit in units[1:]), start=units[0].counts) == run.table
    assert [unit.steps for unit in units] == [run.steps(r) for r in range(50)]
    assert [unit.name for unit in units[:2]] == ["0", "1"]
    assert run.emitted.tolist() == [40] * 50
    assert run.emitted_per_round.value == pytest.approx(run.table.emitted_per_round)
    assert run.tokens_per_round.value == pytest.approx(run.table.tokens_per_round.value)
    assert run.requests == 50


def test_what_cannot_be_simulated_is_refused():
    strategy = draft_model(p=0.7, gamma=4)
    for bad, name in (
        ({"requests": 0}, "requests"),
        ({"tokens": 0}, "tokens"),
        ({"tokens": 10**7}, "tokens"),
    ):
        with pytest.raises(ValueError, match=f"^{name} must be a whole number"):
            simulate_requests(strategy, **{"requests": 1, "tokens": 1, "rng": 0, **bad})
    with pytest.raises(ValueError, match="takes drafts of fixed length; got Chain"):
        simulate_requests(
            draft_model(p=0.7, gamma=4, stop=Heuristic()), requests=1, tokens=1, rng=0
        )
    with pytest.raises(ValueError, match=r"requests × \(tokens \+ gamma\) must be at most 1e\+11"):
        simulate_requests(strategy, requests=10**9, tokens=10**6, rng=0)
    with pytest.raises(ValueError, match=r"requests × \(gamma \+ 1\) must be at most 5e\+07"):
        simulate_requests(strategy, requests=10**8, tokens=1, rng=0)
    with pytest.raises(ValueError, match="requests × tokens must be at most"):
        simulate_requests(strategy, requests=10**4, tokens=10**4, rng=0, record_steps=True)
    with pytest.raises(ValueError, match="steps are known only of requests simulated with"):
        simulate_requests(strategy, requests=1, tokens=1, rng=0).steps(0)
    with pytest.raises(ValueError, match="rng must be a seed"):
        simulate_requests(strategy, requests=1, tokens=1, rng=None)

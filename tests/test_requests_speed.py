"""The benchmark of whole requests compares what does the same work; how fast it is is not asserted."""

from __future__ import annotations

import requests_speed
from request_runs import CHAIN, law_of_kth_round
from stats import assert_all

from simulator import AcceptanceTable, draft_model, simulate_requests


def test_the_plain_loop_follows_the_law_of_the_chain():
    """Requests of one token are one round each, which begins at a stationary position."""
    requests = requests_speed.plain_loop(CHAIN, 4, requests=20_000, tokens=1, seed=1)
    tested, accepted, rounds = (list(column) for column in zip(*requests, strict=True))
    table = AcceptanceTable(
        rounds=sum(rounds),
        drafted=4 * sum(rounds),
        tested=tuple(map(sum, zip(*tested, strict=True))),
        accepted=tuple(map(sum, zip(*accepted, strict=True))),
    )
    assert table.rounds == 20_000
    assert_all(table, law_of_kth_round(CHAIN, 4, 0))


def test_both_take_as_many_rounds():
    size = {"requests": 2000, "tokens": 64}
    loop = requests_speed.plain_loop(CHAIN, 4, **size, seed=1)
    run = simulate_requests(draft_model(acceptance=CHAIN, gamma=4), **size, rng=1)
    for tested, accepted, rounds in loop[:100]:
        assert tested[0] == rounds
        assert 64 <= rounds + sum(accepted) < 64 + 5
    difference = run.rounds.mean() - sum(rounds for *_, rounds in loop) / 2000
    assert abs(difference) <= 6.0 * run.rounds.std() * (2 / 2000) ** 0.5


def test_a_small_run_gives_a_complete_row():
    row = requests_speed.whole_requests(requests=20, tokens=16, repeats=1)
    assert isinstance(row.ok, bool)
    assert "× faster" in row.measured

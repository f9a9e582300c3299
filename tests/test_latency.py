"""Times of whole requests: by hand, against renewal theory, and as NumPy's percentiles."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from request_runs import CHAIN, HITS, rounds_pmf
from scipy.stats import binomtest
from stats import FALSE_ALARM, mean_limit

from analysis import request_latency, round_cost, round_law
from analysis.latency import rounds_by_length
from analysis.runs.first_passage import expected_rounds, survival_of_constant
from simulator import TraceReplay, draft_model, replay_texts, simulate_requests

COSTS = {
    "step_s": 0.03,
    "cost_ratio": 0.1,
    "verify_cost": [1.0, 1.2, 1.3, 1.4, 1.6],
    "overhead": 0.05,
}
ROUND_S = 0.03 * round_cost(4, 0.1, verify_cost=1.6, overhead=0.05)


@pytest.mark.parametrize("tokens", [1, 5, 64])
def test_requests_of_one_p_take_what_renewal_theory_says(tokens, rng):
    count, strategy = 40_000, draft_model(p=0.8, gamma=4)
    run = simulate_requests(strategy, requests=count, tokens=tokens, rng=rng)
    latency = request_latency(run, prefill_s=0.4, **COSTS)
    needed = expected_rounds(survival_of_constant(np.array([0.8]), 4), tokens)[0, -1]
    law = SimpleNamespace(pmf=rounds_pmf(round_law(strategy).pmf, tokens))
    limit = mean_limit(law, count) * ROUND_S
    assert abs(latency.request_s.mean.value - (0.4 + needed * ROUND_S)) <= limit + 1e-12
    assert abs(latency.tpot_s.mean.value - needed * ROUND_S / tokens) <= limit / tokens + 1e-12
    below = np.cumsum(law.pmf)
    for share, estimate in (
        (0.5, latency.request_s.p50),
        (0.95, latency.request_s.p95),
        (0.99, latency.request_s.p99),
    ):
        rounds = round((estimate.value - 0.4) / ROUND_S)
        assert estimate.value == pytest.approx(0.4 + rounds * ROUND_S, rel=1e-12)
        # As many requests as the exact law says lie at or below its own percentile.
        exact = int(np.searchsorted(below, share))
        at_most = int((run.rounds <= exact).sum())
        assert binomtest(at_most, count, min(below[exact], 1.0)).pvalue >= FALSE_ALARM
        assert abs(rounds - exact) <= 1


def test_percentiles_are_the_smallest_values_that_enough_requests_do_not_exceed():
    run = simulate_requests(draft_model(acceptance=CHAIN, gamma=4), requests=237, tokens=90, rng=1)
    latency = request_latency(run, prefill_s=0.2, **COSTS)
    times = 0.2 + run.rounds * ROUND_S
    for share in (50, 95, 99):
        estimate = getattr(latency.request_s, f"p{share}")
        assert estimate.value == pytest.approx(np.percentile(times, share, method="inverted_cdf"))
        per_token = getattr(latency.tpot_s, f"p{share}").value
        assert per_token == pytest.approx((estimate.value - 0.2) / 90)
    assert latency.request_s.mean.value == pytest.approx(times.mean())
    assert latency.request_s.mean.se == pytest.approx(times.std(ddof=1) / np.sqrt(237))


def test_gaps_are_told_by_chunk_and_by_token():
    run = simulate_requests(
        draft_model(acceptance=HITS, gamma=4), requests=60, tokens=50, rng=2, record_steps=True
    )
    latency = request_latency(run, prefill_s=9.0, **COSTS)
    chunks, tokens = [], []
    for request in range(60):
        left = 50
        for drafted, accepted in run.steps(request):
            wait = ROUND_S if drafted else 0.03
            arrived = min(accepted + 1, left)
            chunks.append(wait)
            tokens += [wait] + [0.0] * (arrived - 1)
            left -= arrived
        assert left == 0
    for gaps, spread in ((chunks, latency.gap_by_chunk_s), (tokens, latency.gap_by_token_s)):
        assert spread.mean.value == pytest.approx(np.mean(gaps), rel=1e-12)
        for share in (50, 95, 99):
            exact = np.percentile(gaps, share, method="inverted_cdf")
            assert getattr(spread, f"p{share}").value == pytest.approx(exact, rel=1e-12)
    assert latency.gap_by_token_s.mean.value == pytest.approx(latency.tpot_s.mean.value, rel=1e-12)
    assert latency.undrafted_share.value == pytest.approx(run.undrafted.sum() / run.rounds.sum())
    assert latency.emitted_per_round.value == pytest.approx(60 * 50 / len(chunks))
    whole = 60 * 9.0 + sum(chunks)
    assert latency.speedup.value == pytest.approx((60 * 9.0 + 60 * 50 * 0.03) / whole, rel=1e-12)


def test_the_same_mean_with_bursts_has_other_percentiles():
    """What ITL hides: most tokens wait for nothing, and the rest for a whole round."""
    run = simulate_requests(draft_model(p=0.9, gamma=4), requests=100, tokens=200, rng=0)
    latency = request_latency(run, **COSTS)
    assert latency.gap_by_token_s.p50.value == 0.0
    assert latency.gap_by_token_s.p95.value == pytest.approx(ROUND_S)
    assert latency.gap_by_chunk_s.p50.value == pytest.approx(ROUND_S)
    assert latency.tpot_s.p50.value < ROUND_S / 3


def test_plain_decoding_is_the_plain_step():
    run = simulate_requests(draft_model(p=0.9, gamma=0), requests=3, tokens=20, rng=0)
    latency = request_latency(run, prefill_s=0.1, **COSTS)
    assert latency.request_s.p99.value == pytest.approx(0.1 + 20 * 0.03)
    assert latency.speedup.value == pytest.approx(1.0, rel=1e-15)
    assert latency.gap_by_token_s.p50.value == pytest.approx(0.03)
    assert latency.request_s.p50.interval is None  # three requests say too little


def test_drafts_of_several_lengths_cost_what_each_drafts():
    trace = TraceReplay(texts=(((3, 3), (1, 0), (0, 0), (3, 2)), ((2, 1),)))
    run = replay_texts(trace, gamma=3)
    assert rounds_by_length(run).tolist() == [[1, 1, 0, 2], [0, 0, 1, 0]]
    latency = request_latency(run, **COSTS)
    first = 0.03 * (1.0 + (0.1 + 1.2 + 0.05) + 2 * (0.3 + 1.4 + 0.05))
    second = 0.03 * (0.2 + 1.3 + 0.05)
    assert latency.request_s.mean.value == pytest.approx((first + second) / 2, rel=1e-12)
    assert latency.request_s.p95.value == pytest.approx(first, rel=1e-12)
    forgotten = simulate_requests(
        draft_model(acceptance=trace, gamma=3), requests=2, tokens=9, rng=0
    )
    with pytest.raises(ValueError, match=r"must have its steps recorded \(record_steps=True\)"):
        request_latency(forgotten, **COSTS)


def test_intervals_of_percentiles_hold_the_exact_one_as_often_as_they_say():
    """The exact percentile of the rounds lies within in 95 % of runs or more, for values repeat."""
    strategy, runs, tokens = draft_model(p=0.8, gamma=4), 400, 200
    below = np.cumsum(rounds_pmf(round_law(strategy).pmf, tokens))
    held = {"p50": 0, "p95": 0}
    for seed in range(runs):
        run = simulate_requests(strategy, requests=150, tokens=tokens, rng=seed)
        latency = request_latency(run, step_s=1.0)
        for name, share in (("p50", 0.5), ("p95", 0.95)):
            low, high = getattr(latency.request_s, name).interval
            held[name] += low <= np.searchsorted(below, share) <= high
    for count in held.values():
        assert binomtest(count, runs, 0.95, alternative="less").pvalue >= FALSE_ALARM
    # Negative control: the neighbouring percentile is not held that often.
    missed = sum(
        not low <= np.searchsorted(below, 0.35) <= high
        for low, high in (
            request_latency(
                simulate_requests(strategy, requests=150, tokens=tokens, rng=seed), step_s=1.0
            ).request_s.p50.interval
            for seed in range(200)
        )
    )
    assert binomtest(missed, 200, 0.05, alternative="greater").pvalue < FALSE_ALARM


def test_what_has_no_times_is_refused():
    run = simulate_requests(draft_model(p=0.9, gamma=4), requests=3, tokens=20, rng=0)
    for bad, sentence in (
        ({"step_s": 0.0}, "step_s must be above 0; got 0"),
        ({"step_s": -1.0}, "step_s must be a finite number of at least 0"),
        ({"prefill_s": float("nan")}, "prefill_s must be a finite number"),
        ({"cost_ratio": None}, "cost_ratio must be a finite number"),
        ({"overhead": float("inf")}, "overhead must be a finite number"),
        ({"verify_cost": [1.0, 1.1]}, "verify_cost must give a value for each gamma from 0"),
    ):
        with pytest.raises(ValueError, match=sentence):
            request_latency(run, **{**COSTS, **bad})
    unknown = replay_texts(TraceReplay(texts=(((2, 2), (2, 0)),)), gamma=3)
    with pytest.raises(ValueError, match="must know all its rounds; got 1 that hang on a token"):
        request_latency(unknown, **COSTS)

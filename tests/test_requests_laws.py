"""Whole requests against the exact laws: round by round, in the long run, and as renewal theory has it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from request_runs import (
    CHAIN,
    HITS,
    MIXTURE,
    PROCESSES,
    kth_rounds,
    law_of_kth_round,
    rounds_pmf,
)
from scipy.special import betaln
from scipy.stats import binomtest
from stats import FALSE_ALARM, assert_all, assert_pmf, mean_limit

from analysis import ProcessLaw, process_law, process_tokens_per_round, round_law
from analysis.runs.first_passage import expected_rounds, survival_of_constant
from simulator import BetaMixture, HitMiss, draft_model, simulate, simulate_requests


@pytest.mark.parametrize("gamma", [1, 4, 8])
def test_rounds_of_the_chain_follow_its_law_one_after_the_other(gamma, rng):
    strategy = draft_model(acceptance=CHAIN, gamma=gamma)
    run = simulate_requests(
        strategy, requests=50_000, tokens=12 * (gamma + 1), rng=rng, record_steps=True
    )
    for k in (0, 1, 2, 11):
        assert_all(kth_rounds(run, k), law_of_kth_round(CHAIN, gamma, k))


def test_a_chain_drawn_anew_in_every_round_is_rejected(rng):
    """Negative control: that is the law of the first rounds, not of later ones."""
    strategy = draft_model(acceptance=CHAIN, gamma=8)
    run = simulate_requests(strategy, requests=50_000, tokens=9 * 12, rng=rng, record_steps=True)
    with pytest.raises(AssertionError, match="accepted lengths do not fit"):
        assert_pmf(kth_rounds(run, 0), law_of_kth_round(CHAIN, 8, 11))
    with pytest.raises(AssertionError, match="accepted lengths do not fit"):
        assert_pmf(kth_rounds(run, 11), law_of_kth_round(CHAIN, 8, 0))


def test_in_the_long_run_a_round_begins_as_the_stationary_law_says(rng):
    """Rounds far into a text: 60 moves of the starts are stationary to rounding."""
    strategy = draft_model(acceptance=CHAIN, gamma=4)
    run = simulate_requests(strategy, requests=30_000, tokens=61 * 5, rng=rng, record_steps=True)
    assert_all(kth_rounds(run, 60), process_law(CHAIN, 4))


def moments(mixture, gamma):
    """E[p^i] of a Beta law, i = 1..gamma."""
    kept, lost = mixture.shapes
    depths = np.arange(1, gamma + 1)
    return np.exp(betaln(kept + depths, lost) - betaln(kept, lost))


def test_first_rounds_of_a_mixture_have_its_moments_and_requests_keep_their_p(rng):
    strategy = draft_model(acceptance=MIXTURE, gamma=5)
    run = simulate_requests(strategy, requests=50_000, tokens=18, rng=rng, record_steps=True)
    law = ProcessLaw(survival=tuple(moments(MIXTURE, 5)))
    assert_all(kth_rounds(run, 0), law)
    assert_all(kth_rounds(run, 2), law)
    with pytest.raises(AssertionError):
        assert_pmf(kth_rounds(run, 0), round_law(draft_model(p=0.7, gamma=5)))  # one p for all
    first = np.searchsorted(run.in_order.request, np.arange(run.requests))
    both = (run.in_order.accepted[first] > 0) & (run.in_order.accepted[first + 1] > 0)
    assert binomtest(int(both.sum()), 50_000, moments(MIXTURE, 2)[1]).pvalue >= FALSE_ALARM
    assert binomtest(int(both.sum()), 50_000, 0.7**2).pvalue < FALSE_ALARM  # a p per round


@pytest.mark.parametrize("gamma", [1, 6])
def test_hits_and_misses_follow_their_law(gamma, rng):
    strategy = draft_model(acceptance=HITS, gamma=gamma)
    law = process_law(HITS, gamma)
    table = simulate(strategy, rounds=100_000, rng=rng)
    assert_all(table, law)
    undrafted = 100_000 - table.tested[0]
    assert table.drafted == gamma * table.tested[0]
    assert binomtest(undrafted, 100_000, 0.4).pvalue >= FALSE_ALARM
    run = simulate_requests(strategy, requests=50_000, tokens=20, rng=rng, record_steps=True)
    assert_all(kth_rounds(run, 1), law)
    blind = HitMiss(coverage=0.6, right=1.0, p_right=HITS.first_acceptance, p_wrong=0.0)
    if gamma > 1:  # right and wrong drafts, not one p for all
        with pytest.raises(AssertionError):
            assert_pmf(table, process_law(blind, gamma))


@pytest.mark.parametrize("tokens", [1, 7, 64])
def test_requests_of_one_p_take_the_rounds_of_renewal_theory(tokens, rng):
    gamma, p, count = 4, 0.8, 50_000
    run = simulate_requests(draft_model(p=p, gamma=gamma), requests=count, tokens=tokens, rng=rng)
    exact = expected_rounds(survival_of_constant(np.array([p]), gamma), tokens)[0, -1]
    pmf = rounds_pmf(round_law(draft_model(p=p, gamma=gamma)).pmf, tokens)
    law = SimpleNamespace(pmf=pmf)
    assert pmf @ np.arange(pmf.size) == pytest.approx(exact, rel=1e-12)
    assert abs(run.rounds.mean() - exact) <= mean_limit(law, count)
    counts = np.bincount(run.rounds, minlength=pmf.size)
    assert counts.size == pmf.size
    assert not counts[pmf == 0.0].any()


@pytest.mark.parametrize("name", PROCESSES)
def test_long_requests_tend_to_the_law_of_the_process(name):
    strategy = PROCESSES[name](4)
    run = simulate_requests(strategy, requests=2000, tokens=2000, rng=1)
    exact = process_tokens_per_round(strategy.acceptance, 4)
    # 6.2 standard errors, and what the first and the last round weigh in 2000 tokens.
    assert abs(run.tokens_per_round.value - exact) <= 6.2 * run.tokens_per_round.se + 5 / 2000


def test_the_error_of_the_mean_is_that_of_requests():
    """A mixture's rounds belong together: its error is several times that of independent rounds."""
    strategy = draft_model(acceptance=BetaMixture(p=0.7, concentration=2.0), gamma=4)
    runs = [simulate_requests(strategy, requests=200, tokens=300, rng=n) for n in range(300)]
    spread = np.std([run.tokens_per_round.value for run in runs], ddof=1)
    claimed = np.mean([run.tokens_per_round.se for run in runs])
    assert 0.8 < claimed / spread < 1.25  # the spread of 300 is known to 4 %: 5 standard errors
    assert claimed > 4 * np.mean([run.table.tokens_per_round.se for run in runs])

"""Fits recover what was simulated: intervals cover as often as they say, the right process is chosen.

False alarms: each coverage test counts intervals that hold the truth over replications with seeds of
their own and compares with the 1e-8 quantile of the binomial law; a control shows what fails.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.stats import binom, chi2

import analysis as an
from simulator import (
    AcceptanceByDepth,
    AcceptanceTable,
    BetaMixture,
    ConstantAcceptance,
    CountedUnit,
    EasyHardChain,
    HitMiss,
    draft_model,
)
from simulator.requests import simulate_requests

FALSE_ALARM = 1e-8
GAMMA = 4
PROCESSES = {
    "constant p": ConstantAcceptance(p=0.7),
    "by depth": AcceptanceByDepth(by_depth=(0.8, 0.55, 0.75, 0.4)),
    "geometric decay": AcceptanceByDepth(by_depth=tuple(0.85 * 0.85**i for i in range(GAMMA))),
    "mixture over requests": BetaMixture(p=0.7, concentration=6.0),
    "hit or miss": HitMiss(coverage=0.7, right=0.6, p_right=0.9, p_wrong=0.2),
    "easy/hard chain": EasyHardChain(p_easy=0.92, p_hard=0.3, stay_easy=0.9, stay_hard=0.8),
}
REPLICATIONS = {"easy/hard chain": 40, "mixture over requests": 60}


def units_of(name, *, requests, tokens=80, seed=0):
    strategy = draft_model(acceptance=PROCESSES[name], gamma=GAMMA)
    found = simulate_requests(
        strategy, requests=requests, tokens=tokens, rng=seed, record_steps=True
    )
    return found.units()


def truth(name):
    process = PROCESSES[name]
    known = {"tokens": an.process_tokens_per_round(process, GAMMA)}
    if name == "by depth":
        return known | {f"by_depth[{i}]": p for i, p in enumerate(process.by_depth)}
    if name == "geometric decay":
        return known | {"first": 0.85, "factor": 0.85}
    fields = {
        field: getattr(process, field)
        for field in ("p", "concentration", "right", "p_right", "p_wrong", "p_easy", "p_hard",
                      "stay_easy", "stay_hard")
        if hasattr(process, field)
    }  # fmt: skip
    return known | fields


def coverage(name, fit_one, replications):
    """How many intervals hold the truth, by quantity."""
    held = dict.fromkeys(truth(name), 0)
    for seed in range(replications):
        found = fit_one(units_of(name, requests=40, seed=1000 + seed), seed)
        estimates = dict(found.parameters) | {"tokens": found.tokens_per_round(GAMMA)}
        for quantity, value in truth(name).items():
            interval = estimates[quantity].interval
            held[quantity] += interval is not None and interval[0] <= value <= interval[1]
    return held


@pytest.mark.parametrize(
    ("name", "intervals"),
    [(name, intervals) for name in PROCESSES for intervals in ("sandwich", "resampling")],
)
def test_intervals_cover_as_often_as_they_say(name, intervals):
    replications = REPLICATIONS.get(name, 120)
    held = coverage(
        name,
        lambda units, seed: an.fit(
            units, processes=(name,), intervals=intervals, rng=seed, resamples=200
        ),
        replications,
    )
    least = binom.ppf(FALSE_ALARM, replications, 0.95)
    assert min(held.values()) >= least, held


def test_rounds_taken_as_independent_do_not_cover():
    """The control: the same requests pooled, as if rounds of one request had nothing in common."""

    def pooled(units, seed):
        tables = [unit.counts for unit in units]
        return an.fit(
            sum(tables[1:], tables[0]), processes=("constant p",), rng=seed, resamples=200
        )

    name = "mixture over requests"
    target = truth(name)["tokens"]
    held = 0
    for seed in range(120):
        found = pooled(units_of(name, requests=40, seed=1000 + seed), seed)
        low, high = found.tokens_per_round(GAMMA).interval
        held += low <= target <= high
        assert any("lower bound" in note for note in found.notes)
    assert held < binom.ppf(FALSE_ALARM, 120, 0.95)


@functools.cache
def large_fit(name):
    return an.fit(units_of(name, requests=150, tokens=120, seed=7), rng=1)


@pytest.mark.parametrize("name", [name for name in PROCESSES if name != "constant p"])
def test_the_right_process_is_chosen(name):
    """Before every other one by more than 2 log 1e8 in BIC, or with fewer parameters for the same fit."""
    found = large_fit(name)
    assert found.name == name
    scored = {c.name: c for c in found.candidates}
    assert scored[name].chosen
    constant = scored["constant p"]
    assert scored[name].log_likelihood - constant.log_likelihood > np.log(1.0 / FALSE_ALARM)


def test_one_p_is_not_beaten_by_more_than_chance():
    found = large_fit("constant p")
    scored = {c.name: c for c in found.candidates if np.isfinite(c.log_likelihood)}
    least = scored["constant p"].log_likelihood
    assert found.name == "constant p"
    assert len(scored) >= 4
    for candidate in scored.values():
        extra = max(candidate.parameters - 1, 1)
        gain = 2.0 * (candidate.log_likelihood - least)
        assert gain <= chi2.isf(FALSE_ALARM, extra)


@pytest.mark.parametrize("name", PROCESSES)
def test_goodness_accepts_the_right_process(name):
    assert large_fit(name).goodness.p_value > FALSE_ALARM


@pytest.mark.parametrize("name", [name for name in PROCESSES if name != "constant p"])
def test_goodness_rejects_one_p(name):
    units = units_of(name, requests=150, tokens=120, seed=7)
    found = an.fit(units, processes=("constant p",), rng=1)
    assert found.goodness.p_value < FALSE_ALARM
    assert "does not explain" in found.goodness.sentence


def test_pairs_of_rounds_show_what_the_histogram_hides():
    """By depth fits every histogram; only the order of the rounds tells that it is a chain."""
    units = units_of("easy/hard chain", requests=150, tokens=120, seed=7)
    found = an.fit(units, processes=("by depth",), rng=1)
    assert found.goodness.degrees == 1
    assert found.goodness.p_value < FALSE_ALARM
    assert found.goodness.pair_correlation > 0.02
    assert abs(large_fit("easy/hard chain").goodness.pair_correlation) < 0.02


@pytest.mark.parametrize("name", PROCESSES)
def test_resampling_and_sandwich_agree(name):
    units = units_of(name, requests=150, tokens=120, seed=7)
    errors = [
        an.fit(units, processes=(name,), intervals=how, rng=3).tokens_per_round(GAMMA).se
        for how in ("resampling", "sandwich")
    ]
    assert errors[0] == pytest.approx(errors[1], rel=0.2)


def test_rounds_of_requests_are_not_rounds():
    """For the mixture the error by request is several times that of independent rounds."""
    units = units_of("mixture over requests", requests=150, tokens=120, seed=7)
    tables = [unit.counts for unit in units]
    pooled = an.fit(sum(tables[1:], tables[0]), processes=("constant p",), rng=1)
    assert (
        large_fit("mixture over requests").tokens_per_round(GAMMA).se
        > 2.0 * pooled.tokens_per_round(GAMMA).se
    )


def test_chain_knows_that_long_drafts_begin_in_hard_places():
    """With γ = 1 the first token is kept more often than with γ = 4; by depth takes it as given."""
    found = large_fit("easy/hard chain")
    exact = an.process_tokens_per_round(PROCESSES["easy/hard chain"], 1)
    told = found.tokens_per_round(1)
    assert abs(told.value - exact) < 6.0 * told.se
    units = units_of("easy/hard chain", requests=600, tokens=120, seed=7)
    by_depth = an.fit(units, processes=("by depth",), rng=1).tokens_per_round(1)
    assert exact - by_depth.value > 6.0 * by_depth.se


def test_held_out_likelihood_chooses_the_mixture():
    units = units_of("mixture over requests", requests=60, seed=5)
    found = an.fit(
        units,
        choice="held-out",
        rng=1,
        processes=("constant p", "by depth", "mixture over requests"),
    )
    assert found.name == "mixture over requests"
    assert "held-out" in next(c.reason for c in found.candidates if c.chosen)


def test_every_position_is_replayed():
    positions = ((2, 1), (2, 0), (2, 2), (2, 1), (2, 0), (2, 2), (2, 0)) * 3
    table = AcceptanceTable(rounds=0, drafted=0, tested=(), accepted=())
    units = [CountedUnit(counts=table, steps=positions, every_position=True)] * 6
    found = an.fit(units, rng=1, processes=("constant p",))
    assert found.rounds < 6 * len(positions)
    assert any("Every position" in note for note in found.notes)

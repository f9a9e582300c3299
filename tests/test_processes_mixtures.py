"""Laws that belong to requests: what they accept, how strategies carry them, who refuses them."""

from __future__ import annotations

import math

import pytest

from analysis import check, round_law, stopped_law
from simulator import (
    BetaMixture,
    EasyHardChain,
    Heuristic,
    HitMiss,
    Oracle,
    TraceReplay,
    draft_model,
    simulate,
    simulate_counts,
    simulate_lengths,
)

CHAIN = {"p_easy": 0.9, "p_hard": 0.3, "stay_easy": 0.9, "stay_hard": 0.7}
HITS = {"coverage": 0.6, "right": 0.7, "p_right": 0.9, "p_wrong": 0.1}
PROCESSES = [
    BetaMixture(p=0.7, concentration=3.0),
    EasyHardChain(**CHAIN),
    HitMiss(**HITS),
    TraceReplay(texts=(((3, 1), (3, 3)),)),
]


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, None, "0.5", True])
@pytest.mark.parametrize(
    ("kind", "values", "name"),
    [
        (BetaMixture, {"p": 0.5, "concentration": 1.0}, "p"),
        *((EasyHardChain, CHAIN, name) for name in CHAIN),
        *((HitMiss, HITS, name) for name in HITS),
    ],
)
def test_a_value_that_is_no_probability_is_refused(kind, values, name, value):
    with pytest.raises(ValueError, match=rf"^{name} must be a number in \[0, 1\]; got"):
        kind(**{**values, name: value})


@pytest.mark.parametrize("value", [0, -1.0, 1e-10, math.nan, None, "2", True, [1.0]])
def test_a_concentration_must_be_above_0(value):
    with pytest.raises(ValueError, match=r"^concentration must be a number of at least 1e-9 \(or"):
        BetaMixture(p=0.5, concentration=value)


def test_a_chain_that_never_changes_is_refused():
    with pytest.raises(ValueError, match="stay_easy and stay_hard must not both be 1; got 1 and 1"):
        EasyHardChain(p_easy=0.9, p_hard=0.3, stay_easy=1.0, stay_hard=1)


def test_shares_are_those_of_the_stationary_law():
    assert EasyHardChain(**{**CHAIN, "stay_easy": 1.0}).easy_share == 1.0
    assert EasyHardChain(**{**CHAIN, "stay_hard": 1.0}).easy_share == 0.0
    assert EasyHardChain(**{**CHAIN, "stay_easy": 0.0, "stay_hard": 0.0}).easy_share == 0.5
    for share in (0.1, 0.3, 0.7):
        chain = EasyHardChain(p_easy=0.9, p_hard=0.3, stay_easy=share, stay_hard=0.4)
        easy = chain.easy_share
        assert easy * chain.stay_easy + (1 - easy) * (1 - chain.stay_hard) == pytest.approx(easy)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_all_requests_share_a_p_at_the_ends(p):
    mixture = BetaMixture(p=p, concentration=0.5)
    assert mixture.is_one_p
    table = simulate(draft_model(acceptance=mixture, gamma=3), rounds=30, streams=10, rng=0)
    assert table.accepted == (30 * p,) * 3
    assert BetaMixture(p=0.5, concentration=math.inf).is_one_p
    assert not BetaMixture(p=0.5, concentration=1e300).is_one_p


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: type(process).__name__)
def test_strategies_carry_them_and_laws_of_one_round_refuse_them(process):
    strategy = draft_model(acceptance=process, gamma=3)
    table = simulate(strategy, rounds=12, streams=4, rng=0)
    assert (table.rounds, table.depths) == (12, 3)
    sentence = f"acceptance must be the same in every round; got {type(process).__name__}, which"
    for function in (
        round_law,
        stopped_law,
        lambda strategy: check(strategy, table),
        lambda strategy: simulate_lengths(strategy, rounds=5, rng=0),
        lambda strategy: simulate_counts(strategy, rounds=5, rng=0),
    ):
        with pytest.raises(ValueError, match=sentence):
            function(strategy)
    for stop in (Heuristic(), Oracle()):
        with pytest.raises(ValueError, match=f"{type(process).__name__} needs drafts of fixed"):
            draft_model(acceptance=process, gamma=3, stop=stop)


def test_rounds_must_divide_among_the_streams_and_stay_within_the_limit():
    strategy = draft_model(acceptance=PROCESSES[1], gamma=4)
    with pytest.raises(ValueError, match="rounds must be a multiple of streams"):
        simulate(strategy, rounds=10, streams=3, rng=0)
    with pytest.raises(ValueError, match=r"rounds × \(gamma \+ 1\) must be a whole number in"):
        simulate(strategy, rounds=10**11, rng=0)
    with pytest.raises(
        ValueError, match=r"acceptance must be one of ConstantAcceptance, .*BetaMix"
    ):
        draft_model(acceptance=0.7, gamma=3)

"""What drafts keep under load is what the engine says: round by round, and the same under every load."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chi2_contingency
from serving_cases import CHAINS, STRATEGIES, TREES, make_server, make_times, serve
from stats import (
    CHI_SQUARE_LIMIT,
    FALSE_ALARM,
    FEWEST_EXPECTED,
    assert_all,
    assert_mean,
    mean_and_sd,
)

from analysis import round_law
from simulator import (
    BetaMixture,
    ConstantAcceptance,
    EasyHardChain,
    HitMiss,
    TraceReplay,
    draft_model,
    replay_texts,
    simulate_requests,
)
from simulator.serving import (
    ClosedLoop,
    EmpiricalTokens,
    FixedTokens,
    Server,
    UniformTokens,
    Workload,
)
from simulator.serving.verdicts import NO_DRAFT, Verdicts

TEXTS = 8_000
INDEPENDENT = ["constant", "by depth", "confident", *TREES]
"""Laws in which every round is like every other."""
IN_TEXTS = [name for name in CHAINS if name not in INDEPENDENT]


def rounds_of(strategy, *, texts, rounds, rng, gamma=None):
    """Kept tokens of the first rounds of texts, -1 without a draft, shape [texts, rounds]."""
    gamma = strategy.draft.gamma if gamma is None else gamma
    supply = Verdicts(strategy, frozenset({gamma}), rng)
    tokens = rounds * (gamma + 1)
    # Rows as a run asks for them: as many at a time as `rows_of` says.
    lengths, parts = np.full(texts, tokens), []
    while lengths.size:
        part = lengths[: supply.rows_of(lengths)]
        parts.append(supply.draw(part))
        lengths = lengths[part.size :]
    kept = np.concatenate(parts)
    at, seen = np.zeros(texts, dtype=np.int64), np.empty((texts, rounds), dtype=np.int64)
    for number in range(rounds):
        seen[:, number] = kept[np.arange(texts), at]
        at += np.maximum(seen[:, number], 0) + 1
    return seen


LONG = Workload(
    arrivals=ClosedLoop(users=1), prompt=FixedTokens(tokens=1), output=FixedTokens(tokens=401)
)


def table_of(kept, gamma):
    """Counts in the words of an AcceptanceTable."""
    flat = np.maximum(kept, 0).ravel()
    accepted = tuple(int((flat >= depth).sum()) for depth in range(1, gamma + 1))
    return SimpleNamespace(rounds=flat.size, accepted=accepted)


@pytest.mark.parametrize("name", INDEPENDENT)
def test_rounds_that_are_all_alike_follow_the_exact_law(name, rng):
    strategy = STRATEGIES[name]
    kept = rounds_of(strategy, texts=3_000, rounds=8, rng=rng)
    assert_all(table_of(kept, strategy.draft.gamma), round_law(strategy))


def test_a_shorter_draft_follows_the_law_of_the_shorter_draft(rng):
    kept = rounds_of(STRATEGIES["by depth"], texts=3_000, rounds=8, rng=rng, gamma=2)
    assert_all(table_of(kept, 2), round_law(draft_model(by_depth=(0.9, 0.5))))


def test_another_p_is_rejected(rng):
    """Negative control."""
    kept = rounds_of(draft_model(p=0.72, gamma=4), texts=3_000, rounds=8, rng=rng)
    with pytest.raises(AssertionError):
        assert_mean(table_of(kept, 4), round_law(draft_model(p=0.7, gamma=4)))


def requests_of(strategy, *, texts, rounds, rng):
    """The same of `simulate_requests`, which counts a round without a draft as one of 0 drafted."""
    gamma = strategy.draft.gamma
    run = simulate_requests(
        strategy, requests=texts, tokens=rounds * (gamma + 1), rng=rng, record_steps=True
    )
    asked = run.in_order
    kept = np.where(asked.drafted > 0, asked.accepted, NO_DRAFT)
    first = np.searchsorted(asked.request, np.arange(texts))
    return np.stack([kept[first + number] for number in range(rounds)], axis=1)


def pair_p(one, other):
    """p-value that two rounds of a text have the same joint law in both; rare pairs are one cell."""
    cells = [pair[:, 0] * 100 + pair[:, 1] for pair in (one, other)]
    names = np.unique(np.concatenate(cells))
    table = np.array([[(cell == name).sum() for name in names] for cell in cells])
    few = table.sum(axis=0) < 2 * FEWEST_EXPECTED
    merged = np.column_stack([table[:, ~few], table[:, few].sum(axis=1)])
    merged = merged[:, merged.sum(axis=0) > 0]
    return chi2_contingency(merged, correction=False).pvalue


def whole_texts(strategy):
    """Recorded texts end where their last rounds do, so that both walks see the same rounds."""
    law = strategy.acceptance
    return (
        not isinstance(law, TraceReplay) or max(replay_texts(law, gamma=law.gamma).discarded) == 0
    )


@pytest.mark.parametrize("name", IN_TEXTS)
def test_rounds_of_a_text_are_those_of_whole_requests(name, rng):
    """First and second round, and two later ones, jointly: how a text goes on is seen too."""
    strategy = CHAINS[name]
    assert whole_texts(strategy)
    ours, theirs = (
        walk(strategy, texts=TEXTS, rounds=7, rng=rng) for walk in (rounds_of, requests_of)
    )
    for pair in ([0, 1], [5, 6]):
        assert pair_p(ours[:, pair], theirs[:, pair]) >= CHI_SQUARE_LIMIT


@pytest.mark.parametrize("name", ["between requests", "along the text"])
def test_rounds_that_are_all_alike_are_rejected_there(name, rng):
    """Negative control: the same share of first tokens kept, but no text that is like itself."""
    strategy = CHAINS[name]
    ours = rounds_of(strategy, texts=TEXTS, rounds=2, rng=rng)
    mixed = np.column_stack([ours[:, 0], rng.permutation(ours[:, 1])])
    assert pair_p(ours, mixed) < CHI_SQUARE_LIMIT


def test_positions_where_no_round_begins_are_rejected(rng):
    """Negative control: a round that begins one position too late meets another text."""
    strategy = CHAINS["recorded positions"]
    supply = Verdicts(strategy, frozenset({3}), rng)
    kept = supply.draw(np.full(TEXTS, 12))
    late = np.column_stack([kept[:, 1], kept[:, 2]])
    theirs = requests_of(strategy, texts=TEXTS, rounds=2, rng=rng)
    assert pair_p(late, theirs) < CHI_SQUARE_LIMIT


def test_a_record_that_was_cut_takes_as_many_rounds_as_it_did():
    """Two for its four tokens, of which the last round brought one too many: no round begins in between."""
    trace = TraceReplay(texts=(((2, 1), (2, 2)),), tokens=(4,))
    strategy = draft_model(acceptance=trace, gamma=2)
    server = Server(times=make_times(), most_running=1, strategy=strategy)
    count = serve(server, LONG, requests=2, warm_up=0).counters
    assert (count.rounds, count.undrafted) == (2 * 200, 0)


@pytest.mark.parametrize(
    "law",
    [
        BetaMixture(p=1.0, concentration=2.0),
        EasyHardChain(p_easy=1.0, p_hard=1.0, stay_easy=0.5, stay_hard=0.5),
        HitMiss(coverage=1.0, right=1.0, p_right=1.0, p_wrong=0.0),
    ],
    ids=lambda law: type(law).__name__,
)
def test_the_last_round_keeps_its_whole_draft_too(law):
    """What it keeps beyond the end of the answer is accepted and discarded, so that rounds are all alike."""
    server = make_server(draft_model(acceptance=law, gamma=4), most_running=1)
    load = Workload(
        arrivals=ClosedLoop(users=1), prompt=FixedTokens(tokens=1), output=FixedTokens(tokens=18)
    )
    run = serve(server, load, requests=6, warm_up=0)
    assert run.tokens_per_round == 5.0
    assert run.counters.discarded == 6 * 3  # 17 tokens in four rounds of five


def test_a_record_that_was_cut_gives_as_many_tokens_per_round_as_arrived():
    """Its last round kept two tokens of which one arrived: four tokens in two rounds."""
    trace = TraceReplay(texts=(((2, 1), (2, 2)),), tokens=(4,))
    server = Server(
        times=make_times(), most_running=1, strategy=draft_model(acceptance=trace, gamma=2)
    )
    run = serve(server, LONG, requests=2, warm_up=0)
    assert run.tokens_per_round == pytest.approx(2.0)


def test_rounds_that_find_no_candidates_are_plain():
    """`ParallelCandidates`: a round finds none with 1 − hit, and is then plain, as under `HitMiss`."""
    strategy = TREES["lookahead"]
    load = Workload(
        arrivals=ClosedLoop(users=4), prompt=FixedTokens(tokens=1), output=FixedTokens(tokens=40)
    )
    count = serve(make_server(strategy), load, requests=100).counters
    assert count.undrafted > 0
    assert count.drafted == (count.rounds - count.undrafted) * strategy.nodes


LOAD = Workload(
    arrivals=ClosedLoop(users=6),
    prompt=UniformTokens(least=1, most=9),
    output=EmpiricalTokens(values=(1, 2, 17, 40)),
)


@pytest.mark.parametrize("budget", [None, 9])
@pytest.mark.parametrize("name", INDEPENDENT)
def test_tokens_per_round_under_load_are_exact(name, budget):
    """Every round is a fair draw, whenever it comes. Hoeffding 1963 for the largest of the first sums:

    P(max over n ≤ N of |Σ (accepted − mean)| ≥ x) ≤ 2 exp(−2 x² / (N gamma²)), and no run has more
    rounds than it decodes tokens.
    """
    strategy = STRATEGIES[name]
    server = make_server(strategy, most_running=3, token_budget=budget)
    run = serve(server, LOAD, requests=600, warm_up=0)
    count, gamma = run.counters, strategy.draft.gamma
    mean, _ = mean_and_sd(round_law(strategy))
    most_rounds = (600 + 6 + 3) * 39
    limit = gamma * math.sqrt(most_rounds * math.log(2.0 / FALSE_ALARM) / 2.0)
    assert abs(count.accepted - mean * count.rounds) <= limit
    assert abs(count.accepted - 1.5 * mean * count.rounds) > limit  # negative control
    assert run.tokens_per_round == 1.0 + count.accepted / count.rounds


def test_texts_with_one_p_each_differ_more_than_texts_that_share_it(rng):
    """The p of a request stays with it: its rounds' sum varies as Beta says, not as coins do."""
    texts, rounds, p, spread = 12_000, 30, 0.7, 1.5
    mixture = draft_model(acceptance=BetaMixture(p=p, concentration=spread), gamma=1)
    alike = draft_model(acceptance=ConstantAcceptance(p=p), gamma=1)
    sums = [
        rounds_of(law, texts=texts, rounds=rounds, rng=rng).sum(axis=1) for law in (mixture, alike)
    ]
    own, coins = (float(np.var(each)) for each in sums)
    between = rounds * (rounds - 1) * p * (1 - p) / (1 + spread)
    # Sums lie in [0, 30]: the mean of their squared deviations is known to 30² √(ln(4 / 1e-8) / 2n), Hoeffding.
    reach = 2 * rounds**2 * math.sqrt(math.log(4.0 / FALSE_ALARM) / (2 * texts))
    assert abs(own - between - rounds * p * (1 - p)) <= reach
    assert abs(coins - rounds * p * (1 - p)) <= reach < between

"""The loop on toy models where nothing is left to chance, or where another exact law knows the answer."""

from __future__ import annotations

import numpy as np
import pytest
from stats import assert_all, mean_limit
from test_toy_decoding import DRAFT, PICKED, STOPS, TARGET, contexts, drafter_of, random_chain

from analysis import stopped_law
from simulator import (
    AcceptanceTable,
    Chain,
    ConfidenceThreshold,
    ConfidentAcceptance,
    Heuristic,
    IndependentContexts,
    Sampling,
    ToyDrafter,
    decode,
    draft_model,
    greedy,
    replay,
    sample_and_match,
    speculative_sampling,
)

MODELS = ("chain", "contexts")


def pair_of(kind):
    """A target and a draft that often, but not always, finds the same token most likely."""
    if kind == "chain":
        target = random_chain(vocabulary=12, seed=8)
        return target, target.mixed(0.45, np.random.default_rng(2).dirichlet(np.full(12, 0.2), 12))
    pair = contexts()
    return pair.target, pair.draft


def most_likely_text(kind, prompt, size):
    """Greedy decoding in its own words: the most likely token, again and again."""
    model = pair_of(kind)[0]
    logits, tokens = model.start(prompt), []
    while len(tokens) < size:
        tokens.append(int(np.argmax(logits)))
        logits = model.extend(tokens[-1:])[-1]
    return tuple(tokens)


def run(kind, *, picked="chosen", chain=None, rule=None, max_tokens=60, rng=0, **more):
    target, draft = pair_of(kind)
    return decode(
        [3, 1], target=target, drafter=drafter_of(draft, picked), chain=chain or Chain(gamma=4),
        rule=rule or greedy(), max_tokens=max_tokens, rng=rng, **more,
    )  # fmt: skip


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("picked", PICKED)
@pytest.mark.parametrize("kind", MODELS)
def test_greedy_text_is_the_text_of_plain_decoding(kind, picked, stop):
    expected = most_likely_text(kind, [3, 1], 150)
    text = run(kind, picked=picked, chain=STOPS[stop], max_tokens=150)
    plain = decode([3, 1], target=pair_of(kind)[0], rule=greedy(), max_tokens=150, rng=0)
    assert text.tokens == plain.tokens == expected
    assert plain.table == AcceptanceTable(rounds=149, drafted=0, tested=(), accepted=())
    assert 0 < sum(text.table.accepted) <= text.table.drafted
    assert sum(text.table.accepted) < text.table.drafted or stop == "thrown away"


@pytest.mark.parametrize("rule", [speculative_sampling(), sample_and_match()])
@pytest.mark.parametrize("kind", MODELS)
def test_temperature_zero_is_greedy_under_every_exact_rule(kind, rule):
    text = run(kind, picked="drawn", rule=rule, max_tokens=100, sampling=Sampling(temperature=0.0))
    assert text.tokens == most_likely_text(kind, [3, 1], 100)


@pytest.mark.parametrize("side", ["target", "draft"])
def test_a_cache_that_forgets_too_little_would_be_seen(side, monkeypatch):
    pair = contexts()
    careless = getattr(pair, side)
    rollback = careless.rollback
    monkeypatch.setattr(careless, "rollback", lambda count: rollback(max(count - 1, 0)))
    text = decode(
        [3, 1], target=pair.target, drafter=ToyDrafter(pair.draft, picked="chosen"),
        chain=Chain(gamma=4), rule=greedy(), max_tokens=60, rng=0,
    )  # fmt: skip
    right = run("contexts")
    assert (text.tokens == right.tokens) == (side == "draft")  # a bad draft costs time, not truth
    assert text.table.accepted < right.table.accepted


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("max_tokens", range(1, 16))
def test_a_limit_cuts_the_text_and_counts_what_it_cuts(kind, max_tokens):
    text = run(kind, max_tokens=max_tokens, record="rounds")
    assert text.tokens == most_likely_text(kind, [3, 1], max_tokens)
    longer = run(kind, max_tokens=200, record="rounds")
    # The same rounds as without a limit; the last one may have kept more than arrived.
    assert [r.accepted for r in text.rounds] == [r.accepted for r in longer.rounds][
        : len(text.rounds)
    ]
    assert text.table.discarded == sum(r.accepted + 1 for r in text.rounds) - (max_tokens - 1)


@pytest.mark.parametrize("kind", MODELS)
def test_every_stop_token_ends_the_text_where_it_first_stands(kind):
    full = most_likely_text(kind, [3, 1], 80)
    plain_rounds = run(kind, max_tokens=80, record="rounds").rounds
    for stop in sorted(set(full)):
        end = full.index(stop) + 1
        text = run(kind, max_tokens=80, stop_tokens={stop}, record="rounds")
        assert (text.tokens, text.ended) == (full[:end], "stop")
        assert text.table.emitted == end - 1
        if not text.rounds:
            continue
        last, same = text.rounds[-1], plain_rounds[len(text.rounds) - 1]
        place = end - 1 - last.start  # of the stop token in its round
        accepted_stop = place < same.accepted
        assert last.tested == (place + 1 if accepted_stop else same.tested)
        assert last.accepted == (place + 1 if accepted_stop else same.accepted)
        assert text.table.discarded == int(accepted_stop)  # the bonus behind it


@pytest.mark.parametrize("kind", MODELS)
def test_a_context_ends_the_text_and_cuts_drafts_before(kind):
    target, draft = pair_of(kind)
    target._context = 20
    text = decode(
        [3, 1], target=target, drafter=ToyDrafter(draft, picked="chosen"), chain=Chain(gamma=6),
        rule=greedy(), max_tokens=100, rng=0, record="rounds",
    )  # fmt: skip
    assert text.ended == "context"
    assert text.tokens == most_likely_text(kind, [3, 1], 19)  # the last one was never read
    assert all(2 + r.start + r.drafted <= 20 for r in text.rounds)
    assert text.table.length_rule == "scheduled"


@pytest.mark.parametrize("stop_tokens", [(), (2, 7)])
@pytest.mark.parametrize("max_tokens", [2, 37, 120])
@pytest.mark.parametrize("kind", MODELS)
def test_every_position_replays_every_shorter_draft(kind, max_tokens, stop_tokens):
    recorded = run(
        kind, chain=Chain(gamma=6), max_tokens=max_tokens, stop_tokens=stop_tokens,
        record="every_position",
    )  # fmt: skip
    for gamma in range(1, 7):
        direct = run(kind, chain=Chain(gamma=gamma), max_tokens=max_tokens, stop_tokens=stop_tokens)
        assert recorded.tokens == direct.tokens
        assert replay(recorded, gamma=gamma) == direct.table


@pytest.mark.parametrize("picked", PICKED)
def test_heuristic_lengths_follow_the_rule_round_by_round(picked, rng):
    stop = Heuristic(start=3)
    text = run(
        "contexts", picked="drawn" if picked == "dropped" else picked, rule=sample_and_match(),
        chain=Chain(gamma=7, stop=stop), max_tokens=400, rng=rng, record="rounds",
    )  # fmt: skip
    length = 3
    for r in text.rounds:
        assert r.drafted == length
        length = stop.after(length, all_kept=r.accepted == length, gamma=7)
    assert len({r.drafted for r in text.rounds}) > 3
    assert text.table.length_rule == "scheduled"


@pytest.mark.parametrize("drops_last", [False, True])
def test_confidence_stops_follow_the_law_of_the_simulator(drops_last):
    # One context: the confidence of a token is Q(x), and it is kept with min(1, P / Q), or with P.
    rule = sample_and_match() if drops_last else speculative_sampling()
    stop = ConfidenceThreshold(threshold=0.2, drops_last=drops_last)
    pair, rounds, gamma = IndependentContexts([TARGET], [DRAFT]), 1000, 3
    text = decode(
        [0], target=pair.target, drafter=ToyDrafter(pair.draft), chain=Chain(gamma=gamma, stop=stop),
        rule=rule, max_tokens=rounds * (gamma + 1) + 1, rng=4, record="rounds",
    )  # fmt: skip
    kept = TARGET if drops_last else np.minimum(TARGET / DRAFT, 1.0)
    law = ConfidentAcceptance(levels=tuple(DRAFT), weights=tuple(DRAFT), accepted=tuple(kept))
    exact = stopped_law(draft_model(acceptance=law, gamma=gamma, stop=stop))
    first = text.rounds[:rounds]
    table = AcceptanceTable(
        rounds=rounds,
        drafted=sum(r.drafted for r in first),
        tested=tuple(sum(r.tested > d for r in first) for d in range(gamma)),
        accepted=tuple(sum(r.accepted > d for r in first) for d in range(gamma)),
        length_rule=text.table.length_rule,
    )
    assert table.length_rule == "confidence"
    assert_all(table, exact)
    deviation = table.drafted / rounds - exact.drafted
    lengths = type("Lengths", (), {"pmf": exact.lengths})
    assert abs(deviation) <= mean_limit(lengths, rounds)

"""The loop on toy models: nothing is lost, greedy is greedy, and acceptance is exactly what it must be."""

from __future__ import annotations

from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chisquare
from stats import CHI_SQUARE_LIMIT, FALSE_ALARM, assert_all, mean_limit

from simulator import (
    RULES,
    AcceptanceTable,
    Chain,
    ConfidenceThreshold,
    Heuristic,
    IndependentContexts,
    MarkovChain,
    ToyDrafter,
    decode,
)
from simulator.rules import PICKED

TARGET = np.array([0.25, 0.0, 0.1, 0.35, 0.3])
DRAFT = np.array([0.05, 0.05, 0.4, 0.45, 0.05])
DROP_BELOW = 0.12
GAMMA, ROUNDS = 3, 1500
RULE = {rule.name: rule for rule in RULES}
PAIRS = [
    (rule.name, picked)
    for rule in RULES
    for picked in PICKED
    if not (rule.needs_draft_probs and picked == "chosen")
]
STOPS = {
    "fixed": Chain(gamma=4),
    "heuristic": Chain(gamma=6, stop=Heuristic(start=2)),
    "confidence": Chain(gamma=4, stop=ConfidenceThreshold(threshold=0.3)),
    "thrown away": Chain(gamma=4, stop=ConfidenceThreshold(threshold=0.3, drops_last=True)),
}


def drafter_of(model, picked):
    return ToyDrafter(model, picked=picked, drop_below=DROP_BELOW if picked == "dropped" else 0.0)


def random_chain(vocabulary=7, seed=3):
    rows = np.random.default_rng(seed).gamma(0.4, size=(vocabulary, vocabulary)) + 1e-3
    return MarkovChain(rows / rows.sum(axis=1, keepdims=True))


def contexts(count=40, vocabulary=6, seed=5):
    rng = np.random.default_rng(seed)
    target = rng.gamma(0.5, size=(count, vocabulary)) + 1e-6
    target /= target.sum(axis=1, keepdims=True)
    draft = target * rng.uniform(0.2, 1.0, size=target.shape)
    return IndependentContexts(target, draft / draft.sum(axis=1, keepdims=True))


@cache
def one_context(rule, picked):
    """A text whose rounds are independent: their counts, and the tokens.

    Of the rounds only the first ROUNDS count: how many a text has depends on what they kept, these
    are there in any case.
    """
    pair = IndependentContexts([TARGET], [DRAFT])
    text = decode(
        [0],
        target=pair.target,
        drafter=drafter_of(pair.draft, picked),
        chain=Chain(gamma=GAMMA),
        rule=RULE[rule],
        max_tokens=ROUNDS * (GAMMA + 1) + 1,
        rng=[*RULE].index(rule) + 100 * PICKED.index(picked),
        record="rounds",
        allow_lossy=True,
    )
    rounds = text.rounds[:ROUNDS]
    assert len(rounds) == ROUNDS
    table = AcceptanceTable(
        rounds=ROUNDS,
        drafted=sum(r.drafted for r in rounds),
        tested=tuple(sum(r.tested > d for r in rounds) for d in range(GAMMA)),
        accepted=tuple(sum(r.accepted > d for r in rounds) for d in range(GAMMA)),
        length_rule="confidence" if picked == "dropped" else "fixed",
    )
    return table, text.tokens


def kept(rule, target, draft):
    """P(a drafted token is kept), by token [vocabulary], for rules that judge one by one."""
    likely = np.arange(target.size) == target.argmax()
    entropy = -sum(float(p) * np.log(p) for p in target if p > 0.0)
    return {
        "speculative_sampling": np.minimum(target / draft, 1.0),
        "lenience": np.minimum(target / (RULE["lenience"].lenience * draft), 1.0),
        "greedy": likely.astype(float),
        "sample_and_match": target,
        "one_hot": target,
        "typical_acceptance": (target > min(0.09, 0.3 * np.exp(-entropy))).astype(float),
    }[rule]


def proposed(picked, draft):
    """P(the next drafted token is x and stays in the draft), by token [vocabulary]."""
    if picked == "chosen":
        return (np.arange(draft.size) == draft.argmax()).astype(float)
    return np.where(draft >= DROP_BELOW, draft, 0.0) if picked == "dropped" else draft


def law_of(rule, picked, *, gamma=GAMMA, target=TARGET, draft=DRAFT):
    """The exact law of a round in one context: P(n accepted), P(depth tested), mean length."""
    stays = proposed(picked, draft)
    there = stays.sum()  # 1, or less where a token may be thrown away
    if rule == "block_verification":
        return SimpleNamespace(pmf=block_pmf(stays, gamma, target, draft), there=there, tested=None)
    kept_too = float(stays @ kept(rule, target, draft))
    reached = [kept_too**n for n in range(gamma + 1)]
    pmf = [*(reached[n] - reached[n + 1] for n in range(gamma)), reached[gamma]]
    return SimpleNamespace(pmf=pmf, there=there, tested=[r * there for r in reached[:gamma]])


def block_pmf(stays, gamma, target, draft):
    """Block verification by enumeration of all drafts (Sun et al. 2024, algorithm 2)."""
    pmf = np.zeros(gamma + 1)
    for length in range(gamma + 1):
        ends = 1.0 if length == gamma else 1.0 - stays.sum()
        for tokens in product(range(draft.size), repeat=length):
            weight = ends * np.prod(stays[list(tokens)])
            if weight == 0.0:
                continue
            ratio, keeps = 1.0, [1.0]
            for i, token in enumerate(tokens, start=1):
                ratio = min(ratio * target[token] / draft[token], 1.0)
                over = np.maximum(ratio * target - draft, 0.0).sum()
                keeps.append(ratio if i == length else over / (over + 1.0 - ratio))
            for n in range(length + 1):  # the last position that is kept counts
                pmf[n] += weight * keeps[n] * np.prod([1.0 - keep for keep in keeps[n + 1 :]])
    return pmf.tolist()


@pytest.mark.parametrize(("rule", "picked"), PAIRS)
def test_acceptance_is_the_exact_one(rule, picked):
    table, _ = one_context(rule, picked)
    law = law_of(rule, picked)
    assert_all(table, law)
    lengths = [law.there**n for n in range(GAMMA + 1)]
    lengths = [*(lengths[n] - lengths[n + 1] for n in range(GAMMA)), lengths[GAMMA]]
    mean = sum(n * weight for n, weight in enumerate(lengths))
    assert abs(table.drafted / ROUNDS - mean) <= mean_limit(SimpleNamespace(pmf=lengths), ROUNDS)
    for depth, chance in enumerate(law.tested or ()):
        flip = SimpleNamespace(pmf=(max(1.0 - chance, 0.0), min(chance, 1.0)))
        assert abs(table.tested[depth] / ROUNDS - chance) <= mean_limit(flip, ROUNDS)


@pytest.mark.parametrize(
    ("run", "claimed"),
    [
        (("speculative_sampling", "drawn"), ("one_hot", "drawn")),
        (("speculative_sampling", "drawn"), ("lenience", "drawn")),
        (("speculative_sampling", "dropped"), ("speculative_sampling", "drawn")),
        (("sample_and_match", "drawn"), ("sample_and_match", "chosen")),
        (("greedy", "chosen"), ("greedy", "drawn")),
        (("typical_acceptance", "drawn"), ("one_hot", "drawn")),
    ],
)
def test_acceptance_of_another_rule_or_draft_is_caught(run, claimed):
    with pytest.raises(AssertionError):
        assert_all(one_context(*run)[0], law_of(*claimed))


def follows_target(tokens):
    """Whether independent tokens have the target's distribution: chi-square, and nothing impossible."""
    counts = np.bincount(tokens, minlength=TARGET.size)
    possible = TARGET > 0.0
    fits = chisquare(counts[possible], TARGET[possible] * counts[possible].sum()).pvalue
    return bool(counts[~possible].sum() == 0 and fits >= CHI_SQUARE_LIMIT)


@pytest.mark.parametrize(("rule", "picked"), PAIRS)
def test_the_text_follows_the_target_where_the_rule_says_so_and_only_there(rule, picked):
    tokens = one_context(rule, picked)[1][:ROUNDS]  # of a full text the length is fixed
    everything = one_context(rule, picked)[1]
    if rule == "greedy":
        assert set(everything) == {int(TARGET.argmax())}
    elif RULE[rule].is_lossless(picked):
        assert follows_target(tokens)
        assert follows_target(everything)
    else:
        assert not follows_target(everything)


def allowed(count):
    """How far a sum of `count` differences in a range of width 1 may be off (Azuma, Hoeffding 1963)."""
    return np.sqrt(count * np.log(2.0 / FALSE_ALARM) / 2.0)


def excess(text, prompt, chance):
    """Sum over tested tokens of (kept - exact chance), by depth: a martingale."""
    sums = np.zeros(GAMMA)
    for r in text.rounds[:-1]:  # the last may have tokens that did not arrive
        for depth in range(r.tested):
            where = r.start + depth
            previous = text.tokens[where - 1]
            sums[depth] += (r.accepted > depth) - chance(len(prompt) + where, previous)
    return sums


@pytest.mark.parametrize("rule", [name for name in RULE if name != "block_verification"])
@pytest.mark.parametrize("kind", ["contexts", "chain"])
def test_acceptance_is_exact_in_every_context(kind, rule):
    if kind == "contexts":
        pair = contexts()
        target, draft = pair.target, pair.draft
        rows = pair.target_probs, pair.draft_probs
    else:
        target = random_chain()
        draft = target.tempered(1.6)
        rows = target.transitions, draft.transitions
    chances = np.array([q @ kept(rule, p, q) for p, q in zip(*rows, strict=True)])

    def chance(position, previous):
        return chances[int(pair.contexts([position])[0]) if kind == "contexts" else previous]

    text = decode(
        [1, 0], target=target, drafter=ToyDrafter(draft), chain=Chain(gamma=GAMMA), rule=RULE[rule],
        max_tokens=2000, rng=7, record="rounds", allow_lossy=True,
    )  # fmt: skip
    rounds = 2000  # at most so many; the bound may not depend on what happened
    assert np.abs(excess(text, [1, 0], chance)).max() <= allowed(rounds)
    shifted = excess(text, [1, 0], lambda *where: chance(*where) + 0.3)
    assert np.abs(shifted).max() > allowed(rounds)


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize(("rule", "picked"), PAIRS)
def test_nothing_is_lost_or_counted_twice(rule, picked, stop, rng):
    target = random_chain()
    draft = target.mixed(0.3, np.full(7, 1 / 7))
    for max_tokens, stop_tokens in ((1, ()), (2, ()), (60, ()), (200, (5,))):
        text = decode(
            [1, 2, 0], target=target, drafter=drafter_of(draft, picked), chain=STOPS[stop],
            rule=RULE[rule], max_tokens=max_tokens, rng=rng, stop_tokens=stop_tokens,
            record="rounds", allow_lossy=True,
        )  # fmt: skip
        tokens, rounds, table = text.tokens, text.rounds, text.table
        # The target holds the text but for its last token, the draft model holds all of it.
        assert target.tokens == [1, 2, 0, *tokens[:-1]]
        assert draft.tokens == [1, 2, 0, *tokens]
        assert (target.passes, draft.passes >= len(rounds) + 2) == (len(rounds) + 1, True)
        assert len(tokens) <= max_tokens
        assert text.ended == ("stop" if set(tokens) & set(stop_tokens) else "limit")
        assert all(token not in stop_tokens for token in tokens[:-1])
        assert text.ended == "stop" or len(tokens) == max_tokens
        starts = np.cumsum([1, *(r.emitted for r in rounds)])
        assert [r.start for r in rounds] == starts[:-1].tolist()
        assert starts[-1] == len(tokens) == 1 + table.emitted
        assert all(r.emitted == r.accepted + 1 for r in rounds[:-1])
        assert all(r.emitted <= r.accepted + 1 for r in rounds)
        assert table.rounds == len(rounds)
        assert table.drafted == sum(r.drafted for r in rounds)
        assert sum(table.tested) == sum(r.tested for r in rounds)
        assert sum(table.accepted) == sum(r.accepted for r in rounds)
        assert table.discarded == sum(r.accepted + 1 - r.emitted for r in rounds)

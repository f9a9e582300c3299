"""Toy models and their drafter: exact distributions, exact memory, drafts that keep their promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from stats import CHI_SQUARE_LIMIT

from simulator import IndependentContexts, MarkovChain, Sampling, ToyDrafter
from simulator._toy import contexts_at

CHAIN = [[0.0, 0.9, 0.1], [0.5, 0.25, 0.25], [0.2, 0.0, 0.8]]
PROBS = [[0.5, 0.3, 0.2], [0.1, 0.0, 0.9]]
OTHER = [[0.2, 0.3, 0.5], [0.1, 0.6, 0.3]]


def always(_):
    return True


def models():
    pair = IndependentContexts(PROBS, OTHER, seed=4)
    return {"chain": MarkovChain(CHAIN), "target": pair.target, "draft": pair.draft}


def exact_rows(name, text):
    """Distributions of what follows each token of a text, by definition."""
    if name == "chain":
        return np.array([CHAIN[token] for token in text])
    rows = PROBS if name == "target" else OTHER
    return np.array([rows[splitmix(4, t + 1) % 2] for t in range(len(text))])


def splitmix(seed, position):
    """The documented hash in whole numbers, which do not overflow."""
    mask = 2**64 - 1
    x = ((position + 1) * 0x9E3779B97F4A7C15 + seed * 0xD1342543DE82EF95) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


@given(st.lists(st.integers(0, 2**40), min_size=1), st.integers(1, 50), st.integers(0, 2**63 - 1))
def test_contexts_are_the_documented_function(positions, contexts, seed):
    expected = [splitmix(seed, position) % contexts for position in positions]
    assert contexts_at(positions, contexts=contexts, seed=seed).tolist() == expected


def test_contexts_look_random():
    where = contexts_at(np.arange(60_000), contexts=6, seed=1)
    pairs = np.bincount(6 * where[::2] + where[1::2], minlength=36)
    assert chisquare(pairs).pvalue >= CHI_SQUARE_LIMIT
    assert not np.array_equal(where, contexts_at(np.arange(60_000), contexts=6, seed=2))


@pytest.mark.parametrize("name", ["chain", "target", "draft"])
def test_logits_are_log_probabilities(name):
    model = models()[name]
    rows = exact_rows(name, [1, 2, 0, 1])
    with np.errstate(divide="ignore"):
        logs = np.log(rows)
    np.testing.assert_array_equal(model.start([1, 2]), logs[1])
    np.testing.assert_array_equal(model.extend([0, 1]), logs[2:])
    np.testing.assert_allclose(Sampling().probabilities(logs), rows, rtol=1e-14)


@pytest.mark.parametrize("name", ["chain", "target", "draft"])
def test_memory_is_exact_whatever_was_read_and_forgotten(name, rng):
    model, text = models()[name], [0, 2]
    model.start(text)
    for _ in range(200):
        new = rng.integers(0, 3, size=rng.integers(1, 6)).tolist()
        text += new
        found = np.exp(model.extend(new))
        np.testing.assert_allclose(found, exact_rows(name, text)[-len(new) :], rtol=1e-15)
        forgotten = int(rng.integers(0, len(text)))
        model.rollback(forgotten)
        text = text[: len(text) - forgotten]
        assert model.tokens == text
    assert model.passes == 201
    model.start([1])
    assert (model.tokens, model.passes, model.width) == ([1], 1, 1)


def test_tempered_and_mixed_copies():
    chain = MarkovChain(CHAIN, context=9)
    powers = np.array(CHAIN) ** 2
    cold = chain.tempered(0.5)
    np.testing.assert_allclose(cold.transitions, powers / powers.sum(1, keepdims=True), rtol=1e-15)
    np.testing.assert_allclose(chain.tempered(1.0).transitions, CHAIN, rtol=1e-15)
    np.testing.assert_allclose(chain.tempered(1e-4).transitions[0], [0, 1, 0], atol=1e-300)
    np.testing.assert_allclose(
        chain.mixed(0.25, OTHER[0]).transitions, 0.75 * np.array(CHAIN) + 0.25 * np.array(OTHER[0])
    )
    np.testing.assert_allclose(chain.mixed(1.0, np.eye(3)).transitions, np.eye(3))
    assert cold.context == chain.mixed(0.5, OTHER[0]).context == 9
    cold.start([0])
    assert chain.tokens == []


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MarkovChain([[0.5, 0.6], [0.5, 0.5]]), r"transitions\[0\] must hold .* got \[0.5"),
        (lambda: MarkovChain([[1.5, -0.5], [0.5, 0.5]]), r"transitions\[0\]"),
        (lambda: MarkovChain([[np.nan, 1.0], [0.5, 0.5]]), r"transitions\[0\]"),
        (lambda: MarkovChain([[0.5, 0.5]]), r"square; got shape \[1, 2\]"),
        (lambda: MarkovChain([0.5, 0.5]), r"two dimensions; got shape \[2\]"),
        (lambda: MarkovChain(CHAIN, context=0), "context must be .* got 0"),
        (lambda: MarkovChain(CHAIN).tempered(0.0), "temperature must be above 0; got 0"),
        (lambda: MarkovChain(CHAIN).mixed(1.5, OTHER[0]), r"share must be .* got 1\.5"),
        (lambda: MarkovChain(CHAIN).mixed(0.5, [0.5, 0.5]), r"\[3\] or \[3, 3\]; got \[1, 2\]"),
        (lambda: IndependentContexts(PROBS, OTHER[:1]), r"one shape; got \[2, 3\] and \[1, 3\]"),
        (lambda: IndependentContexts(PROBS, OTHER, seed=-1), "seed must be .* got -1"),
        (lambda: MarkovChain(CHAIN).start([]), r"one token number or more .* of shape \[0\]"),
        (lambda: MarkovChain(CHAIN).start([0.5]), "token number or more .* got float64"),
        (lambda: MarkovChain(CHAIN).start([[0]]), r"one dimension; got int64 of shape \[1, 1\]"),
        (lambda: MarkovChain(CHAIN).start([0, 3]), r"tokens in \[0, 2\]; got 0 to 3"),
        (lambda: MarkovChain(CHAIN, context=2).start([0, 0, 0]), "of 2 tokens; got 3 behind 0"),
        (lambda: MarkovChain(CHAIN).rollback(1), "at most the 0 tokens that were read; got 1"),
        (lambda: MarkovChain(CHAIN).rollback(-1), "count must be .* got -1"),
        (lambda: ToyDrafter(MarkovChain(CHAIN), picked="made up"), "picked must be .* 'made up'"),
        (lambda: ToyDrafter(MarkovChain(CHAIN), drop_below=0.1), "belongs to picked 'dropped'"),
        (lambda: ToyDrafter(MarkovChain(CHAIN)).propose(1, always, None), "start must come first"),
        (lambda: ToyDrafter(MarkovChain(CHAIN)).settle([0]), "start must come first"),
    ],
)
def test_bad_values_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("picked", ["drawn", "chosen", "dropped"])
@pytest.mark.parametrize("name", ["chain", "draft"])
def test_drafter_follows_the_text_whatever_becomes_of_its_drafts(name, picked, rng):
    model, text = models()[name], [0]
    drafter = ToyDrafter(model, picked=picked, drop_below=0.15 if picked == "dropped" else 0.0)
    drafter.start(text, Sampling(temperature=0.8))
    for _ in range(300):
        draft = drafter.propose(int(rng.integers(1, 5)), lambda _: bool(rng.random() < 0.8), rng)
        fresh = np.log(np.maximum(exact_rows(name, [*text, *draft.tokens]), 1e-300))
        rows = Sampling(temperature=0.8).probabilities(fresh[len(text) - 1 : -1])
        assert model.tokens[: len(text)] == text  # drafting never touches the text
        if draft.probs is None:
            assert picked == "chosen"
            assert draft.tokens.tolist() == rows.argmax(axis=1).tolist()
        else:
            np.testing.assert_allclose(draft.probs, rows, atol=1e-12)
        if picked == "dropped" and draft.tokens.size:
            assert np.take_along_axis(rows, draft.tokens[:, None], axis=1).min() >= 0.15
        kept = draft.tokens[: rng.integers(0, draft.tokens.size + 1)].tolist()
        grown = [*kept, int(rng.integers(0, 3))] if rng.random() < 0.8 or not kept else kept
        drafter.settle(np.array(grown))
        text += grown
        assert model.tokens == text


def test_keep_going_is_asked_after_every_token_and_obeyed(rng):
    asked = []

    def until(confidence):
        asked.append(confidence)
        return confidence >= 0.3

    drafter = ToyDrafter(MarkovChain(CHAIN))
    drafter.start([0], Sampling())
    lengths = set()
    for _ in range(200):
        asked.clear()
        draft = drafter.propose(4, until, rng)
        shown = [row[token] for row, token in zip(draft.probs, draft.tokens, strict=True)]
        assert asked == pytest.approx(shown)
        assert all(confidence >= 0.3 for confidence in asked[:-1])
        assert draft.tokens.size == 4 or asked[-1] < 0.3
        lengths.add(draft.tokens.size)
        drafter.settle(np.array([0]))
    assert lengths == {1, 2, 3, 4}


def test_a_draft_waits_for_its_verdict(rng):
    drafter = ToyDrafter(MarkovChain(CHAIN))
    drafter.start([0], Sampling())
    drafter.propose(3, always, rng)
    with pytest.raises(ValueError, match="must wait for settle"):
        drafter.propose(3, always, rng)


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_drawn_tokens_have_the_distribution_of_the_draft(temperature, rng):
    drafter = ToyDrafter(IndependentContexts(PROBS[:1], OTHER[:1]).draft)
    drafter.start([0], Sampling(temperature=temperature))
    tokens = []
    for _ in range(2000):
        tokens += drafter.propose(4, always, rng).tokens.tolist()
        drafter.settle(np.array([0]))
    law = np.array(OTHER[0]) ** (1.0 / temperature)
    counts = np.bincount(tokens, minlength=3)
    assert chisquare(counts, law / law.sum() * len(tokens)).pvalue >= CHI_SQUARE_LIMIT
    assert chisquare(counts, np.array(PROBS[0]) * len(tokens)).pvalue < CHI_SQUARE_LIMIT


def test_dropped_tokens_end_their_draft(rng):
    drafter = ToyDrafter(
        IndependentContexts(PROBS[:1], OTHER[:1]).draft, picked="dropped", drop_below=0.25
    )
    drafter.start([0], Sampling())
    lengths = []
    for _ in range(4000):
        lengths.append(drafter.propose(3, always, rng).tokens.size)
        drafter.settle(np.array([0]))
    law = np.array([0.2, 0.8 * 0.2, 0.8**2 * 0.2, 0.8**3])  # a token of probability 0.2 is dropped
    counts = np.bincount(lengths, minlength=4)
    assert chisquare(counts, law * 4000).pvalue >= CHI_SQUARE_LIMIT

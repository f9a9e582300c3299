"""The draft model: what it proposes, and that its cache follows the text exactly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import CONTEXT

from real_runs.drafters import DraftModel
from real_runs.target import load_target
from simulator import Sampling

PROMPT = np.array([256, *b"while True:"])
EXACT = 1e-9


class Watched:
    """A model that keeps the widths of its passes and the text in its cache."""

    def __init__(self, model):
        self.model = model
        self.vocabulary, self.context = model.vocabulary, model.context
        self.widths, self.text = [], []

    def start(self, prompt):
        self.widths, self.text = [], [int(t) for t in prompt]
        return self.model.start(prompt)

    def extend(self, tokens):
        self.widths.append(len(tokens))
        self.text += [int(t) for t in tokens]
        return self.model.extend(tokens)

    def rollback(self, count):
        self.text = self.text[: len(self.text) - count]
        self.model.rollback(count)


@pytest.fixture(scope="module")
def draft(small_draft_folder):
    return load_target(str(small_draft_folder), dtype="float64")


@pytest.fixture(scope="module")
def fresh(small_draft_folder):
    """The draft's weights with a cache of its own, to compare with."""
    return load_target(str(small_draft_folder), dtype="float64")


def always(_):
    return True


@pytest.mark.parametrize("picked", ["drawn", "chosen"])
@given(data=st.data())
@settings(max_examples=12)
def test_drafts_are_those_of_a_fresh_model_whatever_was_accepted(draft, fresh, picked, data):
    model = Watched(draft)
    sampling = Sampling(temperature=0.7, top_k=50)
    drafter = DraftModel(model, picked)
    rng = np.random.default_rng(0)
    drafter.start(PROMPT, sampling)
    text = [*PROMPT.tolist(), 10]
    drafter.settle(np.array([10]))
    behind = 1
    for _ in range(data.draw(st.integers(1, 4))):
        gamma = data.draw(st.integers(1, 4))
        model.widths = []
        proposal = drafter.propose(gamma, always, rng)
        assert model.widths == [behind, *[1] * (gamma - 1)], "one forward per token"
        assert proposal.tokens.shape == (gamma,)
        logits = fresh.start(np.array(text))
        for i, token in enumerate(proposal.tokens.tolist()):
            if picked == "chosen":
                assert token == logits.argmax()
            else:
                expected = sampling.probabilities(logits)
                np.testing.assert_allclose(proposal.probs[i], expected, rtol=0, atol=EXACT)
                assert expected[token] > 0
            logits = fresh.extend(np.array([token]))[0]
        kept = data.draw(st.integers(0, gamma))
        grown = [*proposal.tokens[:kept].tolist(), data.draw(st.integers(0, 256))]
        drafter.settle(np.array(grown))
        text += grown
        assert text[: len(model.text)] == model.text, "the cache holds the text and nothing else"
        behind = len(text) - len(model.text)
        assert behind in {1, 2}
        assert (behind == 2) <= (kept == gamma), "two only behind a draft that was kept whole"
    assert (proposal.probs is None) == (picked == "chosen")


def test_forwards_are_counted_from_the_prompt_on(draft):
    drafter = DraftModel(draft, "chosen")
    for _ in range(2):
        drafter.start(PROMPT, Sampling())
        drafter.settle(np.array([1]))
        assert drafter.forwards == 0
        tokens = drafter.propose(3, always, np.random.default_rng(0)).tokens
        drafter.settle(np.array([*tokens, 5]))
        drafter.propose(2, always, np.random.default_rng(0))
        assert drafter.forwards == 5


@pytest.mark.parametrize("picked", ["drawn", "chosen"])
@pytest.mark.parametrize("temperature", [1.0, 0.5, 0.0])
def test_confidence_is_the_probability_of_the_token(draft, fresh, picked, temperature):
    heard = []

    def until_three(confidence):
        heard.append(confidence)
        return len(heard) < 3

    drafter = DraftModel(draft, picked)
    sampling = Sampling(temperature=temperature)
    drafter.start(PROMPT, sampling)
    drafter.settle(np.array([1]))
    proposal = drafter.propose(9, until_three, np.random.default_rng(3))
    assert proposal.tokens.size == 3, "the token that made it stop stays"
    own = sampling if picked == "drawn" and temperature else Sampling()
    logits = fresh.start(np.array([*PROMPT, 1]))
    for token, confidence in zip(proposal.tokens, heard, strict=True):
        assert confidence == pytest.approx(own.probabilities(logits)[token], abs=EXACT)
        assert 0 < confidence < 1
        logits = fresh.extend(np.array([token]))[0]


def test_drawn_tokens_come_from_the_rows_that_are_reported(draft):
    drafter = DraftModel(draft)
    rng = np.random.default_rng(1)
    sampling = Sampling(top_k=3)
    drawn = set()
    for _ in range(200):
        drafter.start(PROMPT, sampling)
        drafter.settle(np.array([1]))
        proposal = drafter.propose(1, always, rng)
        drawn.add(int(proposal.tokens[0]))
    possible = np.flatnonzero(proposal.probs[0])
    assert drawn <= set(possible.tolist())
    assert proposal.probs[0, possible].min() > 0.1  # a right drafter misses one once in 5e8 runs
    assert drawn == set(possible.tolist())


@pytest.mark.parametrize("width", [250, 257, 300])
def test_logits_fit_the_vocabulary_of_the_target(draft, width):
    drafter = DraftModel(draft, vocabulary=width)
    drafter.start(PROMPT, Sampling())
    drafter.settle(np.array([1]))
    probs = drafter.propose(2, always, np.random.default_rng(0)).probs
    assert probs.shape == (2, width)
    assert not probs[:, 257:].any()
    np.testing.assert_allclose(probs.sum(axis=1), 1.0)


def test_drafts_end_with_the_context_of_the_draft(draft):
    drafter = DraftModel(draft, "drawn")
    drafter.start(np.resize(PROMPT, CONTEXT - 3), Sampling())
    drafter.settle(np.array([1]))
    rng = np.random.default_rng(0)
    first = drafter.propose(9, always, rng).tokens
    assert first.size == 3, "two are read behind the last token of the text, the third is not"
    drafter.settle(np.array([*first, 1]))
    nothing = drafter.propose(9, always, rng)
    assert nothing.tokens.size == 0
    assert nothing.probs.shape == (0, draft.vocabulary)
    drafter.settle(np.array([1]))
    assert drafter.propose(1, always, rng).tokens.size == 0


def test_a_draft_may_begin_right_behind_the_prompt(draft, fresh):
    drafter = DraftModel(draft, "chosen")
    drafter.start(PROMPT, Sampling())
    tokens = drafter.propose(1, always, np.random.default_rng(0)).tokens
    assert tokens[0] == fresh.start(PROMPT).argmax()
    drafter.settle(np.array([*tokens, 3]))
    again = drafter.propose(1, always, np.random.default_rng(0)).tokens
    assert again[0] == fresh.start(np.array([*PROMPT, *tokens, 3])).argmax()


@pytest.mark.parametrize("kept", [1, 2, 3, 4])
def test_a_text_may_grow_by_drafted_tokens_only(draft, fresh, kept):
    """As when the text is cut by a limit, or judged at every position."""
    drafter = DraftModel(draft, "chosen")
    rng = np.random.default_rng(0)
    drafter.start(PROMPT, Sampling())
    drafter.settle(np.array([1]))
    tokens = drafter.propose(4, always, rng).tokens
    drafter.settle(tokens[:kept])
    again = drafter.propose(1, always, rng).tokens
    assert again[0] == fresh.start(np.array([*PROMPT, 1, *tokens[:kept]])).argmax()


def test_rejected_tokens_take_no_room_in_the_context(draft):
    drafter = DraftModel(draft, "chosen")
    rng = np.random.default_rng(0)
    drafter.start(PROMPT, Sampling())
    length = len(PROMPT)
    wrong = np.array([0])
    drafter.settle(wrong)
    while (length := length + 1) <= CONTEXT:
        tokens = drafter.propose(4, always, rng).tokens
        assert tokens.size == min(4, CONTEXT - length + 1)
        assert tokens[0] != wrong[0]
        drafter.settle(wrong)
    assert drafter.propose(4, always, rng).tokens.size == 0


def test_bad_calls_of_a_draft_model(draft):
    with pytest.raises(ValueError, match="picked must be drawn or chosen; got 'dropped'"):
        DraftModel(draft, "dropped")
    drafter = DraftModel(draft)
    drafter.start(PROMPT, Sampling())
    with pytest.raises(ValueError, match="length must be a whole number of at least 1; got 0"):
        drafter.propose(0, always, np.random.default_rng(0))
    with pytest.raises(ValueError, match="tokens must hold at least one"):
        drafter.settle(np.array([], dtype=np.int64))
    drafter.settle(np.array([1]))
    drafter.propose(1, always, np.random.default_rng(0))
    with pytest.raises(ValueError, match="settle must be called between two drafts"):
        drafter.propose(1, always, np.random.default_rng(0))

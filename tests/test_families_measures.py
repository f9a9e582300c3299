"""Rounds along a target's text: exact on toy models, and those of a real greedy decode."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import simulator as sim
from analysis import expected_tokens
from real_runs.drafters import DraftModel
from real_runs.prompts import read_prompts
from real_runs.target import load_target
from real_runs.tiny.families_measures import chances_kept, overlaps, rounds_along

GAMMA = 2
TARGET = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6], [0.2, 0.7, 0.1]])  # by the token before
DRAFT = np.array([[0.6, 0.1, 0.3], [0.3, 0.3, 0.4], [0.1, 0.4, 0.5]])


def texts(length):
    """Every text of three tokens' vocabulary behind token 0, with its probability."""
    for text in itertools.product(range(3), repeat=length):
        before = (0, *text[:-1])
        yield np.array(text), np.array(before), np.prod(TARGET[before, text])


def along(text, before):
    kept = chances_kept(TARGET[before], DRAFT[before], text)
    return rounds_along(kept, gamma=GAMMA)


def kept_drafts(token, depth):
    """Tokens that a round at this token keeps of `depth` more, over all drafts: no text is given."""
    if depth == 0:
        return 0.0
    both = np.minimum(TARGET[token], DRAFT[token])
    return sum(both[x] * (1.0 + kept_drafts(x, depth - 1)) for x in range(3))


def test_the_overlap_is_the_chance_that_a_draft_is_kept():
    ratio = np.minimum(1.0, TARGET / DRAFT)
    assert overlaps(TARGET, DRAFT) == pytest.approx((DRAFT * ratio).sum(axis=1), abs=1e-15)
    assert overlaps(TARGET, TARGET) == pytest.approx(1.0)
    assert overlaps(np.eye(3), np.roll(np.eye(3), 1, axis=0)).tolist() == [0.0, 0.0, 0.0]


def test_kept_along_the_targets_texts_is_kept_over_all_drafts():
    """One round: the mean over texts, weighted by the target, is the sum over drafts."""
    tokens = sum(p * along(text, before).tokens for text, before, p in texts(GAMMA + 1))
    assert tokens == pytest.approx(1.0 + kept_drafts(0, GAMMA), abs=1e-12)


def test_following_rounds_begin_where_the_loop_begins_them():
    """Rounds that begin at the first four tokens, against an enumeration of drafts and corrections."""

    def begun(token, place):
        """Rounds from here on that begin before token 4, over all that can happen."""
        if place >= 4:
            return 0.0
        return 1.0 + within(token, place, GAMMA)

    def within(token, place, left):
        """Rounds that begin later, from inside a round with `left` tokens to draft."""
        if left == 0:  # the bonus token is the target's
            return sum(TARGET[token, x] * begun(x, place + 1) for x in range(3))
        both = np.minimum(TARGET[token], DRAFT[token])
        return sum(
            both[x] * within(x, place + 1, left - 1)
            + (TARGET[token, x] - both[x]) * begun(x, place + 1)
            for x in range(3)
        )

    found = sum(p * along(text, before).rounds for text, before, p in texts(4 + GAMMA))
    assert found == pytest.approx(begun(0, 0), abs=1e-12)


@pytest.mark.parametrize("p", [0.0, 0.3, 0.8, 1.0])
def test_one_p_gives_the_closed_form(p):
    found = rounds_along(np.full(300, p), gamma=4)
    assert found.tokens / found.rounds == pytest.approx(float(expected_tokens(p, 4)), abs=1e-12)


def test_a_text_without_room_for_a_round_has_none():
    found = rounds_along(np.ones(4), gamma=4)
    assert (found.rounds, found.tokens) == (0.0, 0.0)
    with pytest.raises(ValueError, match="gamma"):
        rounds_along(np.ones(4), gamma=0)


def test_greedy_rounds_are_those_of_the_loop():
    """The bundled draft: agreement along the greedy text gives the rounds that a decode has."""
    target, draft = (load_target(name, dtype="float64") for name in ("tiny", "tiny-draft"))
    prompt = target.tokenizer.encode(read_prompts("bundled", target="tiny").prompts[3].prompt)
    text = sim.decode(
        prompt, target=target, drafter=DraftModel(draft, "chosen"), chain=sim.Chain(gamma=4),
        rule=sim.greedy(), sampling=sim.Sampling(temperature=0.0), max_tokens=60, rng=0,
        record="rounds",
    )  # fmt: skip
    guesses = [draft.start(np.asarray(prompt)).argmax()]
    guesses += [draft.extend(np.array([token]))[0].argmax() for token in text.tokens[:-1]]
    # The first token came with the prompt's pass; rounds that the limit cut are left out.
    agreed = (np.array(guesses) == np.array(text.tokens))[1:]
    found = rounds_along(agreed.astype(float), gamma=4)
    emitted = [round_.accepted + 1 for round_ in text.rounds]
    begins = np.cumsum([0, *emitted[:-1]])
    counted = [n for n, begin in zip(emitted, begins, strict=True) if begin < len(agreed) - 4]
    assert len(counted) > 10
    assert (found.rounds, found.tokens) == (len(counted), sum(counted))

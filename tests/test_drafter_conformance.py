"""The one test of every drafter, on toy targets; it must see what a broken one does."""

from __future__ import annotations

import numpy as np
import pytest
from drafter_conformance import check_drafter, sampled_texts, text_law, texts_fit

from real_runs.drafters import DraftModel, PromptLookup
from simulator import Draft, MarkovChain, ToyDrafter, ToyTreeDrafter, Tree, sample_and_match

TARGET = MarkovChain(
    [[0.05, 0.6, 0.3, 0.05], [0.2, 0.1, 0.15, 0.55], [0.7, 0.1, 0.1, 0.1], [0.1, 0.2, 0.6, 0.1]],
    context=40,
)
PROMPTS = [[1, 2, 0, 1], [3]]
TREE = Tree.from_widths([2, 1])


def draft_model():
    # Without an end of its own: a toy drafter reads the text's last token too, one more than the target.
    return MarkovChain(TARGET.transitions).mixed(0.3, np.full(4, 0.25))


DRAFTERS = {
    "toy, drawn": lambda: ToyDrafter(draft_model()),
    "toy, chosen": lambda: ToyDrafter(draft_model(), picked="chosen"),
    "toy, dropped": lambda: ToyDrafter(draft_model(), picked="dropped", drop_below=0.2),
    "toy trees, drawn": lambda: ToyTreeDrafter(draft_model(), TREE),
    "toy trees, distinct": lambda: ToyTreeDrafter(draft_model(), TREE, picked="distinct"),
    "toy trees, chosen": lambda: ToyTreeDrafter(draft_model(), TREE, picked="chosen"),
    "draft model, drawn": lambda: DraftModel(draft_model(), "drawn"),
    "draft model, chosen": lambda: DraftModel(draft_model(), "chosen"),
    "prompt lookup": PromptLookup,
}


@pytest.mark.parametrize("name", DRAFTERS)
def test_every_drafter(name):
    check_drafter(DRAFTERS[name], TARGET, PROMPTS, depth=3)


class Forgetful(ToyDrafter):
    """Does not read what the text grew by, and so drafts from an old one."""

    def settle(self, tokens):
        super().settle(np.zeros_like(tokens))


class Copied(ToyTreeDrafter):
    """Drafts the same sibling twice."""

    def propose(self, length, keep_going, rng):
        draft = super().propose(length, keep_going, rng)
        tokens = draft.tokens.copy()
        tokens[1] = tokens[0]
        return Draft(tokens=tokens, parents=draft.parents)


class Uneven(ToyTreeDrafter):
    """Siblings that say they come from different distributions."""

    def propose(self, length, keep_going, rng):
        draft = super().propose(length, keep_going, rng)
        probs = draft.probs.copy()
        probs[0] = probs[0, ::-1]
        return Draft(tokens=draft.tokens, parents=draft.parents, probs=probs)


class Deeper(ToyTreeDrafter):
    """Proposes more than it was asked for."""

    def propose(self, length, keep_going, rng):
        return super().propose(length + 1, keep_going, rng)


class Clinging(PromptLookup):
    """Keeps what it has seen of earlier texts."""

    def start(self, prompt, sampling):
        del sampling
        self.settle(prompt)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Copied(draft_model(), TREE, picked="chosen"),
        lambda: Uneven(draft_model(), TREE),
        lambda: Deeper(draft_model(), TREE, picked="chosen"),
        Clinging,
    ],
    ids=["copied", "uneven", "deeper", "clinging"],
)
def test_a_broken_drafter_is_seen(make):
    with pytest.raises((AssertionError, ValueError)):
        check_drafter(make, TARGET, PROMPTS, depth=3)


def test_a_drafter_that_is_never_right_is_seen_unless_that_is_allowed():
    wrong = MarkovChain(np.roll(np.eye(4), 1, axis=1))
    target = MarkovChain([[0.7, 0.1, 0.1, 0.1]] * 4)

    def make():
        return ToyDrafter(wrong, picked="chosen")

    check_drafter(make, target, [[1]], depth=2, useful=False, max_tokens=6)
    with pytest.raises(AssertionError, match="proves little"):
        check_drafter(make, target, [[1]], depth=2, max_tokens=6)


def test_frequencies_of_texts_tell_targets_apart():
    rows = [[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]]
    target, other = MarkovChain(rows), MarkovChain(rows[::-1])
    counts = sampled_texts(
        PromptLookup(), target, [0, 1, 0], rule=sample_and_match(), length=3, count=1_000, depth=2
    )
    assert texts_fit(counts, text_law(target, [0, 1, 0], 3))
    assert not texts_fit(counts, text_law(other, [0, 1, 0], 3))

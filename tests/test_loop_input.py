"""What the loop refuses from drafters, targets and callers: one sentence, never an index error."""

from __future__ import annotations

import numpy as np
import pytest

import simulator as sim
from simulator.models import Draft

TARGET = np.full((4, 4), 0.25)
PROBS = np.full((2, 4), 0.25)


class Proposer:
    """Proposes the same thing in every round."""

    def __init__(self, tokens, probs=None, picked="chosen"):
        self.draft, self.picked = Draft(tokens=tokens, probs=probs), picked

    def start(self, prompt, sampling):
        pass

    def propose(self, length, keep_going, rng):
        del length, keep_going, rng
        return self.draft

    def settle(self, tokens):
        pass


class Logits:
    """A target that gives the logits it was made with."""

    vocabulary, context = 4, None

    def __init__(self, first, row):
        self.first, self.row = first, row

    def start(self, prompt):
        del prompt
        return self.first

    def extend(self, tokens):
        return self.row(len(tokens))

    def rollback(self, count):
        pass


def decode(drafter=None, **change):
    arguments = {
        "target": sim.MarkovChain(TARGET),
        "chain": None if drafter is None else sim.Chain(gamma=2),
        "rule": sim.one_hot(),
        "max_tokens": 30,
        "rng": 0,
    } | change
    return sim.decode([0], drafter=drafter, **arguments)


@pytest.mark.parametrize(
    "rule", [rule for rule in sim.RULES if rule.lossless_for], ids=lambda rule: rule.name
)
@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (np.array([1, 2, 3]), "drafter must propose at most the 2 tokens .* got 3"),
        (
            np.array([1, 4]),
            r"drafter must propose tokens of the target's vocabulary.*\[0, 3\]; got",
        ),
        (np.array([-1, 1]), "drafter must propose tokens of the target's vocabulary"),
        (np.array([1.0, 2.0]), r"got \[1.0, 2.0\] of float64"),
        (np.array([[1, 2]]), r"drafter must propose tokens as an array of shape \[n\]"),
        ([1, 2], "drafter must propose tokens as an array"),
        (None, "drafter must propose tokens as an array"),
    ],
)
def test_proposals_that_cannot_be_judged(rule, tokens, message):
    probs = np.full((len(tokens), 4), 0.25) if isinstance(tokens, np.ndarray) else None
    drafter = Proposer(tokens, probs if rule.needs_draft_probs else None, "drawn")
    with pytest.raises(ValueError, match=message):
        decode(drafter, rule=rule)


@pytest.mark.parametrize("rule", [sim.speculative_sampling(), sim.block_verification()])
@pytest.mark.parametrize(
    ("probs", "message"),
    [
        (PROBS[:1], r"probs of shape \[2, 4\], .* got float64 of shape \[1, 4\]"),
        (np.full((3, 4), 0.25), r"got float64 of shape \[3, 4\]"),
        (np.full((2, 5), 0.2), r"got float64 of shape \[2, 5\]"),
        (PROBS[0], r"got float64 of shape \[4\]"),
        (PROBS.tolist(), r"probs of shape \[2, 4\]"),
        (PROBS * [[1], [2]], "row 1 sums to 2 "),
        (PROBS * [[1], [np.nan]], "row 1 sums to nan"),
        (np.array([[0.5, 0.5, 0.5, -0.5]] * 2), "the least entry is -0.5"),
        (None, "draft_probs must be given"),
    ],
)
def test_distributions_that_do_not_fit_the_draft(rule, probs, message):
    with pytest.raises(ValueError, match=message):
        decode(Proposer(np.array([1, 2]), probs, "drawn"), rule=rule)


@pytest.mark.parametrize("rule", [sim.greedy(), sim.one_hot(), sim.sample_and_match()])
@pytest.mark.parametrize(
    ("first", "row", "message"),
    [
        (np.zeros(3), None, r"target must give logits of shape \[1, 4\], .* \[1, 3\]"),
        (np.zeros(4, int), None, "got int64"),
        (np.zeros(4), lambda _: np.zeros((1, 4)), r"of shape \[3, 4\], .* \[1, 4\]"),
        (np.full(4, np.nan), None, "the target's logits must not be NaN .* row 0"),
        (np.full(4, -np.inf), None, "some token must be possible; row 0"),
        (np.zeros(4), lambda n: np.full((n, 4), -np.inf), "some token must be possible; row 0"),
    ],
)
def test_targets_that_give_no_logits(rule, first, row, message):
    with pytest.raises(ValueError, match=message):
        decode(Proposer(np.array([1, 2])), rule=rule, target=Logits(first, row))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rule": sim.greedy}, "rule must be one of simulator's rules"),
        ({"stop_tokens": 5}, "stop_tokens must be token numbers in a collection, .* got 5"),
        ({"stop_tokens": None}, "stop_tokens must be token numbers"),
        ({"stop_tokens": ["a"]}, r"stop_tokens must be token numbers .* got \['a'\]"),
        ({"stop_tokens": [[1]]}, "stop_tokens must be token numbers"),
        ({"chain": 3}, "chain must be a Chain"),
        (
            {"chain": sim.Chain(gamma=3, stop=sim.Heuristic()), "record": "every_position"},
            "chain must not follow the heuristic with record='every_position'",
        ),
    ],
)
def test_arguments_of_a_wrong_kind(change, message):
    with pytest.raises(ValueError, match=message):
        decode(Proposer(np.array([1, 2])), **change)


def test_stop_tokens_may_be_any_collection():
    texts = {
        decode(stop_tokens=tokens).tokens
        for tokens in ([1, 2], {1, 2}, (2, 1), range(1, 3), np.array([1, 2], np.uint8))
    }
    assert len(texts) == 1

"""What the loop refuses of drafted trees: one sentence, never an index error."""

from __future__ import annotations

import numpy as np
import pytest

import simulator as sim
from simulator.models import Draft

TARGET = sim.MarkovChain(np.full((4, 4), 0.25))


class Proposer:
    """Proposes the same tree in every round."""

    def __init__(self, *, picked="chosen", **parts):
        self.draft, self.picked = Draft(**parts), picked

    def start(self, prompt, sampling):
        pass

    def propose(self, length, keep_going, rng):
        del length, keep_going, rng
        return self.draft

    def settle(self, tokens):
        pass


def decode(drafter, rule, target=TARGET):
    return sim.decode(
        [0],
        target=target,
        drafter=drafter,
        chain=sim.Chain(gamma=2),
        rule=rule,
        max_tokens=30,
        rng=0,
    )


def tree(above, **parts):
    tokens = np.arange(len(above), dtype=np.int64) % 4
    return {"tokens": tokens, "parents": np.array(above, dtype=np.int64)} | parts


@pytest.mark.parametrize("rule", [sim.greedy(), sim.one_hot()], ids=lambda rule: rule.name)
@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (tree([-1, 0, 1]), "at most the 2 tokens it was asked for behind each other; .* depth 3"),
        (tree([-1, 1]), "parents that come before their children, .* token 1 has parent 1"),
        (tree([-1, -2]), "token 1 has parent -2"),
        (tree([-1, 5]), "token 1 has parent 5"),
        (tree([-1, 0], parents=np.array([-1])), "must give one parent per token, 2 of them; got"),
        (tree([-1, 0], parents=np.array([-1.0, 0.0])), "must give one parent per token"),
        (tree([-1, 0], parents=[-1, 0]), "must give one parent per token"),
        (tree([-1, 0], tokens=np.array([1, 7])), "tokens of the target's vocabulary"),
        (tree([-1, 0], passengers=3), "passengers must be a number of the draft's 2 tokens; got 3"),
        (tree([-1, 0], passengers=-1), "passengers must be a number of the draft's 2 tokens"),
        ({"tokens": np.array([1, 2]), "passengers": 1}, "must give the parents of a draft that carr"),
    ],
)  # fmt: skip
def test_trees_that_cannot_be_judged(rule, parts, sentence):
    with pytest.raises(ValueError, match=sentence) as refused:
        decode(Proposer(**parts), rule)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("picked", "rule"),
    [("drawn", sim.speculative_sampling()), ("distinct", sim.without_replacement())],
)
@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"probs": None}, "draft_probs must be given"),
        ({"probs": np.full((1, 4), 0.25)}, r"probs of shape \[2, 4\]"),
        ({"probs": np.full((2, 4), 0.5)}, "row 0 sums to 2"),
        ({"probs": np.array([[0.4, 0.2, 0.2, 0.2], [0.25] * 4])}, "siblings must carry one distri"),
    ],
)
def test_distributions_that_do_not_fit_the_siblings(picked, rule, parts, sentence):
    with pytest.raises(ValueError, match=sentence):
        decode(Proposer(picked=picked, **tree([-1, -1], **parts)), rule)


def test_the_same_sibling_twice_was_not_drawn_without_replacement():
    target = sim.MarkovChain(np.eye(4)[[1, 1, 1, 1]])  # which never says 2: both are tried
    drafter = Proposer(
        picked="distinct", **tree([-1, -1], tokens=np.array([2, 2]), probs=np.full((2, 4), 0.25))
    )
    with pytest.raises(ValueError, match="token 2 has draft probability 0 behind its siblings"):
        decode(drafter, sim.without_replacement(), target)


def test_riders_may_be_deeper_than_asked_for_and_an_empty_tree_is_a_plain_step():
    riders = tree([-1, 0, -1, 2, 3, 4, 5], passengers=5)
    text = decode(Proposer(**riders), sim.greedy())
    assert text.table.drafted == 2 * text.table.rounds
    empty = decode(Proposer(**tree([])), sim.greedy())
    assert empty.table.rounds == empty.table.emitted == 29

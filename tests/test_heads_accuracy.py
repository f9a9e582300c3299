"""Ranks of held-out tokens: against a direct look at the logits, and what trees are worth by them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from head_texts import SmallTexts, small_eagle, small_medusa

from real_runs.heads.accuracy import WORST, HeldOutRanks, eagle_ranks, medusa_ranks
from real_runs.heads.eagle_draft import EagleDraft
from real_runs.heads.rows import rows_of

VOCABULARY = SmallTexts.vocabulary


@pytest.fixture
def texts():
    return SmallTexts(seed=5, lengths=(14, 9, 11), prompts=(4, 3, 2))


def rank(logits, token, tokens):
    """Places from the top, looked up one by one."""
    if token not in tokens:
        return WORST
    order = sorted(range(len(tokens)), key=lambda place: -float(logits[place]))
    return [int(tokens[place]) for place in order].index(token)


def test_ranks_of_medusa_heads_are_those_of_their_logits(texts):
    heads = small_medusa(heads=3)
    ranks = medusa_ranks(heads, rows_of(texts, range(3)), vocabulary=VOCABULARY).ranks
    expected = []
    for index in range(3):
        tokens, hidden = texts.tokens(index), torch.from_numpy(texts.hidden(index)).float()
        # The state before the first token that the target wrote gives that token; heads follow.
        for place in range(texts.prompt_tokens(index) - 1, len(tokens) - 4):
            logits = heads(hidden[place : place + 1])[0].detach()
            expected.append(
                [rank(logits[k], int(tokens[place + 2 + k]), heads.tokens) for k in range(3)]
            )
    np.testing.assert_array_equal(ranks, expected)
    assert (ranks == WORST).any()  # some tokens are not drafted from


def test_ranks_of_an_eagle_head_are_those_of_drafts_along_the_text(texts):
    head = small_eagle()
    depths = 3
    ranks = eagle_ranks(head, rows_of(texts, range(3)), vocabulary=VOCABULARY, depths=depths).ranks
    expected = []
    for index in range(3):
        tokens, hidden = texts.tokens(index), torch.from_numpy(texts.hidden(index)).float()
        for place in range(texts.prompt_tokens(index) - 1, len(tokens) - 1 - depths):
            draft = EagleDraft(head)
            logits = draft.read(tokens[1 : place + 2], hidden[: place + 1])
            row = [rank(logits, int(tokens[place + 2]), head.tokens)]
            for depth in range(1, depths):
                logits = draft.grow([int(tokens[place + 1 + depth])], [draft.nodes - 1])[0]
                row.append(rank(logits, int(tokens[place + 2 + depth]), head.tokens))
            expected.append(row)
    np.testing.assert_array_equal(ranks, expected)


def test_the_value_of_a_tree_is_the_length_of_its_longest_right_path(rng):
    ranks = HeldOutRanks(ranks=rng.integers(0, 3, size=(500, 3)))
    paths = [(0,), (1,), (0, 0), (0, 1), (1, 0), (0, 0, 0), (0, 1, 2)]
    right = [
        max((len(path) for path in paths if tuple(row[: len(path)]) == path), default=0)
        for row in ranks.ranks.tolist()
    ]
    assert ranks.tokens_per_round(paths) == pytest.approx(1 + np.mean(right), rel=1e-12)


def test_a_chain_counts_as_a_draft_does(rng):
    ranks = HeldOutRanks(ranks=rng.integers(0, 2, size=(300, 4)))
    tested, accepted = ranks.chain()
    kept = [next((d for d, r in enumerate(row) if r), 4) for row in ranks.ranks]
    assert [sum(k >= depth for k in kept) for depth in range(4)] == tested.tolist()
    assert [sum(k > depth for k in kept) for depth in range(4)] == accepted.tolist()
    chain = [(0,) * depth for depth in range(1, 5)]
    assert ranks.tokens_per_round(chain) == pytest.approx(1 + accepted.sum() / 300)


def test_accuracies_given_what_was_kept(rng):
    ranks = HeldOutRanks(ranks=rng.integers(0, 6, size=(400, 3)))
    kept = ranks.kept_accuracies(2)
    assert kept[0].tolist() == ranks.accuracies(2)[0].tolist()
    alive = (ranks.ranks[:, :2] < 2).all(axis=1)
    assert kept[2, 1] == pytest.approx((ranks.ranks[alive, 2] == 1).mean())
    never = HeldOutRanks(ranks=np.full((5, 2), WORST))
    assert never.kept_accuracies(3).tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ([(0,), (0,)], "every node once"),
        ([(0, 0)], r"the parent of every node; \(0, 0\) has none"),
        ([(0,), (0, 0), (0, 0, 0)], "1 to 2 ranks"),
        ([()], "1 to 2 ranks"),
    ],
)
def test_trees_that_are_none_are_refused(paths, message):
    with pytest.raises(ValueError, match=message):
        HeldOutRanks(ranks=np.zeros((3, 2), dtype=np.int64)).tokens_per_round(paths)


def test_texts_that_end_too_soon_are_refused():
    short = rows_of(SmallTexts(seed=1, lengths=(4,), prompts=(3,)), [0])
    with pytest.raises(ValueError, match="5 tokens"):
        medusa_ranks(small_medusa(heads=3), short, vocabulary=VOCABULARY)
    with pytest.raises(ValueError, match="6 tokens"):
        eagle_ranks(small_eagle(), short, vocabulary=VOCABULARY, depths=4)
    with pytest.raises(ValueError, match="at least one text"):
        rows_of(SmallTexts(seed=1, lengths=(4,), prompts=(3,)), [])

"""The EAGLE head: attention over its own estimates, and drafts that compute what training saw."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
import torch

from real_runs.heads.eagle_draft import ROOT, EagleDraft
from real_runs.heads.eagle_head import EagleHead, EagleShape, attend_unrolled, rotations, turn

WIDTH, VOCABULARY = 16, 12
TOKENS = np.array([0, 2, 3, 7, 9, 11])


def head(dtype=torch.float64, seed=0):
    torch.manual_seed(seed)
    module = EagleHead(
        EagleShape(width=WIDTH, attention_heads=2, inner=24, vocabulary=len(TOKENS)),
        tokens=TOKENS,
        embedding=torch.randn(VOCABULARY, WIDTH),
        output=torch.randn(len(TOKENS), WIDTH),
    )
    with torch.no_grad():
        for parameter in module.parameters():  # norms' scales too
            parameter.add_(0.3 * torch.randn_like(parameter))
    return module.to(dtype)


@pytest.fixture
def text():
    torch.manual_seed(1)
    return torch.randint(VOCABULARY, (20,)), torch.randn(20, WIDTH, dtype=torch.float64)


def unrolled(module, text, steps):
    """Logits [steps][n, vocabulary] by the forward of training."""
    tokens, states = text
    with torch.no_grad():
        return [
            module.logits(estimate[0]) for estimate in module(tokens[None], states[None], steps)
        ]


def close(actual, expected, atol=1e-11):
    torch.testing.assert_close(actual, expected, rtol=0, atol=atol)


def test_rotation_keeps_lengths_and_depends_on_distance():
    turns = rotations(10, 8, torch.float64)
    one, two = torch.randn(2, 1, 1, 8, dtype=torch.float64)
    rows = [turn(state.expand(10, 1, 8), turns)[:, 0] for state in (one, two)]
    close(rows[0].norm(dim=-1), one.norm().expand(10))
    products = rows[0] @ rows[1].T
    for distance in range(-9, 10):
        diagonal = products.diagonal(distance)
        close(diagonal, diagonal[:1].expand_as(diagonal))
    close(rows[0][0], one[0, 0])  # position 0 is not turned
    assert not torch.allclose(rows[0][1], one[0, 0])


@pytest.mark.parametrize("step", [0, 1, 2, 3])
def test_attention_sees_the_text_and_then_its_own_estimates(step):
    torch.manual_seed(2)
    count, width = 7, 4
    query, *rest = torch.randn(1 + 2 * (step + 1), 1, 1, count, width, dtype=torch.float64)
    keys, values = rest[: step + 1], rest[step + 1 :]
    mixed = attend_unrolled(query, keys, values)
    for place in range(step, count):
        seen = [(0, other) for other in range(place - step + 1)]
        seen += [(number, place - step + number) for number in range(1, step + 1)]
        scores = torch.stack([query[0, 0, place] @ keys[j][0, 0, k] for j, k in seen]) / width**0.5
        shares = scores.softmax(0)
        expected = sum(
            share * values[j][0, 0, k] for share, (j, k) in zip(shares, seen, strict=True)
        )
        close(mixed[0, 0, place], expected)


def test_an_estimate_looks_at_nothing_behind_it(text):
    module = head()
    tokens, states = text
    later = states.clone()
    later[12:] += 1.0
    before, after = unrolled(module, text, 3), unrolled(module, (tokens, later), 3)
    for step in range(3):
        close(before[step][step : 12 + step], after[step][step : 12 + step], atol=0)
        assert not torch.allclose(before[step][12 + step], after[step][12 + step])


def test_reading_in_pieces_is_reading_at_once(text):
    module = head()
    tokens, states = text
    expected = unrolled(module, text, 1)[0]
    draft = EagleDraft(module)
    for first, end in ((0, 1), (1, 8), (8, 9), (9, 20)):
        close(draft.read(tokens[first:end].numpy(), states[first:end]), expected[end - 1])
        assert draft.length == end
    draft.rollback(5)
    close(draft.read(tokens[15:17].numpy(), states[15:17]), expected[16])
    draft.start()
    close(draft.read(tokens[:3].numpy(), states[:3]), expected[2])


def test_a_chain_is_what_training_saw(text):
    module = head()
    tokens, states = text
    expected = unrolled(module, text, 4)
    draft = EagleDraft(module)
    for known in (6, 11):  # the second draft follows text that has grown
        draft.read(tokens[draft.length : known].numpy(), states[draft.length : known])
        for step in range(1, 4):
            token = int(tokens[known + step - 1])
            close(draft.grow([token], [draft.nodes - 1])[0], expected[step][known + step - 1])
        assert draft.nodes == 3


def test_every_path_of_a_tree_is_the_chain_of_its_tokens(text):
    module = head()
    tokens, states = text
    parents = [[ROOT, ROOT, ROOT], [0, 0, 2], [4, 5, 3, 4], [6], [9, 9]]
    rng = np.random.default_rng(3)
    names = [rng.integers(VOCABULARY, size=len(level)).tolist() for level in parents]
    draft, alone = EagleDraft(module), EagleDraft(module)
    for known in (5, 9):
        draft.read(tokens[draft.length : known].numpy(), states[draft.length : known])
        alone.read(tokens[alone.length : known].numpy(), states[alone.length : known])
        logits = torch.cat([draft.grow(n, p) for n, p in zip(names, parents, strict=True)])
        flat_parents, flat_names = ([*chain.from_iterable(rows)] for rows in (parents, names))
        for node in range(len(flat_parents)):
            path, above = [], node
            while above != ROOT:
                path.insert(0, flat_names[above])
                above = flat_parents[above]
            alone.rollback(0)  # forgets the path before
            for step, token in enumerate(path):
                last = alone.grow([token], [step - 1])
            close(logits[node], last[0])


def test_a_sibling_or_a_missing_ancestor_would_be_noticed(text):
    """Negative control: the same node below another parent has other logits."""
    module = head()
    tokens, states = text
    draft = EagleDraft(module)
    draft.read(tokens[:5].numpy(), states[:5])
    draft.grow([1, 2], [ROOT, ROOT])
    below = draft.grow([3, 3, 3], [0, 1, ROOT])
    assert not torch.allclose(below[0], below[1], atol=1e-3)
    assert not torch.allclose(below[0], below[2], atol=1e-3)


def test_long_texts_and_large_trees_outgrow_the_first_buffers():
    module = head()
    torch.manual_seed(4)
    tokens, states = torch.randint(VOCABULARY, (700,)), torch.randn(700, WIDTH).double()
    expected = unrolled(module, (tokens, states), 2)
    draft = EagleDraft(module)
    draft.read(tokens[:400].numpy(), states[:400])
    draft.read(tokens[400:698].numpy(), states[400:698])
    wide = draft.grow([int(tokens[698])] * 150, [ROOT] * 150)
    close(wide, expected[1][698].expand(150, -1), atol=1e-10)
    deeper = draft.grow([1] * 150, list(range(150)))
    close(deeper, deeper[:1].expand(150, -1), atol=1e-10)
    assert draft.nodes == 300


def test_single_precision_is_close(text):
    exact, rounded = EagleDraft(head()), EagleDraft(head(torch.float32))
    tokens, states = text
    rows = [draft.read(tokens.numpy(), states).double() for draft in (exact, rounded)]
    close(*rows, atol=1e-3)
    assert not torch.equal(*rows)


def test_what_cannot_be_drafted_is_refused(text):
    tokens, states = text
    draft = EagleDraft(head())
    with pytest.raises(ValueError, match="read must be called before grow"):
        draft.grow([1], [ROOT])
    with pytest.raises(ValueError, match=r"hidden must be \[m, 16\].*got \[2, 16\] for 3"):
        draft.read(tokens[:3].numpy(), states[:2])
    with pytest.raises(ValueError, match="at least one"):
        draft.read(tokens[:0].numpy(), states[:0])
    draft.read(tokens[:3].numpy(), states[:3])
    for names, parents in (([1], [0]), ([1], [-2]), ([1, 2], [ROOT]), ([], [])):
        with pytest.raises(ValueError, match=r"parents must hold one number in \[-1, 0\)"):
            draft.grow(names, parents)
    with pytest.raises(ValueError, match=r"count must be a whole number in \[0, 3\]; got 4"):
        draft.rollback(4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attention_heads": 3}, "attention_heads must divide width 16 into even parts; got 3"),
        ({"attention_heads": 16}, "attention_heads must divide"),
        ({"inner": 0}, "inner must be"),
        ({"vocabulary": 0}, "vocabulary must be"),
    ],
)
def test_impossible_sizes_are_refused(change, message):
    sizes = {"width": 16, "attention_heads": 2, "inner": 24, "vocabulary": 6} | change
    with pytest.raises(ValueError, match=message):
        EagleShape(**sizes)

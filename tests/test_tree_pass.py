"""A target's pass over a tree: the logits of its paths one by one, and what stays is as if read alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import CONTEXT, save_model

from real_runs.models.cache import growing_cache
from real_runs.models.tree_masks import TreeMasks, ancestors
from real_runs.target import load_target

PROMPT = np.array([256, *b"def main"])
EXACT = 1e-10
PARENTS = np.array([-1, 0, 0, 1, 1, 2, 5, 3, 0])  # row 6 is deepest: 0, 2, 5, 6
TOKENS = np.array([40, 1, 2, 3, 250, 2, 66, 7, 9])


@pytest.fixture(scope="module", params=["llama", "qwen2", "gpt2", "gpt_neox"])
def target(request, tmp_path_factory):
    folder = save_model(tmp_path_factory.mktemp(request.param), request.param)
    return load_target(str(folder), dtype="float64", keep_hidden=True)


@pytest.fixture(scope="module")
def llama(small_target_folder):
    return load_target(str(small_target_folder), dtype="float64", keep_hidden=True)


def path_to(parents, row):
    """Rows on the way from the root to a row, both included."""
    rows = [row]
    while parents[rows[0]] >= 0:
        rows.insert(0, int(parents[rows[0]]))
    return rows


def one_by_one(target, text, tokens, parents):
    """Logits behind every path, each read alone after the text."""
    rows = []
    for row in range(len(tokens)):
        target.start(np.array(text))
        rows.append(target.extend(tokens[path_to(parents, row)])[-1])
    return np.stack(rows)


def test_a_pass_over_a_tree_gives_the_logits_of_its_paths_one_by_one(target):
    expected = one_by_one(target, PROMPT, TOKENS, PARENTS)
    target.start(PROMPT)
    rows = target.extend_tree(TOKENS, PARENTS)
    assert rows.shape == (9, target.vocabulary)
    assert target.length == len(PROMPT) + 9
    np.testing.assert_allclose(rows, expected, rtol=0, atol=EXACT)
    assert np.abs(rows[3] - rows[4]).max() > 1e-3  # siblings differ, or little is shown


def test_the_tiny_target_too_in_both_precisions():
    for dtype, atol in (("float32", 1e-5), ("float64", EXACT)):
        tiny = load_target("tiny", dtype=dtype)
        expected = one_by_one(tiny, PROMPT, TOKENS, PARENTS)
        tiny.start(PROMPT)
        rows = tiny.extend_tree(TOKENS, PARENTS)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(rows / scale, expected / scale, rtol=0, atol=atol)
        tiny.keep(np.array([0, 2, 5]))
        probe = tiny.extend(np.array([7]))[-1]
        tiny.start(np.array([*PROMPT, *TOKENS[[0, 2, 5]], 7]))
        alone = tiny.extend(np.array([8]))[-1]
        tiny.rollback(2)
        np.testing.assert_allclose(
            probe / scale, tiny.extend(np.array([7]))[-1] / scale, rtol=0, atol=atol
        )
        assert np.abs(alone - probe).max() > 1e-3


def test_a_chain_is_a_tree(target):
    target.start(PROMPT)
    chain = target.extend(TOKENS[:5])
    hidden = target.hidden.clone()
    target.rollback(5)
    tree = target.extend_tree(TOKENS[:5], np.arange(-1, 4))
    np.testing.assert_allclose(tree, chain, rtol=0, atol=EXACT)
    torch.testing.assert_close(target.hidden, hidden, rtol=0, atol=EXACT)


def test_eager_attention_takes_the_same_mask(llama):
    llama.start(PROMPT)
    expected = llama.extend_tree(TOKENS, PARENTS)
    llama.model.set_attn_implementation("eager")
    try:
        llama.start(PROMPT)
        rows = llama.extend_tree(TOKENS, PARENTS)
    finally:
        llama.model.set_attn_implementation("sdpa")
    # transformers' eager attention takes its softmax in float32.
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_reads_trees(small_target_folder, llama, dtype):
    half = load_target(str(small_target_folder), dtype=dtype)
    half.start(PROMPT)
    rows = half.extend_tree(TOKENS, PARENTS)
    expected = one_by_one(llama, PROMPT, TOKENS, PARENTS)
    assert rows.dtype == np.float32
    assert np.abs(rows - expected).max() < 0.25 * np.abs(expected).max()


def test_without_the_mask_siblings_would_see_each_other(llama, monkeypatch):
    expected = one_by_one(llama, PROMPT, TOKENS, PARENTS)
    llama.start(PROMPT)
    shape = llama._masks.shape(PARENTS)
    monkeypatch.setattr(shape.mask, "data", torch.zeros_like(shape.mask))
    llama._masks._written = None
    rows = llama.extend_tree(TOKENS, PARENTS)
    llama._masks._shapes.clear()
    llama._masks._written = None
    assert np.abs(rows - expected).max() > 1e-3


@pytest.mark.parametrize("rows", [[0], [0, 1], [0, 2, 5, 6], [0, 1, 3, 7], list(range(9)), [0, 8]])
def test_what_is_kept_is_as_if_read_alone(target, rows):
    target.start(PROMPT)
    target.extend_tree(TOKENS, PARENTS)
    hidden = target.hidden
    target.keep(np.array(rows))
    assert target.length == len(PROMPT) + len(rows)
    assert target.hidden is hidden  # the states of the whole pass stay until the next one
    if rows == list(range(9)):  # no path: kept whole only to show that all can be
        return
    probe = target.extend(np.array([7, 8]))
    target.start(np.array([*PROMPT, *TOKENS[rows]]))
    np.testing.assert_allclose(probe, target.extend(np.array([7, 8])), rtol=0, atol=EXACT)


def test_rows_kept_from_another_branch_would_be_seen(llama):
    llama.start(PROMPT)
    llama.extend_tree(TOKENS, PARENTS)
    llama.keep(np.array([0, 1, 3]))  # the text goes on as if rows 0, 2, 5 had been kept
    probe = llama.extend(np.array([7]))[0]
    llama.start(np.array([*PROMPT, *TOKENS[[0, 2, 5]]]))
    assert np.abs(probe - llama.extend(np.array([7]))[0]).max() > 1e-3


@st.composite
def trees(draw, most=7):
    size = draw(st.integers(1, most))
    parents = [-1] + [draw(st.integers(0, node - 1)) for node in range(1, size)]
    tokens = draw(st.lists(st.integers(0, 256), min_size=size, max_size=size))
    return np.array(tokens), np.array(parents), draw(st.integers(0, size - 1))


@given(steps=st.lists(trees(), min_size=1, max_size=5), back=st.integers(0, 2))
@settings(max_examples=25)
def test_any_sequence_of_trees_leaves_no_trace(llama, steps, back):
    """Trees of all shapes after each other, one path kept of each, and some of it forgotten again."""
    text = list(PROMPT[:3])
    llama.start(np.array(text))
    for tokens, parents, row in steps:
        rows = path_to(parents, row)
        llama.extend_tree(tokens, parents)
        llama.keep(np.array(rows))
        text += tokens[rows].tolist()
        llama.rollback(back)
        text = text[: len(text) - back]
        assert llama.length == len(text)
    probe = llama.extend_tree(TOKENS, PARENTS)
    llama.start(np.array(text))
    np.testing.assert_allclose(probe, llama.extend_tree(TOKENS, PARENTS), rtol=0, atol=EXACT)
    np.testing.assert_allclose(probe, one_by_one(llama, text, TOKENS, PARENTS), rtol=0, atol=EXACT)


@pytest.mark.parametrize("together", [True, False])
def test_a_cache_that_grows_within_a_tree_keeps_what_it_holds(llama, monkeypatch, together):
    """Room for two tokens at first; and layers whose buffers are not parts of one tensor."""
    monkeypatch.setitem(growing_cache.__globals__, "FIRST_CAPACITY", 1)
    text = [256]
    llama.start(np.array(text))
    for layer in llama._cache.layers:
        if not together:
            layer.batch_select_indices(torch.tensor([0]))
            layer._store.states = None
            layer._index = 1  # no first layer: each has buffers of its own
    capacities = set()
    for step in range(4):
        tokens = (TOKENS + step) % 257
        llama.extend_tree(tokens, PARENTS)
        llama.keep(np.array([0, 2, 5, 6]))
        text += tokens[[0, 2, 5, 6]].tolist()
        layers = llama._cache.layers
        assert (layers[0].shared is not None) == together
        assert layers[0].shared is layers[1].shared
        capacities.add(layers[0]._buffers[0].shape[-2])
    assert len(capacities) > 1
    probe = llama.extend(np.array([7]))[0]
    llama.start(np.array(text))
    np.testing.assert_allclose(probe, llama.extend(np.array([7]))[0], rtol=0, atol=EXACT)


def test_the_states_of_the_pass_are_those_of_its_paths(llama):
    llama.start(PROMPT)
    llama.extend_tree(TOKENS, PARENTS)
    states = llama.hidden.clone()
    assert states.shape == (9, 32)
    for row in (0, 4, 6):
        llama.start(PROMPT)
        llama.extend(TOKENS[path_to(PARENTS, row)])
        torch.testing.assert_close(states[row], llama.hidden[-1], rtol=0, atol=EXACT)


def test_depth_counts_against_the_context_and_width_does_not(llama):
    prompt = np.resize(PROMPT, CONTEXT - 4)
    expected = one_by_one(llama, prompt, TOKENS, PARENTS)
    llama.start(prompt)
    rows = llama.extend_tree(TOKENS, PARENTS)  # 9 tokens, 4 places
    np.testing.assert_allclose(rows, expected, rtol=0, atol=EXACT)
    llama.keep(np.array([0]))
    with pytest.raises(ValueError, match=r"61 \+ 4 tokens must fit the model's context of 64\."):
        llama.extend_tree(TOKENS, PARENTS)


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([0, 0], r"parents must begin with the root's, -1; got 0\."),
        ([-1, 1], r"must come before their children; token 1 has parent 1\."),
        ([-1, -1], r"must come before their children; token 1 has parent -1\."),
        ([-1, 0, 0], r"parents must have one entry per token; got 3 for 2\."),
        ([], "parents must be one whole number per token"),
        ([[-1, 0]], "parents must be one whole number per token"),
    ],
)
def test_what_is_no_tree_is_refused(llama, parents, message):
    llama.start(PROMPT)
    with pytest.raises(ValueError, match=message):
        llama.extend_tree(np.array([1, 2]), np.array(parents, dtype=np.int64))
    with pytest.raises(ValueError, match=r"tokens must be one row .* in \[0, 257\)"):
        llama.extend_tree(np.array([1, 257]), np.array([-1, 0]))
    assert llama.length == len(PROMPT)


def test_only_rows_of_the_last_pass_over_a_tree_can_be_kept(llama):
    llama.start(PROMPT)
    for rows in ([0], []):
        with pytest.raises(ValueError, match="rows must be increasing numbers of the last pass"):
            llama.keep(np.array(rows, dtype=np.int64))
    llama.extend_tree(TOKENS, PARENTS)
    for rows in ([0, 9], [1, 0], [-1], [0, 0]):
        with pytest.raises(ValueError, match=r"of the last pass, 0 to 8; got "):
            llama.keep(np.array(rows))
    llama.keep(np.array([0]))
    with pytest.raises(ValueError, match="of the last pass"):
        llama.keep(np.array([0]))


@given(tree=trees(most=20))
def test_ancestors_are_those_on_the_way_to_the_root(tree):
    _, parents, _ = tree
    depths, seen = ancestors(parents)
    for row in range(len(parents)):
        path = path_to(parents, row)
        assert depths[row] == len(path) - 1
        assert np.flatnonzero(seen[row]).tolist() == path


def test_a_tree_seen_before_costs_no_new_mask():
    masks = TreeMasks(dtype=torch.float32, device=torch.device("cpu"))
    shape = masks.shape(PARENTS)
    assert masks.shape(PARENTS.copy()) is shape
    first, second = masks.mask(shape, 5), masks.mask(shape, 9)
    assert first.shape == (1, 1, 9, 14)
    assert second.shape == (1, 1, 9, 18)
    assert first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()
    assert not second[..., :9].any()
    long = masks.mask(shape, 2000)
    assert not long[..., :2000].any()
    torch.testing.assert_close(long[0, 0, :, 2000:], shape.mask)
    for node in range(200):  # of many shapes the oldest are forgotten
        masks.shape(np.array([-1, *([0] * node)]))
    assert len(masks._shapes) <= 64

"""A torch model behind the loop's interface: what it forgets is as if it had never been read."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import CONTEXT, save_model

from real_runs.models.cache import growing_cache
from real_runs.models.devices import as_device, as_dtype, set_threads
from real_runs.target import load_target
from simulator import decode, greedy

PROMPT = np.array([256, *b"def main"])
EXACT = 1e-9
FORGETFUL = ["llama", "qwen2", "gpt2", "gpt_neox"]


@pytest.fixture(scope="module", params=FORGETFUL)
def target(request, tmp_path_factory):
    folder = save_model(tmp_path_factory.mktemp(request.param), request.param)
    return load_target(str(folder), dtype="float64")


@pytest.fixture(scope="module")
def llama(small_target_folder):
    return load_target(str(small_target_folder), dtype="float64", keep_hidden=True)


def whole(target, tokens, **options):
    """All logits of a text in one pass without a cache, by transformers alone."""
    with torch.inference_mode():
        return target.model(torch.from_numpy(np.array(tokens))[None], use_cache=False, **options)


def test_logits_are_those_of_one_pass_without_a_cache(target):
    more = np.array([10, 20, 30, 40, 50])
    expected = whole(target, [*PROMPT, *more]).logits[0].numpy()
    first = target.start(PROMPT)
    assert first.shape == (target.vocabulary,)
    np.testing.assert_allclose(first, expected[len(PROMPT) - 1], rtol=0, atol=EXACT)
    rows = target.extend(more)
    assert rows.shape == (5, target.vocabulary)
    assert rows.dtype == np.float64
    np.testing.assert_allclose(rows, expected[len(PROMPT) :], rtol=0, atol=EXACT)


def test_one_by_one_is_all_at_once(target):
    tokens = np.array([1, 2, 3, 4])
    target.start(PROMPT)
    together = target.extend(tokens)
    target.rollback(4)
    alone = np.concatenate([target.extend(tokens[i : i + 1]) for i in range(4)])
    np.testing.assert_allclose(alone, together, rtol=0, atol=EXACT)


def test_a_cache_that_has_to_grow_keeps_what_it_holds(target, monkeypatch):
    """Room for two tokens at first: the passes below outgrow it several times, once after forgetting."""
    monkeypatch.setitem(growing_cache.__globals__, "FIRST_CAPACITY", 1)
    text = list(PROMPT[:1])
    target.start(np.array(text))
    layer = target._cache.layers[0]
    capacities = {layer._buffers[0].shape[-2]}
    for step in range(4):
        tokens = [(7 * step + i) % 257 for i in range(5)]
        rows = target.extend(np.array(tokens))
        text += tokens
        np.testing.assert_allclose(
            rows, whole(target, text).logits[0, -5:].numpy(), rtol=0, atol=EXACT
        )
        target.rollback(2)
        text = text[:-2]
        capacities.add(layer._buffers[0].shape[-2])
    assert len(capacities) > 2


STEPS = st.lists(
    st.tuples(st.lists(st.integers(0, 256), min_size=1, max_size=4), st.integers(0, 7)),
    min_size=1,
    max_size=6,
)


@given(steps=STEPS)
@settings(max_examples=25)
def test_any_sequence_of_passes_and_rollbacks_leaves_no_trace(llama, steps):
    text = list(PROMPT[:2])
    llama.start(np.array(text))
    for tokens, count in steps:
        llama.extend(np.array(tokens))
        text += tokens
        kept = max(len(text) - count, 1)
        llama.rollback(len(text) - kept)
        text = text[:kept]
        assert llama.length == len(text)
    probe = llama.extend(np.array([7]))[0]
    np.testing.assert_allclose(probe, llama.start(np.array([*text, 7])), rtol=0, atol=EXACT)


def test_a_token_left_in_the_cache_would_be_seen(llama):
    llama.start(PROMPT)
    llama.extend(np.array([1, 2, 3]))
    llama.rollback(2)  # one too few
    probe = llama.extend(np.array([7]))[0]
    assert np.abs(probe - llama.start(np.array([*PROMPT, 7]))).max() > 1e-3


def test_a_rollback_may_reach_into_the_prompt(target):
    target.start(PROMPT)
    target.rollback(3)
    again = target.extend(PROMPT[-3:])[-1]
    np.testing.assert_allclose(again, target.start(PROMPT), rtol=0, atol=EXACT)


def test_hidden_states_are_those_before_the_output_layer(llama):
    llama.start(PROMPT)
    expected = whole(llama, PROMPT, output_hidden_states=True).hidden_states[-1][0]
    assert llama.hidden.shape == (len(PROMPT), 32)
    torch.testing.assert_close(llama.hidden, expected, rtol=0, atol=EXACT)
    rows = llama.extend(np.array([5, 6]))
    assert llama.hidden.shape == (2, 32)
    with torch.inference_mode():
        np.testing.assert_allclose(llama.model.lm_head(llama.hidden).numpy(), rows, atol=EXACT)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_half_precision_is_widened(small_target_folder, llama, dtype):
    target = load_target(str(small_target_folder), dtype=dtype)
    logits = target.start(PROMPT)
    assert target.identity.dtype == dtype
    assert logits.dtype == target.extend(np.array([3]))[0].dtype == np.float32
    assert target.hidden is None
    bits = {"float32": 24, "bfloat16": 8, "float16": 11}[dtype]
    difference = np.abs(logits - llama.start(PROMPT)).max()
    assert 0 < difference < 64 * 2.0**-bits * np.abs(logits).max()


@pytest.mark.parametrize("length", [1, 9, CONTEXT - 3])
def test_plain_decoding_is_what_generate_gives(target, length):
    prompt = np.resize(PROMPT, length)
    asked = min(20, CONTEXT - length)
    made = target.model.generate(
        torch.from_numpy(prompt)[None],
        attention_mask=torch.ones(1, length, dtype=torch.long),
        max_new_tokens=asked,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
    )
    text = decode(prompt, target=target, rule=greedy(), max_tokens=asked, rng=0)
    assert text.tokens == tuple(made[0, length:].tolist())


def test_the_context_can_be_filled_and_not_exceeded(target):
    assert target.context == CONTEXT
    target.start(np.resize(PROMPT, CONTEXT))
    with pytest.raises(ValueError, match=r"64 \+ 1 tokens must fit the model's context of 64\."):
        target.extend(np.array([1]))
    with pytest.raises(ValueError, match=r"prompt must fit the model's context of 64 .*has 65\."):
        target.start(np.resize(PROMPT, CONTEXT + 1))
    target.rollback(4)
    assert target.extend(np.array([1, 2, 3, 4])).shape == (4, target.vocabulary)


@pytest.mark.parametrize("tokens", [[], [-1], [257], [[1, 2]]])
def test_tokens_outside_of_the_vocabulary_are_refused(llama, tokens):
    llama.start(PROMPT)
    for read in (llama.start, llama.extend):
        with pytest.raises(ValueError, match=r"tokens must be one row .* in \[0, 257\); got "):
            read(np.array(tokens, dtype=np.int64))


@pytest.mark.parametrize("count", [-1, 10, 0.5])
def test_more_than_was_read_cannot_be_forgotten(llama, count):
    llama.start(PROMPT)
    with pytest.raises(ValueError, match=r"count must be a whole number in \[0, 9\]; got "):
        llama.rollback(count)


@pytest.mark.parametrize("architecture", ["mistral", "mamba"])
def test_models_that_cannot_forget_are_refused(tmp_path, architecture):
    save_model(tmp_path, architecture)
    with pytest.raises(ValueError, match=r"must keep every token to be able to forget .* type "):
        load_target(str(tmp_path))


def test_threads_are_set_inside_and_put_back_outside():
    before = torch.get_num_threads()
    with set_threads(before + 1):
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before
    with pytest.raises(ValueError, match=r"threads must be .* at least 1; got 0"), set_threads(0):
        pass


def test_devices_and_precisions_that_are_not_there_are_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=r"device cuda is not available .* available: cpu"):
        as_device("cuda")
    with pytest.raises(ValueError, match=r"device must be one of cpu, cuda, mps; got 'tpu'"):
        as_device("tpu")
    with pytest.raises(ValueError, match=r"dtype must be one of float32, .*; got 'int8'"):
        as_dtype("int8", torch.device("cpu"))
    with pytest.raises(ValueError, match="float64 must run on cpu or cuda; mps"):
        as_dtype("float64", torch.device("mps"))
    load = pytest.raises(ValueError, match="device cuda is not available")
    with load:
        load_target("tiny", device="cuda")

"""A language model that really runs: SmolLM2-135M-Instruct, from the package that brings its weights."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import torch

from real_runs.drafters import PromptLookup
from real_runs.models import smollm2
from real_runs.target import load_target
from simulator import Chain, Sampling, decode, greedy

COUNT = "one two three four five six one two three four five six one two three"


@pytest.fixture(scope="module")
def target():
    try:
        smollm2.find_gguf()
    except ValueError as error:
        pytest.fail(str(error))
    return load_target("smollm2")


@pytest.fixture(scope="module")
def prompt(target):
    return target.tokenizer.encode(COUNT)


def generate(target, prompt, count):
    made = target.model.generate(
        torch.from_numpy(prompt)[None],
        attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
        max_new_tokens=count,
        do_sample=False,
    )
    return tuple(made[0, len(prompt) :].tolist())


def test_it_is_the_model_that_it_says(target):
    identity = target.identity
    assert (identity.kind, identity.architecture) == ("gguf", "LlamaForCausalLM")
    assert (identity.parameters, identity.layers, identity.hidden_size) == (134_515_008, 30, 576)
    assert (identity.vocabulary, identity.context) == (49_152, 8192)
    assert identity.name == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert len(identity.sha256) == 64


def test_its_tokenizer_speaks_its_chat(target):
    tokenizer = target.tokenizer
    tokens = tokenizer.encode("hi", chat=True)
    assert tokenizer.stop_tokens == (2,)
    assert tokens[0] == 1
    assert 2 in tokens
    assert tokenizer.decode(tokenizer.encode("Hello, world!")) == "Hello, world!"


def test_drafts_by_lookup_leave_its_greedy_text_alone(target, prompt):
    # The two best logits are 0.15 apart or more all along this text: float32 cannot swap them.
    options = {"target": target, "rule": greedy(), "max_tokens": 12, "rng": 0}
    plain = decode(prompt, **options)
    text = decode(prompt, drafter=PromptLookup(), chain=Chain(gamma=4), **options)
    assert text.tokens == plain.tokens == generate(target, prompt, 12)
    assert sum(text.table.accepted) > 0
    assert text.table.rounds < 11


def test_a_rollback_leaves_no_trace(target, prompt):
    expected = target.start(np.array([*prompt, 5, 6]))
    target.start(prompt)
    target.extend(np.array([5, 9, 9, 9]))
    target.rollback(3)
    logits = target.extend(np.array([6]))[0]
    # In float32 a pass over one token and one over many round differently: 1e-4 of logits of 20.
    np.testing.assert_allclose(logits, expected, rtol=0, atol=5e-3)
    assert Sampling().probabilities(logits).shape == (49_152,)
    target.start(prompt)
    target.extend(np.array([5, 9, 9, 9]))
    target.rollback(2)  # one too few
    assert np.abs(target.extend(np.array([6]))[0] - expected).max() > 0.5


def test_it_says_a_line(target, monkeypatch, capsys):
    monkeypatch.setattr("real_runs.target.load_target", lambda _: target)
    monkeypatch.setattr(smollm2, "MAX_TOKENS", 6)
    smollm2.main()
    where, line = capsys.readouterr().out.splitlines()
    assert where.endswith(".gguf")
    assert line.startswith(smollm2.QUESTION)
    assert len(line) > len(smollm2.QUESTION) + 10


def test_without_its_package_it_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, smollm2.PACKAGE, None)
    with pytest.raises(ValueError, match=r"smollm2 is not installed: `make real-model` brings it"):
        load_target("smollm2")
    with pytest.raises(ValueError, match="is not installed"):
        smollm2.find_gguf("a_package_that_nobody_has")

"""Drafters of actual models in the loop: the text is the target's, whatever they propose."""

from __future__ import annotations

import numpy as np
import pytest
from small_models import CONTEXT

from real_runs.drafters import DraftModel, PromptLookup
from real_runs.target import load_target
from simulator import (
    Chain,
    ConfidenceThreshold,
    MarkovChain,
    Sampling,
    block_verification,
    decode,
    greedy,
    one_hot,
    sample_and_match,
    speculative_sampling,
)

PROMPT = np.array([256, *b"while True:"])


@pytest.fixture(scope="module")
def target(small_target_folder):
    return load_target(str(small_target_folder), dtype="float64")


@pytest.fixture(scope="module")
def draft(small_draft_folder):
    return load_target(str(small_draft_folder), dtype="float64")


CHAINS = [Chain(gamma=1), Chain(gamma=4), Chain(gamma=9)]


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: f"gamma {chain.gamma}")
@pytest.mark.parametrize("kind", ["drawn", "chosen", "lookup", "itself"])
def test_greedy_decoding_is_plain_decoding_token_for_token(target, draft, kind, chain):
    drafter = {
        "drawn": lambda: DraftModel(draft, "drawn"),
        "chosen": lambda: DraftModel(draft, "chosen"),
        "lookup": PromptLookup,
        "itself": lambda: DraftModel(load_target(str(target.source.folder), dtype="float64")),
    }[kind]()
    options = {"rule": greedy(), "sampling": Sampling(temperature=0.0), "rng": 0}
    accepted = 0
    for prompt in (PROMPT, PROMPT[:1], np.array([256, *b"abcabcabcab"])):
        plain = decode(prompt, target=target, max_tokens=40, **options)
        text = decode(prompt, target=target, drafter=drafter, chain=chain, max_tokens=40, **options)
        assert text.tokens == plain.tokens
        accepted += sum(text.table.accepted)
        if kind == "itself":
            assert text.table.accepted == text.table.tested
    if chain.gamma > 1:
        assert accepted > 0, "a draft of which nothing is kept proves little"


@pytest.mark.parametrize("rule", [greedy(), one_hot(), sample_and_match()], ids=lambda r: r.name)
@pytest.mark.parametrize("kind", ["model", "lookup"])
def test_the_loop_runs_to_the_end_of_the_context(target, draft, kind, rule):
    drafter = PromptLookup() if kind == "lookup" else DraftModel(draft, "chosen")
    text = decode(
        PROMPT,
        target=target,
        drafter=drafter,
        chain=Chain(gamma=5),
        rule=rule,
        max_tokens=500,
        rng=1,
    )
    assert text.ended == "context"
    assert len(text.tokens) == CONTEXT - len(PROMPT) + 1


@pytest.mark.parametrize("rule", [speculative_sampling(), block_verification()])
def test_a_draft_equal_to_the_target_is_always_accepted(target, small_target_folder, rule):
    drafter = DraftModel(load_target(str(small_target_folder), dtype="float64"))
    text = decode(
        PROMPT,
        target=target,
        drafter=drafter,
        chain=Chain(gamma=3),
        rule=rule,
        max_tokens=41,
        rng=2,
    )
    assert text.table.accepted == text.table.tested == (10, 10, 10)


def test_a_confidence_stop_keeps_the_text(target, draft):
    options = {"rule": greedy(), "max_tokens": 40, "rng": 0}
    for drops in (False, True):
        stop = ConfidenceThreshold(threshold=0.3, drops_last=drops)
        text = decode(
            PROMPT,
            target=target,
            drafter=DraftModel(draft, "chosen"),
            chain=Chain(gamma=6, stop=stop),
            **options,
        )
        assert text.tokens == decode(PROMPT, target=target, **options).tokens
        assert 0 < text.table.drafted < 6 * text.table.rounds


def test_a_draft_model_runs_on_toy_models_too():
    toy = MarkovChain(transitions=((0.1, 0.9), (0.8, 0.2)))
    drafter = DraftModel(MarkovChain(transitions=((0.1, 0.9), (0.8, 0.2))))
    text = decode(
        [0],
        target=toy,
        drafter=drafter,
        chain=Chain(gamma=4),
        rule=speculative_sampling(),
        max_tokens=51,
        rng=0,
    )
    assert text.table.accepted == (10, 10, 10, 10)

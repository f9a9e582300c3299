"""Sampled output of actual models against the target's exact next-token probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from analysis import check_lossless
from real_runs.sampled_check import exact_probabilities, sample_next_tokens
from simulator import (
    MarkovChain,
    Sampling,
    ToyDrafter,
    lenience,
    sample_and_match,
    speculative_sampling,
    typical_acceptance,
)

FALSE_ALARM = 1e-9
"""Per verdict; a test makes three."""
ROWS = np.random.default_rng(3).dirichlet(np.ones(5), size=5)


def toy_check(rule, picked, texts, rng, *, sampling=None, allow_lossy=False):
    target = MarkovChain(ROWS)
    draft = target.mixed(0.5, np.random.default_rng(4).dirichlet(np.ones(5), size=5))
    return sample_next_tokens(
        np.array([1]),
        target=target,
        drafter=ToyDrafter(draft, picked=picked),
        rule=rule,
        gamma=2,
        texts=texts,
        rng=rng,
        sampling=sampling,
        allow_lossy=allow_lossy,
    )


def verdicts(found):
    return [
        check_lossless(
            np.repeat(np.arange(behind.counts.size), behind.counts),
            behind.probs,
            false_alarm_rate=FALSE_ALARM,
        ).passed
        for behind in found
    ]


@pytest.mark.parametrize(
    ("rule", "picked"), [(speculative_sampling(), "drawn"), (sample_and_match(), "chosen")]
)
def test_a_lossless_pair_follows_the_target(rng, rule, picked):
    found = toy_check(rule, picked, 1_500, rng)
    assert verdicts(found) == [True] * 3
    assert [len(behind.prefix) for behind in found] == [1, 2, 3]
    assert found[0].total > found[1].total > found[2].total > 40


@pytest.mark.parametrize("rule", [lenience(0.4), typical_acceptance()])
def test_a_lossy_rule_is_seen(rng, rule):
    assert not all(verdicts(toy_check(rule, "drawn", 3_000, rng, allow_lossy=True)))


def test_another_temperature_is_seen(rng):
    target = MarkovChain(ROWS)
    found = toy_check(speculative_sampling(), "drawn", 1_500, rng, sampling=Sampling(temperature=2))
    assert verdicts(found) == [True] * 3
    cold = exact_probabilities(
        np.array([1]), found[0].prefix, target=target, sampling=Sampling(temperature=0.5)
    )
    samples = np.repeat(np.arange(5), found[0].counts)
    assert not check_lossless(samples, cold, false_alarm_rate=FALSE_ALARM).passed


def test_probabilities_are_those_behind_the_prefix(rng):
    for behind in toy_check(speculative_sampling(), "drawn", 50, rng):
        assert behind.probs == pytest.approx(ROWS[behind.prefix[-1]], abs=1e-12)
        assert behind.counts.sum() == behind.total


@pytest.mark.parametrize("drafter", ["draft_model", "prompt_lookup"])
def test_torch_models_follow_their_target(small_target_folder, small_draft_folder, rng, drafter):
    import torch  # noqa: PLC0415

    from real_runs.drafters import DraftModel, PromptLookup  # noqa: PLC0415
    from real_runs.target import load_target  # noqa: PLC0415

    torch.set_num_threads(1)
    target = load_target(str(small_target_folder))
    drafts = drafter == "draft_model"
    # The prompt's n-grams return, so that look-ups find something to copy.
    prompt = target.tokenizer.encode("abcabcabcabc")
    found = sample_next_tokens(
        prompt,
        target=target,
        drafter=DraftModel(load_target(str(small_draft_folder))) if drafts else PromptLookup(),
        rule=speculative_sampling() if drafts else sample_and_match(),
        gamma=2,
        texts=500,
        rng=rng,
        sampling=Sampling(temperature=0.7, top_k=4),  # few tokens, many of each
    )
    assert verdicts(found) == [True] * 3
    assert all(np.count_nonzero(behind.probs) == 4 for behind in found)


def test_no_text_is_refused(rng):
    with pytest.raises(ValueError, match="texts must be a whole number of at least 1"):
        toy_check(speculative_sampling(), "drawn", 0, rng)

"""The trained pair through the loop: greedy texts are the target's, acceptance is the overlap."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import simulator as sim
from real_runs.drafters import DraftModel, PromptLookup
from real_runs.prompts import read_prompts
from real_runs.target import load_target

TOKENS = 40
PROMPTS = read_prompts("bundled", target="tiny").prompts[::6]


@pytest.fixture(scope="module")
def target():
    return load_target("tiny", dtype="float64")


@pytest.fixture(scope="module")
def draft():
    return load_target("tiny-draft", dtype="float64")


@pytest.fixture(scope="module")
def plain(target):
    """Plain greedy texts of the bundled prompts."""
    return {prompt.id: decode(target, prompt) for prompt in PROMPTS}


def decode(target, prompt, **options):
    return sim.decode(
        target.tokenizer.encode(prompt.prompt),
        target=target,
        rule=sim.greedy(),
        sampling=sim.Sampling(temperature=0.0),
        max_tokens=TOKENS,
        stop_tokens=target.tokenizer.stop_tokens,
        rng=0,
        **options,
    )


def test_plain_decoding_is_that_of_transformers(target, plain):
    for prompt in PROMPTS:
        ids = torch.tensor([list(target.tokenizer.encode(prompt.prompt))])
        theirs = target.model.generate(
            ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=TOKENS
        )[0, ids.shape[1] :]
        assert plain[prompt.id].tokens == tuple(theirs.tolist())


@pytest.mark.parametrize("gamma", [1, 3, 8])
@pytest.mark.parametrize("kind", ["draft model", "drawn at temperature 0", "prompt lookup"])
def test_a_greedy_text_is_the_plain_one_token_for_token(target, draft, plain, kind, gamma):
    drafter = {
        "draft model": DraftModel(draft, "chosen"),
        "drawn at temperature 0": DraftModel(draft, "drawn"),
        "prompt lookup": PromptLookup(),
    }[kind]
    accepted = 0
    for prompt in PROMPTS:
        text = decode(target, prompt, drafter=drafter, chain=sim.Chain(gamma=gamma))
        assert text.tokens == plain[prompt.id].tokens
        accepted += sum(text.table.accepted)
    assert accepted > 0  # or nothing was tried


def test_judged_at_every_position_gives_every_shorter_draft(target, draft):
    prompt = PROMPTS[0]
    judged = decode(
        target,
        prompt,
        drafter=DraftModel(draft, "chosen"),
        chain=sim.Chain(gamma=6),
        record="every_position",
    )
    for gamma in (1, 2, 4, 6):
        direct = decode(
            target, prompt, drafter=DraftModel(draft, "chosen"), chain=sim.Chain(gamma=gamma)
        )
        assert sim.replay(judged, gamma=gamma) == direct.table


class Watched:
    """A drafter that remembers the distributions its tokens were drawn from."""

    def __init__(self, drafter):
        self.drafter = drafter
        self.rows = []
        self.picked = drafter.picked
        self.start, self.settle = drafter.start, drafter.settle

    def propose(self, length, keep_going, rng):
        draft = self.drafter.propose(length, keep_going, rng)
        self.rows.append(draft.probs[0])
        return draft


def test_acceptance_is_the_overlap_of_the_two_models(target, draft, monkeypatch):
    """Accepted minus Σ min(P, Q), summed over rounds: mean 0 whatever the texts, |z| < 6.2."""
    seen = []
    extend = target.extend

    def watched(tokens):
        logits = extend(tokens)
        seen.append(logits[0])
        return logits

    monkeypatch.setattr(target, "extend", watched)
    drafter = Watched(DraftModel(draft, "drawn"))
    accepted = []
    for seed, prompt in enumerate(PROMPTS):
        text = sim.decode(
            target.tokenizer.encode(prompt.prompt),
            target=target,
            drafter=drafter,
            chain=sim.Chain(gamma=1),
            max_tokens=80,
            rng=seed,
            record="rounds",
        )
        accepted += [round_.accepted for round_ in text.rounds]
    target_rows = sim.Sampling().probabilities(np.stack(seen))
    overlap = np.minimum(target_rows, np.stack(drafter.rows)).sum(axis=1)
    spread = np.sqrt((overlap * (1 - overlap)).sum())
    assert len(accepted) == overlap.size > 150
    assert abs(sum(accepted) - overlap.sum()) / spread < 6.2
    # The same against another overlap must fail, or the test could not: 1 - half of the distance.
    wrong = 0.5 * (1 + overlap)
    assert abs(sum(accepted) - wrong.sum()) / np.sqrt((wrong * (1 - wrong)).sum()) > 3.0

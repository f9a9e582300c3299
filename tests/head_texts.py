"""Small heads, and texts with states that heads can learn from, without any model."""

from __future__ import annotations

import numpy as np
import torch

from real_runs.heads.eagle_head import EagleHead, EagleShape
from real_runs.heads.medusa_heads import MedusaHeads, MedusaShape

WIDTH = 16
DRAFTED = np.array([0, 1, 2, 4, 5, 7])


class SmallTexts:
    """Random texts; the state of a token is a mixture of its last two tokens' vectors."""

    vocabulary = 8

    def __init__(self, *, seed, lengths, prompts):
        rng = np.random.default_rng(seed)
        vectors = token_vectors()
        self._prompts = prompts
        self._tokens = [rng.integers(0, self.vocabulary, size=length) for length in lengths]
        self._hidden = [
            (vectors[text] + 0.5 * np.roll(vectors[text], 1, axis=0)).astype(np.float16)
            for text in self._tokens
        ]

    def tokens(self, index):
        return self._tokens[index]

    def prompt_tokens(self, index):
        return self._prompts[index]

    def hidden(self, index):
        return self._hidden[index]


class RepeatingTexts(SmallTexts):
    """Texts that go through the vocabulary in order: heads can learn them."""

    def __init__(self, *, count=6, length=40, prompt=5):
        super().__init__(seed=0, lengths=(length,) * count, prompts=(prompt,) * count)
        vectors = token_vectors()
        self._tokens = [(first + np.arange(length)) % self.vocabulary for first in range(count)]
        self._hidden = [vectors[text].astype(np.float16) for text in self._tokens]


def token_vectors():
    """One of length 4 for each token: no other is as near to it."""
    vectors = np.random.default_rng(0).normal(size=(SmallTexts.vocabulary, WIDTH))
    return 4.0 * vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def output_rows():
    """What gives the next token of a `RepeatingTexts` from its state, over the drafted tokens."""
    return torch.from_numpy(np.roll(token_vectors(), 1, axis=0)[DRAFTED]).float()


def small_medusa(*, heads=3, own_output=True, seed=0):
    torch.manual_seed(seed)
    module = MedusaHeads(
        MedusaShape(width=WIDTH, heads=heads, vocabulary=len(DRAFTED), own_output=own_output),
        tokens=DRAFTED,
        output=output_rows(),
    )
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return module


def small_eagle(*, seed=0):
    """Its embedding is the target's: the same for every seed."""
    embedding = torch.from_numpy(
        np.random.default_rng(1).normal(size=(SmallTexts.vocabulary, WIDTH))
    )
    torch.manual_seed(seed)
    return EagleHead(
        EagleShape(width=WIDTH, attention_heads=2, inner=24, vocabulary=len(DRAFTED)),
        tokens=DRAFTED,
        embedding=embedding.float(),
        output=output_rows(),
    )

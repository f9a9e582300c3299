"""What a step of training looks at, and how wrong the heads are there.

A step's texts are drawn from a generator made of the seed and the step's number alone. So a run that
was stopped and continued sees what an uninterrupted one sees.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from real_runs.heads.eagle_head import EagleHead
from real_runs.heads.medusa_heads import MedusaHeads
from real_runs.heads.recipe import Recipe
from real_runs.heads.rows import Rows
from real_runs.heads.target_layers import places_of

_IGNORED = -100  # torch's own mark of a label that does not count


class Lesson(Protocol):
    """A module and its loss at a step."""

    @property
    def module(self) -> nn.Module:
        """What is trained."""

    def loss(self, step: int) -> torch.Tensor:
        """The loss on the step's part of the text, to be minimised [nats]."""


class MedusaLesson:
    """Positions drawn from all texts; head k is to say the token k + 2 places on.

    Tokens that the heads do not draft from are no labels. Raises ValueError for texts so short that
    no position has a token for the first head, and for labels without the target's output rows.
    """

    def __init__(self, heads: MedusaHeads, rows: Rows, recipe: Recipe, *, vocabulary: int) -> None:
        self.module = heads
        self._rows, self._recipe = rows, recipe
        self._places = torch.from_numpy(places_of(heads.tokens, vocabulary=vocabulary))
        ends = rows.ends()
        self._ends = torch.from_numpy(ends)
        index = np.arange(len(ends))
        usable = index + 2 < ends
        if not recipe.on_prompts:
            usable[:-1] &= rows.written()[1:]  # the token behind the state is the target's own
        self._positions = np.flatnonzero(usable)
        if not len(self._positions):
            raise ValueError("texts must have 3 tokens at least, of which the target wrote 2.")

    def loss(self, step: int) -> torch.Tensor:
        """Cross entropies of the heads, summed with their weights."""
        recipe, heads = self._recipe, self.module
        rng = np.random.default_rng((recipe.seed, step))
        chosen = torch.from_numpy(rng.choice(self._positions, size=recipe.batch))
        dtype = next(heads.parameters()).dtype
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=recipe.bfloat16):
            logits = heads(self._rows.states[chosen].to(dtype))
        total = torch.zeros((), dtype=dtype)
        for head in range(heads.shape.heads):
            ahead = chosen + 2 + head
            there = ahead < self._ends[chosen]
            ahead = torch.where(there, ahead, 0)
            row = logits[:, head].to(dtype)
            if recipe.labels == "hard":
                labels = self._places[self._rows.tokens[ahead]]
                labels = torch.where(there & (labels >= 0), labels, _IGNORED)
                loss = functional.cross_entropy(row, labels, ignore_index=_IGNORED, reduction="sum")
            else:
                with torch.no_grad():
                    states = self._rows.states[ahead - 1].to(dtype)
                    soft = (states @ heads.target_output.T).softmax(-1) * there[:, None]
                loss = -(soft * row.log_softmax(-1)).sum()
            total = total + loss / recipe.batch * recipe.step_weight**head
        return total


class EagleLesson:
    """Pieces of texts of similar length; the head continues the target's states over them.

    Texts are taken in epochs: each once, in batches of similar length, in an order of the epoch's
    own; a text longer than the window gives a piece of it. Raises ValueError for texts without a
    token that could be learnt from.
    """

    def __init__(self, head: EagleHead, rows: Rows, recipe: Recipe) -> None:
        self.module = head
        self._rows, self._recipe = rows, recipe
        written = torch.from_numpy(rows.written())
        self._counts = torch.ones_like(written) if recipe.on_prompts else written
        usable = np.flatnonzero(rows.lengths >= np.maximum(rows.prompts, 2) + 1)
        if not len(usable):
            raise ValueError("texts must have 3 tokens at least, of which the target wrote 1.")
        self._by_length = usable[np.argsort(rows.lengths[usable], kind="stable")]

    @property
    def batches(self) -> int:
        """Batches of an epoch."""
        return -(-len(self._by_length) // self._recipe.batch)

    def loss(self, step: int) -> torch.Tensor:
        """Soft or hard cross entropies of every step on own estimates, and their states' distances."""
        recipe, head = self._recipe, self.module
        tokens, states, counts = self._batch(step)
        # Row t of the estimates is about state t + 1, which gives token t + 2.
        counts = counts[:, 2:]
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=recipe.bfloat16):
            estimates = head(tokens[:, 1:], states[:, :-1], recipe.unroll)
            wanted = states[:, 1:-1]
            with torch.no_grad():
                true = head.logits(wanted[counts]).to(states.dtype)
                soft = true.softmax(-1)
                if recipe.labels == "hard":
                    soft = functional.one_hot(true.argmax(-1), true.shape[-1]).to(states.dtype)
            place = torch.arange(counts.shape[1])
            total = states.new_zeros(())
            for number, estimate in enumerate(estimates):
                near = estimate[:, :-1][counts]
                rows = torch.nonzero(place.expand_as(counts)[counts] >= number)[:, 0]
                logits = head.logits(near[rows]).to(states.dtype)
                token_loss = -(soft[rows] * logits.log_softmax(-1)).sum(-1).mean()
                state_loss = functional.smooth_l1_loss(near[rows], wanted[counts][rows])
                weight = recipe.step_weight**number
                total = total + weight * (token_loss + recipe.state_weight * state_loss)
        return total

    def _batch(self, step: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Tokens [batch, n], states [batch, n, width], and which tokens count [batch, n]."""
        recipe, rows = self._recipe, self._rows
        epoch, place = divmod(step, self.batches)
        # Neighbours change from epoch to epoch: the ring of lengths is cut elsewhere.
        rng = np.random.default_rng((recipe.seed, 0, epoch))
        shift = int(rng.integers(recipe.batch))
        number = int(rng.permutation(self.batches)[place])
        order = np.roll(self._by_length, -shift)
        texts = order[number * recipe.batch : (number + 1) * recipe.batch]
        rng = np.random.default_rng((recipe.seed, 1, step))
        lengths = np.minimum(rows.lengths[texts], recipe.window)
        longest = int(lengths.max())
        tokens = torch.zeros(len(texts), longest, dtype=torch.int64)
        dtype = next(self.module.parameters()).dtype
        states = torch.zeros(len(texts), longest, rows.states.shape[1], dtype=dtype)
        counts = torch.zeros(len(texts), longest, dtype=torch.bool)
        for row, (text, length) in enumerate(zip(texts, lengths, strict=True)):
            spare = int(rows.lengths[text] - length)
            least = 0
            if not recipe.on_prompts:  # a piece that begins shortly before what the target wrote
                least = min(spare, max(0, int(rows.prompts[text]) - length // 2))
            first = int(rows.starts[text]) + int(rng.integers(least, spare + 1))
            piece = slice(first, first + int(length))
            tokens[row, :length] = rows.tokens[piece]
            states[row, :length] = rows.states[piece]
            counts[row, :length] = self._counts[piece]
        return tokens, states, counts

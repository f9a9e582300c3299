"""Medusa: heads on the target's last state propose a tree of tokens in one step.

Cai et al. 2024, arXiv:2401.10774. Head k gives candidates for the token k places behind the text's
last one, whatever the other heads say; the tree says which of them follow each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from real_runs.drafters.level_draws import Layout, draw_nodes, layout_of
from real_runs.heads.medusa_heads import MedusaDraft
from simulator._checks import IntArray, as_count
from simulator.models import Draft, KeepGoing, Logits
from simulator.rules import Picked
from simulator.sampling import Sampling

if TYPE_CHECKING:
    from real_runs.heads.medusa_heads import MedusaHeads
    from real_runs.models.causal import CausalTarget
    from simulator.trees import Tree


class Medusa:
    """Fills a tree with tokens of the heads, head d for every node of depth d.

    The heads read the state that gave the text's last token, which the target keeps of its last
    pass; a proposal is one pass of the heads, which `forwards` counts, a selection and a look-up.

    `picked` says how siblings come about. "chosen": a node of rank r is the head's (r + 1)th best
    token. Lossless under greedy, one-hot (point masses, tried in the order of their nodes) and
    sample-and-match; typical acceptance, the paper's own rule, is lossy. "drawn" and "distinct": drawn
    from the head's distribution under the target's `Sampling`, with and without replacement; of the
    latter a child is missing where the head has no more tokens to draw.

    Where less room is left than the tree is deep, it is cut. A tree that is one chain is proposed as
    a chain (unless its tokens are "distinct", which chains do not know), and can be stopped by
    confidence: the probability that the head gives to each token.

    Raises ValueError for another `picked`, for a target that does not keep its states, and for a tree
    that is deeper than there are heads or has more candidates than they have tokens.
    """

    def __init__(
        self,
        target: CausalTarget,
        heads: MedusaHeads,
        tree: Tree,
        *,
        picked: Picked = "chosen",
    ) -> None:
        if picked not in {"chosen", "drawn", "distinct"}:
            raise ValueError(f"picked must be chosen, drawn or distinct; got {picked!r}.")
        if not target.keeps_hidden:
            raise ValueError(
                "target must keep the states that heads read; load it with keep_hidden=True."
            )
        self.target = target
        self.tree = tree
        self.forwards = 0
        self._picked: Picked = picked
        self._heads = MedusaDraft(heads)
        self._ids = np.asarray(heads.tokens, dtype=np.int64)
        if not 1 <= tree.gamma <= self._heads.heads:
            raise ValueError(
                f"tree must have a depth of 1 to {self._heads.heads}, the number of heads; got "
                f"{tree.gamma}."
            )
        self._width = 1 + max(tree.ranks)
        if self._width > self._ids.size:
            raise ValueError(
                f"tree must have ranks below {self._ids.size}, the number of tokens that the heads "
                f"know; got {self._width - 1}."
            )
        is_chain = tree.parents == tuple(range(-1, tree.nodes - 1))
        self._as_chain = is_chain and picked != "distinct"
        self._layouts: dict[int, Layout] = {}
        self._state: torch.Tensor | None = None  # [1, width], what gave the text's last token
        self._sampling = Sampling()

    @property
    def picked(self) -> Picked:
        """How its tokens come about."""
        return self._picked

    def start(self, prompt: IntArray, sampling: Sampling) -> None:
        """Take the state behind a prompt that the target has just read.

        Raises ValueError if it read another number of tokens.
        """
        hidden = self.target.hidden
        if hidden is None or self.target.length != len(prompt):
            raise ValueError(
                f"the target must have read the prompt of {len(prompt)} tokens and nothing else; it "
                f"holds {self.target.length}."
            )
        self._state = hidden[-1:]
        self._sampling = sampling
        self.forwards = 0

    def propose(self, length: int, keep_going: KeepGoing, rng: np.random.Generator) -> Draft:
        """The tree, or as much of it as is at most `length` deep. Raises ValueError before `start`."""
        depth = min(as_count("length", length, least=1), self.tree.gamma)
        if self._state is None:
            raise ValueError("start must come first: the heads have no state to read.")
        layout = self._layouts.get(depth)
        if layout is None:
            layout = self._layouts[depth] = layout_of(self.tree, depth)
        self.forwards += 1
        with torch.inference_mode():
            logits = self._heads.read(self._state)[0]  # [heads, tokens]
            if self._picked == "chosen":
                best = logits.topk(self._width)
                places = best.indices.cpu().numpy()[layout.levels, layout.ranks]
                parents, probs = layout.parents, None
                if self._as_chain:
                    scores = best.values - logits.logsumexp(dim=1, keepdim=True)
                    likely = scores.exp().cpu().numpy()[layout.levels, layout.ranks]
        if self._picked != "chosen":
            rows = self._sampling.probabilities(logits[:depth].cpu().numpy())
            nodes = draw_nodes(rows, layout, distinct=self._picked == "distinct", rng=rng)
            places, parents = nodes.places, nodes.parents
            likely = rows[nodes.levels, places]
            probs = np.zeros((places.size, self.target.vocabulary), dtype=rows.dtype)
            probs[:, self._ids] = rows[nodes.levels]
        tokens = self._ids[places]
        if not self._as_chain:
            return Draft(tokens=tokens, probs=probs, parents=parents)
        count = 0
        while count < depth:
            count += 1
            if not keep_going(float(likely[count - 1])):
                break
        return Draft(tokens=tokens[:count], probs=None if probs is None else probs[:count])

    def read_pass(self, logits: Logits, kept: IntArray) -> None:  # noqa: ARG002
        """Take the state of the last row that stays: the one that gave the text's new last token."""
        row = int(kept[-1])
        hidden = self.target.hidden
        self._state = None if hidden is None else hidden[row : row + 1]

    def settle(self, tokens: IntArray) -> None:
        """What the text grew by is in the state already."""

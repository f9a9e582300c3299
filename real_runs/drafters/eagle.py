"""EAGLE: drafts with a head that continues the target's own states."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from real_runs.drafters.eagle_growth import grow_dynamic, grow_static
from real_runs.heads.eagle_draft import EagleDraft
from simulator._checks import FloatArray, IntArray, as_count
from simulator.models import Draft, KeepGoing, Logits
from simulator.rules import Picked
from simulator.sampling import Sampling
from simulator.trees import Tree
from simulator.verification import draw

if TYPE_CHECKING:
    from real_runs.heads.eagle_head import EagleHead
    from real_runs.models.causal import CausalTarget

LONGEST_CHAIN = 64


class Eagle:
    """Drafts a chain, a tree of fixed shape, or a tree that grows by the head's own confidence.

    `target` must have been loaded with `keep_hidden`; its states of the text are what the head
    continues (Li et al. 2024). One of three shapes:

    - `tree`, a fixed `Tree`; a chain is `Tree.chain(gamma)` and drafted as a chain
    - `nodes` and `expand`, EAGLE-2's dynamic tree: every level grows behind its `expand` likeliest
      nodes, then the `nodes` likeliest of all levels are proposed
    - none of them: chains as long as the loop asks for

    `picked` says how siblings come about: "chosen" takes the likeliest tokens in order of the ranks,
    "drawn" draws with, "distinct" without replacement from the head's distribution under the
    target's `Sampling`. A dynamic tree throws candidates away because they are unlikely, so that its
    nodes must be chosen. A draft of depth d takes d forwards of the head.

    Raises ValueError for a target that does not keep its states, and for shapes that do not go
    together.
    """

    def __init__(
        self,
        target: CausalTarget,
        head: EagleHead,
        *,
        tree: Tree | None = None,
        nodes: int | None = None,
        expand: int | None = None,
        picked: Picked = "chosen",
    ) -> None:
        if not target.keeps_hidden:
            raise ValueError("target must be loaded with keep_hidden: EAGLE continues its states.")
        if picked not in {"chosen", "drawn", "distinct"}:
            raise ValueError(f"picked must be chosen, drawn or distinct; got {picked!r}.")
        if tree is not None and tree.nodes == 0:
            raise ValueError("tree must have one node or more; it has none.")
        if (nodes is None) != (expand is None) or (nodes is not None and tree is not None):
            raise ValueError("a tree must be given by its shape, or by nodes and expand together.")
        if nodes is not None and picked != "chosen":
            raise ValueError(
                f"picked must be chosen in a dynamic tree, which drops unlikely tokens; got {picked!r}."
            )
        self.forwards = 0
        """Passes of the head since the prompt was read."""
        self._target = target
        self._head = EagleDraft(head)
        self._picked: Picked = picked
        self._tree = None if tree is None or tree == Tree.chain(tree.gamma) else tree
        self._longest = LONGEST_CHAIN if tree is None else tree.gamma
        self._dynamic = None
        if nodes is not None and expand is not None:
            self._dynamic = (as_count("nodes", nodes, least=1), as_count("expand", expand, least=1))
        self._sampling = Sampling()
        self._tokens: list[int] = []  # text whose states the head has not read, a token behind each
        self._states: list[torch.Tensor] = []

    @property
    def picked(self) -> Picked:
        """How its tokens come about."""
        return self._picked

    @property
    def grows_by_confidence(self) -> bool:
        """Whether it is the head's confidence that decides which nodes a tree has."""
        return self._dynamic is not None

    def start(self, prompt: IntArray, sampling: Sampling) -> None:
        """Begin behind a prompt that the target has just read."""
        self._sampling = sampling
        self.forwards = 0
        self._head.start()
        states = self._hidden()
        if len(states) != len(prompt):
            raise ValueError(
                f"target must have read the prompt of {len(prompt)} tokens just before; its last pass "
                f"had {len(states)}."
            )
        if len(prompt) > 1:  # the last state waits for the token that the target emits behind it
            self._head.read(np.asarray(prompt[1:], dtype=np.int64), states[:-1])
        self._tokens, self._states = [], [states[-1:]]

    def propose(self, length: int, keep_going: KeepGoing, rng: np.random.Generator) -> Draft:
        """A draft of at most `length` tokens behind each other."""
        length = min(as_count("length", length, least=1), self._longest)
        if not self._tokens:
            raise ValueError("settle must be called between two drafts.")
        first = self._head.read(np.array(self._tokens, dtype=np.int64), torch.cat(self._states))
        self.forwards += 1
        self._tokens, self._states = [], []
        if self._dynamic is not None:
            nodes, expand = self._dynamic
            draft, steps = grow_dynamic(self._head, first, length, nodes=nodes, expand=expand)
        elif self._tree is not None:
            draft, steps = grow_static(
                self._head, first, self._tree, length, self._target.vocabulary,
                picked=self._picked, sampling=self._sampling, rng=rng,
            )  # fmt: skip
        else:
            draft, steps = self._chain(first, length, keep_going, rng)
        self.forwards += steps
        return draft

    def read_pass(self, logits: Logits, kept: IntArray) -> None:
        """Take the states of the tokens that stay."""
        del logits
        self._states.append(self._hidden()[torch.from_numpy(np.asarray(kept, dtype=np.int64))])

    def settle(self, tokens: IntArray) -> None:
        """The text grew: one token behind each state that `read_pass`, or the prompt, gave.

        Raises ValueError for another number of tokens.
        """
        self._tokens += [int(token) for token in tokens]
        states = sum(len(part) for part in self._states)
        if states != len(self._tokens):
            raise ValueError(
                f"tokens must be as many as the states that read_pass gave, {states}; the text grew "
                f"by {len(self._tokens)}."
            )

    def _chain(
        self, first: torch.Tensor, length: int, keep_going: KeepGoing, rng: np.random.Generator
    ) -> tuple[Draft, int]:
        """Token after token; how many forwards it took besides the first."""
        tokens: list[int] = []
        rows: list[FloatArray] = []
        logits = first
        while True:
            values: Logits = logits.cpu().numpy()
            if self._picked == "chosen":
                place = int(values.argmax())
                weights = np.exp(values - values[place])
                confidence = float(1.0 / weights.sum())
            else:
                likely = self._sampling.probabilities(values)
                place = int(draw(likely, rng=rng))
                confidence = float(likely[place])
                row = np.zeros(self._target.vocabulary)
                row[self._head.tokens] = likely
                rows.append(row)
            tokens.append(int(self._head.tokens[place]))
            if not keep_going(confidence) or len(tokens) == length:
                break
            logits = self._head.grow(tokens[-1:], [self._head.nodes - 1])[0]
        return Draft(
            tokens=np.array(tokens, dtype=np.int64),
            probs=np.stack(rows) if rows else None,
        ), len(tokens) - 1

    def _hidden(self) -> torch.Tensor:
        """States of the target's last pass."""
        hidden = self._target.hidden
        if hidden is None:
            raise ValueError("target must have read a text before a draft can follow it.")
        return hidden

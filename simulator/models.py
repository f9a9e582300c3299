"""What the draft-verify-keep loop asks of a target and of a drafter.

The toy models of `simulator.toy` and the torch models of `real_runs` both answer to it, so that one
loop runs on either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, IntArray
from simulator.rules import Picked
from simulator.sampling import Sampling

Logits: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
KeepGoing: TypeAlias = Callable[[float], bool]
"""Asked after each drafted token with the draft's probability of it: draft another one?"""


class Target(Protocol):
    """The model whose distribution counts: passes over several tokens, and forgets some of them."""

    @property
    def vocabulary(self) -> int:
        """Number of tokens that the model knows."""

    @property
    def context(self) -> int | None:
        """Longest sequence [tokens], prompt included; None without a limit."""

    def start(self, prompt: IntArray) -> Logits:
        """Forget everything, read a prompt [n >= 1]; logits of the next token, shape [vocabulary]."""

    def extend(self, tokens: IntArray) -> Logits:
        """One pass over `tokens` [n >= 1]; row i holds the logits after tokens[: i + 1], [n, vocabulary]."""

    def rollback(self, count: int) -> None:
        """Forget the last `count` tokens, as if they had never been read."""


class TreeTarget(Target, Protocol):
    """A target that can also read a tree in one pass, and keep one path of it."""

    def extend_tree(self, tokens: IntArray, parents: IntArray) -> Logits:
        """One pass over a tree [n >= 1]; row i holds the logits after the path to tokens[i].

        tokens[0] is the root, which follows the text: parents[0] is -1. tokens[i] follows
        tokens[parents[i]], parents[i] < i, sees the text and its own ancestors and nothing else, and
        stands at the position of its depth.
        """

    def keep(self, rows: IntArray) -> None:
        """Of the last pass over a tree keep these rows, a path from the root, and forget the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a drafter proposes: tokens [n], and for drawn ones the distributions [n, vocabulary].

    Each row of `probs` is the distribution that its token was drawn from, after temperature and
    filters; None for chosen tokens. Siblings stand in the order in which they were drawn, for rules
    try them in that order, and all carry the distribution that the first of them was drawn from. How
    many there are may depend on anything but their own tokens: one that is thrown away again because
    it came out unlikely makes the draft "dropped".

    Tokens follow each other unless `parents` [n] says whom each follows: an earlier token of the
    draft, or the text where it is -1. `passengers` is the number of tokens at the end, with parents,
    that ride along in the target's pass without being judged: what Lookahead learns from.
    """

    tokens: IntArray
    probs: FloatArray | None = None
    parents: IntArray | None = None
    passengers: int = 0

    @property
    def judged(self) -> int:
        """Tokens that can be accepted."""
        return int(self.tokens.size) - self.passengers


class Drafter(Protocol):
    """Proposes tokens and is told what became of the text.

    One whose own confidence decides which nodes a tree has, as in EAGLE-2, says so by an attribute
    `grows_by_confidence`: what was accepted then tells of the nodes that were offered, and its tables
    carry that.
    """

    @property
    def picked(self) -> Picked:
        """How its tokens come about: what decides which rules are lossless for it."""

    def start(self, prompt: IntArray, sampling: Sampling) -> None:
        """Begin a new text; `sampling` is how the target's tokens are drawn."""

    def propose(self, length: int, keep_going: KeepGoing, rng: np.random.Generator) -> Draft:
        """At most `length` >= 1 tokens, fewer if keep_going(confidence) says so after one.

        The token that made it stop stays in the draft. An empty draft is allowed.
        """

    def settle(self, tokens: IntArray) -> None:
        """The text really grew by `tokens`: the accepted ones, then the correction or the bonus.

        Called once after the prompt with the token that prefill emitted, then once per round.
        """


@runtime_checkable
class PassReader(Protocol):
    """A drafter that learns from the target's passes, as Medusa, EAGLE and Lookahead do."""

    def read_pass(self, logits: Logits, kept: IntArray) -> None:
        """The pass that judged the last proposal: its logits [1 + n, vocabulary], the root's first.

        `kept` are the rows whose tokens stay in the text, the root's and the accepted ones'. Called
        once per round, before the target forgets the other rows and before `settle`. Where the context
        has no room for a proposal none is asked for and the root is alone; where it has none for the
        passengers, they are missing from the end of the rows.
        """

"""What the draft-verify-keep loop asks of a target and of a drafter.

The toy models of `simulator.toy` and the torch models of `real_runs` both answer to it, so that one
loop runs on either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a drafter proposes: tokens [n], and for drawn ones the distributions [n, vocabulary].

    Each row of `probs` is the distribution that its token was drawn from, after temperature and
    filters; None for chosen tokens.
    """

    tokens: IntArray
    probs: FloatArray | None = None


class Drafter(Protocol):
    """Proposes tokens and is told what became of the text."""

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

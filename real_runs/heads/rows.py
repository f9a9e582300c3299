"""Texts and their features in one piece, so that a batch is one look-up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from simulator._checks import IntArray


class Texts(Protocol):
    """What is asked of features: tokens, prompt and states of each text."""

    def tokens(self, index: int, /) -> IntArray:
        """All tokens of a text, [n]."""

    def prompt_tokens(self, index: int, /) -> int:
        """How many of them were given."""

    def hidden(self, index: int, /) -> npt.NDArray[Any]:
        """The target's state at each of them, [n, width]."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Texts one behind the other: text i is rows starts[i] to starts[i + 1] of `tokens` and `states`.

    `prompts` counts the given tokens of each. States stay in the precision they are stored in.
    """

    tokens: torch.Tensor  # [rows]
    states: torch.Tensor  # [rows, width]
    starts: IntArray  # [texts + 1]
    prompts: IntArray  # [texts]

    @property
    def texts(self) -> int:
        """Number of texts."""
        return len(self.prompts)

    @property
    def lengths(self) -> IntArray:
        """Tokens of each text, [texts]."""
        return np.diff(self.starts)

    def ends(self) -> IntArray:
        """For every row, the row behind the end of its text."""
        return np.repeat(self.starts[1:], self.lengths)

    def written(self) -> npt.NDArray[np.bool_]:
        """For every row, whether the target wrote its token."""
        place = np.arange(self.starts[-1]) - np.repeat(self.starts[:-1], self.lengths)
        return place >= np.repeat(self.prompts, self.lengths)


def rows_of(features: Texts, texts: Iterable[int]) -> Rows:
    """The rows of some texts, read into memory. Raises ValueError if there is no text."""
    chosen = [int(index) for index in texts]
    if not chosen:
        raise ValueError("there must be at least one text; got none.")
    tokens = [np.asarray(features.tokens(index), dtype=np.int64) for index in chosen]
    return Rows(
        tokens=torch.from_numpy(np.concatenate(tokens)),
        states=torch.from_numpy(np.concatenate([features.hidden(index) for index in chosen])),
        starts=np.cumsum([0, *map(len, tokens)]),
        prompts=np.array([features.prompt_tokens(index) for index in chosen]),
    )

"""What the toy models share: a memory of what was read, and checks of their distributions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, IntArray, as_count


class ToyModel(ABC):
    """A model that remembers what it has read, token by token; satisfies `simulator.models.Target`.

    `tokens` is the text that it holds, `passes` how often it was run since the last start, `width`
    how many tokens these passes read together.
    """

    def __init__(self, vocabulary: int, context: int | None) -> None:
        self._vocabulary = vocabulary
        self._context = None if context is None else as_count("context", context, least=1)
        self.tokens: list[int] = []
        self.passes = 0
        self.width = 0
        self._pass = 0  # tokens of the last pass

    @property
    def vocabulary(self) -> int:
        """Number of tokens that the model knows."""
        return self._vocabulary

    @property
    def context(self) -> int | None:
        """Longest sequence [tokens]; None without a limit."""
        return self._context

    def start(self, prompt: npt.ArrayLike) -> FloatArray:
        """Forget everything and read a prompt [n >= 1]; logits of the next token, [vocabulary]."""
        self.tokens = []
        self.passes = self.width = 0
        logits: FloatArray = self._read("prompt", prompt)[-1]
        return logits

    def extend(self, tokens: npt.ArrayLike) -> FloatArray:
        """Read tokens [n >= 1] in one pass; logits after each of them, [n, vocabulary].

        Raises ValueError for tokens outside the vocabulary, none at all, or more than fit.
        """
        return self._read("tokens", tokens)

    def rollback(self, count: int) -> None:
        """Forget the last `count` tokens. Raises ValueError for more than were read."""
        count = as_count("count", count)
        if count > len(self.tokens):
            raise ValueError(
                f"count must be at most the {len(self.tokens)} tokens that were read; got {count}."
            )
        del self.tokens[len(self.tokens) - count :]
        self._pass = max(0, self._pass - count)

    def extend_tree(self, tokens: npt.ArrayLike, parents: npt.ArrayLike) -> FloatArray:
        """Read a tree [n >= 1] in one pass; logits behind the path to each token, [n, vocabulary].

        Raises ValueError as `extend` does, and unless every parent comes before its child, the root
        first.
        """
        above = as_parents(parents)
        depths = np.zeros(above.size, dtype=np.int64)
        for node, parent in enumerate(above[1:].tolist(), start=1):
            depths[node] = depths[parent] + 1
        if above.size != np.size(tokens):
            raise ValueError(
                f"parents must have one entry per token; got {above.size} for {np.size(tokens)}."
            )
        return self._read("tokens", tokens, depths)

    def keep(self, rows: npt.ArrayLike) -> None:
        """Keep these rows of the last pass, in order, and forget its others.

        Raises ValueError for rows that are not increasing or not of the last pass.
        """
        kept = as_kept(rows, self._pass)
        start = len(self.tokens) - self._pass
        last = self.tokens[start:]
        self.tokens[start:] = [last[row] for row in kept]
        self._pass = len(kept)

    @abstractmethod
    def rows(self, tokens: IntArray, positions: IntArray) -> FloatArray:
        """Distributions of what follows each token [n] at its position [n]: [n, vocabulary]."""

    def _read(self, name: str, tokens: npt.ArrayLike, depths: IntArray | None = None) -> FloatArray:
        new = np.asarray(tokens)
        if new.ndim != 1 or new.size == 0 or new.dtype.kind not in "iu":
            raise ValueError(
                f"{name} must be one token number or more in one dimension; "
                f"got {new.dtype} of shape {list(new.shape)}."
            )
        if new.min() < 0 or new.max() >= self.vocabulary:
            raise ValueError(
                f"{name} must hold tokens in [0, {self.vocabulary - 1}]; "
                f"got {new.min()} to {new.max()}."
            )
        depths = np.arange(new.size) if depths is None else depths
        start = len(self.tokens)
        longest = int(depths.max()) + 1
        if self.context is not None and start + longest > self.context:
            raise ValueError(
                f"{name} must fit into the context of {self.context} tokens; "
                f"got {longest} behind {start}."
            )
        self.tokens.extend(int(token) for token in new)
        self.passes += 1
        self.width += new.size
        self._pass = new.size
        with np.errstate(divide="ignore"):  # log 0 is what minus infinity is for
            return np.log(self.rows(new, start + depths))


def as_parents(parents: npt.ArrayLike) -> IntArray:
    """Parents of a pass over a tree, the root first; ValueError for one that does not come before its child."""
    found = np.asarray(parents)
    if found.ndim != 1 or found.size == 0 or found.dtype.kind not in "iu":
        raise ValueError(
            "parents must be one whole number per token, the root's -1; "
            f"got {found.dtype} of shape {list(found.shape)}."
        )
    if found[0] != -1:
        raise ValueError(f"parents must begin with the root's, -1; got {found[0]}.")
    bad = np.flatnonzero((found[1:] < 0) | (found[1:] >= np.arange(1, found.size)))
    if bad.size:
        node = int(bad[0]) + 1
        raise ValueError(
            f"parents must come before their children; token {node} has parent {found[node]}."
        )
    return found.astype(np.int64)


def as_kept(rows: npt.ArrayLike, width: int) -> list[int]:
    """Rows of a pass that stay, increasing numbers below its width."""
    kept = [int(row) for row in np.asarray(rows)]
    steps = all(one < other for one, other in pairwise(kept))
    if not kept or not steps or kept[0] < 0 or kept[-1] >= width:
        raise ValueError(
            f"rows must be increasing numbers of the last pass, 0 to {width - 1}; got {kept}."
        )
    return kept


def contexts_at(positions: npt.ArrayLike, *, contexts: int, seed: int) -> IntArray:
    """The context of each text position, in [0, contexts): splitmix64 of seed and position.

    x = (position + 1) · 0x9E3779B97F4A7C15 + seed · 0xD1342543DE82EF95, mixed by splitmix64's
    finaliser (Steele, Lea, Flood 2014), modulo `contexts`; all in 64 bits.

    >>> contexts_at([0, 1, 2, 3, 4, 5], contexts=3, seed=0)
    array([1, 0, 1, 1, 1, 0])
    """
    x = (np.asarray(positions).astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = x + np.array(seed, dtype=np.uint64) * np.array([0xD1342543DE82EF95], dtype=np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return (x % np.uint64(contexts)).astype(np.int64)


def distributions(name: str, probs: npt.ArrayLike) -> FloatArray:
    """Rows of probabilities that sum to 1 within 1e-9, [rows, vocabulary]."""
    rows = np.array(probs, dtype=np.float64)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(
            f"{name} must be rows of probabilities, two dimensions; got shape {list(rows.shape)}."
        )
    for index, row in enumerate(rows):
        if not (np.all(row >= 0.0) and abs(row.sum() - 1.0) <= 1e-9):
            raise ValueError(
                f"{name}[{index}] must hold probabilities that sum to 1; got {row.tolist()}."
            )
    rows.flags.writeable = False
    return rows

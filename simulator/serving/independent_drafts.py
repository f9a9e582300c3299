"""What drafts keep that know nothing of one another: one random word for each, whatever its length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_WORDS = 1 << 16


class IndependentDrafts:
    """Draws how many tokens drafts keep, P(at least i) = the product of the first i of `conditional`.

    A 16-bit word w stands for a uniform in [w, w + 1) / 2^16, and a table says what it keeps. Only a word
    that holds one of the bounds leaves that open (one in 65,536 for each), and a 53-bit uniform settles it: as
    in `simulator.flips`, every probability is met to within 2^-69.

    >>> IndependentDrafts((0.5, 0.5), np.random.default_rng(0)).draw(8)
    array([0, 0, 0, 0, 0, 0, 0, 1], dtype=int16)
    """

    def __init__(self, conditional: Sequence[float], generator: np.random.Generator) -> None:
        self._generator = generator
        scaled = np.cumprod(np.asarray(conditional, dtype=np.float64)) * _WORDS
        self._wholes = np.floor(scaled).astype(np.int64)
        self._parts = scaled - self._wholes
        ends = np.concatenate([[0], self._wholes[::-1], [_WORDS]])
        self._kept = np.repeat(np.arange(scaled.size, -1, -1, dtype=np.int16), np.diff(ends))
        self._open = np.zeros(_WORDS, dtype=np.bool_)
        self._open[self._wholes[self._parts > 0.0]] = True

    def draw(self, n: int) -> npt.NDArray[np.int16]:
        """Kept tokens of n drafts, shape [n]."""
        drawn = self._generator.integers(0, 1 << 64, size=-(-n // 4), dtype=np.uint64)
        words = drawn.view(np.uint16)[:n]
        kept = self._kept[words]
        tied = np.flatnonzero(self._open[words])
        if tied.size:
            same = words[tied, np.newaxis] == self._wholes
            below = self._generator.random(tied.size)[:, np.newaxis] < self._parts
            kept[tied] += np.count_nonzero(same & below, axis=1).astype(np.int16)
        return kept

"""Exact coin flips from few random bits.

A flip compares a 16-bit word with p · 2^16. Only a word equal to the whole part of that leaves the
question open (one in 65,536), and a 53-bit uniform settles it against the fraction. So a flip comes
up with probability p to within 2^-69, from a quarter of the bits that a float64 costs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Progress: TypeAlias = Callable[[float], None]
"""Called now and then with the share of the work that is done, in [0, 1]."""

_WORDS = 1 << 16
_CHUNK = 1 << 15  # words at a time: 64 KB stay in a core's cache; even, for words come in pairs
_CHUNKS_PER_REPORT = 256


def flip(generator: np.random.Generator, p: float, n: int) -> npt.NDArray[np.bool_]:
    """n independent flips that are True with probability p, shape [n].

    >>> flip(np.random.default_rng(1), 0.5, 4)
    array([False,  True, False, False])
    """
    whole, fraction = _threshold(p)
    words = generator.integers(0, _WORDS, size=n, dtype=np.uint16)
    came_up = words < whole
    if fraction:
        open_flips = np.flatnonzero(words == whole)
        came_up[open_flips] = generator.random(open_flips.size) < fraction
    return came_up


def count_flips(
    generator: np.random.Generator, p: float, n: int, progress: Progress | None = None
) -> int:
    """How many of n flips come up: the sum of `flip` from the same stream, in constant memory.

    >>> count_flips(np.random.default_rng(1), 0.5, 4)
    1
    """
    whole, fraction = _threshold(p)
    came_up = open_flips = 0
    for number, start in enumerate(range(0, n, _CHUNK)):
        words = generator.integers(0, _WORDS, size=min(_CHUNK, n - start), dtype=np.uint16)
        came_up += int(np.count_nonzero(words < whole))
        if fraction:
            open_flips += int(np.count_nonzero(words == whole))
        if progress is not None and number % _CHUNKS_PER_REPORT == 0:
            progress(start / n)
    for start in range(0, open_flips, _CHUNK):
        uniforms = generator.random(min(_CHUNK, open_flips - start))
        came_up += int(np.count_nonzero(uniforms < fraction))
    return came_up


def _threshold(p: float) -> tuple[int, float]:
    """The whole part and the fraction of p · 2^16, both exact: the scale is a power of two."""
    whole = int(p * _WORDS)
    return whole, p * _WORDS - whole

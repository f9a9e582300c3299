"""Which of several things happens, exactly, from few random bits: `simulator.flips` with more sides.

A choice compares a 16-bit word with the running sums of the chances, times 2^16. Only a word equal to
the whole part of one of them leaves the question open, and a 53-bit uniform settles it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from simulator._checks import IntArray
from simulator.flips import Progress

Chosen: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]
_WORDS = 1 << 16
_CHUNK = 1 << 15  # words at a time: 64 KB stay in a core's cache; even, for words come in pairs
_CHUNKS_PER_REPORT = 256
_FEW = 12  # up to here comparing with each sum is faster than a histogram of the words


def choose(generator: np.random.Generator, chances: Sequence[float], n: int) -> Chosen:
    """n independent choices, i with probability chances[i], len(chances) with what is left: [n].

    Chances sum to 1 at most, but for rounding.

    >>> choose(np.random.default_rng(1), [0.5, 0.25], 6).tolist()
    [2, 0, 1, 1, 1, 2]
    """
    sums = _Sums(chances)
    words = generator.integers(0, _WORDS, size=n, dtype=np.uint16)
    small = np.min_scalar_type(len(chances))
    # Sums that are at most the word, as if all fractions were 0; for many words from a table of all.
    asked = words if n < _WORDS else np.arange(_WORDS)
    passed = np.searchsorted(sums.wholes, asked, side="right").astype(small)
    chosen = passed if n < _WORDS else passed[words]
    for word, fractions in sums.open:
        at = np.flatnonzero(words == word)
        uniforms = generator.random(at.size)
        for fraction in fractions:
            chosen[at] -= uniforms < fraction
    return chosen


def count_choices(
    generator: np.random.Generator,
    chances: Sequence[float],
    n: int,
    progress: Progress | None = None,
) -> IntArray:
    """How often each is chosen of n times, none of them last: [chances + 1], in constant memory.

    Counts what `choose` draws from the same stream.

    >>> count_choices(np.random.default_rng(1), [0.5, 0.25], 6)
    array([1, 3, 2])
    """
    sums = _Sums(chances)
    below = np.zeros(
        len(chances), dtype=np.int64
    )  # words that lie below the whole part of each sum
    ties = [0] * len(sums.open)
    few = len(chances) <= _FEW
    for number, start in enumerate(range(0, n, _CHUNK)):
        words = generator.integers(0, _WORDS, size=min(_CHUNK, n - start), dtype=np.uint16)
        if few:
            for i, whole in enumerate(sums.wholes):
                below[i] += np.count_nonzero(words < whole)
            for i, (word, _) in enumerate(sums.open):
                ties[i] += int(np.count_nonzero(words == word))
        else:
            times = np.bincount(words, minlength=_WORDS)
            below += np.append(0, times.cumsum())[sums.wholes]
            for i, (word, _) in enumerate(sums.open):
                ties[i] += int(times[word])
        if progress is not None and number % _CHUNKS_PER_REPORT == 0:
            progress(start / n)
    for (word, fractions), count in zip(sums.open, ties, strict=True):
        first = sums.wholes.index(word)
        for start in range(0, count, _CHUNK):
            uniforms = generator.random(min(_CHUNK, count - start))
            for i, fraction in enumerate(fractions, start=first):
                below[i] += np.count_nonzero(uniforms < fraction)
    return np.diff(below, prepend=0, append=n)


def multinomial(generator: np.random.Generator, chances: Sequence[float], n: int) -> IntArray:
    """How often each of these chances comes up among n, and none of them last, drawn at once.

    >>> multinomial(np.random.default_rng(1), [0.5, 0.5], 10**12).sum()
    np.int64(1000000000000)
    """
    left, before = n, 0.0
    counts = []
    for chance, total in zip(chances, running_sums(chances), strict=True):
        share = min(chance / (1.0 - before), 1.0) if total < 1.0 else 1.0
        counts.append(int(generator.binomial(left, share)))
        left, before = left - counts[-1], total
    return np.array([*counts, left], dtype=np.int64)


def running_sums(chances: Sequence[float]) -> list[float]:
    """Chances added up, shape [chances]: exactly, rounded once, and 1 at most.

    Rates that make up 1 so leave nothing for none of them.
    """
    return [min(float(total), 1.0) for total in accumulate(map(Fraction, chances))]


class _Sums:
    """Running sums of chances, times 2^16: their whole parts, and fractions by the word they leave open."""

    def __init__(self, chances: Sequence[float]) -> None:
        self.wholes: list[int] = []
        fractions: dict[int, list[float]] = {}
        for total in running_sums(chances):
            scaled = total * _WORDS
            whole = int(scaled)
            self.wholes.append(whole)
            fractions.setdefault(whole, []).append(scaled - whole)
        self.open = [(word, rest) for word, rest in fractions.items() if any(rest)]

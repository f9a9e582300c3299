"""Rows of probabilities that can be asked for one entry or for whole rows, from either kind of data."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, IntArray, as_array
from simulator.models import Logits
from simulator.sampling import Sampling

SUM_TOLERANCE = 1e-4
"""How far from 1 a row may sum before it is refused: more than a float32 softmax is ever off."""
CHUNK = 1 << 15
"""Entries handled at a time: a quarter of a megabyte of float64, which stays in a core's cache."""


class Rows(Protocol):
    """Distributions over a vocabulary, numbered from 0."""

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""

    def look_up(self, index: IntArray, tokens: IntArray) -> FloatArray:
        """Probability of one token in each of the indexed rows, [k]."""

    def at(self, index: IntArray) -> FloatArray:
        """The indexed rows, [k, vocabulary]; not to be written to."""

    def most_likely(self, index: IntArray) -> IntArray:
        """The most likely token of each indexed row (of equal ones the first), [k]."""


class ProbabilityRows:
    """Rows given as probabilities, [rows, vocabulary]."""

    def __init__(self, probs: FloatArray) -> None:
        self.probs = probs

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        return int(self.probs.shape[1])

    def look_up(self, index: IntArray, tokens: IntArray) -> FloatArray:
        """Probability of one token in each of the indexed rows, [k]."""
        return self.probs[index, tokens]

    def at(self, index: IntArray) -> FloatArray:
        """The indexed rows, [k, vocabulary]; not to be written to."""
        if index.size == 1:  # a large row is looked at where it lies
            return self.probs[index[0] : index[0] + 1]
        return self.probs[index]

    def most_likely(self, index: IntArray) -> IntArray:
        """The most likely token of each indexed row, [k]."""
        rows, where = np.unique(index, return_inverse=True)
        best = [self.probs[some].argmax(axis=1) for some in chunks(rows, self.vocabulary)]
        return np.concatenate(best)[where] if best else index


class LogitRows:
    """Rows given as logits, [rows, vocabulary]; a row costs nothing until it is asked for.

    Without filters an entry needs the row's normaliser only, in the precision of the logits.
    """

    def __init__(self, logits: Logits, sampling: Sampling, name: str = "logits") -> None:
        self.logits = logits
        self.sampling = sampling
        self.name = name
        # A temperature that their precision does not have is left to float64.
        limits = np.finfo(logits.dtype)
        plain = float(limits.tiny) <= sampling.temperature <= float(limits.max) and (
            (sampling.top_k, sampling.top_p, sampling.min_p) == (0, 1.0, 0.0)
        )
        self._largest = np.full(len(logits), np.nan) if plain else None
        self._total = np.empty(len(logits))

    @property
    def vocabulary(self) -> int:
        """Number of tokens."""
        return int(self.logits.shape[1])

    def look_up(self, index: IntArray, tokens: IntArray) -> FloatArray:
        """Probability of one token in each of the indexed rows, [k]."""
        if self._largest is None:
            parts = zip(
                chunks(index, self.vocabulary), chunks(tokens, self.vocabulary), strict=True
            )
            found = [self.at(i)[np.arange(i.size), t] for i, t in parts]
            return np.concatenate(found) if found else np.empty(0)
        self._normalise(index, self._largest)
        with np.errstate(over="ignore"):  # minus infinity is right
            scores = (self.logits[index, tokens] - self._largest[index]) / self.sampling.temperature
        found_probs: FloatArray = np.exp(scores) / self._total[index]
        return found_probs

    def at(self, index: IntArray) -> FloatArray:
        """The indexed rows, [k, vocabulary]; not to be written to."""
        if self._largest is None:
            return self.sampling.probabilities(self._checked(index))
        weights: FloatArray = self._weights(index, self._normalise(index, self._largest))
        weights /= self._total[index, None].astype(weights.dtype)
        return weights

    def most_likely(self, index: IntArray) -> IntArray:
        """The most likely token of each indexed row, [k]."""
        best = [self._checked(some).argmax(axis=1) for some in chunks(index, self.vocabulary)]
        return np.concatenate(best) if best else index

    def _normalise(self, index: IntArray, largest: FloatArray) -> FloatArray:
        """Fill in what is missing of the rows' largest logits and sums of exp."""
        new = index[np.isnan(largest[index])]
        for some in chunks(new, self.vocabulary):
            largest[some] = self._checked(some).max(axis=1)
            self._total[some] = self._weights(some, largest).sum(axis=1, dtype=np.float64)
        return largest

    def _weights(self, index: IntArray, largest: FloatArray) -> Any:
        scores = self.logits[index]  # a copy, in its own precision
        with np.errstate(over="ignore"):  # minus infinity is right
            scores -= largest[index, None].astype(scores.dtype)
            if self.sampling.temperature != 1.0:
                scores /= scores.dtype.type(self.sampling.temperature)
        return np.exp(scores, out=scores)

    def _checked(self, index: IntArray) -> Logits:
        rows = self.logits[index]
        largest = rows.max(axis=1)
        if not np.isfinite(largest).all():
            bad = int(index[int(np.argmin(np.isfinite(largest)))])
            raise ValueError(
                f"{self.name} must not be NaN or plus infinity, and some token must be possible; "
                f"row {bad} breaks this."
            )
        return rows


def possible(draft: Rows, index: IntArray, tokens: IntArray) -> FloatArray:
    """Draft probabilities of drafted tokens, [k]; ValueError for a token that the draft cannot draw."""
    probs = draft.look_up(index, tokens)
    if probs.size and not probs.min() > 0.0:
        worst = int(np.argmin(probs))
        raise ValueError(
            "drafted must hold tokens that the draft can draw; "
            f"token {tokens[worst]} has draft probability 0 in row {index[worst]}."
        )
    return probs


def chunks(values: IntArray, vocabulary: int) -> list[IntArray]:
    """`values` in pieces whose rows together have about CHUNK entries."""
    size = max(1, CHUNK // vocabulary)
    return [values[first : first + size] for first in range(0, values.size, size)]


def as_rows(name: str, probs: npt.ArrayLike) -> FloatArray:
    """Distributions [..., vocabulary] in float64, each divided by its sum.

    Raises ValueError, naming the row, for half precision, negative or non-finite entries, and rows
    whose sum is off 1 by more than SUM_TOLERANCE.
    """
    kind = str(getattr(probs, "dtype", ""))  # before NumPy reads it: it has no bfloat16
    if kind.endswith("float16"):
        raise ValueError(
            f"{name} must not be in half precision ({kind}): its rows cannot sum to 1; take "
            "the softmax in float32."
        )
    values = as_array(name, probs, "numbers of shape [..., vocabulary]")
    if values.ndim == 0 or values.shape[-1] == 0 or values.dtype.kind not in "fiu":
        raise ValueError(
            f"{name} must be numbers of shape [..., vocabulary]; got {values.dtype} of shape "
            f"{list(values.shape)}."
        )
    rows = values.astype(np.float64)  # [..., vocabulary], a copy of our own
    if rows.size and not rows.min() >= 0.0:  # also for NaN
        where = _first(~(rows >= 0.0))
        raise ValueError(f"{name} must hold probabilities; got {rows[where]} at {list(where)}.")
    with np.errstate(over="ignore"):
        sums = rows.sum(axis=-1)
    off = ~(np.abs(sums - 1.0) <= SUM_TOLERANCE)
    if off.any():
        where = _first(off)
        raise ValueError(
            f"{name} must have rows that sum to 1 within {SUM_TOLERANCE:g}; row {list(where)} sums to "
            f"{sums[where]:.6g}."
        )
    rows /= sums[..., None]
    return rows


def _first(mask: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])

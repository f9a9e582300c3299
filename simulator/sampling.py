"""From logits to the distribution that a token is drawn from: temperature and filters, in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, as_array, as_count, as_nonnegative, as_probability

Order: TypeAlias = Literal["transformers", "vllm", "llama.cpp"]
STEPS: dict[str, tuple[str, ...]] = {
    "transformers": ("temperature", "top_k", "top_p", "min_p"),
    "vllm": ("temperature", "min_p", "top_k", "top_p"),
    "llama.cpp": ("top_k", "top_p", "min_p", "temperature"),
}
"""What each engine does first: with a temperature other than 1 the same filters keep other tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a distribution is made of logits.

    `temperature` 0 leaves the most likely token alone (of equal ones the first). `top_k` keeps the k
    most likely tokens and whatever ties with the last of them (0: all), `top_p` the fewest that
    together have that probability, `min_p` those with at least that share of the largest
    probability. `order` is the engine whose sequence of these steps is followed.

    >>> Sampling(top_k=2).probabilities(np.log([0.5, 0.3, 0.2]))
    array([0.625, 0.375, 0.   ])
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    order: Order = "transformers"

    def __post_init__(self) -> None:
        as_nonnegative("temperature", self.temperature)
        as_count("top_k", self.top_k)
        if as_probability("top_p", self.top_p) == 0.0:
            raise ValueError("top_p must lie in (0, 1]; got 0, which would keep no token.")
        as_probability("min_p", self.min_p)
        if self.order not in tuple(STEPS):  # also for what cannot be hashed
            raise ValueError(f"order must be one of {', '.join(STEPS)}; got {self.order!r}.")

    def probabilities(self, logits: npt.ArrayLike) -> FloatArray:
        """The distributions of logits, shape [..., vocabulary], in float64.

        Log-probabilities are logits too; minus infinity is a token that cannot be. Raises ValueError
        for logits that are NaN or plus infinity, and for rows without a possible token.
        """
        scores = as_logits(logits)
        if self.temperature == 0.0:
            return _most_likely(scores)
        for step in STEPS[self.order]:
            scores = self._apply(step, scores)
        return softmax(scores)

    def _apply(self, step: str, scores: FloatArray) -> FloatArray:
        if step == "temperature":
            with np.errstate(over="ignore"):  # minus infinity is right: the largest is 0
                return scores if self.temperature == 1.0 else scores / self.temperature
        if step == "top_k":
            keeps_all = self.top_k == 0 or self.top_k >= scores.shape[-1]
            return scores if keeps_all else _top_k(scores, self.top_k)
        if step == "top_p":
            return scores if self.top_p == 1.0 else _top_p(scores, self.top_p)
        return scores if self.min_p == 0.0 else _min_p(scores, self.min_p)


def softmax(scores: FloatArray) -> FloatArray:
    """exp(x - max x), renormalised along the last axis."""
    weights: FloatArray = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights


def as_logits(logits: npt.ArrayLike) -> FloatArray:
    """Logits in float64, shifted so that the largest of each row is 0."""
    scores = as_array("logits", logits, "numbers of shape [..., vocabulary]")
    if scores.ndim == 0 or scores.shape[-1] == 0 or scores.dtype.kind not in "fiu":
        raise ValueError(
            f"logits must be numbers of shape [..., vocabulary]; got {scores.dtype} of shape "
            f"{list(scores.shape)}."
        )
    copy: FloatArray = scores.astype(np.float64)
    largest = copy.max(axis=-1, keepdims=True)  # NaN wherever a row has one
    if not np.isfinite(largest).all():
        row = [int(i) for i in np.argwhere(~np.isfinite(largest[..., 0]))[0]]
        raise ValueError(
            "logits must not be NaN or plus infinity, and some token must be possible; "
            f"row {row} breaks this."
        )
    with np.errstate(over="ignore"):
        copy -= largest
    return copy


def _most_likely(scores: FloatArray) -> FloatArray:
    rows = np.zeros_like(scores)
    np.put_along_axis(rows, scores.argmax(axis=-1, keepdims=True), 1.0, axis=-1)
    return rows


def _top_k(scores: FloatArray, k: int) -> FloatArray:
    size = scores.shape[-1]
    last = np.partition(scores, size - k, axis=-1)[..., size - k, None]
    return np.where(scores >= last, scores, -np.inf)


def _top_p(scores: FloatArray, share: float) -> FloatArray:
    order = np.argsort(-scores, axis=-1, kind="stable")  # equal tokens in the order of their ids
    weights = softmax(np.take_along_axis(scores, order, axis=-1))
    before = np.cumsum(weights, axis=-1) - weights  # what the more likely tokens have already
    kept = before < share
    kept[..., 0] = True
    mask = np.empty_like(kept)
    np.put_along_axis(mask, order, kept, axis=-1)
    return np.where(mask, scores, -np.inf)


def _min_p(scores: FloatArray, share: float) -> FloatArray:
    return np.where(scores - scores.max(axis=-1, keepdims=True) >= np.log(share), scores, -np.inf)

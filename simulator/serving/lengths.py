"""How long prompts and answers are: laws of a number of tokens, as data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from simulator._checks import IntArray, as_count, as_nonnegative

MOST_TOKENS = 10**6
"""Tokens of one prompt or answer, at most."""
MOST_SPREAD = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedTokens:
    """Every length is `tokens`.

    >>> FixedTokens(tokens=3).draw(2, np.random.default_rng(0))
    array([3, 3])
    """

    tokens: int

    def __post_init__(self) -> None:
        as_count("tokens", self.tokens, least=1, most=MOST_TOKENS)

    @property
    def most(self) -> int:
        """The longest length that can be drawn."""
        return self.tokens

    def draw(self, n: int, generator: np.random.Generator) -> IntArray:  # noqa: ARG002
        """`n` lengths."""
        return np.full(n, self.tokens, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformTokens:
    """Every whole number in [least, most] is equally likely; ValueError unless 1 ≤ least ≤ most."""

    least: int
    most: int

    def __post_init__(self) -> None:
        as_count("least", self.least, least=1, most=MOST_TOKENS)
        as_count("most", self.most, least=self.least, most=MOST_TOKENS)

    def draw(self, n: int, generator: np.random.Generator) -> IntArray:
        """`n` lengths."""
        return generator.integers(self.least, self.most + 1, size=n)


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricTokens:
    """P(n) = (1 − q) q^(n−1) with q = 1 − 1/mean: every token may be the last; cut at `most`.

    Lengths beyond `most` are `most`, as under an engine's limit of tokens. Raises ValueError for a mean
    below 1 and a most below it.
    """

    mean: float
    most: int = MOST_TOKENS

    def __post_init__(self) -> None:
        _check_most(self.mean, self.most)

    def draw(self, n: int, generator: np.random.Generator) -> IntArray:
        """`n` lengths."""
        return np.minimum(generator.geometric(1.0 / self.mean, size=n), self.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogNormalTokens:
    """The logarithm is normal; mean and `spread` = standard deviation / mean before it is made whole.

    Rounded up to a whole number and cut at `most`, as under an engine's limit of tokens. Raises ValueError
    for a mean below 1, a spread outside [0, 1000] and a most below the mean.
    """

    mean: float
    spread: float
    most: int = MOST_TOKENS

    def __post_init__(self) -> None:
        if as_nonnegative("spread", self.spread) > MOST_SPREAD:
            raise ValueError(f"spread must be in [0, {MOST_SPREAD:g}]; got {self.spread!r}.")
        _check_most(self.mean, self.most)

    def draw(self, n: int, generator: np.random.Generator) -> IntArray:
        """`n` lengths."""
        variance = math.log1p(self.spread**2)
        # not lognormal(log(mean), …): without spread that is the mean to rounding, and its ceiling one more
        drawn = self.mean * np.exp(generator.normal(-variance / 2.0, math.sqrt(variance), size=n))
        return np.clip(np.ceil(drawn), 1, self.most).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmpiricalTokens:
    """One of `values`, each as likely as it is frequent among them: lengths that were counted somewhere.

    Raises ValueError for no value and values outside [1, 1,000,000].
    """

    values: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.values) == 0:
            raise ValueError("values must hold one length at least; got none.")
        for index, value in enumerate(self.values):
            as_count(f"values[{index}]", value, least=1, most=MOST_TOKENS)

    @property
    def most(self) -> int:
        """The longest length that can be drawn."""
        return max(self.values)

    def draw(self, n: int, generator: np.random.Generator) -> IntArray:
        """`n` lengths."""
        return generator.choice(np.asarray(self.values, dtype=np.int64), size=n)


TokenLengths: TypeAlias = (
    FixedTokens | UniformTokens | GeometricTokens | LogNormalTokens | EmpiricalTokens
)
"""Every law that prompts and answers can have."""
TOKEN_LENGTHS = (FixedTokens, UniformTokens, GeometricTokens, LogNormalTokens, EmpiricalTokens)


def mean_tokens(law: TokenLengths) -> float:
    """The mean length; of a log-normal law before it is made whole and cut.

    >>> mean_tokens(UniformTokens(least=100, most=300))
    200.0
    """
    match law:
        case FixedTokens():
            return float(law.tokens)
        case UniformTokens():
            return (law.least + law.most) / 2.0
        case GeometricTokens():
            stays = 1.0 - 1.0 / law.mean
            return law.mean * (1.0 - stays**law.most)
        case LogNormalTokens():
            return float(law.mean)
        case EmpiricalTokens():
            return float(np.mean(law.values))


def _check_most(mean: float, most: int) -> None:
    if not 1.0 <= as_nonnegative("mean", mean) <= MOST_TOKENS:
        raise ValueError(f"mean must be in [1, {MOST_TOKENS}]; got {mean!r}.")
    as_count("most", most, least=math.ceil(mean), most=MOST_TOKENS)

"""The best draft length, and where speculation stops paying."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from analysis.formulas import expected_tokens, round_cost, speedup
from simulator._checks import FloatArray, as_count, as_nonnegative, as_probability

VerifyCost: TypeAlias = float | Sequence[float] | Callable[[int], float]
"""V(gamma + 1): one number for every gamma, one per gamma from 0 on, or a function of gamma + 1."""

MAX_SEARCH = 10_000
"""The longest draft that `best_gamma` agrees to try."""
_NUMBERS = (int, float, np.integer, np.floating)
_CLOSE = 1e-9  # relative; closer comparisons are decided in exact fractions


@dataclass(frozen=True, slots=True, kw_only=True)
class BestGamma:
    """The best draft length and how sharp the choice is.

    `flat` holds every gamma within 1 % of the best. `at_limit` says that max_gamma stopped the
    search: a longer draft would still gain, or, with a verify_cost per gamma, was never tried.
    gamma 0 means: do not speculate.
    """

    gamma: int
    speedup: float
    flat: tuple[int, ...]
    at_limit: bool

    @property
    def pays(self) -> bool:
        """True if some draft is faster than none."""
        return self.gamma > 0


def best_gamma(
    p: float,
    cost_ratio: float,
    *,
    max_gamma: int = 64,
    verify_cost: VerifyCost = 1.0,
    overhead: float = 0.0,
) -> BestGamma:
    """The gamma in [0, max_gamma] with the largest speedup; of equal ones the shortest.

    gamma = 0 is plain decoding: speedup 1, no overhead. With one verify_cost for every gamma the
    speedup rises while (B + c gamma) p^(gamma + 1) > c E(gamma), B = verify_cost + overhead, and
    never again after (Leviathan et al. 2023, section 3.4, derived); comparisons closer than 1e-9 are
    decided in exact fractions, so the integer is exact. With a verify_cost per gamma all are tried.
    Raises ValueError for values out of range.

    >>> best = best_gamma(p=0.7, cost_ratio=0.1)
    >>> best.gamma, round(best.speedup, 4), best.flat
    (4, 1.9808, (4,))
    >>> best_gamma(p=0.9, cost_ratio=0.0, max_gamma=16).at_limit
    True
    """
    p, cost_ratio = as_probability("p", p), as_nonnegative("cost_ratio", cost_ratio)
    overhead = as_nonnegative("overhead", overhead)
    max_gamma = as_count("max_gamma", max_gamma, most=MAX_SEARCH)
    costs = verify_costs(verify_cost, max_gamma)
    values = _speedups(p, cost_ratio, costs, overhead)
    if isinstance(verify_cost, _NUMBERS):
        base = Fraction(float(verify_cost)) + Fraction(overhead)
        best, at_limit = _climb(p, cost_ratio, base, max_gamma)
        if not _beats_plain(p, cost_ratio, base, best):
            best = 0
            longest = _climb(p, cost_ratio, base, MAX_SEARCH)[0] if at_limit else 0
            at_limit = _beats_plain(p, cost_ratio, base, longest)
    else:
        best = _shortest_best(p, cost_ratio, costs, overhead, values)
        at_limit = best == max_gamma > 0
    flat = np.flatnonzero(values >= 0.99 * values[best])
    return BestGamma(
        gamma=best,
        speedup=float(values[best]),
        flat=tuple(int(gamma) for gamma in flat),
        at_limit=at_limit,
    )


def break_even_p(
    gamma: int, cost_ratio: float, *, verify_cost: float = 1.0, overhead: float = 0.0
) -> float | None:
    """The p from which on `gamma` tokens per round do not lose; None if not even p = 1 pays.

    Solves E(p) = gamma · cost_ratio + verify_cost + overhead; 0 if a round costs no more than the
    one token it always emits. At gamma = 1 and verify_cost 1 it is cost_ratio.

    >>> round(break_even_p(4, 0.1), 4)
    0.2871
    >>> break_even_p(4, 1.5) is None
    True
    """
    gamma = as_count("gamma", gamma, least=1)
    needed = float(round_cost(gamma, cost_ratio, verify_cost=verify_cost, overhead=overhead))
    if needed > gamma + 1.0:
        return None
    return p_from_tokens(max(needed, 1.0), gamma)


def any_gamma_pays(
    p: float,
    cost_ratio: float,
    *,
    verify_cost: VerifyCost = 1.0,
    overhead: float = 0.0,
    max_gamma: int = 64,
) -> bool:
    """True if some gamma in [1, max_gamma] is faster than plain decoding.

    At verify_cost = 1 without overhead this is p > cost_ratio (Corollary 3.9); a search otherwise.

    >>> any_gamma_pays(p=0.3, cost_ratio=0.2), any_gamma_pays(p=0.2, cost_ratio=0.2)
    (True, False)
    """
    return best_gamma(
        p, cost_ratio, max_gamma=max_gamma, verify_cost=verify_cost, overhead=overhead
    ).pays


def p_from_tokens(tokens_per_round: float, gamma: int) -> float:
    """The p in [0, 1] with E(p, gamma) = tokens_per_round, a value in [1, gamma + 1]."""
    from scipy.optimize import brentq  # noqa: PLC0415 — scipy.optimize costs 0.2 s at import

    if tokens_per_round <= 1.0:
        return 0.0
    if tokens_per_round >= gamma + 1.0:
        return 1.0
    root = brentq(
        lambda p: float(expected_tokens(p, gamma)) - tokens_per_round, 0.0, 1.0, xtol=1e-15
    )
    return float(root)


def verify_costs(verify_cost: VerifyCost, max_gamma: int) -> FloatArray:
    """V(gamma + 1) for gamma = 0..max_gamma, shape [max_gamma + 1], from any of its three forms."""
    if verify_cost is None or isinstance(verify_cost, (str, bytes, bool)):
        raise ValueError(
            "verify_cost must be a number, a number per gamma, or a function of gamma + 1; "
            f"got {verify_cost!r}."
        )
    if callable(verify_cost):
        values = [float(verify_cost(gamma + 1)) for gamma in range(max_gamma + 1)]
    elif isinstance(verify_cost, _NUMBERS):
        values = [float(verify_cost)] * (max_gamma + 1)
    else:
        values = [float(value) for value in verify_cost]
        if len(values) <= max_gamma:
            raise ValueError(
                f"verify_cost must give a value for each gamma from 0 to max_gamma ({max_gamma}); "
                f"got {len(values)} values."
            )
    costs = np.asarray(values[: max_gamma + 1], dtype=np.float64)
    if not (np.all(np.isfinite(costs)) and np.all(costs > 0.0)):
        raise ValueError(f"verify_cost must be finite and above 0; got {verify_cost!r}.")
    return costs


def _speedups(p: float, cost_ratio: float, costs: FloatArray, overhead: float) -> FloatArray:
    gammas = np.arange(costs.size)
    values = np.asarray(speedup(p, gammas, cost_ratio, verify_cost=costs, overhead=overhead))
    values[0] = 1.0  # nothing drafted, nothing verified: plain decoding
    return values


def _climb(p: float, c: float, base: Fraction, max_gamma: int) -> tuple[int, bool]:
    """The best gamma in [1, max_gamma], and whether one more step would still gain."""
    for gamma in range(1, max_gamma + 1):
        if not _step_gains(p, c, base, gamma):
            return gamma, False
    return max_gamma, True


def _step_gains(p: float, c: float, base: Fraction, gamma: int) -> bool:
    """True if gamma + 1 beats gamma: (B + c gamma) p^(gamma + 1) > c E(gamma)."""
    if c == 0.0:
        return p > 0.0
    gain = (float(base) + c * gamma) * p ** (gamma + 1)
    price = c * float(expected_tokens(p, gamma))
    if abs(gain - price) > _CLOSE * price:
        return gain > price
    cost = base + Fraction(c) * gamma
    return _scaled_tokens(p, gamma + 1) * cost > _scaled_tokens(p, gamma) * (cost + Fraction(c))


def _beats_plain(p: float, c: float, base: Fraction, gamma: int) -> bool:
    """True if gamma tokens per round are faster than none: E(gamma) > B + c gamma."""
    tokens, cost = float(expected_tokens(p, gamma)), float(base) + c * gamma
    if gamma and abs(tokens - cost) > _CLOSE * cost:
        return tokens > cost
    cost_exact = base + Fraction(c) * gamma
    return gamma > 0 and _scaled_tokens(p, gamma) > _scaled_tokens(p, 0) * cost_exact


def _shortest_best(
    p: float, c: float, costs: FloatArray, overhead: float, values: FloatArray
) -> int:
    """The shortest gamma of the largest speedup; floats too close to tell are compared exactly."""

    def cost(gamma: int) -> Fraction:
        drafting = Fraction(c) * gamma + Fraction(overhead)
        return drafting + Fraction(float(costs[gamma])) if gamma else Fraction(1)

    close = np.flatnonzero(values >= (1.0 - _CLOSE) * values.max())
    best = int(close[0])
    for gamma in map(int, close[1:]):
        if cost(gamma) == cost(best):  # common where drafting is free; needs no power of p
            better = p > 0.0
        else:
            gain = _scaled_tokens(p, gamma) * cost(best)
            better = gain > _scaled_tokens(p, best) * cost(gamma)
        best = gamma if better else best
    return best


def _scaled_tokens(p: float, gamma: int) -> Fraction:
    """E(gamma) times 1 - p (times 1 at p = 1): compares as E does and takes a single power."""
    return 1 - Fraction(p) ** (gamma + 1) if p < 1.0 else Fraction(gamma + 1)

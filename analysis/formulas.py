"""The closed forms of chain speculative decoding, on scalars and arrays.

Symbols: p = P(accepted | tested); gamma = tokens drafted per round; cost_ratio = one draft step in
target steps; verify_cost = V(gamma + 1), the target pass over gamma + 1 tokens in target steps;
overhead = what else a round costs, in target steps. All functions broadcast, return a float for
scalar arguments, and raise ValueError for a value out of range.

Sources: Leviathan, Kalman, Matias 2023 (arXiv 2211.17192), equation and theorem numbers below.
"""

from __future__ import annotations

import numpy as np

from analysis._arrays import Numbers, lengths, nonnegatives, plain, probabilities
from simulator._checks import FloatArray, as_count


def expected_tokens(p: Numbers, gamma: Numbers) -> FloatArray | float:
    """Expected tokens per round, E = (1 - p^(gamma + 1)) / (1 - p).

    Eq. 1. Right at p = 0 (1), p = 1 (gamma + 1) and gamma = 0 (1); near p = 1 the difference is
    taken as -expm1((gamma + 1) log p), which does not cancel.

    >>> expected_tokens(0.7, 4)
    2.7731
    >>> expected_tokens([0.0, 1.0], 4)
    array([1., 5.])
    """
    return plain(_expected(probabilities("p", p), lengths("gamma", gamma)))


def survival(p: Numbers, gamma: int) -> FloatArray:
    """P(the first i drafted tokens are all kept) = p^i for i = 1..gamma, shape [..., gamma].

    >>> survival(0.5, 3)
    array([0.5  , 0.25 , 0.125])
    """
    depths = np.arange(1, as_count("gamma", gamma) + 1)
    return np.asarray(probabilities("p", p)[..., np.newaxis] ** depths, dtype=np.float64)


def tokens_pmf(p: Numbers, gamma: int) -> FloatArray:
    """P(a round emits n + 1 tokens) for n = 0..gamma accepted ones, shape [..., gamma + 1].

    p^n (1 - p) for n < gamma and p^gamma at n = gamma: a geometric law capped at gamma.

    >>> tokens_pmf(0.5, 2)
    array([0.5 , 0.25, 0.25])
    """
    chance = probabilities("p", p)[..., np.newaxis]
    length = as_count("gamma", gamma)
    accepted = np.arange(length + 1)
    pmf = chance**accepted * np.where(accepted < length, 1.0 - chance, 1.0)
    return np.asarray(pmf, dtype=np.float64)


def tokens_variance(p: Numbers, gamma: int) -> FloatArray | float:
    """Variance of the tokens per round [tokens²].

    With S_i = p^i: Var = Σ_i S_i ((1 - S_i) + 2 Σ_{j<i} (1 - S_j)), all terms positive and
    1 - S_i = -expm1(i log p), so that nothing cancels near p = 1. Derived from the pmf.

    >>> round(tokens_variance(0.7, 4), 4)
    2.4218
    """
    chance = probabilities("p", p)[..., np.newaxis]
    depths = np.arange(1, as_count("gamma", gamma) + 1)
    kept = chance**depths
    lost = -np.expm1(depths * _log(chance))
    before = np.cumsum(lost, axis=-1) - lost
    return plain(np.sum(kept * (lost + 2.0 * before), axis=-1))


def round_cost(
    gamma: Numbers, cost_ratio: Numbers, *, verify_cost: Numbers = 1.0, overhead: Numbers = 0.0
) -> FloatArray | float:
    """Cost of a round in target steps: gamma · cost_ratio + verify_cost + overhead.

    >>> round_cost(4, 0.1)
    1.4
    """
    return plain(_cost(gamma, cost_ratio, verify_cost, overhead))


def speedup(
    p: Numbers,
    gamma: Numbers,
    cost_ratio: Numbers,
    *,
    verify_cost: Numbers = 1.0,
    overhead: Numbers = 0.0,
) -> FloatArray | float:
    """Decoding speedup of one request: expected tokens per round / cost of a round.

    Theorem 3.8 at verify_cost = 1 and overhead = 0; the decomposition with both is Medusa's
    (Cai et al. 2024, section 7.1). Long generations; prefill is not in it.

    >>> round(speedup(0.7, 4, 0.1), 4)
    1.9808
    """
    tokens = _expected(probabilities("p", p), lengths("gamma", gamma))
    with np.errstate(over="ignore"):  # a cost near 0 or infinity gives infinity or 0
        return plain(np.asarray(tokens / _cost(gamma, cost_ratio, verify_cost, overhead)))


def whole_request_speedup(decoding_speedup: Numbers, prefill_share: Numbers) -> FloatArray | float:
    """Speedup of a whole request when `prefill_share` of its plain time is prefill.

    1 / (share + (1 - share) / decoding_speedup): Amdahl's law, prefill is not made faster.

    >>> round(whole_request_speedup(1.98, 0.2), 3)
    1.656
    """
    decoding = nonnegatives("decoding_speedup", decoding_speedup)
    share = probabilities("prefill_share", prefill_share)
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 at share 1, replaced
        slowness = np.where(share < 1.0, (1.0 - share) / decoding, 0.0)
        return plain(np.asarray(1.0 / (share + slowness)))


def operations_factor(p: Numbers, gamma: Numbers, operations_ratio: Numbers) -> FloatArray | float:
    """Arithmetic operations per token, with speculation / without (Theorem 3.11).

    (gamma · ĉ + gamma + 1) / E, with ĉ = operations of a draft step / of a target step.

    >>> round(operations_factor(0.8, 5, 0.0), 2)
    1.63
    """
    length = lengths("gamma", gamma)
    ratio = nonnegatives("operations_ratio", operations_ratio)
    tokens = _expected(probabilities("p", p), length)
    return plain(np.asarray((length * ratio + length + 1.0) / tokens))


def oracle_tokens(p: Numbers) -> FloatArray | float:
    """Tokens per round of a draft that always stops in time, 1 / (1 - p); infinite at p = 1.

    No chain of any length emits more per target pass (Leviathan et al. 2023, section 3.4).

    >>> oracle_tokens(0.75)
    4.0
    """
    with np.errstate(divide="ignore"):
        return plain(np.asarray(1.0 / (1.0 - probabilities("p", p))))


def break_even_cost_ratio(
    p: Numbers, gamma: Numbers, *, verify_cost: Numbers = 1.0, overhead: Numbers = 0.0
) -> FloatArray | float:
    """The cost ratio at which the speedup is 1: (E - verify_cost - overhead) / gamma.

    A cheaper draft step gains, a dearer one loses. Negative: not even a free draft pays. Raises
    ValueError for gamma = 0, which drafts nothing.

    >>> round(break_even_cost_ratio(0.7, 4), 4)
    0.4433
    """
    length = lengths("gamma", gamma)
    if np.any(length == 0.0):
        raise ValueError("gamma must be at least 1 for a break-even cost ratio; got 0.")
    tokens = _expected(probabilities("p", p), length)
    spent = nonnegatives("verify_cost", verify_cost) + nonnegatives("overhead", overhead)
    return plain(np.asarray((tokens - spent) / length))


def _expected(p: FloatArray, gamma: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):  # 0 / 0 at p = 1, replaced
        ratio = -np.expm1((gamma + 1.0) * _log(p)) / (1.0 - p)
    return np.where((p < 1.0) & (gamma > 0.0), ratio, gamma + 1.0)


def _log(p: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):  # log 0 = -inf is right: expm1 makes it -1
        return np.asarray(np.log(p), dtype=np.float64)


def _cost(
    gamma: Numbers, cost_ratio: Numbers, verify_cost: Numbers, overhead: Numbers
) -> FloatArray:
    pass_cost = nonnegatives("verify_cost", verify_cost)
    if np.any(pass_cost == 0.0):
        raise ValueError("verify_cost must be above 0; got 0.")
    with np.errstate(over="ignore"):
        drafting = lengths("gamma", gamma) * nonnegatives("cost_ratio", cost_ratio)
    return np.asarray(drafting + pass_cost + nonnegatives("overhead", overhead))

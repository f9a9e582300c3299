"""How many rounds a text of a given length takes: what a request loses in its last round, exactly."""

from __future__ import annotations

import numpy as np

from simulator._checks import FloatArray, as_count


def survival_of_constant(p: FloatArray, gamma: int) -> FloatArray:
    """P(the first i drafted tokens are all kept) = p^i, shape [draws, gamma]."""
    return np.asarray(p[:, np.newaxis] ** np.arange(1, gamma + 1), dtype=np.float64)


def survival_of_counts(
    rounds: FloatArray, tested: FloatArray, accepted: FloatArray, gamma: int
) -> FloatArray:
    """P(the first i drafted tokens are all kept) by depth, Π accepted / tested, shape [draws, gamma].

    `rounds` is [draws], `tested` and `accepted` are [draws, depths] of drafts at least as long as
    gamma. Where a depth was never tested because no round got there, survival is 0; where rounds
    got there and none was tested, it is NaN from there on.

    >>> survival_of_counts(np.array([10.0]), np.array([[10.0, 5.0]]), np.array([[5.0, 4.0]]), 2)
    array([[0.5, 0.4]])
    """
    alive = np.concatenate([rounds[:, np.newaxis], accepted], axis=1)[:, :gamma]
    unknown = np.where(alive > 0.0, np.nan, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):  # 0 / 0 where nothing was tested, replaced
        kept = accepted[:, :gamma] / tested[:, :gamma]
    return np.asarray(np.cumprod(np.where(tested[:, :gamma] > 0.0, kept, unknown), axis=1))


def expected_rounds(survival: FloatArray, tokens: int) -> FloatArray:
    """Expected rounds until at least n tokens are there, for n = 0..tokens, shape [draws, tokens + 1].

    R(n) = 1 + Σ_k f(k) R(n - k), R(n <= 0) = 0, with f(k) = P(a round emits k tokens), k = 1..γ + 1,
    and independent rounds: the first-passage equation of renewal theory (Feller, An Introduction to
    Probability Theory, vol. 1, XIII). n / R(n) is what a request of n tokens emits per round; it
    tends to the tokens per round from below, for the last round overshoots.

    `survival` is [draws, gamma]. Raises ValueError for a negative number of tokens.

    >>> expected_rounds(np.array([[1.0, 1.0]]), 4)  # three tokens in every round
    array([[0., 1., 1., 1., 2.]])
    """
    tokens = as_count("tokens", tokens)
    draws, gamma = survival.shape
    reached = np.concatenate([np.ones((draws, 1)), survival, np.zeros((draws, 1))], axis=1)
    law = (reached[:, :-1] - reached[:, 1:]).T[::-1]  # [gamma + 1, draws], the longest round first
    needed = np.zeros((gamma + 1 + tokens, draws))  # the first gamma + 1 rows are n <= 0
    for n in range(gamma + 1, gamma + 1 + tokens):
        needed[n] = 1.0 + (law * needed[n - gamma - 1 : n]).sum(axis=0)
    return needed[gamma:].T

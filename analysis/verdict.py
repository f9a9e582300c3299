"""Does it pay, in one sentence."""

from __future__ import annotations

from analysis.formulas import speedup
from analysis.optimum import BestGamma

_NOTICEABLE = 0.005  # gains and losses below half a per cent are called even


def verdict(
    p: float,
    gamma: int,
    cost_ratio: float,
    best: BestGamma,
    *,
    verify_cost: float = 1.0,
    overhead: float = 0.0,
) -> str:
    """One sentence: whether gamma pays, and what the best gamma would give.

    >>> from analysis.optimum import best_gamma
    >>> verdict(0.7, 4, 0.1, best_gamma(0.7, 0.1))
    'Pays: 1.98× faster at γ = 4, the best draft length.'
    >>> verdict(0.15, 4, 0.1, best_gamma(0.15, 0.1))
    'Costs: 0.84× the plain speed at γ = 4; γ = 1 would give 1.05×.'
    >>> verdict(0.05, 4, 0.1, best_gamma(0.05, 0.1))
    'Costs: 0.75× the plain speed at γ = 4; no draft length pays: decode plainly.'
    """
    if gamma == 0:
        return f"Nothing is drafted at γ = 0, plain decoding; {_alternative(gamma, best)}"
    gain = float(speedup(p, gamma, cost_ratio, verify_cost=verify_cost, overhead=overhead))
    if gain > 1.0 + _NOTICEABLE:
        start = f"Pays: {gain:.2f}× faster at γ = {gamma}"
        if gamma == best.gamma:
            return f"{start}, {'the longest draft tried' if best.at_limit else 'the best draft length'}."
        if gamma in best.flat:
            return f"{start}, within 1 % of the best (γ = {best.gamma})."
        return f"{start}; {_alternative(gamma, best)}"
    if gain >= 1.0 - _NOTICEABLE:
        return f"Neither pays nor costs: {gain:.2f}× at γ = {gamma}; {_alternative(gamma, best)}"
    return f"Costs: {gain:.2f}× the plain speed at γ = {gamma}; {_alternative(gamma, best)}"


def _alternative(gamma: int, best: BestGamma) -> str:
    if not best.pays:
        if best.at_limit:
            return "no draft length tried pays, but a longer one would."
        return "no draft length pays: decode plainly."
    if best.gamma == gamma:
        return "no other draft length does better."
    limit = ", the longest tried," if best.at_limit else ""
    return f"γ = {best.gamma}{limit} would give {best.speedup:.2f}×."

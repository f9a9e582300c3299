"""Does it pay, in one sentence."""

from __future__ import annotations

from analysis.optimum import BestGamma

_NOTICEABLE = 0.005  # gains and losses below half a per cent are called even


def verdict(gamma: int, speedup: float, best: BestGamma) -> str:
    """One sentence: whether gamma, with its speedup, pays, and what the best gamma would give.

    >>> from analysis.curve import over_gamma
    >>> for p in (0.7, 0.15, 0.05):
    ...     curve = over_gamma(p, cost_ratio=0.1)
    ...     print(verdict(4, curve.points[4].speedup, curve.best))
    Pays: 1.98× faster at γ = 4, the best draft length.
    Costs: 0.84× the plain speed at γ = 4; γ = 1 would give 1.05×.
    Costs: 0.75× the plain speed at γ = 4; no draft length pays: decode plainly.
    """
    if gamma == 0:
        return f"Nothing is drafted at γ = 0, plain decoding; {_alternative(gamma, best)}"
    if speedup > 1.0 + _NOTICEABLE:
        start = f"Pays: {speedup:.2f}× faster at γ = {gamma}"
        if gamma == best.gamma:
            return f"{start}, {'the longest draft tried' if best.at_limit else 'the best draft length'}."
        if gamma in best.flat:
            return f"{start}, within 1 % of the best (γ = {best.gamma})."
        return f"{start}; {_alternative(gamma, best)}"
    if speedup >= 1.0 - _NOTICEABLE:
        return f"Neither pays nor costs: {speedup:.2f}× at γ = {gamma}; {_alternative(gamma, best)}"
    return f"Costs: {speedup:.2f}× the plain speed at γ = {gamma}; {_alternative(gamma, best)}"


def _alternative(gamma: int, best: BestGamma) -> str:
    if not best.pays:
        if best.at_limit:
            return "no draft length tried pays, but a longer one would."
        return "no draft length pays: decode plainly."
    if best.gamma == gamma:
        return "no other draft length does better."
    limit = ", the longest tried," if best.at_limit else ""
    return f"γ = {best.gamma}{limit} would give {best.speedup:.2f}×."

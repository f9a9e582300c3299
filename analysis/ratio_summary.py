"""What printed ratios mean where the counts behind them are missing."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.uncertainty import Range
from simulator import ReportedRatio


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioBounds:
    """Ranges that follow from the printed digits, if every draft had `gamma` tokens.

    `p_by_depth` has shape [gamma]; `tokens_per_round` and `accepted_fraction` are None where not
    printed.
    """

    gamma: int
    p: Range
    p_by_depth: tuple[Range, ...]
    tokens_per_round: float | None
    accepted_fraction: float | None


def ratio_bounds(printed: tuple[ReportedRatio, ...]) -> RatioBounds:
    """p, pooled and by depth, from the printed survival S_1..S_gamma.

    With full drafts a round keeps A = Σ S_i tokens and tests 1 + A - S_gamma, so
    p = A / (1 + A - S_gamma), which rises with both; by depth p_i = S_i / S_(i-1). The ends are
    those of the rounding; a printed 1 + A narrows A. Raises ValueError without a survival.

    >>> survival = (0.805, 0.632, 0.483)
    >>> bounds = ratio_bounds(tuple(
    ...     ReportedRatio(quantity="survival", value=value, half_width=0.0005,
    ...                   averaged_over="one request", depth=depth)
    ...     for depth, value in enumerate(survival)))
    >>> [round(end, 3) for end in bounds.p]
    [0.788, 0.788]
    """
    survival = [ratio.bounds for ratio in printed if ratio.quantity == "survival"]
    if not survival:
        raise ValueError("printed must hold a survival per depth; got none.")
    length = _one(printed, "tokens_per_round")
    fraction = _one(printed, "accepted_fraction")
    low, high = sum(low for low, _ in survival), sum(high for _, high in survival)
    if length is not None:
        low, high = max(low, length.bounds[0] - 1.0), min(high, length.bounds[1] - 1.0)
    last_low, last_high = survival[-1]
    return RatioBounds(
        gamma=len(survival),
        p=(_pooled(low, last_low), min(_pooled(high, last_high), 1.0)),
        p_by_depth=_by_depth(survival),
        tokens_per_round=None if length is None else length.value,
        accepted_fraction=None if fraction is None else fraction.value,
    )


def _pooled(kept: float, last: float) -> float:
    kept, last = max(kept, 0.0), max(last, 0.0)
    return kept / (1.0 + kept - last)


def _by_depth(survival: list[Range]) -> tuple[Range, ...]:
    before: Range = (1.0, 1.0)
    ranges: list[Range] = []
    for low, high in survival:
        most = min(high / before[0], 1.0) if before[0] > 0.0 else 1.0
        least = max(low, 0.0) / before[1] if before[1] > 0.0 else 0.0
        ranges.append((least, most))
        before = (max(low, 0.0), high)
    return tuple(ranges)


def _one(printed: tuple[ReportedRatio, ...], quantity: str) -> ReportedRatio | None:
    return next((ratio for ratio in printed if ratio.quantity == quantity), None)

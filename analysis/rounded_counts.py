"""Counts per depth that rounding hides by less than chance would move them."""

from __future__ import annotations

import math

from simulator import AcceptanceTable, AcceptanceTotals

ROUNDED = (
    "Counts per depth are the middle of what the printed ratios allow; rounding moves each by less than "
    "a quarter of a standard error."
)
_NEGLIGIBLE = 0.25  # of a standard error: an interval with both in it would be 1 % wider


def rounded_table(totals: AcceptanceTotals) -> AcceptanceTable | None:
    """The table in the middle of the bounds by depth, where they are narrow beside sampling error.

    Needs full drafts (drafted == rounds × longest_draft). The counts lie within their bounds, do not rise
    with depth and sum to the accepted tokens. None where rounding matters or the bounds allow no such
    counts.

    >>> rounded_table(AcceptanceTotals(
    ...     rounds=3515, drafted=10545, accepted=4605, longest_draft=3,
    ...     accepted_by_depth_bounds=((2396, 2398), (1443, 1446), (761, 764)))).accepted
    (2397, 1445, 763)
    """
    bounds, rounds = totals.accepted_by_depth_bounds, totals.rounds
    if not bounds or not rounds or totals.drafted != rounds * len(bounds):
        return None
    if not _narrow(bounds, rounds):
        return None
    kept = _middle(bounds, totals.accepted)
    if kept is None or any(kept[i] > before for i, before in enumerate((rounds, *kept[:-1]))):
        return None
    return AcceptanceTotals(
        rounds=rounds,
        drafted=totals.drafted,
        accepted=totals.accepted,
        accepted_by_depth=kept,
        longest_draft=len(bounds),
        emitted=totals.emitted,
    ).to_table()


def _narrow(bounds: tuple[tuple[int, int], ...], rounds: int) -> bool:
    tested, loose = float(rounds), 0.0
    for low, high in bounds:
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        p = min(middle / tested, 1.0) if tested else 0.0
        if half + p * loose > _NEGLIGIBLE * math.sqrt(tested * p * (1.0 - p)):
            return False
        tested, loose = middle, half
    return True


def _middle(bounds: tuple[tuple[int, int], ...], accepted: int) -> tuple[int, ...] | None:
    """Counts near the middle of the bounds that sum to `accepted`; None if none do."""
    if not sum(low for low, _ in bounds) <= accepted <= sum(high for _, high in bounds):
        return None
    kept = [(low + high) // 2 for low, high in bounds]
    while (missing := accepted - sum(kept)) != 0:
        step = 1 if missing > 0 else -1
        room = [
            high - n if step > 0 else n - low for n, (low, high) in zip(kept, bounds, strict=True)
        ]
        widest = max(range(len(kept)), key=room.__getitem__)
        kept[widest] += step * max(1, min(abs(missing) // len(kept), room[widest]))
    return tuple(kept)

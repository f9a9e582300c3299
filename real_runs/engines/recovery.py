"""From what a line claims to the totals it supports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from real_runs.engines.rounding import Claim, agreeing_rounds, agrees, depth_bounds
from real_runs.engines.skips import NoCounts
from real_runs.engines.wording import counted
from simulator import AcceptanceTotals, LengthRule

Basis: TypeAlias = Literal["counted", "only one agrees", "full drafts", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """Totals, what their rounds rest on, and which numbers of rounds the printed ratios allow."""

    totals: AcceptanceTotals
    basis: Basis
    allowed: tuple[int, int | None]


def with_rounds(claim: Claim, rounds: int) -> Recovered:
    """The totals of a line that counts its rounds; NoCounts if its ratios contradict the counts."""
    if not agrees(claim, rounds):
        raise NoCounts(
            f"the printed ratios contradict the counts ({_counts(claim)}, {counted(rounds, 'round')})"
        )
    return Recovered(
        totals=_totals(claim, (rounds, rounds)), basis="counted", allowed=(rounds, rounds)
    )


def without_rounds(claim: Claim, *, full_drafts: bool) -> Recovered:
    """The totals of a line that prints ratios over its rounds and not their number.

    With `full_drafts`, drafted / longest is taken where it agrees with everything printed: engines
    that draft a fixed number of tokens. NoCounts if no number of rounds agrees.
    """
    allowed = agreeing_rounds(claim)
    if allowed is None:
        raise NoCounts(f"the printed ratios contradict the counts ({_counts(claim)})")
    fewest, most = allowed
    if fewest == most:
        return Recovered(
            totals=_totals(claim, (fewest, fewest)), basis="only one agrees", allowed=allowed
        )
    if full_drafts and claim.longest and claim.drafted == fewest * claim.longest:
        return Recovered(
            totals=_totals(claim, (fewest, fewest)), basis="full drafts", allowed=allowed
        )
    return Recovered(totals=_totals(claim, allowed), basis="unknown", allowed=allowed)


def _totals(claim: Claim, allowed: tuple[int, int | None]) -> AcceptanceTotals:
    fewest, most = allowed
    rounds = fewest if fewest == most else None
    bounds = None
    if (
        most is not None or claim.accepted == 0
    ):  # without a limit on the rounds, only zeros are known
        bounds = depth_bounds(claim, fewest, most or fewest) or None
    exact = bounds is not None and all(low == high for low, high in bounds)
    rule: LengthRule = "unknown"
    if rounds is not None and claim.longest and claim.drafted == rounds * claim.longest:
        rule = "fixed"
    return AcceptanceTotals(
        drafted=claim.drafted,
        accepted=claim.accepted,
        rounds=rounds,
        accepted_by_depth=tuple(low for low, _ in bounds) if bounds and exact else None,
        accepted_by_depth_bounds=bounds if not exact else None,
        longest_draft=claim.longest,
        length_rule=rule,
    )


def _counts(claim: Claim) -> str:
    return f"{claim.accepted} accepted of {claim.drafted} drafted"

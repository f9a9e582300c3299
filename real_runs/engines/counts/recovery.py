"""From what a line claims to the totals it supports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias, TypeVar

from real_runs.engines.counts.rounding import Bounds, Claim, agreement, agrees, depth_bounds
from real_runs.engines.counts.skips import NoCounts
from real_runs.engines.counts.wording import counted
from simulator import AcceptanceTotals, LengthRule

Basis: TypeAlias = Literal["counted", "only one agrees", "full drafts", "unknown"]

_T = TypeVar("_T")


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
    bounds = depth_bounds(claim, rounds, rounds) or None
    return Recovered(
        totals=_totals(claim, rounds, bounds), basis="counted", allowed=(rounds, rounds)
    )


def without_rounds(claim: Claim, *, full_drafts: bool) -> Recovered:
    """The totals of a line that prints ratios over its rounds and not their number.

    With `full_drafts`, drafted / longest is taken where it agrees with everything printed: engines
    that draft a fixed number of tokens. NoCounts if no number of rounds agrees.
    """
    found = agreement(claim)
    if found is None:
        raise NoCounts(f"the printed ratios contradict the counts ({_counts(claim)})")
    fewest, most = found.fewest, found.most
    basis: Basis = "unknown"
    if fewest == most:
        basis = "only one agrees"
    elif full_drafts and claim.longest and claim.drafted == fewest * claim.longest:
        basis = "full drafts"
    if basis == "unknown":
        totals = _totals(claim, None, found.bounds())
    else:
        totals = _totals(claim, fewest, found.at_fewest())
    return Recovered(totals=totals, basis=basis, allowed=(fewest, most))


def _totals(claim: Claim, rounds: int | None, bounds: Bounds | None) -> AcceptanceTotals:
    exact: tuple[int, ...] | None = None
    if bounds is not None:
        lows, highs = zip(*bounds, strict=True)
        exact = lows if lows == highs else None
    rule: LengthRule = "unknown"
    if rounds is not None and claim.longest and claim.drafted == rounds * claim.longest:
        rule = "fixed"
    # Of an engine that lists all its positions everything holds by arithmetic.
    known = claim.longest == len(claim.survival) and 0 <= claim.accepted <= claim.drafted
    make = partial(unchecked, AcceptanceTotals) if known else AcceptanceTotals
    return make(
        drafted=claim.drafted,
        accepted=claim.accepted,
        rounds=rounds,
        emitted=None,
        accepted_by_depth=exact,
        accepted_by_depth_bounds=bounds if exact is None else None,
        longest_draft=claim.longest,
        length_rule=rule,
    )


def unchecked(kind: type[_T], **fields: object) -> _T:
    """A frozen record without its checks, which cost as much as all of the recovery; give every field."""
    made = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def _counts(claim: Claim) -> str:
    return f"{claim.accepted} accepted of {claim.drafted} drafted"

"""Counts per depth in the middle of what printed ratios allow, and how far from it they can be."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from itertools import accumulate

from analysis.uncertainty import p_by_depth_bounds
from simulator import AcceptanceTable, AcceptanceTotals, Counts

_NEGLIGIBLE = 0.25  # of a standard error: an interval with both in it would be 1 % wider
_COARSE = 0.05  # of the rounds: ratios of one digit say little of a depth
_SPREAD = 0.75  # standard errors per width: rounding errors then are as good as independent


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundedTable:
    """A table that prints like the source, and how far the counts may lie below and above it, by depth.

    `narrow`: rounding moves each count by less than a quarter of a standard error. `scattered`: chance
    moves each count over so many of the values that print alike that the rounding errors of several
    such tables are independent and have mean 0, by less than 1e-4 of the width: the Fourier
    coefficients of a normal law of s widths, exp(−2 π² s²), are what is left of the digits (Widrow's
    theorem of quantisation).
    """

    table: AcceptanceTable
    below: tuple[int, ...]
    above: tuple[int, ...]
    narrow: bool
    scattered: bool


def counts_by_depth(
    counts: Counts, gamma: int | None = None
) -> tuple[AcceptanceTable | None, RoundedTable | None]:
    """The table of counts, None if there is none, and what rounding hides of it.

    `gamma` is the longest draft where the counts do not say it.
    """
    if isinstance(counts, AcceptanceTable):
        return counts, None
    totals = with_longest(counts, gamma)
    table = totals.to_table()
    hidden = rounded_counts(totals) if table is None else None
    return (table, None) if hidden is None else (hidden.table, hidden)


def with_longest(totals: AcceptanceTotals, gamma: int | None) -> AcceptanceTotals:
    """The totals with `gamma` as their longest draft, if they do not say it."""
    if totals.longest_draft is not None or gamma is None:
        return totals
    return dataclasses.replace(totals, longest_draft=gamma)


def rounded_table(totals: AcceptanceTotals) -> AcceptanceTable | None:
    """The table of `rounded_counts`.

    >>> rounded_table(AcceptanceTotals(
    ...     rounds=3515, drafted=10545, accepted=4605, longest_draft=3,
    ...     accepted_by_depth_bounds=((2396, 2398), (1443, 1446), (761, 764)))).accepted
    (2397, 1445, 763)
    """
    found = rounded_counts(totals)
    return None if found is None else found.table


def rounded_counts(totals: AcceptanceTotals) -> RoundedTable | None:
    """The counts in the middle of the bounds by depth, and what the bounds leave open.

    Needs full drafts (`full_by_depth`). The counts lie within their bounds, do not rise with depth and
    sum to the accepted tokens. None where the bounds allow no such counts, or are wider than 5 % of the
    rounds at some depth and one p lies within all of them.

    >>> found = rounded_counts(AcceptanceTotals(
    ...     rounds=6818, drafted=13636, accepted=6477, longest_draft=2,
    ...     accepted_by_depth_bounds=((4224, 4230), (2247, 2253))))
    >>> found.table.accepted, found.below, found.above, found.narrow, found.scattered
    ((4227, 2250), (3, 3), (3, 3), True, True)
    """
    bounds, rounds = totals.accepted_by_depth_bounds, totals.rounds
    if not full_by_depth(totals) or bounds is None or not rounds:
        return None
    kept = _middle(bounds, rounds, totals.accepted)
    if kept is None:
        return None
    widest = max(high - low for low, high in bounds)
    if widest > _COARSE * rounds and not _beyond_one_p(totals):
        return None
    table = AcceptanceTotals(
        rounds=rounds,
        drafted=totals.drafted,
        accepted=totals.accepted,
        accepted_by_depth=kept,
        longest_draft=len(bounds),
        emitted=totals.emitted,
    ).to_table()
    assert table is not None  # noqa: S101 — the drafts are full
    return RoundedTable(
        table=table,
        below=tuple(n - low for n, (low, _) in zip(kept, bounds, strict=True)),
        above=tuple(high - n for n, (_, high) in zip(kept, bounds, strict=True)),
        narrow=_narrow(bounds, rounds),
        scattered=all(
            math.sqrt(n * (1.0 - n / rounds)) >= _SPREAD * (high - low + 1)
            for n, (low, high) in zip(kept, bounds, strict=True)
            if low < high
        ),
    )


def full_by_depth(totals: AcceptanceTotals) -> bool:
    """Whether every draft had all the depths for which bounds are known."""
    bounds, rounds = totals.accepted_by_depth_bounds, totals.rounds
    return bool(bounds and rounds and totals.drafted == rounds * len(bounds))


def _narrow(bounds: tuple[tuple[int, int], ...], rounds: int) -> bool:
    tested, loose = float(rounds), 0.0
    for low, high in bounds:
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        p = min(middle / tested, 1.0) if tested else 0.0
        if half + p * loose > _NEGLIGIBLE * math.sqrt(tested * p * (1.0 - p)):
            return False
        tested, loose = middle, half
    return True


def _beyond_one_p(totals: AcceptanceTotals) -> bool:
    ranges = [ends for ends in p_by_depth_bounds(totals) or () if not math.isnan(ends[0])]
    return bool(ranges) and max(low for low, _ in ranges) > min(high for _, high in ranges)


def _middle(
    bounds: tuple[tuple[int, int], ...], rounds: int, accepted: int
) -> tuple[int, ...] | None:
    """Counts that sum to `accepted`, equally far along the bounds of every depth; None if none do.

    Bounds that do not rise with depth make counts that do not: those are taken first.
    """
    lows = [*accumulate((low for low, _ in reversed(bounds)), max)][::-1]
    highs = [*accumulate((high for _, high in bounds), min, initial=rounds)][1:]
    open_, missing = sum(highs) - sum(lows), accepted - sum(lows)
    if any(low > high for low, high in zip(lows, highs, strict=True)) or not 0 <= missing <= open_:
        return None
    if not open_:
        return tuple(lows)
    parts = [divmod(missing * (high - low), open_) for low, high in zip(lows, highs, strict=True)]
    kept = [low + whole for low, (whole, _) in zip(lows, parts, strict=True)]
    # Largest remainders first, the shallower depth of equal ones, which keeps the counts from rising.
    order = sorted(range(len(kept)), key=lambda i: -parts[i][1])
    for i in order[: accepted - sum(kept)]:
        kept[i] += 1
    return tuple(kept)

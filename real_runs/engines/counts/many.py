"""Counts back from the ratios of many lines at once: what `recovery.without_rounds` finds for each.

All lines print the same ratios to the same digits, so the numbers are columns, and the trials of
`rounding` are made for all lines together. The few lines that need many trials are left to `rounding`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from real_runs.engines.counts.narrowing import narrowed
from real_runs.engines.counts.printed import Printed
from real_runs.engines.counts.recovery import Recovered, without_rounds
from real_runs.engines.counts.rounding import Claim
from real_runs.engines.counts.skips import NoCounts

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

MOST_TRIED_AT_ONCE = 24
"""Numbers of rounds tried from either end for all lines together; well below `rounding.MOST_TRIED`."""

NO_LIMIT = -1

LARGEST = 10**9
"""Counts up to here leave every product below 2**63."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """The claims of lines as columns: `rounding.Claim` with `longest` = depths, for each of them.

    `drafted` and `accepted` have shape [lines] and are at most 10^9, `accepted` at most `drafted`;
    `length` [lines] and `survival` [lines, depths] hold units of 1 / their scale.
    """

    drafted: Ints
    accepted: Ints
    length: Ints
    length_scale: int
    survival: Ints
    survival_scale: int
    none_empty: bool

    @property
    def depths(self) -> int:
        """Positions that every line lists."""
        return int(self.survival.shape[1])

    def claim(self, line: int) -> Claim:
        """The claim of one line."""
        return Claim(
            drafted=int(self.drafted[line]),
            accepted=int(self.accepted[line]),
            length=Printed(units=int(self.length[line]), scale=self.length_scale),
            survival=tuple(
                Printed(units=units, scale=self.survival_scale)
                for units in self.survival[line].tolist()
            ),
            longest=self.depths,
            none_empty=self.none_empty,
        )

    def of(self, lines: Ints | Flags) -> Claims:
        """The claims of some of the lines."""
        return Claims(
            drafted=self.drafted[lines],
            accepted=self.accepted[lines],
            length=self.length[lines],
            length_scale=self.length_scale,
            survival=self.survival[lines],
            survival_scale=self.survival_scale,
            none_empty=self.none_empty,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreements:
    """What agrees with each claim: `fewest` and `most` rounds (-1 without a limit), shape [lines].

    `known` says which of them have their rounds, `fewest`. Counts per depth lie in `lows` to `highs`,
    shape [lines, depths]. Of lines that are not `settled`, nothing is found out.
    """

    fewest: Ints
    most: Ints
    known: Flags
    lows: Ints
    highs: Ints
    settled: Flags


def agreements(claims: Claims, *, full_drafts: bool) -> Agreements:
    """As `recovery.without_rounds`, for every line that is settled soon."""
    low, high, settled = _ranges(claims)
    limited = high != NO_LIMIT
    settled &= ~limited | (low <= high)
    fewest, found = _first_agreeing(claims, low, high, settled, step=1)
    settled &= found
    most, found = _first_agreeing(claims, high, fewest, settled & limited, step=-1)
    settled &= found | ~limited
    known = most == fewest
    if full_drafts:
        known |= claims.drafted == fewest * claims.depths
    # As `Agreement.bounds` has it: without a limit, only zeros are known.
    settled &= known | limited | (claims.accepted == 0)
    last = np.where(known | ~limited, fewest, most)
    lows, highs, agree = _boxes(claims, fewest, last)
    settled &= agree
    lows, highs = narrowed(lows, highs, claims.accepted)
    return Agreements(
        fewest=fewest, most=most, known=known, lows=lows, highs=highs, settled=settled
    )


def _ranges(claims: Claims) -> tuple[Ints, Ints, Flags]:
    """All rounds that counts and ratios allow, as `rounding` has them, and where it does not give up."""
    accepted = claims.accepted
    low = np.maximum(1, -(-claims.drafted // claims.depths))
    none = np.iinfo(np.int64).max
    high = claims.drafted.copy() if claims.none_empty else np.full_like(accepted, none)
    settled = np.ones(accepted.shape, dtype=bool)
    units = claims.length - claims.length_scale
    doubled = 2 * claims.survival
    for least, largest, scale in (
        (2 * units - 1, 2 * units + 1, 2 * claims.length_scale),
        (
            np.maximum(doubled - 1, 0).sum(axis=1),
            (doubled + 1).sum(axis=1),
            2 * claims.survival_scale,
        ),
    ):
        settled &= largest > 0
        low = np.maximum(low, -(-accepted * scale // np.maximum(largest, 1)))
        most = np.where(least > 0, accepted * scale // np.maximum(least, 1), none)
        high = np.minimum(high, most)
    return low, np.where(high == none, NO_LIMIT, high), settled


def _first_agreeing(
    claims: Claims, start: Ints, last: Ints, wanted: Flags, *, step: int
) -> tuple[Ints, Flags]:
    """From `start` on the first number of rounds that agrees, and for which lines one was found.

    Downwards, `last` agrees and needs no trial; upwards, -1 stands for no last one.
    """
    rounds = start.copy()
    found = np.zeros(start.shape, dtype=bool)
    left = np.flatnonzero(wanted)
    tried = claims.of(left) if left.size < wanted.size else claims
    for _ in range(MOST_TRIED_AT_ONCE):
        if not left.size:
            break
        now = rounds[left]
        _, _, agree = _boxes(tried, now, now)
        if step < 0:
            agree |= now == last[left]
        found[left[agree]] = True
        more = ~agree
        if step > 0:
            more &= (last[left] == NO_LIMIT) | (now < last[left])
        left = left[more]
        tried = tried.of(more)
        rounds[left] += step
    return rounds, found


def _boxes(claims: Claims, fewest: Ints, most: Ints) -> tuple[Ints, Ints, Flags]:
    """Lowest and highest counts per depth, none increasing, and where counts in it add up."""
    accepted = claims.accepted
    doubled, scale = 2 * claims.survival, 2 * claims.survival_scale
    highs = np.minimum((doubled + 1) * most[:, None] // scale, most[:, None])
    highs = np.minimum.accumulate(highs, axis=1)
    lows = np.maximum(-((1 - doubled) * fewest[:, None] // scale), 0)
    lows = np.maximum.accumulate(lows[:, ::-1], axis=1)[:, ::-1].copy()
    if claims.none_empty:  # a round that kept nothing wasted a token at least
        lows[:, 0] = np.maximum(lows[:, 0], fewest - (claims.drafted - accepted))
    agree = (highs.sum(axis=1) >= accepted) & (lows.sum(axis=1) <= accepted)
    agree &= (lows <= highs).all(axis=1)
    return lows, highs, agree


def one_by_one(claims: Claims, line: int, *, full_drafts: bool) -> Recovered | NoCounts:
    """What a line that is not settled supports, or why nothing."""
    try:
        return without_rounds(claims.claim(line), full_drafts=full_drafts)
    except NoCounts as reason:
        return reason

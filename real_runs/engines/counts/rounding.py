"""Counts back from printed ratios: everything that agrees with what is printed, and nothing else."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TypeAlias

from real_runs.engines.counts.printed import Printed

MOST_TRIED = 512
"""Numbers of rounds tried from either end of the range; above 1000 rounds the first one agrees."""

Bounds: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a line says of its rounds: two counts, and ratios over the rounds that it does not print.

    `length` is 1 + accepted / rounds. `survival` holds, per depth, the share of all rounds that kept
    a token there. `longest` is the longest possible draft. `kept_any` is the number of rounds that
    kept a token, where printed. `none_empty` says that every round drafted at least one token.
    """

    drafted: int
    accepted: int
    length: Printed | None = None
    survival: tuple[Printed, ...] = ()
    longest: int | None = None
    kept_any: int | None = None
    none_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The fewest and the most rounds that agree with a claim, the most None where nothing limits it."""

    fewest: int
    most: int | None
    claim: Claim
    box: tuple[list[int], list[int]] | None

    def bounds(self) -> Bounds | None:
        """Counts per depth as `depth_bounds` has them; None if nothing bounds them."""
        claim = self.claim
        if self.most is None and claim.accepted:
            return None  # without a limit on the rounds, only zeros are known
        most = self.most or self.fewest
        if most == self.fewest and self.box is not None:
            return _narrowed(*self.box, claim.accepted) or None
        return depth_bounds(claim, self.fewest, most) or None

    def at_fewest(self) -> Bounds | None:
        """The same for the fewest rounds alone."""
        if self.box is not None:
            return _narrowed(*self.box, self.claim.accepted) or None
        return depth_bounds(self.claim, self.fewest, self.fewest) or None


def agreement(claim: Claim) -> Agreement | None:
    """The fewest and the most rounds that agree with the claim; None if no number does.

    The most is None where nothing limits it (no token accepted). Between the two not every number
    need agree. Where the first 512 from an end disagree, the next one stands for that end.

    >>> line = Claim(drafted=259, accepted=167, length=Printed(units=292, scale=100), longest=3)
    >>> found = agreement(line)
    >>> found.fewest, found.most
    (87, 87)
    """
    low, high = _range_of(claim)
    last = low + MOST_TRIED if high is None else high
    fewest: int | None = low
    box = _box(claim, low, low) if low <= last else None  # mostly the first one agrees
    if box is None:
        fewest = _next_agreeing(claim, range(low, last + 1))
    if fewest is None:
        return None
    most = high
    # Of too many, the first one that was not tried stands for the end, and needs no trial here.
    if high is not None and not (fewest - low < MOST_TRIED and fewest == high):
        if _box(claim, high, high) is None:
            most = _next_agreeing(claim, range(high, fewest - 1, -1), last_agrees=True)
        if most is None:
            return None
    return Agreement(fewest=fewest, most=most, claim=claim, box=box)


def agrees(claim: Claim, rounds: int) -> bool:
    """Whether `rounds` rounds can print what the claim says."""
    low, high = _range_of(claim)
    in_range = low <= rounds and (high is None or rounds <= high)
    return in_range and _box(claim, rounds, rounds) is not None


def depth_bounds(claim: Claim, fewest: int, most: int) -> Bounds | None:
    """Per depth the fewest and the most rounds, of `fewest` to `most`, that can have kept it.

    For one number of rounds no tighter bounds exist: each end belongs to counts that do not
    increase, sum to the accepted tokens and print as claimed. None if there are no such counts; with
    no survival printed, nothing is bounded and the bounds are empty.

    >>> survival = tuple(Printed(units=units, scale=1000) for units in (805, 632, 483))
    >>> depth_bounds(Claim(drafted=259, accepted=167, survival=survival), 87, 87)
    ((70, 70), (55, 55), (42, 42))
    """
    box = _box(claim, fewest, most)
    return None if box is None else _narrowed(*box, claim.accepted)


def _next_agreeing(claim: Claim, tried: range, *, last_agrees: bool = False) -> int | None:
    """Behind the first of `tried`, which does not agree, the next one that does.

    Of too many, it is the first one that was not tried any more.
    """
    # A single one left over is tried as well: unproven, it could pass for the only one that agrees.
    too_many = bool(tried[MOST_TRIED + 1 :])
    for rounds in tried[1:MOST_TRIED] if too_many else tried[1:]:
        if (last_agrees and rounds == tried[-1]) or _box(claim, rounds, rounds) is not None:
            return rounds
    return tried[MOST_TRIED] if too_many else None


def _range_of(claim: Claim) -> tuple[int, int | None]:
    """All rounds that the counts, the length, and the sum of the survival allow."""
    accepted = claim.accepted
    low, high = 1, claim.drafted if claim.none_empty else None
    if claim.longest:
        low = max(low, -(-claim.drafted // claim.longest))
    if claim.kept_any is not None:
        low = max(low, claim.kept_any)
    for least, largest, scale in _accepted_per_round(claim):
        if largest > 0:
            low = max(low, -(-accepted * scale // largest))
        elif accepted:
            return 1, 0
        if least > 0:
            most = accepted * scale // least
            high = most if high is None else min(high, most)
    return low, high


def _accepted_per_round(claim: Claim) -> list[tuple[int, int, int]]:
    """Smallest and largest accepted / rounds over a scale, as the length says and the survival adds up."""
    ratios = []
    if claim.length is not None:
        units, scale = claim.length.units - claim.length.scale, claim.length.scale
        ratios.append((2 * units - 1, 2 * units + 1, 2 * scale))
    if claim.survival:
        finest = max([printed.scale for printed in claim.survival])
        least = largest = 0
        for printed in claim.survival:
            times = finest // printed.scale  # powers of ten: each divides the finest
            doubled = 2 * printed.units
            least += max(doubled - 1, 0) * times
            largest += (doubled + 1) * times
        ratios.append((least, largest, 2 * finest))
    return ratios


def _box(claim: Claim, fewest: int, most: int) -> tuple[list[int], list[int]] | None:
    """Lowest and highest counts per depth, neither increasing; None if no counts in it add up."""
    first_low, ceiling = _first_range(claim, fewest, most)
    survival, accepted = claim.survival, claim.accepted
    if not survival:
        kept = first_low <= min(ceiling, accepted) and (ceiling or not accepted)
        return ([], []) if kept else None
    # As Printed.counts has it, in one loop from either side: this is where a log's time goes.
    highs = []
    for printed in survival:
        high = (2 * printed.units + 1) * most // (2 * printed.scale)
        ceiling = min(high, ceiling)
        highs.append(ceiling)
    if sum(highs) < accepted:
        return None
    lows, floor = [], 0
    for printed, high in zip(reversed(survival), reversed(highs), strict=True):
        floor = max(floor, -(-(2 * printed.units - 1) * fewest // (2 * printed.scale)))
        if floor > high:
            return None
        lows.append(floor)
    lows[-1] = max(floor, first_low)
    if lows[-1] > highs[0] or sum(lows) > accepted:
        return None
    lows.reverse()
    return lows, highs


def _first_range(claim: Claim, fewest: int, most: int) -> tuple[int, int]:
    """How many rounds can have kept their first token, before the ratios are looked at."""
    low, high = 0, most
    if claim.kept_any is not None:
        low = high = claim.kept_any
    if claim.none_empty:  # a round that kept nothing wasted a token at least
        low = max(low, fewest - (claim.drafted - claim.accepted))
    return low, min(high, most)


def _narrowed(lows: list[int], highs: list[int], total: int) -> Bounds:
    """What the sum leaves of bounds that do not increase with depth.

    Non-increasing counts between such bounds take every sum from the smallest to the largest, so a
    count is possible exactly if the others can make up the rest.
    """
    if lows == highs:
        return tuple(zip(lows, highs, strict=True))
    for ends in (lows, highs):
        if sum(ends) == total:  # no count can be more, or less, than that
            return tuple(zip(ends, ends, strict=True))
    before, behind = 0, sum(lows)
    bounds = []
    for depth, (low, high) in enumerate(zip(lows, highs, strict=True)):
        behind -= low
        least = most = low
        if low < high:
            least = _first_reaching(
                range(low, high + 1), total - before, highs[depth:], capped=True
            )
            # Downwards: the largest count that leaves enough for the others.
            most = _first_reaching(
                range(high, low - 1, -1), total - behind, lows[: depth + 1], capped=False
            )
        before += high
        bounds.append((least, most))
    return tuple(bounds)


def _first_reaching(counts: range, needed: int, others: list[int], *, capped: bool) -> int:
    """The first of `counts` with which `others` can make up what is needed; mostly the first of all.

    `capped` ones are at most the count and must reach `needed`; else they are at least the count, and
    must not exceed it.
    """

    def missing(count: int) -> int:
        if capped:
            return needed - sum([min(other, count) for other in others])
        return sum([max(other, count) for other in others]) - needed

    if missing(counts[0]) <= 0:
        return counts[0]
    return counts[
        bisect_left(counts, 0, lo=1, hi=len(counts) - 1, key=lambda count: -missing(count))
    ]

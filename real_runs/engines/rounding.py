"""Counts back from printed ratios: everything that agrees with what is printed, and nothing else."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from operator import gt
from typing import TypeAlias

from real_runs.engines.printed import Printed

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


def agreeing_rounds(claim: Claim) -> tuple[int, int | None] | None:
    """The fewest and the most rounds that agree with the claim; None if no number does.

    The most is None where nothing limits it (no token accepted). Between the two not every number
    need agree. Where the first 512 from an end disagree, the next one stands for that end.

    >>> line = Claim(drafted=259, accepted=167, length=Printed(units=292, scale=100), longest=3)
    >>> agreeing_rounds(line)
    (87, 87)
    """
    low, high = _range_of(claim)
    last = low + MOST_TRIED if high is None else high
    fewest = _first_agreeing(claim, range(low, last + 1))
    if fewest is None or high is None:
        return None if fewest is None else (fewest, None)
    if fewest - low < MOST_TRIED and fewest == high:
        return fewest, high
    most = _first_agreeing(claim, range(high, fewest - 1, -1))
    return None if most is None else (fewest, most)


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


def _first_agreeing(claim: Claim, tried: range) -> int | None:
    """The first of `tried` that agrees; of too many, the first one that was not tried any more."""
    # A single one left over is tried as well: unproven, it could pass for the only one that agrees.
    too_many = bool(tried[MOST_TRIED + 1 :])
    for rounds in tried[:MOST_TRIED] if too_many else tried:
        if _box(claim, rounds, rounds) is not None:
            return rounds
    return tried[MOST_TRIED] if too_many else None


def _range_of(claim: Claim) -> tuple[int, int | None]:
    """All rounds that the counts, the length, and the sum of the survival allow."""
    low, high = 1, claim.drafted if claim.none_empty else None
    if claim.longest:
        low = max(low, -(-claim.drafted // claim.longest))
    if claim.kept_any is not None:
        low = max(low, claim.kept_any)
    for least, largest, scale in _accepted_per_round(claim):
        if largest > 0:
            low = max(low, -(-claim.accepted * scale // largest))
        elif claim.accepted:
            return 1, 0
        if least > 0:
            most = claim.accepted * scale // least
            high = most if high is None else min(high, most)
    return low, high


def _accepted_per_round(claim: Claim) -> Iterator[tuple[int, int, int]]:
    """Smallest and largest accepted / rounds over a scale, as the length says and the survival adds up."""
    if claim.length is not None:
        units, scale = claim.length.units - claim.length.scale, claim.length.scale
        yield 2 * units - 1, 2 * units + 1, 2 * scale
    if claim.survival:
        scale = max(printed.scale for printed in claim.survival)  # powers of ten: each divides it
        doubled = [(2 * printed.units, scale // printed.scale) for printed in claim.survival]
        least = sum(max(units - 1, 0) * times for units, times in doubled)
        yield least, sum((units + 1) * times for units, times in doubled), 2 * scale


def _box(claim: Claim, fewest: int, most: int) -> tuple[list[int], list[int]] | None:
    """Lowest and highest counts per depth, neither increasing; None if no counts in it add up."""
    first_low, first_high = _first_range(claim, fewest, most)
    if not claim.survival:
        kept = first_low <= min(first_high, claim.accepted) and (first_high or not claim.accepted)
        return ([], []) if kept else None
    ranges = [printed.counts(fewest, most) for printed in claim.survival]
    lows = [low for low, _ in ranges]
    highs = [high for _, high in ranges]
    lows[0], highs[0] = max(lows[0], first_low), min(highs[0], first_high)
    lows = list(accumulate(reversed(lows), max))[::-1]
    highs = list(accumulate(highs, min))
    if any(map(gt, lows, highs)) or not sum(lows) <= claim.accepted <= sum(highs):
        return None
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
    before, behind = 0, sum(lows)
    bounds = []
    for depth, (low, high) in enumerate(zip(lows, highs, strict=True)):
        behind -= low
        least = most = low
        if low < high:
            capped = partial(_sum_capped, highs[depth:])
            least = _first_reaching(range(low, high + 1), total - before, capped)
            # Downwards: the largest count that leaves enough for the others.
            raised = partial(_negative_sum_raised, lows[: depth + 1])
            most = _first_reaching(range(high, low - 1, -1), behind - total, raised)
        before += high
        bounds.append((least, most))
    return tuple(bounds)


def _first_reaching(counts: range, needed: int, total: Callable[[int], int]) -> int:
    """The first of `counts` whose rising `total` reaches what is needed; mostly the first of all."""
    if total(counts[0]) >= needed:
        return counts[0]
    return counts[bisect_left(counts, needed, lo=1, hi=len(counts) - 1, key=total)]


def _sum_capped(highs: list[int], most: int) -> int:
    return sum([min(high, most) for high in highs])


def _negative_sum_raised(lows: list[int], least: int) -> int:
    return -sum([max(low, least) for low in lows])

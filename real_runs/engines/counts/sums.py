"""Sums of many totals, without a validated record in between."""

from __future__ import annotations

from itertools import zip_longest

from simulator import AcceptanceTotals


class RunningTotals:
    """The sum of totals of one draft length and one length rule, as `+` gives it.

    >>> totals = AcceptanceTotals(rounds=2, drafted=4, accepted=3, accepted_by_depth=(2, 1))
    >>> running = RunningTotals(totals)
    >>> running.add(totals)
    >>> running.total() == totals + totals
    True
    """

    __slots__ = (
        "_accepted",
        "_drafted",
        "_emitted",
        "_first",
        "_highs",
        "_lows",
        "_rounds",
    )

    def __init__(self, first: AcceptanceTotals) -> None:
        self._first = first
        self._drafted = first.drafted
        self._accepted = first.accepted
        self._rounds = first.rounds
        self._emitted = first.emitted
        bounds = first.depth_bounds
        self._lows = None if bounds is None else [low for low, _ in bounds]
        self._highs = None if bounds is None else [high for _, high in bounds]

    def add(self, other: AcceptanceTotals) -> None:
        """Add totals of the same draft length and length rule."""
        self._drafted += other.drafted
        self._accepted += other.accepted
        if self._rounds is not None:
            self._rounds = None if other.rounds is None else self._rounds + other.rounds
        if self._emitted is not None:
            self._emitted = None if other.emitted is None else self._emitted + other.emitted
        if self._lows is None or self._highs is None:
            return
        counts = other.accepted_by_depth
        if counts is not None:
            self._lows = _sum(self._lows, counts)
            self._highs = _sum(self._highs, counts)
            return
        bounds = other.accepted_by_depth_bounds
        if bounds is None:
            self._lows = self._highs = None
            return
        self._lows = _sum(self._lows, [low for low, _ in bounds])
        self._highs = _sum(self._highs, [high for _, high in bounds])

    def total(self) -> AcceptanceTotals:
        """The sum so far."""
        by_depth = bounds = None
        if self._lows is not None and self._highs is not None:
            if self._lows == self._highs:
                by_depth = tuple(self._lows)
            else:
                bounds = tuple(zip(self._lows, self._highs, strict=True))
        return AcceptanceTotals(
            drafted=self._drafted,
            accepted=self._accepted,
            rounds=self._rounds,
            emitted=self._emitted,
            accepted_by_depth=by_depth,
            accepted_by_depth_bounds=bounds,
            longest_draft=self._first.longest_draft,
            length_rule=self._first.length_rule,
        )


def _sum(first: list[int], second: list[int] | tuple[int, ...]) -> list[int]:
    if len(first) == len(second):
        return [a + b for a, b in zip(first, second, strict=True)]
    return [a + b for a, b in zip_longest(first, second, fillvalue=0)]

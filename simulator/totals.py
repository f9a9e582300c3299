"""What engines print: counts that do not say which depths were tested, and ratios without counts.

Nothing in here fills a gap with a guess.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from simulator._checks import as_count
from simulator._counting import (
    LengthRule,
    add_by_depth,
    add_known,
    check_length_rule,
    pooled_rule,
    standard_error,
)
from simulator.acceptance import AcceptanceTable
from simulator.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceTotals:
    """What an engine gives that does not say how many rounds tested each depth.

    Every field that the text does not support is None. `rounds` counts target passes that judged a
    draft, or all of them where the engine counts those; the importer's note says which.
    `accepted_by_depth` holds the rounds that kept each depth where it is printed or can be
    recovered exactly; where rounding hides the exact count, `accepted_by_depth_bounds` holds the
    smallest and the largest instead. `longest_draft` is the largest number of tokens one round can
    have drafted.

    >>> totals = AcceptanceTotals(rounds=87, drafted=259, accepted=167, accepted_by_depth=(70, 55, 42))
    >>> totals.tokens_per_round.value
    2.9195402298850572
    >>> totals.to_table() is None  # two tokens short of 3 × 87: where is not known
    True
    """

    drafted: int
    accepted: int
    rounds: int | None = None
    emitted: int | None = None
    accepted_by_depth: tuple[int, ...] | None = None
    accepted_by_depth_bounds: tuple[tuple[int, int], ...] | None = None
    longest_draft: int | None = None
    length_rule: LengthRule = "unknown"

    def __post_init__(self) -> None:
        as_count("drafted", self.drafted)
        as_count("accepted", self.accepted)
        if self.accepted > self.drafted:
            raise ValueError(
                f"accepted must be at most drafted ({self.drafted}); got {self.accepted}."
            )
        if self.rounds is not None:
            as_count("rounds", self.rounds)
            if self.rounds == 0 and self.drafted:
                raise ValueError(
                    f"rounds must be above 0 with {self.drafted} drafted tokens; got 0."
                )
        if self.emitted is not None:
            most = None if self.rounds is None else self.rounds + self.accepted
            as_count("emitted", self.emitted, most=most)
        if self.longest_draft is not None:
            as_count("longest_draft", self.longest_draft)
            if self.longest_draft == 0 and self.drafted:
                raise ValueError(
                    f"longest_draft must be above 0 with {self.drafted} drafted tokens; got 0."
                )
            if self.rounds is not None and self.drafted > self.rounds * self.longest_draft:
                raise ValueError(
                    f"drafted must be at most rounds × longest_draft "
                    f"({self.rounds} × {self.longest_draft}); got {self.drafted}."
                )
        check_length_rule(self.length_rule)
        if self.accepted_by_depth is not None and self.accepted_by_depth_bounds is not None:
            raise ValueError("accepted_by_depth and its bounds exclude each other; got both.")
        if self.accepted_by_depth is not None:
            self._check_depths(self.accepted_by_depth)
        if (
            self.accepted_by_depth_bounds is not None
            and self.longest_draft is not None
            and len(self.accepted_by_depth_bounds) != self.longest_draft
        ):
            raise ValueError(
                f"accepted_by_depth_bounds must have longest_draft ({self.longest_draft}) depths; "
                f"got {len(self.accepted_by_depth_bounds)}."
            )
        for depth, (low, high) in enumerate(self.accepted_by_depth_bounds or ()):
            if not 0 <= low <= high:
                raise ValueError(
                    f"accepted_by_depth_bounds[{depth}] must satisfy 0 <= low <= high; "
                    f"got {low}, {high}."
                )

    def _check_depths(self, by_depth: tuple[int, ...]) -> None:
        alive = self.rounds
        for depth, accepted in enumerate(by_depth):
            as_count(f"accepted_by_depth[{depth}]", accepted, most=alive)
            alive = accepted
        if sum(by_depth) != self.accepted:
            raise ValueError(
                f"accepted_by_depth must sum to accepted ({self.accepted}); got {sum(by_depth)}."
            )
        if self.longest_draft is not None and len(by_depth) != self.longest_draft:
            raise ValueError(
                f"accepted_by_depth must have longest_draft ({self.longest_draft}) depths; "
                f"got {len(by_depth)}."
            )

    def __add__(self, other: AcceptanceTotals) -> AcceptanceTotals:
        """Pool two totals; what one of them does not know, the sum does not know."""
        by_depth = bounds = None
        mine, theirs = self.depth_bounds, other.depth_bounds
        if mine is not None and theirs is not None:
            lows = add_by_depth([low for low, _ in mine], [low for low, _ in theirs])
            highs = add_by_depth([high for _, high in mine], [high for _, high in theirs])
            if lows == highs:
                by_depth = lows
            else:
                bounds = tuple(zip(lows, highs, strict=True))
        longest = None
        if self.longest_draft is not None and other.longest_draft is not None:
            longest = max(self.longest_draft, other.longest_draft)
        return AcceptanceTotals(
            drafted=self.drafted + other.drafted,
            accepted=self.accepted + other.accepted,
            rounds=add_known(self.rounds, other.rounds),
            emitted=add_known(self.emitted, other.emitted),
            accepted_by_depth=by_depth,
            accepted_by_depth_bounds=bounds,
            longest_draft=longest,
            length_rule=pooled_rule(
                self.length_rule, self.longest_draft, other.length_rule, other.longest_draft
            ),
        )

    @property
    def depth_bounds(self) -> tuple[tuple[int, int], ...] | None:
        """The smallest and largest accepted count per depth, equal where known; None if not printed."""
        if self.accepted_by_depth is not None:
            return tuple((count, count) for count in self.accepted_by_depth)
        return self.accepted_by_depth_bounds

    @property
    def accepted_fraction(self) -> float:
        """accepted / drafted, never called a rate; NaN when nothing was drafted."""
        return self.accepted / self.drafted if self.drafted else math.nan

    @property
    def tokens_per_round(self) -> Estimate:
        """1 + accepted / rounds; unknown (NaN) without rounds, without an error when depths are unknown."""
        if not self.rounds:
            return Estimate(value=math.nan)
        value = 1.0 + self.accepted / self.rounds
        if self.accepted_by_depth is None:
            return Estimate(value=value)
        return Estimate(value=value, se=standard_error(self.accepted_by_depth, self.rounds))

    def to_table(self) -> AcceptanceTable | None:
        """The full table if every draft had every depth (drafted == rounds × longest_draft), else None.

        >>> totals = AcceptanceTotals(
        ...     rounds=10, drafted=20, accepted=12, accepted_by_depth=(7, 5), longest_draft=2)
        >>> totals.to_table().tested
        (10, 7)
        """
        if self.rounds is None or self.accepted_by_depth is None or self.longest_draft is None:
            return None
        if self.drafted != self.rounds * self.longest_draft:
            return None
        return AcceptanceTable(
            rounds=self.rounds,
            drafted=self.drafted,
            tested=(self.rounds, *self.accepted_by_depth)[: self.longest_draft],
            accepted=self.accepted_by_depth,
            discarded=0 if self.emitted is None else self.rounds + self.accepted - self.emitted,
        )


Counts: TypeAlias = AcceptanceTable | AcceptanceTotals
"""The fullest record that a source supports: a table only where every depth is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRatio:
    """A ratio that a source prints without the counts behind it.

    `half_width` is half a unit of the last printed digit, so the true ratio lies within
    value ± half_width. `averaged_over` says over what, as far as the source tells
    ("10 s interval", "requests, unweighted", "unknown").

    >>> ReportedRatio(quantity="tokens_per_round", value=2.92, half_width=0.005, averaged_over="rounds").bounds
    (2.915, 2.925)
    """

    quantity: str
    value: float
    half_width: float
    averaged_over: str
    depth: int | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise ValueError(f"value must be a finite number; got {self.value!r}.")
        if not (self.half_width >= 0.0 and math.isfinite(self.half_width)):
            raise ValueError(
                f"half_width must be a finite number of at least 0; got {self.half_width!r}."
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest ratio that print as `value`."""
        return self.value - self.half_width, self.value + self.half_width

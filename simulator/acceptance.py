"""What a run leaves behind: counts first, ratios last.

`AcceptanceTable` knows every depth, `AcceptanceTotals` what an engine prints of it, `ReportedRatio`
a printed ratio without its counts. Nothing in here fills a gap with a guess.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeAlias

import numpy as np

from simulator._checks import IntArray, as_count
from simulator.estimate import Estimate

LengthRule: TypeAlias = Literal["fixed", "scheduled", "confidence", "unknown"]
LENGTH_RULES: tuple[LengthRule, ...] = ("fixed", "scheduled", "confidence", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceTable:
    """Counts of a run by depth: how many rounds tested a token there, how many kept it.

    Shapes: `tested` and `accepted` hold one count per depth, the first drafted token first.
    accepted[i] <= tested[i] <= accepted[i - 1] (tested[0] <= rounds): a discrete survival table in
    which a rejection is a death and the end of a draft is censoring.

    `drafted` counts all drafted tokens (tree nodes included), tested or not. `discarded` counts
    emitted tokens thrown away behind a stop token or a limit. `length_rule` says what decided how
    long the drafts were; under "confidence" the table describes the tokens that were offered and
    nothing else.

    >>> table = AcceptanceTable(rounds=10, drafted=20, tested=(10, 7), accepted=(7, 5))
    >>> table.emitted
    22
    >>> table.tokens_per_round
    2.20 ± 0.29
    >>> table + table == AcceptanceTable(rounds=20, drafted=40, tested=(20, 14), accepted=(14, 10))
    True
    """

    rounds: int
    drafted: int
    tested: tuple[int, ...]
    accepted: tuple[int, ...]
    discarded: int = 0
    length_rule: LengthRule = "fixed"

    def __post_init__(self) -> None:
        as_count("rounds", self.rounds)
        as_count("drafted", self.drafted)
        as_count("discarded", self.discarded, most=self.rounds + sum(self.accepted))
        if self.length_rule not in LENGTH_RULES:
            raise ValueError(
                f"length_rule must be one of {', '.join(LENGTH_RULES)}; got {self.length_rule!r}."
            )
        if len(self.tested) != len(self.accepted):
            raise ValueError(
                "tested and accepted must have one count per depth each; "
                f"got {len(self.tested)} and {len(self.accepted)} depths."
            )
        alive = self.rounds
        for depth, (tested, accepted) in enumerate(zip(self.tested, self.accepted, strict=True)):
            as_count(f"tested[{depth}]", tested)
            as_count(f"accepted[{depth}]", accepted)
            if not accepted <= tested <= alive:
                raise ValueError(
                    f"accepted <= tested <= rounds still alive must hold at depth {depth}; "
                    f"got {accepted} <= {tested} <= {alive}."
                )
            alive = accepted
        if sum(self.tested) > self.drafted:
            raise ValueError(
                "tested tokens must be drafted tokens; "
                f"got {sum(self.tested)} tested and {self.drafted} drafted."
            )

    @classmethod
    def from_lengths(cls, lengths: IntArray, *, gamma: int) -> AcceptanceTable:
        """The table of rounds that each drafted `gamma` tokens and kept `lengths` of them.

        `lengths` has shape [rounds]. Raises ValueError for a length outside [0, gamma].

        >>> AcceptanceTable.from_lengths(np.array([0, 2, 1]), gamma=2).accepted
        (2, 1)
        """
        gamma = as_count("gamma", gamma)
        values = np.asarray(lengths)
        if values.size and not (0 <= values.min() and values.max() <= gamma):
            raise ValueError(
                f"lengths must lie in [0, {gamma}]; got {values.min()} to {values.max()}."
            )
        ended = np.bincount(values, minlength=gamma + 1)  # [gamma + 1]
        reached = ended[::-1].cumsum()[::-1]  # [gamma + 1], rounds that kept at least i tokens
        counts = tuple(int(count) for count in reached)
        return cls(
            rounds=values.size,
            drafted=values.size * gamma,
            tested=counts[:-1],
            accepted=counts[1:],
        )

    def __add__(self, other: AcceptanceTable) -> AcceptanceTable:
        """Pool two tables; of two different length rules the weaker one stays."""
        return AcceptanceTable(
            rounds=self.rounds + other.rounds,
            drafted=self.drafted + other.drafted,
            tested=_add_by_depth(self.tested, other.tested),
            accepted=_add_by_depth(self.accepted, other.accepted),
            discarded=self.discarded + other.discarded,
            length_rule=_pooled_rule(self, other),
        )

    @property
    def depths(self) -> int:
        """The longest draft in the table [tokens]."""
        return len(self.tested)

    @property
    def emitted(self) -> int:
        """Tokens that arrived: rounds + accepted - discarded."""
        return self.rounds + sum(self.accepted) - self.discarded

    @property
    def ended(self) -> tuple[int, ...]:
        """Rounds by number of accepted tokens, shape [depths + 1]: what vLLM calls the histogram."""
        reached = (self.rounds, *self.accepted, 0)
        return tuple(reached[n] - reached[n + 1] for n in range(self.depths + 1))

    @property
    def tokens_per_round(self) -> Estimate:
        """1 + accepted / rounds: E[tokens], τ, "mean acceptance length".

        Its standard error takes the rounds as independent: right for simulated rounds, too small for
        the rounds of real requests.
        """
        if self.rounds == 0:
            return Estimate(value=math.nan)
        mean = sum(self.accepted) / self.rounds
        # accepted[i] rounds kept at least i + 1 tokens, and n² is the sum of 2 i + 1 over i < n.
        squares = sum((2 * i + 1) * count for i, count in enumerate(self.accepted)) / self.rounds
        return Estimate(value=1.0 + mean, se=_standard_error(squares - mean * mean, self.rounds))

    @property
    def emitted_per_round(self) -> float:
        """Tokens that arrived per round: tokens per round less the discarded ones; NaN without rounds."""
        return self.emitted / self.rounds if self.rounds else math.nan

    @property
    def conditional_acceptance(self) -> tuple[Estimate, ...]:
        """accepted[i] / tested[i] per depth, the quantity the closed form calls p; unknown if untested."""
        return tuple(
            _proportion(accepted, tested)
            for tested, accepted in zip(self.tested, self.accepted, strict=True)
        )

    @property
    def survival(self) -> tuple[Estimate, ...]:
        """accepted[i] / rounds per depth: what vLLM and llama.cpp print "per position"."""
        return tuple(_proportion(accepted, self.rounds) for accepted in self.accepted)

    @property
    def accepted_fraction(self) -> Estimate:
        """accepted / drafted, which engines call the acceptance rate: falls with γ by construction.

        The standard error takes the draft lengths as given.
        """
        if self.drafted == 0:
            return Estimate(value=math.nan)
        tokens = self.tokens_per_round
        se = None if tokens.se is None else tokens.se * self.rounds / self.drafted
        return Estimate(value=sum(self.accepted) / self.drafted, se=se)


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
                raise ValueError(f"rounds must be above 0 with {self.drafted} drafted tokens; got 0.")
        if self.emitted is not None:
            as_count("emitted", self.emitted)
        if self.longest_draft is not None:
            as_count("longest_draft", self.longest_draft)
            if self.rounds is not None and self.drafted > self.rounds * self.longest_draft:
                raise ValueError(
                    f"drafted must be at most rounds × longest_draft "
                    f"({self.rounds} × {self.longest_draft}); got {self.drafted}."
                )
        if self.length_rule not in LENGTH_RULES:
            raise ValueError(
                f"length_rule must be one of {', '.join(LENGTH_RULES)}; got {self.length_rule!r}."
            )
        if self.accepted_by_depth is not None and self.accepted_by_depth_bounds is not None:
            raise ValueError("accepted_by_depth and its bounds exclude each other; got both.")
        if self.accepted_by_depth is not None:
            self._check_depths(self.accepted_by_depth)
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
            lows = _add_by_depth([low for low, _ in mine], [low for low, _ in theirs])
            highs = _add_by_depth([high for _, high in mine], [high for _, high in theirs])
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
            rounds=_add_known(self.rounds, other.rounds),
            emitted=_add_known(self.emitted, other.emitted),
            accepted_by_depth=by_depth,
            accepted_by_depth_bounds=bounds,
            longest_draft=longest,
            length_rule=self.length_rule if self.length_rule == other.length_rule else "unknown",
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
        squares = sum((2 * i + 1) * count for i, count in enumerate(self.accepted_by_depth))
        return Estimate(
            value=value,
            se=_standard_error(squares / self.rounds - (value - 1.0) ** 2, self.rounds),
        )

    def to_table(self) -> AcceptanceTable | None:
        """The full table if every draft had every depth (drafted == rounds × depths), else None.

        >>> AcceptanceTotals(rounds=10, drafted=20, accepted=12, accepted_by_depth=(7, 5)).to_table()
        AcceptanceTable(rounds=10, drafted=20, tested=(10, 7), accepted=(7, 5), discarded=0, length_rule='fixed')
        """
        if self.rounds is None or self.accepted_by_depth is None:
            return None
        if self.drafted != self.rounds * len(self.accepted_by_depth):
            return None
        return AcceptanceTable(
            rounds=self.rounds,
            drafted=self.drafted,
            tested=(self.rounds, *self.accepted_by_depth)[: len(self.accepted_by_depth)],
            accepted=self.accepted_by_depth,
        )


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


def _proportion(successes: int, trials: int) -> Estimate:
    if trials == 0:
        return Estimate(value=math.nan)
    share = successes / trials
    return Estimate(value=share, se=math.sqrt(share * (1.0 - share) / trials))


def _standard_error(variance: float, n: int) -> float | None:
    """Standard error of a mean of n values from their variance (n - 1 in the divisor)."""
    return math.sqrt(max(variance, 0.0) / (n - 1)) if n > 1 else None


def _add_by_depth(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    """Sum by depth; the shorter one has no counts at the depths it lacks."""
    return tuple(a + b for a, b in zip_longest(first, second, fillvalue=0))


def _add_known(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def _pooled_rule(first: AcceptanceTable, second: AcceptanceTable) -> LengthRule:
    """Fixed drafts of two lengths make a schedule; otherwise the rule that says less stays."""
    if first.rounds == 0 or second.rounds == 0:
        return second.length_rule if first.rounds == 0 else first.length_rule
    if first.length_rule == second.length_rule == "fixed" and first.depths != second.depths:
        return "scheduled"
    return max(first.length_rule, second.length_rule, key=LENGTH_RULES.index)

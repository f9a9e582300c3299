"""The counts of a run by depth: counts first, ratios last."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simulator._checks import IntArray, as_count
from simulator._counting import (
    LengthRule,
    add_by_depth,
    check_length_rule,
    pooled_rule,
    proportion,
    standard_error,
)
from simulator.estimate import Estimate


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
        check_length_rule(self.length_rule)
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

        `lengths` has shape [rounds]. Raises ValueError for a length that is no whole number in
        [0, gamma].

        >>> AcceptanceTable.from_lengths(np.array([0, 2, 1]), gamma=2).accepted
        (2, 1)
        """
        gamma = as_count("gamma", gamma)
        values = np.asarray(lengths)
        if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
            raise ValueError(
                "lengths must be whole numbers in one dimension; "
                f"got {values.dtype} in {values.ndim}."
            )
        if values.size and (values.min() < 0 or values.max() > gamma):
            raise ValueError(
                f"lengths must lie in [0, {gamma}]; got {values.min()} to {values.max()}."
            )
        ended = np.bincount(values.astype(np.int64), minlength=gamma + 1)  # [gamma + 1]
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
        if not (self.rounds and other.rounds):  # a table without rounds has no say
            return max(self, other, key=lambda table: (table.rounds, table.depths))
        return AcceptanceTable(
            rounds=self.rounds + other.rounds,
            drafted=self.drafted + other.drafted,
            tested=add_by_depth(self.tested, other.tested),
            accepted=add_by_depth(self.accepted, other.accepted),
            discarded=self.discarded + other.discarded,
            length_rule=pooled_rule(self.length_rule, self.depths, other.length_rule, other.depths),
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
        value = 1.0 + sum(self.accepted) / self.rounds
        return Estimate(value=value, se=standard_error(self.accepted, self.rounds))

    @property
    def emitted_per_round(self) -> float:
        """Tokens that arrived per round: tokens per round less the discarded ones; NaN without rounds."""
        return self.emitted / self.rounds if self.rounds else math.nan

    @property
    def conditional_acceptance(self) -> tuple[Estimate, ...]:
        """accepted[i] / tested[i] per depth, the quantity the closed form calls p; unknown if untested."""
        return tuple(
            proportion(accepted, tested)
            for tested, accepted in zip(self.tested, self.accepted, strict=True)
        )

    @property
    def survival(self) -> tuple[Estimate, ...]:
        """accepted[i] / rounds per depth: what vLLM and llama.cpp print "per position"."""
        return tuple(proportion(accepted, self.rounds) for accepted in self.accepted)

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

"""The counts of many requests side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from simulator._checks import IntArray
from simulator._counting import LengthRule
from simulator.acceptance import AcceptanceTable
from simulator.estimate import Estimate
from simulator.observation import CountedUnit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RoundsInOrder:
    """The rounds of all requests, one request after the other, shape [rounds in all] each.

    `request` says whose round it is.
    """

    request: IntArray
    drafted: IntArray
    accepted: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimulatedRequests:
    """What became of whole requests: counts per request, in arrays.

    Shape [requests]: `tokens` asked for; `rounds`; `undrafted`, the rounds among them without a
    draft; `drafted` tokens; `discarded`, kept or bonus tokens behind the end; `untested`, rounds of a
    replayed trace whose outcome hangs on a token that was never tested, and `untested_tokens`, what
    they cover of the text: these rounds are in no other count.
    By depth: `tested` and `accepted` [requests, gamma], `ended` [requests, gamma + 1] the rounds by
    number of accepted tokens. `in_order` has the rounds where they were recorded.
    """

    gamma: int
    tokens: IntArray
    rounds: IntArray
    undrafted: IntArray
    drafted: IntArray
    discarded: IntArray
    tested: IntArray
    accepted: IntArray
    ended: IntArray
    untested: IntArray
    untested_tokens: IntArray
    length_rule: LengthRule = "fixed"
    in_order: RoundsInOrder | None = None

    @classmethod
    def joined(cls, parts: Sequence[SimulatedRequests]) -> SimulatedRequests:
        """The requests of all parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        arrays = [
            field.name
            for field in fields(cls)
            if isinstance(getattr(parts[0], field.name), np.ndarray)
        ]
        joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in arrays}
        orders = [part.in_order for part in parts]
        firsts = np.cumsum([0, *(part.requests for part in parts)]).tolist()
        return cls(
            gamma=parts[0].gamma,
            length_rule=max((part.length_rule for part in parts), key=_says_less),
            in_order=_joined_orders(orders, firsts),
            **joined,
        )

    @property
    def requests(self) -> int:
        """How many requests there are."""
        return self.rounds.size

    @property
    def emitted(self) -> IntArray:
        """Tokens that arrived per request, without those of untested rounds: shape [requests]."""
        return np.asarray(self.tokens - self.untested_tokens, dtype=np.int64)

    @property
    def table(self) -> AcceptanceTable:
        """The counts of all requests together."""
        return AcceptanceTable(
            rounds=int(self.rounds.sum()),
            drafted=int(self.drafted.sum()),
            tested=tuple(self.tested.sum(axis=0).tolist()),
            accepted=tuple(self.accepted.sum(axis=0).tolist()),
            discarded=int(self.discarded.sum()),
            length_rule=self.length_rule,
        )

    @property
    def tokens_per_round(self) -> Estimate:
        """1 + accepted / rounds, with the error that requests as a whole give it."""
        return self._per_round(self.rounds + self.accepted.sum(axis=1))

    @property
    def emitted_per_round(self) -> Estimate:
        """Tokens that arrived per round, with the error that requests as a whole give it."""
        return self._per_round(self.emitted)

    def _per_round(self, numbers: IntArray) -> Estimate:
        rounds = int(self.rounds.sum())
        if rounds == 0:
            return Estimate(value=math.nan)
        value = int(numbers.sum()) / rounds
        if self.requests < 2:
            return Estimate(value=value)
        # The linearised variance of a ratio of two sums over requests (Cochran 1977, 6.3).
        rest = numbers - value * self.rounds
        spread = float(rest @ rest) * self.requests / (self.requests - 1)
        return Estimate(value=value, se=math.sqrt(spread) / rounds)

    def steps(self, request: int) -> tuple[tuple[int, int], ...]:
        """The rounds of one request in order, (drafted, accepted) each; ValueError if not recorded."""
        if self.in_order is None:
            raise ValueError("steps are known only of requests simulated with record_steps=True.")
        order = self.in_order
        first, behind = np.searchsorted(order.request, [request, request + 1])
        return tuple(
            zip(
                order.drafted[first:behind].tolist(),
                order.accepted[first:behind].tolist(),
                strict=True,
            )
        )

    def units(self) -> tuple[CountedUnit, ...]:
        """One unit of counts per request, named by its number, with its steps if they were recorded."""
        columns = zip(
            self.rounds.tolist(),
            self.drafted.tolist(),
            self.tested.tolist(),
            self.accepted.tolist(),
            self.discarded.tolist(),
            strict=True,
        )
        return tuple(
            CountedUnit(
                counts=AcceptanceTable(
                    rounds=rounds,
                    drafted=drafted,
                    tested=tuple(tested),
                    accepted=tuple(accepted),
                    discarded=discarded,
                    length_rule=self.length_rule,
                ),
                name=str(request),
                steps=() if self.in_order is None else self.steps(request),
            )
            for request, (rounds, drafted, tested, accepted, discarded) in enumerate(columns)
        )


def counted(
    *,
    tokens: IntArray,
    ended: IntArray,
    undrafted: IntArray,
    discarded: IntArray,
    in_order: RoundsInOrder | None,
) -> SimulatedRequests:
    """The counts of requests whose drafts have gamma tokens or none, from `ended` [requests, gamma + 1]."""
    gamma = ended.shape[1] - 1
    reached = ended[:, ::-1].cumsum(axis=1)[:, ::-1]  # rounds that kept at least so many tokens
    tested = reached[:, :-1].copy()
    if gamma:
        tested[:, 0] -= undrafted
    rounds = np.ascontiguousarray(reached[:, 0])
    return SimulatedRequests(
        gamma=gamma,
        tokens=tokens,
        rounds=rounds,
        undrafted=undrafted,
        drafted=(rounds - undrafted) * gamma,
        discarded=discarded,
        tested=tested,
        accepted=reached[:, 1:].copy(),
        ended=ended,
        untested=np.zeros_like(rounds),
        untested_tokens=np.zeros_like(rounds),
        length_rule="scheduled" if undrafted.any() else "fixed",
        in_order=in_order,
    )


def table_of(ended: IntArray, undrafted: int) -> AcceptanceTable:
    """The table of rounds by number of accepted tokens, [gamma + 1], with drafts of gamma or none."""
    gamma = ended.size - 1
    reached = ended[::-1].cumsum()[::-1].tolist()
    tested = list(reached[:-1])
    if gamma:
        tested[0] -= undrafted
    return AcceptanceTable(
        rounds=reached[0],
        drafted=(reached[0] - undrafted) * gamma,
        tested=tuple(tested),
        accepted=tuple(reached[1:]),
        length_rule="scheduled" if undrafted else "fixed",
    )


def _says_less(rule: LengthRule) -> bool:
    return rule != "fixed"


def _joined_orders(
    orders: Sequence[RoundsInOrder | None], firsts: Sequence[int]
) -> RoundsInOrder | None:
    known = [order for order in orders if order is not None]
    if len(known) < len(orders):
        return None
    return RoundsInOrder(
        request=np.concatenate(
            [order.request + first for order, first in zip(known, firsts, strict=False)]
        ),
        drafted=np.concatenate([order.drafted for order in known]),
        accepted=np.concatenate([order.accepted for order in known]),
    )

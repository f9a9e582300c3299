"""Rounds of assisted generation as data: what was drafted, what of it arrived, where a text was cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simulator import AcceptanceTable, CountedUnit, LengthRule, Method


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistedRound:
    """One target pass: `accepted` drafted tokens arrived, `emitted` tokens with the target's own.

    `cut` says that the text ended on a drafted token (a stop token, or the limit): the target's own
    token is gone, and what the rest of the draft was worth is not known.
    """

    drafted: int
    accepted: int
    emitted: int
    cut: bool = False


@dataclass(slots=True)
class AssistedRequest:
    """The rounds of one call of `generate`, and what decided the length of its drafts."""

    method: Method
    gamma: int | None
    length_rule: LengthRule
    rounds: list[AssistedRound] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def table(self) -> AcceptanceTable:
        """The counts by depth; behind the end of a cut round nothing was tested."""
        return table_of(self.rounds, length_rule=self.length_rule)

    def as_unit(self, name: str) -> CountedUnit:
        """The request as a unit, its rounds in order; its time includes the pass over the prompt."""
        return CountedUnit(
            counts=self.table,
            name=name,
            steps=tuple((each.drafted, each.accepted) for each in self.rounds),
            decode_s=self.seconds,
        )


def table_of(rounds: Sequence[AssistedRound], *, length_rule: LengthRule) -> AcceptanceTable:
    """The counts by depth of rounds in order; drafts of one length keep the rule "fixed".

    >>> rounds = [AssistedRound(drafted=2, accepted=1, emitted=2),
    ...           AssistedRound(drafted=2, accepted=1, emitted=1, cut=True)]
    >>> table_of(rounds, length_rule="fixed")
    AcceptanceTable(rounds=2, drafted=4, tested=(2, 1), accepted=(2, 0), discarded=1, length_rule='fixed')
    """
    depths = max((each.drafted for each in rounds), default=0)
    tested, accepted = [0] * depths, [0] * depths
    for each in rounds:
        reached = each.accepted if each.cut else min(each.accepted + 1, each.drafted)
        for depth in range(reached):
            tested[depth] += 1
        for depth in range(each.accepted):
            accepted[depth] += 1
    rule = length_rule
    if rule == "fixed" and len({each.drafted for each in rounds}) > 1:
        rule = "scheduled"  # by the limit, or by a stop token in the draft
    return AcceptanceTable(
        rounds=len(rounds),
        drafted=sum(each.drafted for each in rounds),
        tested=tuple(tested),
        accepted=tuple(accepted),
        discarded=sum(each.accepted + 1 - each.emitted for each in rounds),
        length_rule=rule,
    )


def as_round(drafted: int, matches: int, draft: list[int], arrived: list[int]) -> AssistedRound:
    """`matches` is one less than what arrived; if the last of it is the draft's, it was kept too.

    A token that the target puts in place of a rejected one is never the rejected one, so equal
    tokens mean that the text was cut behind a kept one.
    """
    cut = matches < min(drafted, len(draft), len(arrived)) and arrived[matches] == draft[matches]
    return AssistedRound(
        drafted=drafted, accepted=matches + cut, emitted=len(arrived) or matches + 1, cut=cut
    )

"""Counting rounds one by one into an acceptance table."""

from __future__ import annotations

from simulator._counting import LengthRule
from simulator.acceptance import AcceptanceTable
from simulator.drafts import Chain


class Tally:
    """Adds up rounds; under a fixed rule a draft shorter than the chain makes the lengths a schedule."""

    def __init__(self, chain: Chain, rule: LengthRule) -> None:
        self.chain = chain
        self.rule = rule
        self.tested = [0] * chain.gamma
        self.accepted = [0] * chain.gamma
        self.rounds = self.drafted = self.discarded = 0
        self.shortened = False

    def add(
        self, drafted: int, tested: int, accepted: int, emitted: int, *, longest: int | None = None
    ) -> None:
        """Count one round of `accepted` + 1 tokens, of which `emitted` arrived.

        `longest` is the depth of a drafted tree, whose tokens are more.
        """
        self.rounds += 1
        self.drafted += drafted
        self.discarded += accepted + 1 - emitted
        self.shortened |= (drafted if longest is None else longest) < self.chain.gamma
        for depth in range(tested):
            self.tested[depth] += 1
        for depth in range(accepted):
            self.accepted[depth] += 1

    def table(self) -> AcceptanceTable:
        """The counts so far."""
        shortened = self.rule == "fixed" and self.shortened
        return AcceptanceTable(
            rounds=self.rounds,
            drafted=self.drafted,
            tested=tuple(self.tested),
            accepted=tuple(self.accepted),
            discarded=self.discarded,
            length_rule="scheduled" if shortened else self.rule,
        )

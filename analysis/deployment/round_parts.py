"""The parts of one round: what each takes, and what is left of the gain."""

from __future__ import annotations

from dataclasses import dataclass

from simulator import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundParts:
    """One round for all requests of a batch [s], and the tokens it gives each of them.

    `plain_s` is a plain decoding step, which every round contains; `drafting_s` all of its drafting,
    `wider_s` what verifying gamma + 1 tokens takes more than one, `overhead_s` everything else,
    `hidden_s` what of these runs beside something longer.
    """

    gamma: int
    batch: float
    tokens_per_round: Estimate
    plain_s: float
    drafting_s: float = 0.0
    wider_s: float = 0.0
    overhead_s: float = 0.0
    hidden_s: float = 0.0

    @property
    def round_s(self) -> float:
        """The whole round."""
        return self.plain_s + self.drafting_s + self.wider_s + self.overhead_s - self.hidden_s

    @property
    def round_cost(self) -> float:
        """The whole round in plain steps."""
        return self.round_s / self.plain_s

    @property
    def speedup(self) -> Estimate:
        """Decoding speedup of each request against plain decoding at the same batch: tokens / cost."""
        return self.tokens_per_round.scaled(self.plain_s / self.round_s)

    @property
    def tokens_per_s(self) -> Estimate:
        """Tokens of all requests per second, with speculation."""
        return self.tokens_per_round.scaled(self.batch / self.round_s)

    @property
    def plain_tokens_per_s(self) -> float:
        """The same in plain decoding."""
        return self.batch / self.plain_s

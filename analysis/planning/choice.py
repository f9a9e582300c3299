"""What a plan says of one batch: the strategy to use, its draft length, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.fitting.best import BestFit
from simulator import Estimate

OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanChoice:
    """One strategy at one batch: the draft length to take, 0 for none, and what it gives.

    `speedup` is that of decoding against plain decoding at the same batch, for each request and for all
    of them together; its interval has the error of the acceptance, times count as exact. `best` is the
    largest speedup by value, with the region within 1 % and what cannot be told from it; `gamma` differs
    from its only where the plan prefers sure or short drafts or requires a gain. `fits` is False where the
    draft does not fit the memory beside so many requests. `sure` is True where the interval of the chosen
    speedup lies above 1 or, without a draft, that of every draft that fits at or below 1; None where nothing is
    known of the error. `speedups` are those of the plan's `gammas`, None where nothing is known.
    """

    strategy: str
    batch: int
    gamma: int
    speedup: Estimate
    tokens_per_round: Estimate
    round_s: float
    plain_s: float
    best: BestFit
    fits: bool
    sure: bool | None
    extrapolated: bool
    speedups: tuple[Estimate | None, ...]

    @property
    def flat(self) -> tuple[int, ...]:
        """Draft lengths within 1 % of the best."""
        return self.best.flat

    @property
    def ties(self) -> tuple[int, ...]:
        """Draft lengths that the error does not tell from the best."""
        return self.best.ties

    @property
    def at_limit(self) -> bool:
        """True if the longest draft that was tried is taken: a longer one may be better still."""
        return self.best.at_limit and self.gamma == self.best.gamma

    @property
    def round_cost(self) -> float:
        """A round in plain steps."""
        return self.round_s / self.plain_s

    @property
    def tokens_per_s(self) -> Estimate:
        """Tokens of all requests per second."""
        return self.tokens_per_round.scaled(self.batch / self.round_s)

    @property
    def plain_tokens_per_s(self) -> float:
        """The same without a draft."""
        return self.batch / self.plain_s


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """One batch: the strategy that is chosen, and all others' best.

    `even` are strategies whose best cannot be told from the chosen one: the interval of the difference
    holds 0. Strategies of one acceptance share its error; others count as measured independently (the
    squares of half-widths add up: Zou and Donner 2008). Where nothing is known of either error these are
    the equal ones.
    """

    chosen: PlanChoice
    choices: tuple[PlanChoice, ...]
    even: tuple[str, ...] = ()

    @property
    def batch(self) -> int:
        """Requests that run together."""
        return self.chosen.batch

    @property
    def use(self) -> str:
        """The strategy's name, "off" for plain decoding."""
        return self.chosen.strategy if self.chosen.gamma else OFF

    @property
    def gamma(self) -> int:
        """The draft length, 0 for plain decoding."""
        return self.chosen.gamma

    @property
    def speedup(self) -> Estimate:
        """Against plain decoding at this batch."""
        return self.chosen.speedup

    @property
    def sure(self) -> bool | None:
        """As in `PlanChoice`; off is sure only if it is for every strategy."""
        if self.gamma:
            return self.chosen.sure
        known = [choice.sure for choice in self.choices]
        if False in known:
            return False
        return None if None in known else True


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPoint:
    """The speedup of one strategy at one batch and draft length."""

    strategy: str
    batch: int
    gamma: int
    speedup: Estimate

"""What a round costs, for every draft length at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator._checks import as_count, as_nonnegative


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCosts:
    """The cost of a round in plain target steps: gamma · cost_ratio + V(gamma + 1) + overhead.

    `cost_ratio` is one draft step, `verify_cost` is V: one number for every gamma, or one per gamma
    from 0 on (V(1) first); `overhead` is what else a round costs. gamma = 0 is plain decoding and
    costs 1 whatever they say, as in `analysis.best_gamma`. `drafting` is the cost of all drafting of a
    round, one per gamma from 0 on, where it is not gamma times a step (blocks, heads, a lookup): then
    `cost_ratio` must be 0. Raises ValueError for a negative number, a verify_cost that is not above 0,
    and drafting told twice.

    >>> RoundCosts(cost_ratio=0.1).cost(4)
    1.4
    >>> RoundCosts(cost_ratio=0.1, verify_cost=(1.0, 1.1, 1.3)).longest
    2
    """

    cost_ratio: float
    verify_cost: float | Sequence[float] = 1.0
    overhead: float = 0.0
    drafting: Sequence[float] | None = None

    def __post_init__(self) -> None:
        as_nonnegative("cost_ratio", self.cost_ratio)
        as_nonnegative("overhead", self.overhead)
        for value in self._passes():
            if as_nonnegative("verify_cost", value) == 0.0:
                raise ValueError("verify_cost must be above 0; got 0.")
        for value in self.drafting or ():
            as_nonnegative("drafting", value)
        if self.drafting is not None and (self.cost_ratio or len(self.drafting) == 0):
            raise ValueError(
                "drafting must be one cost per gamma from 0 on, beside a cost_ratio of 0."
            )

    @property
    def longest(self) -> int | None:
        """The longest draft whose round has a cost; None if one number holds for all."""
        known = [len(self._passes())] if not isinstance(self.verify_cost, (int, float)) else []
        known += [] if self.drafting is None else [len(self.drafting)]
        return min(known) - 1 if known else None

    def cost(self, gamma: int) -> float:
        """Cost of a round with `gamma` drafted tokens; ValueError beyond the known passes."""
        gamma = as_count("gamma", gamma)
        if gamma == 0:
            return 1.0
        passes = self._passes()
        if self.longest is not None and gamma > self.longest:
            raise ValueError(
                f"gamma must be at most {self.longest}, the last with a cost; got {gamma}."
            )
        verify = passes[0] if len(passes) == 1 else passes[gamma]
        drafting = gamma * self.cost_ratio if self.drafting is None else self.drafting[gamma]
        return float(drafting) + float(verify) + self.overhead

    def _passes(self) -> tuple[float, ...]:
        if isinstance(self.verify_cost, (int, float)):
            return (float(self.verify_cost),)
        if isinstance(self.verify_cost, (str, bytes)) or len(self.verify_cost) == 0:
            raise ValueError(
                f"verify_cost must be a number or one per gamma from 0 on; got {self.verify_cost!r}."
            )
        return tuple(self.verify_cost)

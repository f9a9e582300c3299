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
    costs 1 whatever they say, as in `analysis.best_gamma`. Raises ValueError for a negative number
    or a verify_cost that is not above 0.

    >>> RoundCosts(cost_ratio=0.1).cost(4)
    1.4
    >>> RoundCosts(cost_ratio=0.1, verify_cost=(1.0, 1.1, 1.3)).longest
    2
    """

    cost_ratio: float
    verify_cost: float | Sequence[float] = 1.0
    overhead: float = 0.0

    def __post_init__(self) -> None:
        as_nonnegative("cost_ratio", self.cost_ratio)
        as_nonnegative("overhead", self.overhead)
        for value in self._passes():
            if as_nonnegative("verify_cost", value) == 0.0:
                raise ValueError("verify_cost must be above 0; got 0.")

    @property
    def longest(self) -> int | None:
        """The longest draft whose pass has a cost; None if one number holds for all."""
        return None if isinstance(self.verify_cost, (int, float)) else len(self.verify_cost) - 1

    def cost(self, gamma: int) -> float:
        """Cost of a round with `gamma` drafted tokens; ValueError beyond the known passes."""
        gamma = as_count("gamma", gamma)
        if gamma == 0:
            return 1.0
        passes = self._passes()
        if self.longest is not None and gamma > self.longest:
            raise ValueError(
                f"gamma must be at most {self.longest}, the last with a verify_cost; got {gamma}."
            )
        verify = passes[0] if self.longest is None else passes[gamma]
        return gamma * self.cost_ratio + float(verify) + self.overhead

    def _passes(self) -> tuple[float, ...]:
        if isinstance(self.verify_cost, (int, float)):
            return (float(self.verify_cost),)
        if isinstance(self.verify_cost, (str, bytes)) or len(self.verify_cost) == 0:
            raise ValueError(
                f"verify_cost must be a number or one per gamma from 0 on; got {self.verify_cost!r}."
            )
        return tuple(self.verify_cost)

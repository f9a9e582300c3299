"""How acceptance arises: the law that decides whether a tested token is kept.

A process is data. `conditional(gamma)` gives P(accepted | tested) per depth; the engine flips by it
and `analysis.exact` multiplies by it, each on its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from simulator._checks import as_probability


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantAcceptance:
    """Every tested token is kept with the same probability p (Leviathan et al. 2023, i.i.d. β).

    >>> ConstantAcceptance(p=0.7).conditional(3)
    (0.7, 0.7, 0.7)
    """

    p: float

    def __post_init__(self) -> None:
        as_probability("p", self.p)

    def conditional(self, gamma: int) -> tuple[float, ...]:
        """P(accepted | tested) at each of `gamma` depths."""
        return (float(self.p),) * gamma


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceByDepth:
    """The i-th drafted token is kept with probability by_depth[i], given that it is tested.

    The n-α of EAGLE, the conditional rates of Dynamo and Model-Optimizer.

    >>> AcceptanceByDepth(by_depth=(0.8, 0.6)).conditional(1)
    (0.8,)
    """

    by_depth: tuple[float, ...]

    def __post_init__(self) -> None:
        for depth, value in enumerate(self.by_depth):
            as_probability(f"by_depth[{depth}]", value)

    def conditional(self, gamma: int) -> tuple[float, ...]:
        """P(accepted | tested) at each of `gamma` depths; ValueError beyond the known ones."""
        if gamma > len(self.by_depth):
            raise ValueError(
                f"gamma must be at most the {len(self.by_depth)} depths of by_depth; got {gamma}."
            )
        return self.by_depth[:gamma]


AcceptanceProcess: TypeAlias = ConstantAcceptance | AcceptanceByDepth

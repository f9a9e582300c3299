"""The exact distribution of a round, for any strategy of the simulator.

Where `formulas` has a closed form for one p, this multiplies conditional acceptances depth by depth:
an independent path to the same numbers, and the only one when acceptance changes with depth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator import Strategy


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundLaw:
    """The exact law of one round.

    `conditional`, `survival`: per depth, shape [gamma]. `pmf`: P(n accepted), shape [gamma + 1].
    `drafted`: tokens drafted per round.
    """

    conditional: tuple[float, ...]
    survival: tuple[float, ...]
    pmf: tuple[float, ...]
    drafted: int

    @property
    def tokens_per_round(self) -> float:
        """1 + the sum of the survival: expected tokens emitted per round."""
        return 1.0 + math.fsum(self.survival)

    @property
    def variance(self) -> float:
        """Variance of the tokens per round [tokens²]."""
        mean = math.fsum(self.survival)
        return math.fsum(weight * (n - mean) ** 2 for n, weight in enumerate(self.pmf))

    @property
    def accepted_fraction(self) -> float:
        """Expected accepted / drafted; NaN for an empty draft."""
        return math.fsum(self.survival) / self.drafted if self.drafted else math.nan


def round_law(strategy: Strategy) -> RoundLaw:
    """The exact law of a round of `strategy`.

    S_i = a_1 · … · a_i with a the conditional acceptance by depth; P(n accepted) = S_n (1 - a_{n+1}),
    and S_gamma at the end of the draft. Raises ValueError for drafts that may end early.

    >>> from simulator import draft_model
    >>> law = round_law(draft_model(by_depth=(0.8, 0.5)))
    >>> law.survival, round(law.tokens_per_round, 12)
    ((0.8, 0.4), 2.2)
    """
    if not strategy.draft.is_fixed:
        raise ValueError(
            f"strategy must draft a fixed length; got {strategy.draft}: "
            "stopped_law gives the exact law under a stopping rule."
        )
    conditional = strategy.conditional_acceptance
    survival: list[float] = []
    pmf: list[float] = []
    alive = 1.0
    for kept in conditional:
        pmf.append(alive * (1.0 - kept))
        alive *= kept
        survival.append(alive)
    pmf.append(alive)
    return RoundLaw(
        conditional=conditional,
        survival=tuple(survival),
        pmf=tuple(pmf),
        drafted=strategy.draft.nodes,
    )

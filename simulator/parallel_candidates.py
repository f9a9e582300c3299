"""How acceptance arises among candidates that share nothing but the text before them: Lookahead's."""

from __future__ import annotations

from dataclasses import dataclass

from simulator._checks import as_count, as_probability
from simulator._rates import as_row
from simulator.trees import MAX_NODES


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelCandidates:
    """Independent chains side by side, of which the longest kept one counts: Lookahead's n-grams.

    A round finds `candidates` of them with probability `hit`, otherwise none, and is then plain. The
    next token of a candidate is kept, given those before it, with `p` at every depth or by_depth[i],
    independently of the other candidates (Fu et al. 2024). Of equally long ones the first counts.
    Raises ValueError for values outside [0, 1], less than one candidate, and neither or both of p and
    by_depth.

    >>> ParallelCandidates(p=0.5, candidates=4).conditional(2)
    (0.5, 0.5)
    """

    candidates: int
    p: float | None = None
    by_depth: tuple[float, ...] | None = None
    hit: float = 1.0

    def __post_init__(self) -> None:
        as_count("candidates", self.candidates, least=1, most=MAX_NODES)
        as_probability("hit", self.hit)
        if (self.p is None) == (self.by_depth is None):
            got = "neither" if self.p is None else "both"
            raise ValueError(f"parallel candidates need p or by_depth, one of them; got {got}.")
        if self.by_depth is None:
            as_probability("p", self.p)
            return
        object.__setattr__(self, "by_depth", as_row("by_depth", self.by_depth))
        for depth, value in enumerate(self.by_depth or ()):
            as_probability(f"by_depth[{depth}]", value)

    def conditional(self, gamma: int) -> tuple[float, ...]:
        """P(a candidate's token is kept | those before it are) at `gamma` depths."""
        if self.by_depth is None:
            return (as_probability("p", self.p),) * gamma
        if gamma > len(self.by_depth):
            raise ValueError(
                f"by_depth must have a value for each of the {gamma} tokens of a candidate; got "
                f"{len(self.by_depth)}."
            )
        return self.by_depth[:gamma]

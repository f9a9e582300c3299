"""The shape of a draft: how many tokens, in how many sequential steps, verified as how many nodes."""

from __future__ import annotations

from dataclasses import dataclass

from simulator._checks import as_count

MAX_GAMMA = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """gamma tokens drafted one after the other.

    >>> Chain(gamma=4).nodes, Chain(gamma=4).sequential_steps
    (4, 4)
    """

    gamma: int

    def __post_init__(self) -> None:
        as_count("gamma", self.gamma, most=MAX_GAMMA)

    @property
    def nodes(self) -> int:
        """Drafted tokens per round; the target pass verifies nodes + 1."""
        return self.gamma

    @property
    def sequential_steps(self) -> int:
        """Draft passes that must follow one another."""
        return self.gamma

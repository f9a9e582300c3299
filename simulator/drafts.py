"""The shape of a draft: how many tokens it has and how many nodes the target verifies."""

from __future__ import annotations

from dataclasses import dataclass

from simulator._checks import as_count

MAX_GAMMA = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """gamma tokens drafted one after the other.

    >>> Chain(gamma=4).nodes
    4
    """

    gamma: int

    def __post_init__(self) -> None:
        as_count("gamma", self.gamma, most=MAX_GAMMA)

    @property
    def nodes(self) -> int:
        """Drafted tokens per round; the target pass verifies nodes + 1."""
        return self.gamma

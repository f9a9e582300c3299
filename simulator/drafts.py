"""The shape of a draft: how many tokens it has at most, how many nodes the target verifies, when it ends."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulator._checks import as_count
from simulator._counting import LengthRule
from simulator.stopping import ConfidenceThreshold, FixedLength, Heuristic, Oracle, Stop

MAX_GAMMA = 10_000
_STOPS = (FixedLength, Heuristic, ConfidenceThreshold, Oracle)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """gamma tokens drafted one after the other, or fewer where `stop` ends the draft.

    Raises ValueError for a gamma outside [0, MAX_GAMMA], and for gamma 0 with a rule that would
    have something to decide.

    >>> Chain(gamma=4).nodes, Chain(gamma=4).length_rule
    (4, 'fixed')
    >>> Chain(gamma=8, stop=Heuristic())
    Chain(gamma=8, stop=Heuristic(start=5, step_up=2, step_down=1))
    """

    gamma: int
    stop: Stop = field(default_factory=FixedLength)

    def __post_init__(self) -> None:
        if type(self.stop) not in _STOPS:
            names = ", ".join(kind.__name__ for kind in _STOPS)
            raise ValueError(f"stop must be one of {names}; got {self.stop!r}.")
        as_count("gamma", self.gamma, least=0 if self.is_fixed else 1, most=MAX_GAMMA)

    def __repr__(self) -> str:
        stop = "" if self.is_fixed else f", stop={self.stop!r}"
        return f"Chain(gamma={self.gamma!r}{stop})"

    @property
    def nodes(self) -> int:
        """Drafted tokens per round, at most; the target pass verifies one more than were drafted."""
        return self.gamma

    @property
    def is_fixed(self) -> bool:
        """Whether every draft has gamma tokens."""
        return isinstance(self.stop, FixedLength)

    @property
    def length_rule(self) -> LengthRule:
        """What decides how long a draft is, as tables carry it."""
        return self.stop.length_rule

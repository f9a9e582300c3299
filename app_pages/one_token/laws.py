"""What is known about one decision, and what the engine drew: values for the page of one token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import simulator as sim
from analysis.tokens.one_decision import OneDecision
from simulator._checks import IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Laws:
    """Everything exact about one decision; tuples have one entry per word.

    `decision` says what the rule makes of each drafted word, `emitted` is the law of the word that
    comes out, `distance` its total variation from the target, `overlap` is 1 less that of the draft.
    """

    words: tuple[str, ...]
    target: tuple[float, ...]
    draft: tuple[float, ...]
    decision: OneDecision
    acceptance: float
    overlap: float
    emitted: tuple[float, ...]
    distance: float

    @property
    def favourite(self) -> str:
        """The target's most likely word, the first of equal ones."""
        return self.words[int(np.argmax(self.target))]

    @property
    def rejects(self) -> bool:
        """Whether a drafted word is ever rejected."""
        return any(self.decision.replacement)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One decision of the engine: word numbers, and whether the drafted one was kept."""

    drafted: int
    emitted: int
    kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Many decisions of the engine: drafted and emitted words, what was kept, all [rounds]."""

    drafted: IntArray
    emitted: IntArray
    kept: npt.NDArray[np.bool_]
    vocabulary: int

    @property
    def rounds(self) -> int:
        """Number of decisions."""
        return int(self.kept.size)

    @property
    def counts(self) -> tuple[int, ...]:
        """How often each word came out."""
        return tuple(int(n) for n in np.bincount(self.emitted, minlength=self.vocabulary))

    @property
    def shares(self) -> tuple[float, ...]:
        """How often each word came out, of all decisions."""
        return tuple(count / self.rounds for count in self.counts)

    @property
    def acceptance(self) -> sim.Estimate:
        """The share that was kept, with its standard error."""
        table = sim.AcceptanceTable.from_lengths(self.kept.astype(np.int64), gamma=1)
        return table.conditional_acceptance[0]

    def decision(self, number: int) -> Decision:
        """The decision of that number, counted from 1."""
        at = number - 1
        return Decision(
            drafted=int(self.drafted[at]), emitted=int(self.emitted[at]), kept=bool(self.kept[at])
        )

    def next_other(self, number: int) -> int | None:
        """The next decision that ended otherwise than this one; None if there is none."""
        others = np.flatnonzero(self.kept[number:] != self.kept[number - 1])
        return number + 1 + int(others[0]) if others.size else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A rule's acceptance at each temperature."""

    name: str
    yours: bool
    p: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """The lines of the chart over temperature."""

    temperatures: tuple[float, ...]
    lines: tuple[Curve, ...]

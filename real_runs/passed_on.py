"""A target inside another object that watches it or changes one thing about it."""

from __future__ import annotations

from simulator._checks import IntArray
from simulator.models import Logits, Target


class PassedOn:
    """A target that does what the one inside does."""

    def __init__(self, target: Target) -> None:
        self._target = target

    @property
    def vocabulary(self) -> int:
        """As the target's."""
        return self._target.vocabulary

    @property
    def context(self) -> int | None:
        """As the target's."""
        return self._target.context

    def start(self, prompt: IntArray) -> Logits:
        """As the target's."""
        return self._target.start(prompt)

    def extend(self, tokens: IntArray) -> Logits:
        """As the target's."""
        return self._target.extend(tokens)

    def rollback(self, count: int) -> None:
        """As the target's."""
        self._target.rollback(count)

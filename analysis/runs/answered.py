"""What a summary of two loops asks of a request: the form that measured ones have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from simulator import AcceptanceTable


class Counted(Protocol):
    """The counts of a request."""

    @property
    def table(self) -> AcceptanceTable:
        """By depth."""


class Turned(Protocol):
    """One loop's answer."""

    @property
    def tokens(self) -> tuple[int, ...]:
        """Everything emitted, in order."""

    @property
    def first_tokens(self) -> int:
        """How many of them were there when the prompt was read."""

    @property
    def first_s(self) -> float:
        """Until then [s]."""

    @property
    def total_s(self) -> float:
        """From the call to its return [s]."""

    @property
    def target_passes(self) -> int:
        """Forward passes of the target."""

    @property
    def target_s(self) -> float:
        """Their time [s]."""

    @property
    def draft_passes(self) -> int:
        """Forward passes of the draft."""

    @property
    def draft_s(self) -> float:
        """Their time [s]."""

    @property
    def counts(self) -> Counted:
        """Its rounds."""


class Staged(Protocol):
    """Our loop with some of the peer's customs."""

    @property
    def name(self) -> str:
        """The custom that was added last."""

    @property
    def counts(self) -> Counted:
        """Its rounds."""


class Answered(Protocol):
    """A request that both loops have answered."""

    @property
    def prompt(self) -> str:
        """Which prompt."""

    @property
    def gamma(self) -> int:
        """The longest draft [tokens]."""

    @property
    def ours(self) -> Turned:
        """Our loop's answer."""

    @property
    def peer(self) -> Turned:
        """The peer's."""

    @property
    def stages(self) -> Sequence[Staged]:
        """From our counts to the peer's."""

    @property
    def same_text(self) -> bool:
        """Whether both emitted the same tokens."""

    @property
    def unexplained(self) -> int:
        """Rounds of the peer that are not those of the last stage."""

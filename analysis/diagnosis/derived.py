"""A number that follows from reported ones: its value, what rounding allows, and how it is known."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.uncertainty import Range
from simulator import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A quantity that follows from an observation.

    `range` is what rounding and unknown counts allow, with equal ends where they leave no doubt.
    `value.se` is the standard error where it is known, `se_most` the most it can be. `how` says in
    words where the number comes from.

    >>> Derived(value=Estimate(value=2.92), range=(2.915, 2.925), how="printed").bounds()
    (2.915, 2.925)
    """

    value: Estimate
    range: Range
    how: str
    se_most: float | None = None

    @classmethod
    def exactly(cls, value: float, how: str) -> Derived:
        """A number without rounding and without a known error."""
        return cls(value=Estimate(value=value), range=(value, value), how=how)

    @property
    def number(self) -> float:
        """The value alone."""
        return self.value.value

    def bounds(self, sigmas: float = 0.0) -> Range:
        """What rounding allows, with as many standard errors (at most) added at both ends."""
        spread = sigmas * (self.se_most or 0.0)
        return self.range[0] - spread, self.range[1] + spread

    def of_these_rounds(self, factor: float, how: str) -> Derived:
        """Times a factor above 0 measured on the same rounds: what they took, not what others would.

        The rounding stays. The sampling error goes: more tokens in these rounds are fewer rounds in
        the same time, so their product is known as well as the clock.
        """
        return Derived(
            value=Estimate(value=self.number * factor),
            range=(self.range[0] * factor, self.range[1] * factor),
            how=how,
        )

"""What a comparison of two runs says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from simulator import Estimate

Change: TypeAlias = Literal["faster", "slower", "within noise", "unknown"]
RegressionVerdict: TypeAlias = Literal["regressed", "not regressed", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One factor of the change in speed.

    `before` and `after` are the quantity itself in `unit`. `factor` is how many times faster the
    second run is because of this part: the factors of the parts multiply to that of the whole, and
    `log_factor` adds up exactly. `share` is the part of the whole log change.
    """

    name: str
    unit: str
    before: float
    after: float
    factor: Estimate
    log_factor: float
    share: float | None
    change: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthChange:
    """Acceptance at one depth, the first drafted token at 0.

    accepted / tested where both sides know what was tested, else survival (accepted / rounds), as
    `quantity` says.
    """

    depth: int
    quantity: Literal["conditional_acceptance", "survival"]
    before: float
    after: float
    difference: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """How much more of both sides would decide: `growth` times the data, `more` of each side, in `units`.

    At the stated power, if the effect is as large as it looks now.
    """

    growth: float
    more_before: int
    more_after: int
    units: tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """Two runs: how much faster the second one is, and which part of it is what.

    `whole` is decoding speed (tokens per second of one request) where both sides know times, else
    tokens per round; `parts` are its factors. `rest` are further quantities that are known of both
    sides and no factors. `units` are those drawn again on each side (1 where only sums are known),
    `paired` says that the same prompts were drawn together. `lower_bound` says that the intervals
    hold less than all of the uncertainty, and `notes` why. `regression` is the stated size, a share
    of the speed before, and `verdict` the answer. `needed` is None where it is decided already, or
    where nothing within reason would decide. `smallest_visible` is the change (a share) that this
    much data shows at the stated power. `caveats` are differences between the sides beside what was
    compared.
    """

    before: str
    after: str
    whole: Part
    parts: tuple[Part, ...]
    rest: tuple[Part, ...]
    depths: tuple[DepthChange, ...]
    units: tuple[int, int]
    unit: str
    paired: bool
    lower_bound: bool
    level: float
    power: float
    regression: float | None
    verdict: RegressionVerdict | None
    needed: Needed | None
    smallest_visible: float | None
    caveats: tuple[str, ...]
    notes: tuple[str, ...]
    sentence: str

    @property
    def timed(self) -> bool:
        """Whether the whole is speed, and not tokens per round alone."""
        return self.whole.name == "speed"

    def part(self, name: str) -> Part | None:
        """The part of a name; None if it is not known of both sides."""
        return next(
            (part for part in (self.whole, *self.parts, *self.rest) if part.name == name), None
        )

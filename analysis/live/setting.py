"""Where the live charts start, and the inputs that move them."""

from __future__ import annotations

import math
from dataclasses import dataclass

MAX_GAMMA = 16
"""The longest draft on the axis, and that the best one is looked for among."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveInput:
    """One number a reader drags: `name` of the signal, `key` in a link, the slider's range and step.

    `short` labels the slider below a chart. `least` and `most` bound what may be typed; a slider can
    be narrower.
    """

    name: str
    key: str
    label: str
    short: str
    low: float
    high: float
    least: float
    most: float
    step: float
    help: str

    @property
    def whole(self) -> bool:
        """True for counts."""
        return self.step == 1


INPUTS = (
    LiveInput(
        name="p",
        key="p",
        label="Acceptance p",
        short="p, acceptance",
        low=0.0,
        high=1.0,
        least=0.0,
        most=1.0,
        step=0.01,
        help="The chance that the target keeps a drafted token that it really tests. An engine's "
        '"acceptance rate" is accepted / drafted, which is lower.',
    ),
    LiveInput(
        name="gamma",
        key="gamma",
        label="Draft length γ",
        short="γ, draft length",
        low=1,
        high=MAX_GAMMA,
        least=1,
        most=MAX_GAMMA,
        step=1,
        help="Tokens drafted per round.",
    ),
    LiveInput(
        name="cost_ratio",
        key="c",
        label="Cost of a draft step c",
        short="c, draft step",
        low=0.0,
        high=1.0,
        least=0.0,
        most=1.0,
        step=0.01,
        help="Time of one draft step / time of one plain target step.",
    ),
    LiveInput(
        name="verify_cost",
        key="v",
        label="Cost of the checking pass V",
        short="V, checking pass",
        low=0.5,
        high=4.0,
        least=0.1,
        most=20.0,
        step=0.05,
        help="Time of a target pass over γ + 1 tokens / over 1. It is 1 while the machine waits for "
        "memory, and grows with the batch. Taken as the same for every γ.",
    ),
    LiveInput(
        name="overhead",
        key="overhead",
        label="Fixed overhead per round",
        short="overhead",
        low=0.0,
        high=2.0,
        least=0.0,
        most=10.0,
        step=0.05,
        help="What else a round costs, in plain target steps: sampling, bookkeeping, launching the draft.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSetting:
    """The five numbers a live chart starts from. Raises ValueError for a number out of its range.

    >>> LiveSetting(p=0.7, gamma=4, cost_ratio=0.1)
    LiveSetting(p=0.7, gamma=4, cost_ratio=0.1, verify_cost=1.0, overhead=0.0)
    """

    p: float
    gamma: int
    cost_ratio: float
    verify_cost: float = 1.0
    overhead: float = 0.0

    def __post_init__(self) -> None:
        for item in INPUTS:
            value = getattr(self, item.name)
            low, high = item.least, item.most
            numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not (numeric and math.isfinite(value) and low <= value <= high) or (
                item.whole and value != int(value)
            ):
                kind = "a whole number" if item.whole else "a number"
                raise ValueError(
                    f"{item.name} must be {kind} in [{low:g}, {high:g}]; got {value!r:.60}."
                )

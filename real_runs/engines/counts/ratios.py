"""An engine's own printed ratios: checked against the counts, and under this project's names."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from real_runs.engines.counts.printed import LEEWAY, Printed, as_fraction
from real_runs.engines.counts.skips import NoCounts, NothingDrafted
from simulator import ReportedRatio

_ROUNDING = 1e-9  # of adding decimals in binary


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratios:
    """The ratios that one record prints; None or empty where it prints none."""

    fraction: Printed | None = None
    length: Printed | None = None
    survival: tuple[Printed, ...] = ()

    @property
    def consistent(self) -> bool:
        """True if nothing contradicts tokens per round = 1 + the sum of the survival, which falls."""
        if self.length is None or not self.survival:
            return True
        gap = self.length.value - 1.0 - sum(printed.value for printed in self.survival)
        slack = self.length.half_width + sum(printed.half_width for printed in self.survival)
        falls = all(later.value <= earlier.value for earlier, later in pairwise(self.survival))
        return falls and self.survival[0].value <= 1.0 and abs(gap) <= slack + _ROUNDING

    def reported(self, averaged_over: str) -> tuple[ReportedRatio, ...]:
        """The ratios by name, each with the half-width of its rounding."""
        named: list[tuple[str, Printed | None, int | None]] = [
            ("accepted_fraction", self.fraction, None),
            ("tokens_per_round", self.length, None),
            *(("survival", printed, depth) for depth, printed in enumerate(self.survival)),
        ]
        return tuple(
            ReportedRatio(
                quantity=quantity,
                value=printed.value,
                half_width=printed.half_width,
                averaged_over=averaged_over,
                depth=depth,
            )
            for quantity, printed, depth in named
            if printed is not None
        )


def check_counts(*, accepted: int, drafted: int, of: str) -> None:
    """Raise NothingDrafted for a record without drafts, NoCounts for more kept than drafted."""
    if accepted > drafted:
        raise NoCounts(
            f"accepted ({accepted}) is above drafted ({drafted})",
            expected="at most as many accepted as drafted tokens",
            finding="accepted_without_drafted",
        )
    if drafted == 0:
        raise NothingDrafted(f"no draft {of}")


def agreeing_fraction(printed: Printed, *, accepted: int, drafted: int) -> Printed:
    """The printed acceptance rate as a fraction; NoCounts if it contradicts the counts."""
    fraction = as_fraction(printed, accepted=accepted, drafted=drafted)
    if fraction is None:
        raise NoCounts(
            f"the printed acceptance rate {printed.value:g} contradicts the counts "
            f"({accepted} accepted of {drafted} drafted)"
        )
    return fraction


def agreeing_fractions(
    units: NDArray[np.int64],
    scale: int,
    *,
    accepted: NDArray[np.int64],
    drafted: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Which of many printed rates, units / scale, agree with the counts, as `as_fraction` has it.

    All have shape [lines].

    >>> agreeing_fractions(np.array([645, 12]), 10, accepted=np.array([167, 3]), drafted=np.array([259, 9]))
    array([ True, False])
    """
    share = accepted / np.maximum(drafted, 1)
    return np.logical_or(
        *(np.abs(share - units / each) <= 0.5 / each + LEEWAY for each in (scale, 100 * scale))
    )

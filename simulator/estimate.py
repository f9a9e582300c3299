"""A number that was measured, with how sure it is."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A noisy value with its standard error, an interval, or both.

    `se` is one standard error. `interval` holds at confidence `level` and need not be symmetric.
    Where neither can be known (no observation), the value is NaN and both are None.

    >>> Estimate(value=2.7731, se=0.0035)
    2.7731 ± 0.0035
    >>> Estimate(value=0.79, interval=(0.73, 0.84))
    0.790 [0.730, 0.840]
    >>> float(Estimate(value=0.5, se=0.1))
    0.5
    """

    value: float
    se: float | None = None
    interval: tuple[float, float] | None = None
    level: float = 0.95

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "unknown"
        if self.interval is not None:  # says more than ±: it knows about the ends 0 and 1
            low, high = self.interval
            digits = _decimals((high - low) / 4)
            return f"{self.value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
        if self.se is not None:
            digits = _decimals(self.se)
            return f"{self.value:.{digits}f} ± {self.se:.{digits}f}"
        return f"{self.value:.4f}"

    __repr__ = __str__

    def scaled(self, factor: float) -> Estimate:
        """The estimate of `factor` times the quantity, for an exactly known factor above 0."""
        return Estimate(
            value=self.value * factor,
            se=None if self.se is None else self.se * factor,
            interval=None
            if self.interval is None
            else (self.interval[0] * factor, self.interval[1] * factor),
            level=self.level,
        )


def _decimals(spread: float) -> int:
    """Decimals that show two significant digits of a spread."""
    if not (spread > 0.0 and math.isfinite(spread)):
        return 4
    return min(max(1 - math.floor(math.log10(spread)), 0), 12)

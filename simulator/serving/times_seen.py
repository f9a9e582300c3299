"""Times that requests saw, in bounded memory: exact sums, and quantiles from narrow bins."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, as_probability

WIDTH = 0.005
"""Relative width of a bin: quantiles are that exact."""
_LEAST_S = 1e-9
_MOST_S = 1e9
_STEP = math.log1p(WIDTH)
_BINS = math.ceil(math.log(_MOST_S / _LEAST_S) / _STEP)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenLatency:
    """A time that requests saw [s]: mean, median, two high percentiles, and the longest; NaN for none.

    `count` times were seen. Mean and longest are exact, percentiles to 0.5 %.
    """

    count: int
    mean_s: float
    p50_s: float
    p95_s: float
    p99_s: float
    longest_s: float


class SeenTimes:
    """Collects times [s]; memory does not grow with their number.

    >>> seen = SeenTimes()
    >>> seen.add([0.1, 0.2, 0.3])
    >>> seen.add(0.4, counts=7)
    >>> seen.latency.count, round(seen.latency.mean_s, 12), round(seen.quantile(0.5), 3)
    (10, 0.34, 0.4)
    """

    def __init__(self) -> None:
        self._bins = np.zeros(_BINS + 1, dtype=np.int64)  # the first for times of 0
        self._count = 0
        self._sum = 0.0
        self._least, self._most = math.inf, -math.inf

    def add(self, times_s: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> None:
        """Add times, each `counts` times."""
        times = np.atleast_1d(np.asarray(times_s, dtype=np.float64))
        if not times.size:
            return
        many = np.ones(times.size, dtype=np.int64) if counts is None else np.atleast_1d(counts)
        some = np.asarray(many) > 0
        if not some.all():
            times, many = times[some], np.asarray(many)[some]
            if not times.size:
                return
        # float(sum) of products in order: a loop that adds one by one gives the same to rounding
        self._sum += float(times @ many)
        self._count += int(np.sum(many))
        self._least = min(self._least, float(times.min()))
        self._most = max(self._most, float(times.max()))
        np.add.at(self._bins, _bin_of(times), many)

    @property
    def count(self) -> int:
        """How many times were added."""
        return self._count

    @property
    def total_s(self) -> float:
        """Their sum."""
        return self._sum

    @property
    def latency(self) -> SeenLatency:
        """What was seen, in a few numbers."""
        if not self._count:
            nan = math.nan
            return SeenLatency(count=0, mean_s=nan, p50_s=nan, p95_s=nan, p99_s=nan, longest_s=nan)
        return SeenLatency(
            count=self._count,
            mean_s=self._sum / self._count,
            p50_s=self.quantile(0.5),
            p95_s=self.quantile(0.95),
            p99_s=self.quantile(0.99),
            longest_s=self._most,
        )

    def quantile(self, level: float) -> float:
        """The time that a share `level` of all does not exceed, within 0.5 %; NaN for none.

        Within a bin times are taken as spread evenly; no quantile leaves what was seen.
        """
        as_probability("level", level)
        if not self._count:
            return math.nan
        wanted = level * self._count
        running = np.cumsum(self._bins)
        at = int(np.searchsorted(running, max(wanted, 1e-12), side="left"))
        if at == 0:
            return max(0.0, self._least)
        before = int(running[at - 1])
        share = (wanted - before) / int(self._bins[at])
        low = _LEAST_S * math.exp(_STEP * (at - 1))
        return min(max(low * math.exp(_STEP * share), self._least), self._most)


def _bin_of(times: FloatArray) -> npt.NDArray[np.int64]:
    logs = np.log(np.maximum(times, _LEAST_S) / _LEAST_S) / _STEP
    bins = np.minimum(logs.astype(np.int64) + 1, _BINS)
    return np.where(times < _LEAST_S, 0, bins)

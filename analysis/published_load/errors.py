"""Measured beside predicted: relative errors, and what no prediction that falls with load can do better."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A published speedup beside the cost model's.

    `fitted` says whether the row helped to fit; `marked` keeps a row out of every error (its inputs are
    not in the printed table), and `note` says why.
    """

    method: str
    target: str
    gamma: int
    batch: int
    measured: float
    predicted: float
    fitted: bool = False
    marked: bool = False
    note: str = ""

    @property
    def error(self) -> float:
        """predicted / measured − 1."""
        return self.predicted / self.measured - 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Relative errors of several rows: how many, root of the mean square, and the one farthest from 0."""

    n: int
    rms: float
    worst: float


def errors_of(rows: Iterable[Compared]) -> Errors:
    """The errors of the rows that are not marked; ValueError if there is none.

    >>> row = Compared(method="", target="", gamma=1, batch=1, measured=2.0, predicted=2.2)
    >>> round(errors_of([row]).rms, 12)
    0.1
    """
    found = [row.error for row in rows if not row.marked]
    if not found:
        raise ValueError("errors need at least one row that is not marked; got none.")
    return Errors(
        n=len(found),
        rms=math.sqrt(math.fsum(error * error for error in found) / len(found)),
        worst=max(found, key=abs),
    )


def nearest_falling(measured: Sequence[float]) -> tuple[float, ...]:
    """The values that never rise and have the least sum of squared relative errors against `measured`.

    Pools neighbours that rise (Ayer et al. 1955) with the weights 1 / measured²: the predictions of
    the best cost imaginable under which the gain never rises with the batch.

    >>> nearest_falling([1.4, 1.0, 1.0]), [round(x, 3) for x in nearest_falling([1.0, 0.8, 1.0])]
    ((1.4, 1.0, 1.0), [1.0, 0.878, 0.878])
    """
    pools: list[tuple[float, float, int]] = []  # Σ w, Σ w · value, how many
    for value in measured:
        weight = 1.0 / (value * value)
        pools.append((weight, weight * value, 1))
        while len(pools) > 1 and pools[-1][1] / pools[-1][0] > pools[-2][1] / pools[-2][0]:
            last, before = pools.pop(), pools.pop()
            pools.append((last[0] + before[0], last[1] + before[1], last[2] + before[2]))
    return tuple(total / weight for weight, total, count in pools for _ in range(count))


def never_rises(values: Sequence[float]) -> bool:
    """True if no value is above the one before it."""
    return all(after <= before for before, after in pairwise(values))


def never_falls(values: Sequence[float]) -> bool:
    """True if no value is below the one before it."""
    return all(after >= before for before, after in pairwise(values))

"""Best draft lengths, measured beside predicted, and the rules they are held to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.published_load.errors import Compared

FLAT = 0.97  # of the best measured speedup: the flat region of 3 %


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The best draft length at one load, of the lengths that were measured; 0 is plain decoding.

    `at_prediction` is what was measured at the predicted length, and `steps` how many lengths of the
    measured grid lie between the two choices.
    """

    batch: int
    predicted: int
    measured: int
    best: float
    at_prediction: float
    steps: int

    @property
    def in_flat_region(self) -> bool:
        """The predicted length was measured within 3 % of the best."""
        return self.at_prediction >= FLAT * self.best

    @property
    def holds(self) -> bool:
        """At most one step of the measured grid away, or inside the flat region."""
        return self.steps <= 1 or self.in_flat_region


def choices(rows: Iterable[Compared], *, off: bool = True) -> tuple[Choice, ...]:
    """The choice at every load of one table; of equal lengths the shortest.

    With `off` plain decoding is a length of 0 whose speedup is 1 by definition, measured and predicted.

    >>> row = Compared(method="", target="", gamma=2, batch=8, measured=1.2, predicted=1.1)
    >>> choices([row])[0].predicted, choices([row])[0].holds
    (2, True)
    """
    by_batch: dict[int, dict[int, tuple[float, float]]] = {}
    for row in rows:
        tried = by_batch.setdefault(row.batch, {0: (1.0, 1.0)} if off else {})
        tried[row.gamma] = (row.measured, row.predicted)
    return tuple(_choice(batch, tried) for batch, tried in sorted(by_batch.items()))


def _choice(batch: int, tried: dict[int, tuple[float, float]]) -> Choice:
    grid = sorted(tried)
    measured = max(grid, key=lambda gamma: tried[gamma][0])  # the first of equal ones
    predicted = max(grid, key=lambda gamma: tried[gamma][1])
    return Choice(
        batch=batch,
        predicted=predicted,
        measured=measured,
        best=tried[measured][0],
        at_prediction=tried[predicted][0],
        steps=abs(grid.index(predicted) - grid.index(measured)),
    )

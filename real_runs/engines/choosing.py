"""Which reading of a log says most, where several count the same tokens."""

from __future__ import annotations

from collections.abc import Iterable

from real_runs.engines.reading import Reading
from simulator import AcceptanceTable


def most_telling(readings: Iterable[Reading]) -> Reading:
    """The reading with rounds in order or tables by request, then counts by depth, then most tokens.

    Raises ValueError without a reading.
    """
    found = tuple(readings)
    if not found:
        raise ValueError("readings must hold one at least; got none.")
    return max(found, key=_says)


def _says(reading: Reading) -> tuple[int, int, int]:
    units = reading.units
    tables = sum(isinstance(unit.counts, AcceptanceTable) for unit in units)
    detail = 2 if any(unit.steps for unit in units) else 1 if tables > 1 else 0
    depth = 2 if isinstance(reading.counts, AcceptanceTable) else int(reading.counts is not None)
    return detail, depth, 0 if reading.counts is None else reading.counts.drafted

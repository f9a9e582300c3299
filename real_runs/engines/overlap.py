"""Readings of one text that can count the same tokens: said on each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from real_runs.engines.reading import Reading

_CLIENTS = frozenset({"aiperf"})
"""Programs that measure a server of another engine."""


def told_of_overlap(groups: Sequence[Sequence[Reading]]) -> list[Reading]:
    """All readings in order; those with counts name the ones of other groups that can hold the same.

    Within a group its own collector says so. A server's log, its counters, its answers and the
    benchmark that asked for them all tell of the same rounds, and no number in them shows it.
    """
    counting = [
        (number, reading)
        for number, group in enumerate(groups)
        for reading in group
        if reading.counts is not None
    ]
    told = []
    for number, group in enumerate(groups):
        for reading in group:
            others = [
                other.layout
                for elsewhere, other in counting
                if elsewhere != number and _can_share(reading, other)
            ]
            notes = (_sentence(others),) if others and reading.counts is not None else ()
            told.append(replace(reading, notes=(*reading.notes, *notes)) if notes else reading)
    return told


def _can_share(reading: Reading, other: Reading) -> bool:
    """Whether both can be of one server: of one engine, or one of them is a client's."""
    return reading.engine == other.engine or (reading.engine in _CLIENTS) != (
        other.engine in _CLIENTS
    )


def _sentence(layouts: Sequence[str]) -> str:
    names = [f"'{layout}'" for layout in dict.fromkeys(layouts)]
    if len(names) == 1:
        return f"{names[0]} of this text can count the same tokens: never add the two."
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{listed} of this text can count the same tokens: never add them."

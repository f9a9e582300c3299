"""Rates by depth and rank: what laws of trees are made of, checked."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from typing import TypeAlias

from simulator._checks import as_probability

Rows: TypeAlias = tuple[tuple[float, ...], ...]
TOLERANCE = 1e-9
"""How far a sum of rates may miss 1 by rounding."""


def as_rates(name: str, rows: Sequence[Sequence[float]]) -> Rows:
    """Rates by depth and rank, checked: each in [0, 1], each row at most 1 in sum."""
    found = tuple(
        tuple(as_probability(f"{name}[{depth}][{rank}]", rate) for rank, rate in enumerate(row))
        for depth, row in enumerate(as_rows(name, rows))
    )
    for depth, row in enumerate(found):
        total = math.fsum(row)
        if total > 1.0 + TOLERANCE:
            raise ValueError(
                f"{name}[{depth}] must sum to at most 1, for at most one rank is the kept one; got "
                f"{total!r}."
            )
    return found


def as_row(name: str, values: Sequence[float]) -> tuple[float, ...]:
    """Numbers as a tuple, not yet looked at."""
    try:
        return tuple(values)
    except TypeError:
        raise ValueError(
            f"{name} must be a sequence of numbers in [0, 1]; got {reprlib.repr(values)}."
        ) from None


def as_rows(name: str, rows: Sequence[Sequence[float]]) -> Rows:
    """Numbers by depth and rank as tuples, not yet looked at."""
    try:
        return tuple(tuple(row) for row in rows)
    except TypeError:
        raise ValueError(
            f"{name} must be numbers by depth and rank, one row per depth; got {reprlib.repr(rows)}."
        ) from None

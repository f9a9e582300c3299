"""What a comparison of systems says beside its table: on passes without a draft, on print, on guesses."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.systems.comparing import SystemRow
from simulator import HitMiss

GUESSED = " This share is a guess, not a measurement, and decides the round cost."
"""Behind the acceptance of a look-up whose share of rounds was solved from printed tokens."""


def passes_without_a_draft(rows: Sequence[SystemRow]) -> str:
    """Which systems verify less than `verified` in some rounds, in how many, and how much; "" for none.

    >>> from analysis.systems.comparing import compare_systems
    >>> from analysis.systems.presets import preset_system
    >>> passes_without_a_draft(compare_systems([preset_system("medusa")]))
    ''
    """
    less = [
        f"{row.system.name} in {1.0 - row.found:.0%} of rounds, which then verify {row.without_draft} of "
        f"{row.verified}"
        for row in rows
        if row.found < 1.0
    ]
    return (
        f"verified is what a pass has at most; nothing is found by {'; by '.join(less)}. Their round cost is "
        "the mean over all rounds."
        if less
        else ""
    )


def speedups_beside_print(rows: Sequence[SystemRow]) -> str:
    """How far speedups are from printed ones, in per cent; "" where costs or printed speedups are missing."""
    off = [
        f"{row.system.name} {row.speedup / row.system.printed.speedup - 1.0:+.1%}"
        for row in rows
        if row.speedup is not None and row.system.printed.speedup
    ]
    return (
        f"Speedup against print, which is of the printed machines: {', '.join(off)}." if off else ""
    )


def acceptance_of(row: SystemRow) -> str:
    """Where the acceptance comes from, and that the share of a look-up is a guess if it was solved for."""
    guessed = row.system.solved and isinstance(row.system.strategy.acceptance, HitMiss)
    return row.system.note + (GUESSED if guessed else "")


def beyond_measured(rows: Sequence[SystemRow], widest: float) -> str:
    """Beyond which width V(n) is extrapolated, and for which systems; "" where all passes were measured."""
    wider: dict[str, int] = {}
    for row in rows:
        if row.verified > widest:
            wider[row.system.name] = max(row.verified, wider.get(row.system.name, 0))
    named = ", ".join(f"{name} {width}" for name, width in wider.items())
    return (
        f"Passes were measured over up to {widest:g} tokens; V(n) is extrapolated beyond: {named}."
        if named
        else ""
    )

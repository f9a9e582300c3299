"""What an importer returns: the counts the text supports, and how it was understood."""

from __future__ import annotations

from dataclasses import dataclass

from simulator import Counts, ReportedRatio


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A line that belongs to the format but gave no counts, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One engine's metrics from one text.

    `counts` is None where only ratios are printed. `printed` holds the engine's own ratios of the
    last line, as it prints them (fractions, never percent), with the half-width of their rounding.
    `definition` says in words what the engine's "acceptance rate" is. `notes` say what was summed,
    inferred, or is missing. `lines` counts the lines read, `used` those that gave counts.
    """

    engine: str
    layout: str
    source: str
    counts: Counts | None
    printed: tuple[ReportedRatio, ...]
    definition: str
    lines: int
    used: int
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()

"""What an importer returns: the counts the text supports, and how it was understood."""

from __future__ import annotations

from dataclasses import dataclass

from simulator import Counts, ReportedRatio

_WRITTEN = {"vllm": "vLLM"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A line that belongs to the format but gave no counts, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One engine's metrics from one text.

    `layout` names the kind of line, once per engine. `counts` hold what all its records count; None
    where the text has ratios and no counts. `printed` holds the engine's own ratios as it
    prints them (fractions, never percent), with the half-width of their rounding, where they
    are those of a single record; it is empty for a sum, which the ratios of no record describe.
    `definition` says in a sentence what the engine's "acceptance rate" is. `notes` say what was
    summed, inferred, or is missing. `lines` counts the lines read, `used` those with a record that
    counted: a record that goes on in further lines is in the first of them, and one line can hold
    several.
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

    @property
    def title(self) -> str:
        """The engine as it writes itself, and the kind of line: one name per reading."""
        return f"{_WRITTEN.get(self.engine, self.engine)}, {self.layout}"

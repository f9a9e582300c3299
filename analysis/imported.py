"""From one reading of a log to what a report shows of it; command line and app share it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from analysis.by_unit import UnitIntervals, unit_intervals
from analysis.doctor import Diagnosis, diagnose
from analysis.groups import Groups
from analysis.import_report import ImportedLog
from analysis.log_summary import LogSummary, summarize
from simulator import CountedUnit, Counts, Estimate, Observation, ReportedRatio


class SkippedLine(Protocol):
    """A line that gave no counts, and why."""

    @property
    def line(self) -> int:
        """Its number."""

    @property
    def reason(self) -> str:
        """Why it gave none."""


class ReadLog(Protocol):
    """What the importers return for one kind of record of one engine, as far as a report needs it."""

    @property
    def title(self) -> str:
        """The engine and the kind of record."""

    @property
    def definition(self) -> str:
        """What the engine's acceptance rate is."""

    @property
    def counts(self) -> Counts | None:
        """What all records count."""

    @property
    def printed(self) -> tuple[ReportedRatio, ...]:
        """The engine's own ratios."""

    @property
    def lines(self) -> int:
        """Lines read."""

    @property
    def used(self) -> int:
        """Lines that counted."""

    @property
    def units(self) -> Sequence[CountedUnit]:
        """Requests or intervals, as far as the text tells them apart."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was summed, inferred, or is missing."""

    @property
    def skipped(self) -> Sequence[SkippedLine]:
        """Lines that gave no counts."""


def summary_of(
    reading: ReadLog,
    observation: Observation,
    *,
    gamma: int | None = None,
    cost_ratio: float | None = None,
    verify_cost: float = 1.0,
    overhead: float = 0.0,
) -> LogSummary:
    """The quantities of a reading; `gamma` is what the reader says, `observation` has the rest.

    Raises ValueError where the gamma contradicts the log.
    """
    positions = any(ratio.quantity == "survival" for ratio in reading.printed)
    if reading.counts is None and not positions:  # nothing else says how long drafts were
        gamma = observation.gamma
    summary = summarize(
        reading.counts,
        printed=reading.printed,
        gamma=gamma,
        cost_ratio=cost_ratio,
        verify_cost=verify_cost,
        overhead=overhead,
    )
    errors = unit_intervals(observation)
    return summary if errors is None else _with_errors(summary, errors)


def _with_errors(summary: LogSummary, errors: UnitIntervals) -> LogSummary:
    """The summary with the errors of whole requests in place of those of rounds."""
    tokens = summary.tokens_per_round
    if tokens is None:
        return summary
    tokens = Estimate(value=tokens.value, se=errors.tokens_se)
    summary = replace(summary, tokens_per_round=tokens, by_unit=errors)
    if summary.round_cost is not None and summary.speedup is not None:
        summary = replace(summary, speedup=tokens.scaled(1.0 / summary.round_cost))
    if errors.p is None or summary.p is None:
        return summary
    return replace(summary, p=errors.p, p_interval=errors.p.interval, p_by_depth=errors.p_by_depth)


def diagnosis_of(observation: Observation) -> Diagnosis:
    """The doctor's findings in one log; a report names the source above them, so they do not."""
    return diagnose(replace(observation, name=""))


def imported_log(
    reading: ReadLog,
    summary: LogSummary,
    diagnosis: Diagnosis,
    *,
    groups: Groups | None = None,
    notes: tuple[str, ...] = (),
) -> ImportedLog:
    """All that a report shows of a reading; `notes` come behind its own."""
    return ImportedLog(
        name=reading.title,
        definition=reading.definition,
        counts=reading.counts,
        summary=summary,
        printed=reading.printed,
        lines=reading.lines,
        used=reading.used,
        notes=(*reading.notes, *notes),
        skipped=tuple(f"line {entry.line}: {entry.reason}" for entry in reading.skipped),
        diagnosis=diagnosis,
        groups=groups,
        units=len(reading.units),
    )

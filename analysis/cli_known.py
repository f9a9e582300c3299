"""What a user knows beside a log, as the options of `specdec import` say it, and what follows for a log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.log_options import label_of

if TYPE_CHECKING:
    from analysis.groups import Groups
    from analysis.import_report import ImportedLog
    from analysis.imported import ReadLog
    from analysis.output import Cell
    from simulator import Observation

_NO_UNITS = "--by {by}: this text has no requests or intervals with counts by depth to tell apart."


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Facts that a log does not print, what rounds cost, and the label to group requests by."""

    gamma: int | None = None
    cost_ratio: float | None = None
    verify_cost: float = 1.0
    overhead: float = 0.0
    tps: float | None = None
    plain_tps: float | None = None
    running: float | None = None
    method: str | None = None
    target: str | None = None
    by: str | None = None

    @property
    def told(self) -> tuple[tuple[str, Cell], ...]:
        """All of it, as a report echoes it."""
        return (
            ("gamma", self.gamma),
            ("cost_ratio", self.cost_ratio),
            ("verify_cost", self.verify_cost),
            ("overhead", self.overhead),
            ("tps", self.tps),
            ("plain_tps", self.plain_tps),
            ("running", self.running),
            ("method", self.method),
            ("target", self.target),
            ("by", self.by),
        )

    def added_to(self, observation: Observation, *, running: float | None) -> Observation:
        """The observation with these facts; `running` is the measured number of requests at a time."""
        from analysis.facts import with_facts  # noqa: PLC0415

        return with_facts(
            observation,
            gamma=self.gamma,
            method=self.method,
            target=self.target,
            tokens_per_s=self.tps,
            plain_tokens_per_s=self.plain_tps,
            running=running if self.running is None else self.running,
        )

    def log_of(self, reading: ReadLog, observation: Observation) -> ImportedLog:
        """What a report shows of a reading, whose observation has these facts already."""
        from analysis.imported import diagnosis_of, imported_log, summary_of  # noqa: PLC0415

        summary = summary_of(
            reading,
            observation,
            gamma=self.gamma,
            cost_ratio=self.cost_ratio,
            verify_cost=self.verify_cost,
            overhead=self.overhead,
        )
        groups = None if self.by is None else groups_of(observation, self.by)
        lacking = self.by is not None and groups is None
        return imported_log(
            reading,
            summary,
            diagnosis_of(observation),
            groups=groups,
            notes=(_NO_UNITS.format(by=self.by),) if lacking else (),
        )


def groups_of(observation: Observation, by: str) -> Groups | None:
    """The units of an observation by a label or over time; None where no unit has counts by depth."""
    from analysis.groups import by_label, over_time, table_of  # noqa: PLC0415

    name, buckets = label_of(by)
    if name == "time" and buckets is not None:
        raise ValueError(
            f"--by time takes no limits, for it has parts of equal length; got {by!r:.40}."
        )
    if all(table_of(unit) is None for unit in observation.units):
        return None
    if name == "time":
        return over_time(observation.units)
    return by_label(observation.units, name, buckets=buckets)

"""Published results beside what the formula says of their inputs."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

from analysis.formulas import operations_factor, speedup


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRow:
    """One published number with its inputs, as printed; None where the source prints nothing.

    `p` is the source's α, `cost_ratio` its c; `speedup_printed` is the source's own prediction.
    `plain_ms`, `speculative_ms`, `draft_ms` are milliseconds per token. `confidence`: "direct" (the
    paper's own table) or "secondary" (from transcriptions).
    """

    source: str
    url: str
    table: str
    target: str
    draft: str
    task: str
    temperature: str
    gamma: int
    p: float | None
    cost_ratio: float | None
    speedup_printed: float | None
    operations_printed: float | None
    speedup_measured: float | None
    plain_ms: float | None
    speculative_ms: float | None
    draft_ms: float | None
    confidence: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """A published row beside the formula's values for its inputs (V = 1, no overhead)."""

    row: PublishedRow
    speedup_predicted: float
    operations_predicted: float | None

    @property
    def error_of_prediction(self) -> float | None:
        """speedup_predicted / speedup_measured - 1; None if nothing was measured."""
        measured = self.row.speedup_measured
        return None if measured is None else self.speedup_predicted / measured - 1.0


def published_rows(source: str | None = None, table: str | None = None) -> tuple[PublishedRow, ...]:
    """The published rows that ship with the package, filtered by source and table if given.

    >>> len(published_rows("Leviathan et al. 2023", "Table 1"))
    6
    """
    text = (files("analysis") / "data" / "published.csv").read_text(encoding="utf-8")
    rows = (_row(record) for record in csv.DictReader(text.splitlines()))
    return tuple(
        row
        for row in rows
        if (source is None or row.source == source) and (table is None or row.table == table)
    )


def leviathan_table_1() -> tuple[Reproduction, ...]:
    """Leviathan et al. 2023, Table 1: speed and operations at c = ĉ = 0, exactly as printed.

    >>> [round(entry.speedup_predicted, 2) for entry in leviathan_table_1()]
    [1.96, 2.53, 2.44, 3.69, 2.71, 6.86]
    """
    return _reproduced("Table 1")


def leviathan_tables_2_and_4() -> tuple[Reproduction, ...]:
    """Leviathan et al. 2023, Tables 2 and 4: predicted here, predicted in print, measured.

    The printed inputs are rounded, so the two predictions differ by up to 0.07.

    >>> [round(entry.speedup_predicted, 2) for entry in leviathan_tables_2_and_4()][:3]
    [3.16, 3.25, 2.5]
    """
    return _reproduced("Tables 2+4")


def _reproduced(table: str) -> tuple[Reproduction, ...]:
    return tuple(
        Reproduction(
            row=row,
            speedup_predicted=float(speedup(row.p, row.gamma, row.cost_ratio)),
            operations_predicted=None
            if row.operations_printed is None
            else float(operations_factor(row.p, row.gamma, 0.0)),
        )
        for row in published_rows("Leviathan et al. 2023", table)
        if row.p is not None and row.cost_ratio is not None
    )


def _row(record: dict[str, str]) -> PublishedRow:
    def number(name: str) -> float | None:
        return float(record[name]) if record[name] else None

    return PublishedRow(
        source=record["source"],
        url=record["url"],
        table=record["table"],
        target=record["target"],
        draft=record["draft"],
        task=record["task"],
        temperature=record["temperature"],
        gamma=int(record["gamma"]),
        p=number("p"),
        cost_ratio=number("cost_ratio"),
        speedup_printed=number("speedup_printed"),
        operations_printed=number("operations_printed"),
        speedup_measured=number("speedup_measured"),
        plain_ms=number("plain_ms"),
        speculative_ms=number("speculative_ms"),
        draft_ms=number("draft_ms"),
        confidence=record["confidence"],
        note=record["note"],
    )

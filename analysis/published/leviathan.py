"""Leviathan et al. 2023: printed speedups beside what the formula says of their printed inputs."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.formulas import operations_factor, speedup
from analysis.published.rows import PublishedRow, published_rows

LEVIATHAN = "Leviathan et al. 2023"


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
        for row in published_rows(LEVIATHAN, table)
        if row.p is not None and row.gamma is not None and row.cost_ratio is not None
    )

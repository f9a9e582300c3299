"""Numbers of a table that follow from other numbers of the same table: no model, a check of print."""

from __future__ import annotations

import math
from collections.abc import Iterable

from analysis.published.prediction import Family, Prediction
from analysis.published.rows import PublishedRow, published_rows

PER_TASK = ("EAGLE-2 2024", "EAGLE-3 2025")
LOOKUP = "Prompt lookup repository 2023"


def is_mean(row: PublishedRow) -> bool:
    """Whether the row is the mean of rows above it."""
    return row.task.startswith("MEAN of")


def table_key(row: PublishedRow) -> tuple[str, ...]:
    """What rows share that differ in their task only."""
    return (row.source, row.table, row.method, row.target, row.draft, row.temperature, row.hardware)


def arithmetic() -> Family:
    """Means of the printed tasks, ratios of printed times, 1 + Σ of printed survival."""
    return Family(
        name="arithmetic of the source",
        kind="check",
        asks="do means, ratios of times and sums of survival follow from the numbers beside them?",
        misses="a misprint, or rounding of the inputs; no model is involved",
        predictions=(*_means(), *_lookup_means(), *_ratios(), *_sums()),
    )


def _means() -> Iterable[Prediction]:
    tables: dict[tuple[str, ...], list[PublishedRow]] = {}
    for source in PER_TASK:
        for row in published_rows(source, "Table 1"):
            tables.setdefault(table_key(row), []).append(row)
    for rows in tables.values():
        parts = [row for row in rows if not is_mean(row)]
        for row in filter(is_mean, rows):
            for quantity, name in (
                ("tokens_per_round", "tokens_per_round"), ("speedup", "speedup_measured"),
            ):  # fmt: skip
                yield Prediction(
                    row=row,
                    quantity=quantity,  # type: ignore[arg-type]
                    printed=getattr(row, name),
                    predicted=math.fsum(getattr(part, name) for part in parts) / len(parts),
                    inputs=f"mean of {len(parts)} tasks",
                    group="/".join(table_key(row)),
                )


def _lookup_means() -> Iterable[Prediction]:
    for row in published_rows(LOOKUP, "raw json"):
        parts = [
            other.speedup_measured or 0.0
            for other in published_rows(LOOKUP, "raw json by category")
            if other.task.startswith(f"{row.task} ")
        ]
        if parts:
            yield Prediction(
                row=row, quantity="speedup", printed=row.speedup_measured or 0.0,
                predicted=math.fsum(parts) / len(parts), inputs=f"mean of {len(parts)} categories",
                group=row.task,
            )  # fmt: skip


def _ratios() -> Iterable[Prediction]:
    for row in published_rows():
        if row.table in {"Table 4", "sample result", "Benchmarks"}:
            continue  # whose ratios are not printed
        if row.plain_ms and row.speculative_ms and row.speedup_measured:
            yield Prediction(
                row=row, quantity="speedup", printed=row.speedup_measured,
                predicted=row.plain_ms / row.speculative_ms, inputs="ms per token, plain / speculative",
                group=f"{row.source}, {row.target}",
            )  # fmt: skip


def _sums() -> Iterable[Prediction]:
    from analysis.systems.curves import curve_by_name  # noqa: PLC0415 — needed for one row

    for row in published_rows():
        if row.survival and row.tokens_per_round:
            total = 1.0 + math.fsum(row.survival)
        elif row.method == "DFlash":
            curve = curve_by_name("dflash-tpu-gsm8k")
            total = curve.tokens[max(curve.tokens)]
        else:
            continue
        yield Prediction(
            row=row, quantity="tokens_per_round", printed=row.tokens_per_round or 0.0, predicted=total,
            inputs="1 + Σ survival by depth", group=f"{row.source} {row.number}",
        )  # fmt: skip

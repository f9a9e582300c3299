"""Published results, one value per printed row: those of `published.csv`, and those that other files hold."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cache

from analysis.csv_facts import csv_records


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRow:
    """One row of a published table, as printed; None and "" where the source prints nothing.

    `p` is the source's acceptance of a token (α in papers), `cost_ratio` its c. `gamma` is the length of
    the draft, the depth of a tree; `width` how many chains or children stand side by side, `nodes` the
    drafted tokens of a round. `tokens_per_round` counts the target's own token. `speedup_measured` is over
    plain decoding at the same batch, `speedup_printed` the source's own prediction, `operations_printed` its
    factor of arithmetic. `plain_ms`, `speculative_ms`, `draft_ms` are milliseconds per token.
    `rates_by_depth` are P(accepted | tested) of a chain, `survival` P(the first i + 1 tokens are all kept).
    `confidence`: "direct" (the source's own table or log), "direct-figure", "direct-community" (reviewed by
    nobody) or "secondary". `number` counts all rows from 1.
    """

    source: str
    url: str
    table: str
    method: str = ""
    target: str = ""
    draft: str = ""
    task: str = ""
    temperature: str = ""
    gamma: int | None = None
    p: float | None = None
    cost_ratio: float | None = None
    tokens_per_round: float | None = None
    width: int | None = None
    nodes: int | None = None
    batch: int | None = None
    hardware: str = ""
    speedup_measured: float | None = None
    speedup_printed: float | None = None
    operations_printed: float | None = None
    plain_ms: float | None = None
    speculative_ms: float | None = None
    draft_ms: float | None = None
    rates_by_depth: tuple[float, ...] = ()
    survival: tuple[float, ...] = ()
    confidence: str = ""
    note: str = ""
    number: int = field(default=0, compare=False)


def published_rows(source: str | None = None, table: str | None = None) -> tuple[PublishedRow, ...]:
    """The published rows that ship with the package, filtered by source and table if given.

    >>> len(published_rows()), len(published_rows("Leviathan et al. 2023", "Table 1"))
    (865, 6)
    """
    return tuple(
        row
        for row in _all_rows()
        if (source is None or row.source == source) and (table is None or row.table == table)
    )


def value_of(number: float | None) -> float:
    """A number that a family needs and its rows have; ValueError where the row has none."""
    if number is None:
        raise ValueError("the row must print every input of its family; got a row without one.")
    return number


@cache
def _all_rows() -> tuple[PublishedRow, ...]:
    from analysis.published.elsewhere import rows_of_other_files  # noqa: PLC0415 — it makes rows, too

    own = tuple(_row(record) for record in csv_records("published.csv"))
    return tuple(
        replace(row, number=number)
        for number, row in enumerate((*own, *rows_of_other_files()), start=1)
    )


def _row(record: dict[str, str]) -> PublishedRow:
    kinds = {column.name: str(column.type) for column in fields(PublishedRow)}
    return PublishedRow(**{name: _cell(kinds[name], text) for name, text in record.items()})  # type: ignore[arg-type]


def _cell(kind: str, text: str) -> str | int | float | tuple[float, ...] | None:
    """The text of a cell as its column's kind; nothing written is None."""
    match kind:
        case "str":
            return text
        case "int | None":
            return int(text) if text else None
        case "float | None":
            return float(text) if text else None
    return tuple(map(float, text.split()))

"""Published facts in CSV files of the package: a dataclass per kind, a row per value."""

from __future__ import annotations

import csv
import dataclasses
from importlib.resources import files
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Fact = TypeVar("_Fact", bound="DataclassInstance")


def csv_records(name: str) -> list[dict[str, str]]:
    """The rows of a file in `analysis/data`, as they are written.

    >>> csv_records("published_trees.csv")[0]["tree"]
    'medusa-63'
    """
    text = (files("analysis") / "data" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def csv_facts(name: str, kind: type[_Fact], *, counts: tuple[str, ...]) -> tuple[_Fact, ...]:
    """Every row as a fact: `value` a number, `counts` whole numbers or None where nothing is written."""
    return tuple(_fact(record, kind, counts) for record in csv_records(name))


def _fact(record: dict[str, str], kind: type[_Fact], counts: tuple[str, ...]) -> _Fact:
    values: dict[str, str | int | float | None] = dict(record)
    for count in counts:
        values[count] = int(record[count]) if record[count] else None
    values["value"] = float(record["value"])
    return kind(**{field.name: values[field.name] for field in dataclasses.fields(kind)})

"""Presets as rows of a table in `analysis/data`, each with its name and other spellings of it."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Generic, TypeVar

from analysis.closest_names import find_named

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True)
class PresetRows(Generic[Value]):
    """The presets of one file, read when first asked for: what they are, and how a row becomes one."""

    kind: str
    file: str
    of_row: Callable[[dict[str, str]], Value]

    @cached_property
    def _named(self) -> tuple[tuple[Value, str, tuple[str, ...]], ...]:
        text = (files("analysis") / "data" / self.file).read_text(encoding="utf-8")
        return tuple(
            (self.of_row(row), row["name"], tuple(filter(None, row["also"].split("|"))))
            for row in csv.DictReader(text.splitlines())
        )

    def all(self) -> tuple[Value, ...]:
        """Every preset, in the order of the file."""
        return tuple(value for value, _, _ in self._named)

    def find(self, name: str) -> Value:
        """The preset of that name, whatever its case and punctuation; ValueError with the closest names."""
        known = {spelling: value for value, own, also in self._named for spelling in (own, *also)}
        return find_named(self.kind, name, known, [own for _, own, _ in self._named])

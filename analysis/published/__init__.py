"""Published and publicly measured results beside what the models here say of them, by family of prediction."""

from __future__ import annotations

from analysis.published.leviathan import (
    Reproduction,
    leviathan_table_1,
    leviathan_tables_2_and_4,
)
from analysis.published.rows import PublishedRow, published_rows

__all__ = [
    "PublishedRow",
    "Reproduction",
    "leviathan_table_1",
    "leviathan_tables_2_and_4",
    "published_rows",
]

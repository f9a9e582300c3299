"""Accelerators by name, each with the source of its numbers (`data/accelerators.csv`)."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

from analysis.closest_names import find_named
from analysis.hardware import Accelerator


def accelerators() -> tuple[Accelerator, ...]:
    """The accelerators that ship with the package, as their makers describe them.

    Arithmetic is dense, at 16 bits; links count one direction. Each has its source; numbers that no
    maker prints say in `note` how they came about.

    >>> [card.name for card in accelerators()][2:4]
    ['H100 SXM', 'H200']
    """
    return tuple(card for card, _ in _rows())


def accelerator(name: str) -> Accelerator:
    """The accelerator of that name, whatever its case and punctuation; short and driver's names work too.

    Raises ValueError with the closest names.

    >>> accelerator("h100").memory_bytes_per_s, accelerator("NVIDIA GeForce RTX 4090").name
    (3350000000000.0, 'RTX 4090')
    """
    known = {spelling: card for card, spellings in _rows() for spelling in spellings}
    return find_named("accelerator", name, known, [card.name for card in accelerators()])


@cache
def _rows() -> tuple[tuple[Accelerator, tuple[str, ...]], ...]:
    text = (files("analysis") / "data" / "accelerators.csv").read_text(encoding="utf-8")
    return tuple(_row(record) for record in csv.DictReader(text.splitlines()))


def _row(record: dict[str, str]) -> tuple[Accelerator, tuple[str, ...]]:
    also = tuple(name for name in record["also"].split("|") if name)
    card = Accelerator(
        name=record["name"],
        source=record["source"],
        url=record["url"],
        note=record["note"],
        memory_bytes_per_s=float(record["memory_bytes_per_s"]),
        operations_per_s=float(record["operations_per_s"]),
        operations_8bit_per_s=float(record["operations_8bit_per_s"]),
        memory_bytes=float(record["memory_bytes"]),
        link_bytes_per_s=float(record["link_bytes_per_s"]),
    )
    return card, (card.name, *also)

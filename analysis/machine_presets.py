"""Accelerators by name, each with the source of its numbers (`data/accelerators.csv`)."""

from __future__ import annotations

from analysis.hardware import Accelerator
from analysis.preset_rows import PresetRows

_NUMBERS = (
    "memory_bytes_per_s", "operations_per_s", "operations_8bit_per_s", "memory_bytes", "link_bytes_per_s",
)  # fmt: skip


def accelerators() -> tuple[Accelerator, ...]:
    """The accelerators that ship with the package, as their makers describe them.

    Arithmetic is dense, at 16 bits; links count one direction. Each has its source; numbers that no
    maker prints say in `note` how they came about.

    >>> [card.name for card in accelerators()][2:4]
    ['H100 SXM', 'H200']
    """
    return _PRESETS.all()


def accelerator(name: str) -> Accelerator:
    """The accelerator of that name, whatever its case and punctuation; short and driver's names work too.

    Raises ValueError with the closest names.

    >>> accelerator("h100").memory_bytes_per_s, accelerator("NVIDIA GeForce RTX 4090").name
    (3350000000000.0, 'RTX 4090')
    """
    return _PRESETS.find(name)


def _accelerator(row: dict[str, str]) -> Accelerator:
    return Accelerator(
        name=row["name"],
        source=row["source"],
        url=row["url"],
        note=row["note"],
        **{key: float(row[key]) for key in _NUMBERS},
    )


_PRESETS = PresetRows(kind="accelerator", file="accelerators.csv", of_row=_accelerator)

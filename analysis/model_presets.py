"""Models by name, each with the source of its dimensions (`data/architectures.csv`)."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

from analysis.closest_names import find_named
from analysis.model_shape import Architecture

_COUNTS = (
    "layers", "hidden", "heads", "kv_heads", "head_dim", "width", "vocabulary", "experts",
    "experts_per_token", "expert_width",
)  # fmt: skip


def architectures() -> tuple[Architecture, ...]:
    """The models that ship with the package: targets first, drafts of their families behind them.

    >>> [model.name for model in architectures()][:3]
    ['Llama 3.1 8B', 'Llama 3.1 70B', 'Llama 3.2 1B']
    """
    return tuple(model for model, _ in _rows())


def architecture(name: str) -> Architecture:
    """The model of that name, whatever its case and punctuation; names of repositories work too.

    Raises ValueError with the closest names.

    >>> architecture("meta-llama/Llama-3.1-8B-Instruct").name, architecture("qwen3 30b a3b").experts
    ('Llama 3.1 8B', 128)
    """
    known = {spelling: model for model, spellings in _rows() for spelling in spellings}
    return find_named("model", name, known, [model.name for model in architectures()])


@cache
def _rows() -> tuple[tuple[Architecture, tuple[str, ...]], ...]:
    text = (files("analysis") / "data" / "architectures.csv").read_text(encoding="utf-8")
    return tuple(_row(record) for record in csv.DictReader(text.splitlines()))


def _row(record: dict[str, str]) -> tuple[Architecture, tuple[str, ...]]:
    model = Architecture(
        name=record["name"],
        source=record["source"],
        url=record["url"],
        note=record["note"],
        gated=record["gated"] == "1",
        tied=record["tied"] == "1",
        **{key: int(record[key]) for key in _COUNTS},
    )
    return model, (model.name, *(name for name in record["also"].split("|") if name))

"""Models by name, each with the source of its dimensions (`data/architectures.csv`)."""

from __future__ import annotations

from analysis.model_shape import Architecture
from analysis.preset_rows import PresetRows

_COUNTS = (
    "layers", "hidden", "heads", "kv_heads", "head_dim", "width", "vocabulary", "experts",
    "experts_per_token", "expert_width",
)  # fmt: skip


def architectures() -> tuple[Architecture, ...]:
    """The models that ship with the package: targets first, drafts of their families behind them.

    >>> [model.name for model in architectures()][:3]
    ['Llama 3.1 8B', 'Llama 3.1 70B', 'Llama 3.2 1B']
    """
    return _PRESETS.all()


def architecture(name: str) -> Architecture:
    """The model of that name, whatever its case and punctuation; names of repositories work too.

    Raises ValueError with the closest names.

    >>> architecture("meta-llama/Llama-3.1-8B-Instruct").name, architecture("qwen3 30b a3b").experts
    ('Llama 3.1 8B', 128)
    """
    return _PRESETS.find(name)


def _architecture(row: dict[str, str]) -> Architecture:
    return Architecture(
        name=row["name"],
        source=row["source"],
        url=row["url"],
        note=row["note"],
        gated=row["gated"] == "1",
        tied=row["tied"] == "1",
        **{key: int(row[key]) for key in _COUNTS},
    )


_PRESETS = PresetRows(kind="model", file="architectures.csv", of_row=_architecture)

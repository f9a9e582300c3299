"""Models of one's own: from a config.json, and in the few words that an address can carry."""

from __future__ import annotations

import dataclasses

from analysis.model_config import architecture_of_config
from analysis.model_shape import Architecture
from analysis.specs import read_spec

MOST_CONFIG = 200_000
"""Bytes of a config.json; real ones have a few thousand."""
_SIZES = tuple(
    field.name
    for field in dataclasses.fields(Architecture)
    if field.name not in {"name", "source", "url", "note", "gated", "tied"}
)
_NEEDED = ("layers", "hidden", "heads", "kv_heads", "vocabulary")
_FLAGS = {"gated": True, "tied": False}


def of_config(content: bytes) -> str:
    """The dimensions in a config.json, in the words of `write`. Raises ValueError for what it lacks."""
    if len(content) > MOST_CONFIG:
        raise ValueError(
            f"config.json must have at most {MOST_CONFIG:,} bytes; got {len(content):,}."
        )
    written = write(architecture_of_config(content.decode("utf-8", "replace")))
    read(written)
    return written


def is_own(text: str) -> bool:
    """True for dimensions, which hold an equals sign; names do not."""
    return "=" in text


def write(model: Architecture) -> str:
    """The dimensions in the words of `specdec plan --target`.

    >>> write(Architecture(name="x", layers=2, hidden=64, heads=4, kv_heads=4, width=8, vocabulary=9))
    'layers=2 hidden=64 heads=4 kv_heads=4 width=8 vocabulary=9'
    """
    said = [
        f"{name}={getattr(model, name)}" for name in _SIZES if getattr(model, name) not in (None, 0)
    ]
    said += [
        f"{name}={'yes' if getattr(model, name) else 'no'}"
        for name, usual in _FLAGS.items()
        if getattr(model, name) != usual
    ]
    return " ".join(said)


def read(text: str) -> Architecture:
    """The model of such words; ValueError for what they lack or do not know. Opens no file.

    >>> read("layers=2 hidden=64 heads=4 kv_heads=4 width=8 vocabulary=9").kv_numbers
    256
    """
    spec = read_spec("model", text, (*_SIZES, *_FLAGS))
    if spec.name:
        raise ValueError(f"model must be a name or dimensions, not both; got {text!r:.60}.")
    missing = [name for name in _NEEDED if name not in spec.values]
    if missing:
        raise ValueError(f"model must give {', '.join(missing)} too; got {text!r:.60}.")
    sizes = {name: spec.whole(name) for name in _SIZES if name in spec.values}
    for name, size in sizes.items():
        if size is None or not 0 <= size <= _MOST[name]:
            raise ValueError(f"model: {name} must lie in [0, {_MOST[name]:,}]; got {size!r:.60}.")
    flags = {name: _flag(spec.values[name]) for name in _FLAGS if name in spec.values}
    return Architecture(name="your model", width=sizes.pop("width", 0) or 0, **sizes, **flags)  # type: ignore[arg-type]


def _flag(text: str) -> bool:
    if text not in {"yes", "no"}:
        raise ValueError(f"model: gated and tied must be yes or no; got {text!r:.60}.")
    return text == "yes"


_MOST = dict.fromkeys(_SIZES, 10_000_000) | {
    "layers": 10_000,
    "heads": 100_000,
    "kv_heads": 100_000,
    "head_dim": 100_000,
    "experts": 100_000,
    "experts_per_token": 100_000,
}

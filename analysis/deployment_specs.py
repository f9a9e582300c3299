"""Machines, models and drafts as the command line names them: presets, files, or a few numbers."""

from __future__ import annotations

import dataclasses
import difflib
import math
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from analysis.deployment.building import DraftKind, Kind
from analysis.hardware import Accelerator, Machine
from analysis.model_shape import Architecture
from analysis.specs import Spec, named, read_spec
from simulator import Method

_DEVICE = ("memory_bytes_per_s", "operations_per_s", "memory_bytes", "link_bytes_per_s")
_MACHINE = tuple(field.name for field in dataclasses.fields(Machine) if field.name != "accelerator")
_SHAPE = tuple(
    field.name
    for field in dataclasses.fields(Architecture)
    if field.name not in {"name", "source", "url", "note"}
)
_FLAGS = {"gated", "tied"}
KIND_OF: dict[str, tuple[Kind, Method]] = {
    "eagle": ("head", "eagle"),
    "eagle3": ("head", "eagle"),
    "mtp": ("head", "mtp"),
    "block": ("block", "block"),
    "lookup": ("lookup", "ngram"),
    "ngram": ("lookup", "ngram"),
    "self": ("self", "other"),
}
"""Words of --draft that are no model; `chain` is any draft whose step is known as a ratio."""
CHAIN = "chain"
ACCEPTANCE_KEYS = (
    "p", "coverage", "by_depth", "log", "log_gamma", "engine", "layout", "tokens_per_round",
    "accepted_fraction", "measured_gamma",
)  # fmt: skip
_HEAD = ("layers", "vocabulary", "kv_budget", "weight_bits", "round_s")
_OF_KIND: dict[Kind | None, tuple[str, ...]] = {
    "head": _HEAD,
    "block": _HEAD,
    "model": _HEAD[2:],
    "self": _HEAD[2:],
    "lookup": ("round_s",),
    None: ("cost_ratio", "round_s"),
}
"""What else may be said of a draft: the others would change nothing."""
_DRAFT = (*ACCEPTANCE_KEYS, "label", "path", *_HEAD, "cost_ratio")


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftWords:
    """A draft as --draft says it: how it comes about, or its step as a share of a target step.

    `round_s` is what drafting takes beside its steps, `path` where an engine finds the draft.
    """

    spec: Spec
    label: str
    path: str | None
    kind: DraftKind | None
    cost_ratio: float | None
    round_s: float = 0.0


def machine_of(text: str, option: str = "--hardware") -> Machine:
    """A preset's name, its own numbers, or both, as a Machine.

    Keys are the fields of `Machine` and `Accelerator`. Raises ValueError for an unknown preset or key.

    >>> machine_of("memory_bytes_per_s=1e12 operations_per_s=1e14 memory_bytes=24e9 overlap=inf").overlap
    inf
    """
    from analysis.machine_presets import accelerator  # noqa: PLC0415 — reads a file

    spec = read_spec(option, text, (*_DEVICE, *_MACHINE))
    own = {key: spec.number(key) for key in _DEVICE if key in spec.values}
    missing = [key for key in _DEVICE[:3] if key not in own]
    if not spec.name and missing:
        raise ValueError(f"{option} must name a preset or give {', '.join(missing)} too.")
    values: dict[str, Any] = {
        key: spec.whole(key) if key == "devices" else spec.number(key)
        for key in _MACHINE
        if key in spec.values
    }
    with named(option):
        if spec.name:
            card = accelerator(spec.name)
            card = replace(card, **own) if own else card  # type: ignore[arg-type]
        else:
            card = Accelerator(name="own machine", **own)  # type: ignore[arg-type]
        return Machine(accelerator=card, **values)


def architecture_of(text: str, option: str = "--target") -> Architecture:
    """A preset's name, a config.json, or the dimensions themselves, as an Architecture.

    >>> architecture_of("layers=2 hidden=64 heads=4 kv_heads=4 width=128 vocabulary=256").kv_numbers
    256
    """
    from analysis.model_presets import architecture  # noqa: PLC0415 — reads a file

    spec = read_spec(option, text, _SHAPE)
    own: dict[str, Any] = {
        key: _flag(spec, key) if key in _FLAGS else spec.whole(key)
        for key in _SHAPE
        if key in spec.values
    }
    missing = [key for key in _NEEDED if key not in own]
    if not spec.name and missing:
        raise ValueError(f"{option} must name a model or give {', '.join(missing)} too.")
    config = _config_of(spec.name)
    with named(option):
        if not spec.name:
            return Architecture(name="own model", **own)
        found = architecture(spec.name) if config is None else _read_config(config)
        return replace(found, **own) if own else found


_NEEDED = ("layers", "hidden", "heads", "kv_heads", "width", "vocabulary")


def _config_of(name: str) -> Path | None:
    """The config.json that a name means: itself, or the one in the folder; None for a preset."""
    if name.endswith(".json"):
        return Path(name)
    inside = Path(name, "config.json")
    return inside if name and inside.is_file() else None


def _read_config(path: Path) -> Architecture:
    from analysis.model_config import architecture_of_config  # noqa: PLC0415

    with path.open("rb") as file:
        text = file.read(_MOST_CONFIG)
    return architecture_of_config(text, name=path.absolute().parent.name or None)


_MOST_CONFIG = 2_000_000  # bytes; a config.json has a few thousand


def _flag(spec: Spec, key: str) -> bool:
    text = spec.values[key].lower()
    if text not in {"yes", "no", "true", "false"}:
        raise ValueError(f"{spec.option}: {key} must be yes or no; got {spec.values[key]!r:.60}.")
    return text in {"yes", "true"}


def draft_of(text: str, option: str = "--draft") -> DraftWords:
    """What drafts: eagle, mtp, block, lookup or self, a model's name or config.json, or `chain`.

    Raises ValueError for a draft that is unknown and for what does not belong to its kind.

    >>> draft_of("eagle p=0.8 layers=2").kind.layers, draft_of("chain cost_ratio=0.1 p=0.7").cost_ratio
    (2, 0.1)
    """
    spec = read_spec(option, text, _DRAFT)
    word = spec.name.lower()
    ratio, round_s = spec.number("cost_ratio"), spec.number("round_s") or 0.0
    label, path = spec.values.get("label", spec.name or CHAIN), spec.values.get("path")
    if word in {"", CHAIN}:
        _check_ratio(spec, ratio)
        _check_keys(spec, CHAIN, None)
        return DraftWords(
            spec=spec, label=label, path=path, kind=None, cost_ratio=ratio, round_s=round_s
        )
    kind, method = KIND_OF.get(word, ("model", "draft_model"))
    model = _draft_model(spec.name, option) if kind == "model" else None
    _check_keys(spec, spec.name, kind)
    layers = spec.whole("layers")
    with named(option):
        drafts = DraftKind(
            kind=kind,
            model=model,
            layers=1 if layers is None else layers,
            vocabulary=spec.whole("vocabulary"),
            kv_budget=spec.whole("kv_budget"),
            weight_bits=spec.number("weight_bits"),
            round_s=round_s,
            method=method,
        )
    if model is not None and "label" not in spec.values and _config_of(spec.name):
        label = model.name
    return DraftWords(
        spec=spec, label=label, path=path, kind=drafts, cost_ratio=None, round_s=round_s
    )


def _draft_model(name: str, option: str) -> Architecture:
    """The model that drafts; a word that is nearly one of `KIND_OF` is taken for a slip of it."""
    close = difflib.get_close_matches(name.lower(), (*KIND_OF, CHAIN), n=1, cutoff=0.7)
    if close and _config_of(name) is None:
        raise ValueError(f"{option} knows {close[0]}; got {name!r:.60}.")
    return architecture_of(shlex.quote(name), option)


def _check_ratio(spec: Spec, ratio: float | None) -> None:
    if ratio is None and not spec.name:
        raise ValueError(
            f"{spec.option} must say what drafts: {', '.join(KIND_OF)}, a model, or "
            f"'{CHAIN} cost_ratio=0.1'."
        )
    if ratio is None or not 0.0 < ratio < math.inf:
        raise ValueError(
            f"{spec.option} must give {CHAIN!r} a cost_ratio above 0: one draft step / one plain target "
            f"step; got {spec.values.get('cost_ratio', 'none')}."
        )


def _check_keys(spec: Spec, called: str, kind: Kind | None) -> None:
    known = (*ACCEPTANCE_KEYS, "label", "path", *_OF_KIND[kind])
    idle = [key for key in spec.values if key not in known]
    if idle:
        raise ValueError(
            f"{spec.option} must leave out {', '.join(idle)} for {called!r}: of its own it has "
            f"{', '.join(_OF_KIND[kind])}."
        )

"""Machines, models and drafts as the command line names them: presets, files, or a few numbers."""

from __future__ import annotations

import dataclasses
import difflib
import math
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.deployment.building import DraftKind, Kind
from analysis.machine_specs import machine_of, or_else
from analysis.model_shape import Architecture
from analysis.specs import OWN_MODEL, Spec, named, read_spec
from simulator import Method

if TYPE_CHECKING:
    from analysis.configuration.methods import Variant

__all__ = [
    "ACCEPTANCE_KEYS", "CHAIN", "KIND_OF", "DraftWords", "architecture_of", "draft_of", "machine_of",
]  # fmt: skip
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
VARIANT_OF: dict[str, Variant] = {"eagle": "eagle", "eagle3": "eagle3"}
"""The kind of head that a configuration names."""
EAGLE3_VOCABULARY = 32_000
"""config.json of yuhuili/EAGLE3-LLaMA3.1-Instruct-8B, draft_vocab_size; EAGLE-1 and 2 draft from all words."""
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
_MEANT = {
    "gamma": "measured_gamma", "acceptance_rate": "accepted_fraction", "rate": "accepted_fraction",
}  # fmt: skip
"""Words that come to mind for a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftWords:
    """A draft as --draft says it: how it comes about, or its step as a share of a target step.

    `round_s` is what drafting takes beside its steps, `path` where an engine finds the draft, `variant`
    the kind of head where the word names one.
    """

    spec: Spec
    label: str
    path: str | None
    kind: DraftKind | None
    cost_ratio: float | None
    round_s: float = 0.0
    variant: Variant | None = None

    def head_of(self, target: Architecture) -> DraftKind | None:
        """The kind of draft over a target: EAGLE-3's shorter output layer is no longer than the target's."""
        if self.kind is None or self.kind.vocabulary is None or "vocabulary" in self.spec.values:
            return self.kind
        return replace(self.kind, vocabulary=min(self.kind.vocabulary, target.vocabulary))

    def assumed(self, target: Architecture) -> tuple[str, ...]:
        """What is assumed of a head that is named and not described."""
        free = [key for key in ("vocabulary", "layers") if key not in self.spec.values]
        head = self.head_of(target)
        if self.variant is None or head is None or not free:
            return ()
        words = target.vocabulary if head.vocabulary is None else head.vocabulary
        layers = "one layer" if head.layers == 1 else f"{head.layers} layers"
        whole = " (all of the target's)" if words == target.vocabulary else ""
        changed = f"{'= and '.join(free)}= {'change' if len(free) > 1 else 'changes'} it"
        return (f"{self.label}: {layers}, {words:,} words of output{whole} assumed; {changed}.",)


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
        raise ValueError(
            f"{option} must name a model or give {', '.join(missing)} too, as in '{OWN_MODEL}'."
        )
    config = _config_of(spec.name)
    with named(option):
        if not spec.name:
            return Architecture(name="own model", **own)
        if config is None:
            way = f"give a config.json or '{OWN_MODEL}'"
            with or_else(way if option == "--target" else "give a config.json"):
                found = architecture(spec.name)
        else:
            found = _read_config(config)
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
    """What drafts: eagle, eagle3, mtp, block, lookup or self, a model's name or config.json, or `chain`.

    `eagle` is a head of one layer with the target's whole output layer (EAGLE-1 and 2), `eagle3` one that
    drafts from 32,000 words.
    Raises ValueError for a draft that is unknown and for what does not belong to its kind.

    >>> draft_of("eagle p=0.8 layers=2").kind.layers, draft_of("chain cost_ratio=0.1 p=0.7").cost_ratio
    (2, 0.1)
    """
    spec = read_spec(option, text, _DRAFT, meant=_MEANT)
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
    layers, words, variant = spec.whole("layers"), spec.whole("vocabulary"), VARIANT_OF.get(word)
    if words is None and variant == "eagle3":
        words = EAGLE3_VOCABULARY
    with named(option):
        drafts = DraftKind(
            kind=kind,
            model=model,
            layers=1 if layers is None else layers,
            vocabulary=words,
            kv_budget=spec.whole("kv_budget"),
            weight_bits=spec.number("weight_bits"),
            round_s=round_s,
            method=method,
        )
    if model is not None and "label" not in spec.values and _config_of(spec.name):
        label = model.name
    return DraftWords(
        spec=spec, label=label, path=path, kind=drafts, cost_ratio=None, round_s=round_s,
        variant=variant,
    )  # fmt: skip


def _draft_model(name: str, option: str) -> Architecture:
    """The model that drafts; a word that is nearly one of `KIND_OF` is taken for a slip of it."""
    close = difflib.get_close_matches(name.lower(), (*KIND_OF, CHAIN), n=1, cutoff=0.7)
    if close and _config_of(name) is None:
        raise ValueError(
            f"{option} must be {', '.join((*KIND_OF, CHAIN))} or a model (did you mean {close[0]}?); "
            f"got {name!r:.60}."
        )
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

"""Which options each kind of `specdec explain` takes; any other is refused, never ignored."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

_ALWAYS = {"source", "figure", "output"}
_OF_MACHINE = {"context", "weight_bits", "kv_bits"}
MACHINE = frozenset({"hardware", "draft", "steps"})
"""Options that describe a machine, by which a log is split."""
_COUNTS = {
    "gamma", "cost_ratio", "verify_cost", "tps", "plain_tps", "running", "method", "target", *MACHINE,
    *_OF_MACHINE,
}  # fmt: skip
_FOLDER, _LOG, _JSON = "a run folder", "a log", "JSON of `simulate` or `import`"
_PREDICTION, _FORMULA = "a prediction", "the formula"
TAKES: dict[str, set[str]] = {
    _FOLDER: {"gamma", "seed"},
    _LOG: {*_COUNTS, "engine", "layout"},
    _JSON: _COUNTS,
    _PREDICTION: {
        "target", *MACHINE, "log", "log_gamma", "p", "by_depth", "gamma", "batch", *_OF_MACHINE,
        "overhead_s", "draft_overlap", "seed",
    },
    _FORMULA: {"p", "by_depth", "gamma", "cost_ratio", "verify_cost", "overhead"},
}  # fmt: skip
"""The options by kind."""
_ORDER = (
    "gamma", "p", "by_depth", "cost_ratio", "verify_cost", "overhead", "tps", "plain_tps", "running",
    "method", "engine", "layout", "target", "hardware", "draft", "steps", "log", "log_gamma", "batch",
    "context", "weight_bits", "kv_bits", "overhead_s", "draft_overlap", "seed",
)  # fmt: skip
_BELONGS = {
    _PREDICTION: {"log": {"log_gamma"}, "target": {"weight_bits", "kv_bits"}},
    _LOG: {"hardware": _OF_MACHINE},
    _JSON: {"hardware": _OF_MACHINE},
}
"""Options that say nothing without another one."""


def kind_of(source: Path | None, given: Collection[str]) -> str:
    """What is explained: one of the names in TAKES."""
    from analysis.cli_sources import is_report  # noqa: PLC0415

    if source is not None:
        if source.is_dir():
            return _FOLDER
        return _JSON if is_report(source) else _LOG
    return _PREDICTION if ({"target"} | MACHINE) & set(given) else _FORMULA


def check(kind: str, given: Collection[str]) -> None:
    """ValueError for an option that this kind of explanation would not look at."""
    strange = sorted(set(given) - TAKES[kind] - _ALWAYS)
    if strange:
        raise ValueError(
            f"{kind[0].upper()}{kind[1:]} takes {', '.join(map(_option, sorted(TAKES[kind])))}; got "
            f"{', '.join(map(_option, strange))} too."
        )
    for needed, belongs in _BELONGS.get(kind, {}).items():
        alone = [] if needed in given else sorted(belongs & set(given))
        if alone == ["context"] and "steps" in given:
            continue  # measured passes are read at a context too
        if alone:
            raise ValueError(
                f"{_option(alone[0])} belongs to {_option(needed)}, which was not given."
            )


def echoed(kind: str, given: Collection[str]) -> list[str]:
    """The options whose values were looked at, in a fixed order: a log asks a machine only if one is given."""
    taken = TAKES[kind]
    if kind in {_LOG, _JSON}:
        unused = {"context"} if "hardware" in given else _OF_MACHINE
        taken = taken - (
            MACHINE | unused - set(given) if MACHINE & set(given) else MACHINE | _OF_MACHINE
        )
        taken |= MACHINE & set(given)
    return [name for name in _ORDER if name in taken]


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"

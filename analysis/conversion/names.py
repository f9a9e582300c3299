"""The field's own names: which quantity an engine of a version means by a word.

The table is `names.csv`, one meaning per row, with its source. `since` and `until` are versions, both
included ("0.8" is all of 0.8.x); a row without them holds for every version.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from analysis.conversion.quantities import QUANTITIES

_ALIASES = {
    "llamacpp": "llama.cpp",
    "tensorrt": "tensorrt-llm",
    "trtllm": "tensorrt-llm",
    "trt-llm": "tensorrt-llm",
    "hf": "transformers",
    "mlx-lm": "mlx",
    "lmstudio": "lm-studio",
    "modelopt": "model-optimizer",
    "aic": "aiconfigurator",
}
_MOST_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldName:
    """One meaning of a word: of an engine, from a version on, up to another.

    `kind` is "prints" for what an engine reports, "setting" for what it is told. `drafted_only`
    says that rounds without a draft are not counted.
    """

    engine: str
    names: tuple[str, ...]
    kind: str
    since: str
    until: str
    quantity: str
    unit: str
    drafted_only: bool
    note: str
    source: str

    @property
    def versions(self) -> str:
        """The versions as people write them; empty if it holds for all."""
        if self.since and self.until:
            return self.since if self.since == self.until else f"{self.since} to {self.until}"
        return f"from {self.since}" if self.since else f"up to {self.until}" if self.until else ""

    def holds_for(self, version: tuple[int, ...]) -> bool:
        """Whether the word can mean this in that version, of which the last numbers may be missing."""
        since, until = _numbers(self.since), _numbers(self.until)
        begun = version >= since[: len(version)]
        return begun and (not until or version[: len(until)] <= until)

    def covers(self, other: FieldName) -> bool:
        """Whether all versions of another meaning of the engine are among those of this one."""
        begins = _numbers(self.since) <= _numbers(other.since)
        ends = not self.until or bool(other.until and _numbers(other.until) <= _numbers(self.until))
        return self.engine == other.engine and begins and ends

    @property
    def title(self) -> str:
        """Engine and versions, for sentences."""
        return f"{self.engine} {self.versions}".strip()


@cache
def field_names() -> tuple[FieldName, ...]:
    """All meanings of all words that can be converted, in the order of the table.

    >>> [name.quantity for name in field_names() if "accept rate" in name.names][:2]
    ['fraction_with_bonus', 'accepted_per_window']
    """
    text = files("analysis.conversion").joinpath("names.csv").read_text(encoding="utf-8")
    return tuple(
        FieldName(
            engine=row["engine"],
            names=tuple(row["names"].split("|")),
            kind=row["kind"],
            since=row["since"],
            until=row["until"],
            quantity=row["quantity"],
            unit=row["unit"],
            drafted_only=row["drafted_only"] == "yes",
            note=row["note"],
            source=row["source"],
        )
        for row in csv.DictReader(text.splitlines())
    )


def engine_name(engine: str) -> str:
    """The engine as the table calls it; ValueError for one that it does not have."""
    wanted = engine.strip().lower().replace(" ", "-")
    wanted = _ALIASES.get(wanted, wanted)
    known = sorted({name.engine for name in field_names()})
    if wanted not in known:
        raise ValueError(f"engine must be one of {', '.join(known)}; got {engine!r:.40}.")
    return wanted


def find_name(quantity: str, engine: str | None, version: str | None) -> FieldName | None:
    """What `quantity` means to the engine of that version; None for a canonical word of ours.

    Raises ValueError for a word that nobody uses, for a version that cannot be read, and for one with
    several meanings between which engine and version do not decide.
    """
    if version is not None and engine is None:
        raise ValueError(f"engine must be given with a version; got version {version!r:.40} alone.")
    wanted = _plain(quantity)
    meant = [name for name in field_names() if wanted in map(_plain, name.names)]
    if engine is not None:
        here = [name for name in meant if name.engine == engine]
        meant = here if version is None else _of_version(here, quantity, version)
    ours = wanted.replace(" ", "_")
    if ours in QUANTITIES and not (engine is not None and meant):
        if ours == "p" and engine not in {None, "papers"}:
            raise ValueError(
                f"{engine} prints no p: its acceptance rate is accepted / drafted, which is another "
                "number; give that name, or p without the engine if it was estimated from counts."
            )
        return None
    if not meant:
        raise _unknown(quantity, engine)
    if len({name.quantity for name in meant}) > 1:
        raise _ambiguous(quantity, meant, engine)
    return next((name for name in meant if name.unit == "percent"), meant[0])


def _of_version(names: list[FieldName], quantity: str, version: str) -> list[FieldName]:
    numbers = _numbers(version)
    if not numbers:
        raise ValueError(f"version must be one such as 0.9.1; got {version!r:.40}.")
    held = [name for name in names if name.holds_for(numbers)]
    if names and not held:
        when = "; ".join(name.versions for name in names)
        raise ValueError(
            f"quantity {quantity!r:.40} exists in {names[0].engine} {when}; got version {version!r:.40}."
        )
    return held


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"[a-zA-Z]{0,8}(\d{1,9}(?:\.\d{1,9}){0,5})", version.strip())
    return tuple(map(int, found[1].split("."))) if found else ()


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text[:200].lower()))


def _unknown(quantity: str, engine: str | None) -> ValueError:
    if engine is None:
        known = ", ".join(QUANTITIES)
    else:
        known = ", ".join(n.names[0] for n in field_names() if n.engine == engine)
    return ValueError(
        f"quantity must be one of {known} or a name of the list (`specdec convert --list`); "
        f"got {quantity!r:.60}."
    )


def _ambiguous(quantity: str, meant: list[FieldName], engine: str | None) -> ValueError:
    by_quantity: dict[str, list[FieldName]] = {}
    for name in meant:
        spans = by_quantity.setdefault(name.quantity, [])
        if not any(span.covers(name) for span in spans):  # the same meaning is no choice
            spans[:] = [*(span for span in spans if not name.covers(span)), name]
    meanings = "; ".join(
        f"{key} ({', '.join(span.title for span in spans[:_MOST_SHOWN])})"
        for key, spans in by_quantity.items()
    )
    missing = "engine" if engine is None else "version (all of its numbers)"
    return ValueError(
        f"quantity {quantity!r:.60} has several meanings, so give the {missing}: {meanings}."
    )

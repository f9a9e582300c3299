"""What the visitor of the page of systems chose, and how the address says it. No Streamlit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from analysis.systems.presets import preset_names
from app_pages import state
from app_pages.deployment import address as deploy_address
from app_pages.deployment import choice as deploy_choice
from app_pages.deployment.machine_fields import OWN_NUMBERS
from app_pages.state import Field
from app_pages.systems import system_numbers
from app_pages.systems.fields import SAMPLED, all_keys, number_named, word_named

PASSES = {
    "machine": "a machine, predicted",
    "slope": "a straight line",
}
"""Where V(n) comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Everything that can be set; cost ratio, overhead and what `runs` where are those of all pages.

    `own` are cost ratios of single systems. `changed` has what differs from the presets by its key.
    """

    focus: str = "medusa"
    passes: str = "machine"
    slope: float = system_numbers.SLOPE.default
    sampled: int = 0
    own: tuple[tuple[str, float], ...] = ()
    changed: tuple[tuple[str, float | str], ...] = ()
    cost_ratio: float = state.COST.default
    overhead: float = state.OVERHEAD.default
    runs: deploy_choice.Choice = deploy_address.EXAMPLE

    def value(self, key: str) -> float | str:
        """What a system's number or word is: as chosen, else the preset's."""
        for name, value in self.changed:
            if name == key:
                return value
        field = number_named(key) or word_named(key)
        if field is None:
            raise ValueError(f"key must be one of {', '.join(all_keys())}; got {key!r}.")
        return field.default

    def number(self, key: str) -> float:
        """The same of a number."""
        return float(self.value(key))

    def count(self, key: str) -> int:
        """The same of a whole number."""
        return int(self.value(key))

    def word(self, key: str) -> str:
        """The same of a word."""
        return str(self.value(key))

    def with_value(self, key: str, value: float | str) -> Choice:
        """The choice with one number or word of a system set; the preset's own is no change."""
        field = number_named(key) or word_named(key)
        kept = {name: old for name, old in self.changed if name != key}
        if field is not None and value != field.default:
            kept[key] = value
        ordered = tuple((name, kept[name]) for name in all_keys() if name in kept)
        return dataclasses.replace(self, changed=ordered)

    def with_own(self, name: str, ratio: float | None) -> Choice:
        """The choice with a cost ratio for one system, or with none of its own."""
        kept = {system: value for system, value in self.own if system != name}
        if ratio is not None:
            kept[name] = ratio
        ordered = tuple((system, kept[system]) for system in preset_names() if system in kept)
        return dataclasses.replace(self, own=ordered)

    @property
    def costly(self) -> Choice:
        """The choice without what changes no exact number: one key for all that is computed once."""
        return dataclasses.replace(self, focus=EXAMPLE.focus, sampled=0)

    @property
    def costless(self) -> Choice:
        """The choice without its costs too: a key for what is computed from the drafts alone."""
        return dataclasses.replace(EXAMPLE, changed=self.changed)


EXAMPLE = Choice()
_WORDS = {"focus": "system", "passes": "passes"}
_SLOPE = "slope"


def address_keys() -> tuple[str, ...]:
    """Names in the address, which never change; what several pages share has its names elsewhere."""
    return (*_WORDS.values(), _SLOPE, "sampled", "own", *all_keys())


def place_of(chosen: deploy_choice.Choice) -> deploy_choice.Choice:
    """What decides over the time of a pass, of all that is chosen of a deployment: target, machine, load."""
    kept = {name: getattr(chosen, name) for name in (*_PLACE, *OWN_NUMBERS)}
    return deploy_choice.Choice(**kept)


_PLACE = (
    "model", "card", "devices", "weight_bits", "kv_bits", "batch", "context", "memory_share",
    "operations_share", "overlap_k", "fixed_ms", "layer_us", "token_us",
)  # fmt: skip


def query(choice: Choice) -> dict[str, str]:
    """The choice in the words of the address: what differs from the example and matters."""
    said: dict[str, str] = {}
    for name, key in _WORDS.items():
        value = getattr(choice, name)
        if value != getattr(EXAMPLE, name):
            said[key] = value
    if choice.passes == "slope" and choice.slope != EXAMPLE.slope:
        said[_SLOPE] = f"{choice.slope:.10g}"
    if choice.sampled:
        said["sampled"] = str(choice.sampled)
    if choice.own:
        said["own"] = ",".join(f"{name}:{ratio:.10g}" for name, ratio in choice.own)
    for key, value in choice.changed:
        said[key] = value if isinstance(value, str) else f"{value:.10g}"
    return said


def read(given: Mapping[str, str]) -> tuple[Choice, tuple[str, ...]]:
    """The choice of an address and a sentence for each part of it that cannot be used.

    >>> read({})[0] == EXAMPLE, read({"system": "oracle"})[1][0][:38]
    (True, 'system must be one of draft-model, pro')
    """
    values: dict[str, object] = {}
    problems: list[str] = []

    def take(key: str, checked: Callable[[str], object]) -> object | None:
        if key not in given:
            return None
        try:
            return checked(given[key])
        except ValueError as error:
            problems.append(str(error))
            return None

    known: dict[str, Callable[[str], object]] = {
        "focus": lambda text: _one_of("system", text, preset_names()),
        "passes": lambda text: _one_of("passes", text, tuple(PASSES)),
    }
    for name, checked in known.items():
        values[name] = take(_WORDS[name], checked)
    values[_SLOPE] = take(_SLOPE, lambda text: number_in(system_numbers.SLOPE, text))
    values["sampled"] = take("sampled", sampled)
    values["own"] = take("own", own_ratios)
    usable = {name: value for name, value in values.items() if value is not None}
    choice = dataclasses.replace(EXAMPLE, **usable)  # type: ignore[arg-type]
    for key in all_keys():
        value = take(key, lambda text, key=key: _of_system(key, text))  # type: ignore[misc]
        if isinstance(value, float | int | str):
            choice = choice.with_value(key, value)
    return choice, tuple(problems)


def number_in(field: Field, text: str) -> float:
    """The number of a field; ValueError with its sentence."""
    problem = field.problem(text)
    if problem is not None:
        raise ValueError(problem)
    value = float(text.replace(",", ""))
    return int(value) if field.whole else value


def sampled(text: str) -> int:
    """How many rounds are sampled; ValueError for another number than those offered."""
    if not text.isascii() or text not in map(str, SAMPLED):
        allowed = ", ".join(map(str, SAMPLED))
        raise ValueError(f"sampled must be one of {allowed}; got {text[:40] or 'nothing'}.")
    return int(text)


def own_ratios(text: str) -> tuple[tuple[str, float], ...]:
    """Cost ratios of single systems from "medusa:0.1,mtp:0.05"; ValueError for anything else.

    >>> own_ratios("mtp:0.05, medusa:.1")
    (('medusa', 0.1), ('mtp', 0.05))
    """
    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, ratio = (piece.strip() for piece in part.partition(":"))
        if name not in preset_names() or name in found:
            raise ValueError(
                f"own must name systems once each with a cost ratio, such as medusa:0.1; got {part[:40]!r}."
            )
        found[name] = number_in(state.COST, ratio)
    return tuple((name, found[name]) for name in preset_names() if name in found)


def _one_of(name: str, text: str, allowed: tuple[str, ...]) -> str:
    if text not in allowed:
        raise ValueError(
            f"{name} must be one of {', '.join(allowed)}; got {text[:40] or 'nothing'}."
        )
    return text


def _of_system(key: str, text: str) -> float | str:
    field = number_named(key)
    if field is not None:
        return number_in(field, text)
    word = word_named(key)
    problem = None if word is None else word.problem(text)
    if problem is not None:
        raise ValueError(problem)
    return text

"""A choice as the address says it: read, checked, written. No Streamlit."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping

from analysis.machine_presets import accelerator
from analysis.planning.schedule import Schedule
from app_pages.deployment import choice as choices
from app_pages.deployment import fields as numbers
from app_pages.deployment import models as own_models
from app_pages.deployment.choice import ACCEPTS, DRAFTERS, PREFERS, SOURCES, Choice
from app_pages.deployment.machine_fields import OWN_NUMBERS
from app_pages.state import Field

EXAMPLE = Choice()
_DEPTHS = "depths"
_WORDS = {"model": "model", "card": "card", "drafter": "drafter", "draft_model": "dmodel"}
KEYS = (
    *_WORDS.values(), "accept", _DEPTHS, "source", "against", "batches", "prefer", "schedule",
    *(field.key for field in (*numbers.NUMBERS.values(), *numbers.OPTIONAL.values())),
)  # fmt: skip
"""Names in the address, which never change; p, γ and c have theirs on every page."""


def query(choice: Choice) -> dict[str, str]:
    """The choice in the words of the address: what differs from the example and matters."""
    said: dict[str, str] = {}
    for name, key in _WORDS.items():
        value = getattr(choice, name)
        if value != getattr(EXAMPLE, name):
            said[key] = str(value)
    if choice.accept != EXAMPLE.accept:
        said["accept"] = choice.accept
    if choice.accept == "depth":
        said[_DEPTHS] = ",".join(f"{value:.6g}" for value in choice.depths)
    for name, field in numbers.NUMBERS.items():
        value = getattr(choice, name)
        if value != field.default and _matters(choice, name):
            said[field.key] = f"{value:.10g}"
    for name, field in numbers.OPTIONAL.items():
        if getattr(choice, name) is not None:
            said[field.key] = f"{getattr(choice, name):.10g}"
    for name in ("source", "prefer", "schedule"):
        if getattr(choice, name) != getattr(EXAMPLE, name):
            said[name] = getattr(choice, name)
    if choice.against:
        said["against"] = ",".join(f"{drafter}:{p:.6g}" for drafter, p in choice.against)
    if choice.batches:
        said["batches"] = ",".join(map(str, choice.batches))
    return said


def read(given: Mapping[str, str]) -> tuple[Choice, tuple[str, ...]]:
    """The choice of an address and a sentence for each part of it that cannot be used.

    >>> read({})[0] == EXAMPLE, read({"drafter": "oracle"})[1][0][:26]
    (True, 'drafter must be one of eag')
    """
    values: dict[str, object] = {}
    problems: list[str] = []

    def take(name: str, key: str, checked: Callable[[str], object]) -> None:
        if key not in given:
            return
        try:
            values[name] = checked(given[key])
        except ValueError as error:
            problems.append(str(error))

    take("model", "model", model_name)
    take("draft_model", "dmodel", model_name)
    take("card", "card", card_name)
    take("drafter", "drafter", lambda text: one_of("drafter", text, tuple(DRAFTERS)))
    take("accept", "accept", lambda text: one_of("accept", text, tuple(ACCEPTS)))
    take("depths", _DEPTHS, depths)
    take("source", "source", lambda text: one_of("source", text, tuple(SOURCES)))
    take("prefer", "prefer", lambda text: one_of("prefer", text, tuple(PREFERS)))
    take("against", "against", against)
    take("batches", "batches", batches)
    take("schedule", "schedule", schedule)
    for name, field in (*numbers.NUMBERS.items(), *numbers.OPTIONAL.items()):
        take(name, field.key, lambda text, field=field: number(field, text))  # type: ignore[misc]
    return dataclasses.replace(EXAMPLE, **values), tuple(problems)  # type: ignore[arg-type]


def model_name(text: str) -> str:
    """The name of a preset as it is written, or dimensions as they are. Raises ValueError."""
    found = choices.architecture(text)
    return text if own_models.is_own(text) else found.name


def card_name(text: str) -> str:
    """The name of an accelerator as it is written, or "own"; ValueError for an unknown one."""
    return text if text == choices.OWN_CARD else accelerator(text).name


def one_of(name: str, text: str, allowed: tuple[str, ...]) -> str:
    """The text, if it is allowed."""
    if text not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {text!r:.40}.")
    return text


def number(field: Field, text: str) -> float:
    """The number of a field; ValueError with its sentence."""
    problem = field.problem(text)
    if problem is not None:
        raise ValueError(problem)
    value = float(text.replace(",", ""))
    return int(value) if field.whole else value


def depths(text: str) -> tuple[float, ...]:
    """Conditional acceptance by depth from "0.8, 0.7"; ValueError for anything else.

    >>> depths("0.8, .7")
    (0.8, 0.7)
    """
    wrong = ValueError(
        f"depths must be 1 to {choices.MOST_DEPTHS} numbers in [0, 1] separated by commas, such as "
        f"0.8, 0.7, 0.6; got {text!r:.60}."
    )
    try:
        values = tuple(float(part) for part in text[:1000].split(","))
    except ValueError:
        raise wrong from None
    if not 1 <= len(values) <= choices.MOST_DEPTHS or not all(0.0 <= v <= 1.0 for v in values):
        raise wrong
    return values


def against(text: str) -> tuple[tuple[choices.Drafter, float], ...]:
    """Other drafts with a p each from "lookup:0.4,block:0.8"; ValueError for anything else.

    >>> against("lookup:0.4")
    (('lookup', 0.4),)
    """
    found: dict[choices.Drafter, float] = {}
    for part in text[:400].split(","):
        name, _, value = part.strip().partition(":")
        drafter = next((each for each in DRAFTERS if each == name), None)
        p = _share(value)
        if drafter is None or drafter in found or p is None:
            raise ValueError(
                f"against must be drafts with a p each, such as lookup:0.4, of {', '.join(DRAFTERS)}; "
                f"got {part.strip()!r:.40}."
            )
        found[drafter] = p
    return tuple(found.items())


def _share(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value <= 1.0 else None


def batches(text: str) -> tuple[int, ...]:
    """Rising batch sizes from "1, 2, 8"; nothing for an empty text. ValueError for anything else.

    >>> batches("1, 8,64")
    (1, 8, 64)
    """
    if not text.strip():
        return ()
    parts = [part.strip() for part in text[:1000].split(",")]
    most = choices.MOST_PLANNED
    whole = all(part.isascii() and part.isdigit() and len(part) < 8 for part in parts)
    values = tuple(map(int, parts)) if whole else ()
    rising = all(a < b for a, b in itertools.pairwise(values))
    if not values or len(values) > most or not rising or not 1 <= values[0] <= values[-1] <= LIMIT:
        raise ValueError(
            f"batches must be 1 to {most} rising whole numbers in [1, {LIMIT:,}] separated by commas; "
            f"got {text!r:.60}."
        )
    return values


LIMIT = numbers.MOST_BATCH


def schedule(text: str) -> str:
    """A schedule as it is written; nothing for an empty text. ValueError for one with gaps."""
    return Schedule.read(text[:1000]).text if text.strip() else ""


def _matters(choice: Choice, name: str) -> bool:
    if name in OWN_NUMBERS:
        return choice.card == choices.OWN_CARD
    return {"layers": choices.has_layers(choice), "kept": choice.drafter == "self"}.get(name, True)

"""Presets are found by any spelling of their names; an unknown name gets the closest ones to choose from."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TypeVar

Value = TypeVar("Value")
_SHOWN, _NEAR, _LONGEST = 3, 0.4, 200


def find_named(
    kind: str, name: str, known: Mapping[str, Value], listed: Sequence[str] | None = None
) -> Value:
    """The value whose name is `name` apart from case, spaces and punctuation, or its repository's owner.

    `known` has every accepted name, `listed` those to suggest (all if None). Raises ValueError with the
    closest names, or all that are listed if none is close.

    >>> find_named("colour", "Light-Blue", {"light blue": 1, "red": 2})
    1
    """
    shown = list(known) if listed is None else list(listed)
    if not isinstance(name, str) or not plain_name(name):
        raise ValueError(f"{kind} must be one of {', '.join(shown)}; got {name!r:.80}.")
    if len(name) > _LONGEST:
        raise ValueError(f"{kind} must be a name of at most {_LONGEST} letters; got {len(name)}.")
    spellings = {plain_name(spelling): value for spelling, value in known.items()}
    for spelling in (plain_name(name), plain_name(name.rpartition("/")[2])):
        if spelling in spellings:
            return spellings[spelling]
    close = _closest(name, list(known), shown, known)
    wanted = f"the closest are {', '.join(close)}" if close else f"known are {', '.join(shown)}"
    raise ValueError(f"{kind} must be a known preset ({wanted}); got {name!r:.80}.")


def plain_name(name: str) -> str:
    """Letters and digits only, in lower case: `Llama-3.1 8B` and `llama 3.1-8b` are one name."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _closest(
    name: str, spellings: list[str], shown: list[str], known: Mapping[str, Value]
) -> list[str]:
    """Listed names whose own or other spelling is near, nearest first."""
    wanted = plain_name(name)
    scored = sorted(
        (
            (difflib.SequenceMatcher(None, wanted, plain_name(spelling)).ratio(), spelling)
            for spelling in spellings
        ),
        key=lambda pair: -pair[0],
    )
    found: list[str] = []
    for score, spelling in scored:
        owner = next((one for one in shown if known.get(one) is known[spelling]), spelling)
        if score >= _NEAR and owner not in found:
            found.append(owner)
    return found[:_SHOWN]

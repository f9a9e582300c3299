"""What can be set on the page of systems, by its name in the address. No Streamlit."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from app_pages.state import Field
from app_pages.systems.system_numbers import numbers
from app_pages.systems.system_words import WORDS, Word

SAMPLED = (0, 10_000, 100_000, 1_000_000)


@cache
def number_named(key: str) -> Field | None:
    """A system's number by its key; None for another."""
    found = (each for fields in numbers().values() for each in fields)
    return next((each for each in found if each.key == key), None)


@cache
def word_named(key: str) -> Word | None:
    """A system's word by its key; None for another."""
    return next((each for words in WORDS.values() for each in words if each.key == key), None)


@cache
def system_keys(name: str) -> tuple[str, ...]:
    """The keys of everything that makes a system."""
    return (*(word.key for word in WORDS.get(name, ())), *(each.key for each in numbers()[name]))


@cache
def all_keys() -> tuple[str, ...]:
    """The keys of all systems, each once."""
    return tuple(dict.fromkeys(key for name in numbers() for key in system_keys(name)))


def with_help(field: Field, label: str, words: str) -> Field:
    """The same number under another label with other words."""
    return replace(field, label=label, help=words)

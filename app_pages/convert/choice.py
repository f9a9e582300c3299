"""What is to be converted, as the address says it: read, checked, written. No Streamlit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from analysis.conversion.conversion import Conversion
from analysis.conversion.names import FieldName, field_names
from analysis.conversion.quantities import ASSUMPTIONS, QUANTITIES
from analysis.converting import convert

OURS = "ours"
"""The engine of the canonical words."""
KEYS = ("engine", "word", "version", "value", "length", "window", "known")
"""Names in the address, which never change."""
MOST_TEXT = 2_000
MOST_LENGTH = 10_000
_NOT_GIVEN = frozenset({"latency", "v0_accepted"})  # nothing follows from them but what they are


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A number in somebody's words, and what is known beside it."""

    engine: str = "sglang"
    word: str = "accept rate"
    version: str = "0.5.9"
    value: str = "0.54"
    length: int | None = None
    window: int | None = 4
    known: tuple[str, ...] = ()


EXAMPLE = Choice()


def engines() -> tuple[str, ...]:
    """Whose words can be converted, ours last."""
    return (*dict.fromkeys(name.engine for name in field_names()), OURS)


def words(engine: str) -> tuple[str, ...]:
    """The words of an engine, as it writes them; each once, what it prints first."""
    if engine == OURS:
        return tuple(name for name in QUANTITIES if name not in _NOT_GIVEN)
    here = sorted(
        (name for name in field_names() if name.engine == engine),
        key=lambda name: name.kind == "setting",
    )
    return tuple(dict.fromkeys(name.names[0] for name in here))


def meanings(engine: str, word: str) -> tuple[FieldName, ...]:
    """What the word means to the engine, one entry per meaning and span of versions."""
    if engine == OURS:
        return ()
    wanted = _plain(word)
    return tuple(
        name
        for name in field_names()
        if name.engine == engine and wanted in {_plain(known) for known in name.names}
    )


def _plain(text: str) -> str:
    """What case and punctuation do not change, as the converter takes it."""
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def needs_version(engine: str, word: str) -> bool:
    """True if the word changed its meaning between versions."""
    return len({name.quantity for name in meanings(engine, word)}) > 1


def answer(choice: Choice) -> Conversion:
    """What follows; ValueError in a sentence for what cannot be."""
    return convert(
        choice.word,
        choice.value,
        gamma=choice.length,
        window=choice.window,
        engine=None if choice.engine == OURS else choice.engine,
        version=choice.version.strip() or None,
        known=choice.known,
    )


def without_assumptions(choice: Choice) -> Choice:
    """The choice, nothing being known beside its numbers."""
    return replace(choice, known=())


def query(choice: Choice) -> dict[str, str]:
    """The choice in the words of the address; the example needs none."""
    if choice == EXAMPLE:
        return {}
    said = {"engine": choice.engine, "word": choice.word, "value": choice.value}
    if choice.version.strip():
        said["version"] = choice.version.strip()
    for key, number in (("length", choice.length), ("window", choice.window)):
        if number is not None:
            said[key] = str(number)
    if choice.known:
        said["known"] = ",".join(choice.known)
    return said


def read(given: Mapping[str, str]) -> tuple[Choice, tuple[str, ...]]:
    """The choice of an address and a sentence for each part of it that cannot be used.

    >>> read({"engine": "vllm", "word": "Mean acceptance length", "value": "2.9"})[0].length is None
    True
    >>> read({})[0] == EXAMPLE, read({"engine": "x"})[1][0][:24]
    (True, 'engine must be one of vl')
    """
    said = {key: given[key] for key in KEYS if key in given}
    if not said:
        return EXAMPLE, ()
    problems = []
    engine = said.get("engine", OURS)
    if engine not in engines():
        problems.append(f"engine must be one of {', '.join(engines())}; got {engine!r:.40}.")
        engine = EXAMPLE.engine
    word = said.get("word", words(engine)[0])
    if word not in words(engine):
        problems.append(f"word must be one of {engine}'s; got {word!r:.40}.")
        word = words(engine)[0]
    numbers: dict[str, int | None] = {"length": None, "window": None}
    for key, least in (("length", 1), ("window", 2)):
        if key in said:
            numbers[key] = _whole(said[key], least)
            if numbers[key] is None:
                problems.append(
                    f"{key} must be a whole number in [{least}, {MOST_LENGTH:,}]; "
                    f"got {said[key]!r:.40}."
                )
    known = tuple(name for name in said.get("known", "").split(",") if name)
    unknown = [name for name in known if name not in ASSUMPTIONS]
    if unknown:
        problems.append(f"known must name assumptions; got {unknown[0]!r:.40}.")
    choice = Choice(
        engine=engine,
        word=word,
        version=said.get("version", "")[:40],
        value=said.get("value", "")[:MOST_TEXT],
        length=numbers["length"],
        window=numbers["window"],
        known=tuple(sorted(set(known) & set(ASSUMPTIONS))),
    )
    return choice, tuple(problems)


def _whole(text: str, least: int) -> int | None:
    if not text.isascii() or not text.isdigit() or len(text) > len(str(MOST_LENGTH)):
        return None
    return int(text) if least <= int(text) <= MOST_LENGTH else None


def command(choice: Choice) -> list[str]:
    """The arguments of `specdec` that print the same."""
    arguments = ["convert", "--quantity", choice.word]
    if choice.engine != OURS:
        arguments += ["--engine", choice.engine]
    if choice.version.strip():
        arguments += ["--engine-version", choice.version.strip()]
    for option, number in (("--gamma", choice.length), ("--window", choice.window)):
        if number is not None:
            arguments += [option, str(number)]
    if choice.known:
        arguments += ["--known", ",".join(choice.known)]
    return [*arguments, "--", choice.value]

"""Written texts read back, as strictly as what is written: commands of a shell, JSON, a piece of YAML.

Nothing here knows the writers. What a shell would expand or run is refused, not understood.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

LONGEST = 1 << 20

_WORD = re.compile(r"(?:[A-Za-z0-9@%+=:,./_-]++|'[^'\n]*+'|\"'+\")++")
_PIECE = re.compile(r"'([^'\n]*+)'|\"('+)\"|([A-Za-z0-9@%+=:,./_-]++)")
_EXPORT = re.compile(r"([A-Z][A-Z0-9_]*)=(.*)", re.DOTALL)
_PAIR = re.compile(r"([a-z_]+):(?: (.+))?")
_YAML_INT = re.compile(r"0|[1-9]\d{0,17}")
_YAML_NUMBER = re.compile(r"\d{1,17}\.\d{1,17}")
_YAML_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_ENTRY = re.compile(r"(0|[1-9]\d{0,8}): (0|[1-9]\d{0,8})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command: variables exported before it, its words, its options in order of the text."""

    words: tuple[str, ...]
    options: Mapping[str, str | None] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    def number(self, flag: str) -> float | None:
        """The value of an option as a number; None if it is not there."""
        return None if flag not in self.options else as_number(flag, self.options[flag])

    def count(self, flag: str) -> int | None:
        """The value of an option as a whole number of at least 0; None if it is not there."""
        return None if flag not in self.options else as_whole(flag, self.options[flag])

    def only(self, known: Sequence[str], variables: Sequence[str] = ()) -> None:
        """Refuse options and variables that are not known."""
        for flag in self.options:
            if flag not in known:
                raise ValueError(f"option {flag!r:.60} is not known; known are {', '.join(known)}.")
        for name in self.variables:
            if name not in variables:
                allowed = ", ".join(variables) or "none"
                raise ValueError(f"variable {name!r:.60} is not known here; known: {allowed}.")


def read_command(text: str, *, words: int) -> Command:
    r"""The one command of a script: comments, exported variables, `words` words, then options.

    Raises ValueError for a text that is anything else, for what a shell would expand, and for an
    option or a variable that is there twice.

    >>> read_command("# a comment\nexport A=1\nserve 'a b' \\\n  --tokens 3\n", words=2)
    Command(words=('serve', 'a b'), options={'--tokens': '3'}, variables={'A': '1'})
    >>> read_command("serve $(rm)", words=2)
    Traceback (most recent call last):
    ValueError: a command must be plain or quoted words on lines joined by \; got '$(rm)'.
    """
    if len(text) > LONGEST:
        raise ValueError(f"a script must have at most {LONGEST} characters; got {len(text)}.")
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    variables: dict[str, str] = {}
    while lines and lines[0].startswith("export "):
        name, value = _variable(lines.pop(0)[len("export ") :])
        if name in variables:
            raise ValueError(f"variable {name} must be there once; got it twice.")
        variables[name] = value
    if not lines:
        raise ValueError("a script must hold a command; got none.")
    for at, line in enumerate(lines):
        if line.endswith(" \\") == (at == len(lines) - 1):
            raise ValueError(
                f"a script must hold one command, lines joined by \\; got {line!r:.60}."
            )
    found = _words(" ".join(line.removesuffix("\\") for line in lines))
    if len(found) < words:
        raise ValueError(
            f"a command must have {words} words before its options; got {found!r:.90}."
        )
    options: dict[str, str | None] = {}
    flag = None
    for word in found[words:]:
        if flag is None or word.startswith("-"):
            if not word.startswith("-"):
                raise ValueError(f"an option must begin with -; got {word!r:.60}.")
            if word in options:
                raise ValueError(f"option {word} must be there once; got it twice.")
            options[word], flag = None, word
        else:
            options[flag], flag = word, None
    return Command(words=tuple(found[:words]), options=options, variables=variables)


def _variable(text: str) -> tuple[str, str]:
    words = _words(text)
    found = _EXPORT.fullmatch(words[0]) if len(words) == 1 else None
    if found is None:
        raise ValueError(f"a variable must be NAME=value; got {text!r:.60}.")
    return found[1], found[2]


def _words(text: str) -> list[str]:
    words: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == " ":
            at += 1
            continue
        found = _WORD.match(text, at)
        if found is None or (found.end() < len(text) and text[found.end()] != " "):
            raise ValueError(
                f"a command must be plain or quoted words on lines joined by \\; got {text[at:]!r:.60}."
            )
        at = found.end()
        words.append("".join(a or b or c for a, b, c in _PIECE.findall(found[0])))
    return words


def read_object(text: str) -> dict[str, object]:
    """A JSON object, each name once; ValueError for anything else, NaN and infinities included.

    >>> read_object('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: a name must be there once in a JSON object; got 'a' twice.
    """
    if len(text) > LONGEST:
        raise ValueError(f"JSON must have at most {LONGEST} characters; got {len(text)}.")
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"the text must be JSON; {error}.") from None
    if not isinstance(value, dict):
        raise ValueError(f"the text must be a JSON object; got {value!r:.60}.")
    return value


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"a name must be there once in a JSON object; got {name!r:.60} twice.")
        found[name] = value
    return found


def _no_constant(text: str) -> object:
    raise ValueError(f"a number must be finite; got {text}.")


def read_section(text: str, name: str) -> dict[str, object]:
    r"""The pairs of the one section of a YAML text: whole numbers, numbers, words, texts, {int: int}.

    Raises ValueError for any other YAML: anchors, tags, other sections, other indents, tabs.

    >>> read_section('spec:\n  kind: NGram\n  by: {4: 2, 8: 1}\n', "spec")
    {'kind': 'NGram', 'by': {4: 2, 8: 1}}
    """
    if len(text) > LONGEST:
        raise ValueError(f"YAML must have at most {LONGEST} characters; got {len(text)}.")
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    if not lines or lines[0] != f"{name}:":
        raise ValueError(f"the text must hold the section {name} alone; got {lines[:1]!r:.60}.")
    pairs: dict[str, object] = {}
    for line in lines[1:]:
        found = _PAIR.fullmatch(line[2:]) if line.startswith("  ") else None
        if found is None or found[2] is None:
            raise ValueError(
                f"a line of {name} must be two spaces, a name, a value; got {line!r:.60}."
            )
        if found[1] in pairs:
            raise ValueError(f"{found[1]} must be there once; got it twice.")
        pairs[found[1]] = _yaml_value(found[1], found[2])
    return pairs


def _yaml_value(name: str, text: str) -> object:
    if _YAML_INT.fullmatch(text):
        return int(text)
    if _YAML_NUMBER.fullmatch(text):
        return float(text)
    if _YAML_WORD.fullmatch(text):
        return text
    if text.startswith('"'):
        try:
            value = json.loads(text)
        except json.JSONDecodeError:
            value = None
        if isinstance(value, str) and not re.search(r"\\u[dD][89a-fA-F]", text):
            return value
    if text.startswith("{") and text.endswith("}"):
        entries: dict[int, int] = {}
        for part in text[1:-1].split(", "):
            found = _ENTRY.fullmatch(part)
            if found is None or int(found[1]) in entries:
                raise ValueError(f"{name} must be {{int: int, …}}, each once; got {part!r:.60}.")
            entries[int(found[1])] = int(found[2])
        return entries
    raise ValueError(
        f"{name} must be a number, a word, a quoted text or {{int: int}}; got {text!r:.60}."
    )


def as_whole(name: str, value: object, *, least: int = 0) -> int:
    """A whole number of at least `least`, from a JSON number or the word of a command."""
    if isinstance(value, str) and re.fullmatch(r"0|[1-9]\d{0,8}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r:.60}.")
    return value


def as_number(name: str, value: object) -> float:
    """A finite number, from a JSON number or the word of a command."""
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,17}(?:\.\d{1,17})?", value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number; got {value!r:.60}.")
    return float(value)

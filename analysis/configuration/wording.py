"""Names of models as words of a shell, of JSON and of YAML, and comments: nothing breaks out."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterable, Sequence

LONGEST_NAME = 1000
_WIDTH = 98


def checked_name(parameter: str, name: str) -> str:
    """A model's name or path as it is, if it can be a word of a command.

    Raises ValueError for an empty or longer one, one that an engine would read as an option, and one
    with characters that are not printed (ends of line, control characters, changes of direction).

    >>> checked_name("target", "org/it's $(fine)")
    "org/it's $(fine)"
    """
    allowed = (
        f"a name or path of 1 to {LONGEST_NAME} printable characters that does not begin with -"
    )
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME:
        raise ValueError(f"{parameter} must be {allowed}; got {name!r:.60}.")
    if name.startswith("-") or not name.isprintable():
        raise ValueError(f"{parameter} must be {allowed}; got {name!r:.60}.")
    return name


def json_text(value: object) -> str:
    """A value as JSON in one line, ASCII only."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False)


def yaml_text(name: str) -> str:
    r"""A printable text in YAML's double quotes.

    JSON's escapes are YAML's too, but for characters beyond 16 bits, which stay as they are.

    >>> print(yaml_text('a "b" \\ c'))
    "a \"b\" \\ c"
    """
    return json.dumps(name, ensure_ascii=False)


def command(words: Sequence[str], options: Iterable[tuple[str, str | None]] = ()) -> str:
    r"""A command with an option per line, every word quoted for a shell.

    >>> print(command(["serve", "it's"], [("--tokens", "3"), ("--fast", None)]), end="")
    serve 'it'"'"'s' \
      --tokens 3 \
      --fast
    """
    lines = [" ".join(shlex.quote(word) for word in words)]
    for flag, value in options:
        lines.append(f"  {flag}" if value is None else f"  {flag} {shlex.quote(value)}")
    return " \\\n".join(lines) + "\n"


def exports(variables: Iterable[tuple[str, str]]) -> str:
    """Variables of the environment, one per line."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables)


def comment(*sentences: str) -> str:
    r"""Sentences as comments of a shell or of YAML, one paragraph each; what is not printed becomes "?".

    >>> print(comment("One line,\nwhatever is in it."), end="")
    # One line, whatever is in it.
    """
    lines: list[str] = []
    for sentence in sentences:
        plain = "".join(c if c.isprintable() else "?" for c in " ".join(sentence.split()))
        lines += textwrap.wrap(
            plain, _WIDTH, initial_indent="# ", subsequent_indent="#   ",
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    return "".join(f"{line}\n" for line in lines)


def number(value: float, digits: int = 4) -> str:
    """A number in decimals without trailing zeros.

    >>> number(2.50001), number(1.0)
    ('2.5', '1')
    """
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")

"""A thing on the command line with its numbers: a name, then key=value pairs."""

from __future__ import annotations

import difflib
import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

MOST_CHARACTERS = 2_000
MOST_WHOLE = 10**12
OWN_MACHINE = "memory_bytes_per_s=900GB/s operations_per_s=200TFLOP/s memory_bytes=24GB"
OWN_MODEL = "layers=32 hidden=4096 heads=32 kv_heads=8 width=14336 vocabulary=128256"
"""A machine and a model in numbers, as examples."""
_PREFIX = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?) ?([kKMGTP]?)([A-Za-z][A-Za-z/]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A name, empty if none was given, and values by key, as text. `option` is where it was given."""

    option: str
    name: str
    values: Mapping[str, str]

    def number(self, key: str) -> float | None:
        """The value as a finite number or inf; None without it. ValueError for any other text."""
        text = self.values.get(key)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isnan(value):
            raise ValueError(f"{self.option}: {key} must be a number; got {text!r:.60}.")
        return value

    def size(self, key: str, units: Sequence[str]) -> float | None:
        """The value as a plain number, or as one with a unit and a prefix of thousands (k to P).

        `units` are spelled as they must be: B is bytes, b would be bits, and iB counts in 1024.
        ValueError for any other text.

        >>> spec = read_spec("--hardware", "memory=900GB/s", ("memory",))
        >>> spec.size("memory", ("B/s",))
        900000000000.0
        """
        found = _SIZE.fullmatch(self.values.get(key, ""))
        if found is None:
            return self.number(key)
        if found[3] not in units:
            raise ValueError(
                f"{self.option}: {key} must be a number, or one such as 24G{units[0]}; "
                f"got {self.values[key]!r:.60}."
            )
        thousand = 1024.0 if found[3] == "iB" else 1000.0
        return float(found[1]) * thousand ** (_PREFIX[found[2]] // 3)

    def whole(self, key: str) -> int | None:
        """The value as a whole number; None without it. ValueError for any other text."""
        value = self.number(key)
        if value is None:
            return None
        if not value.is_integer() or abs(value) > MOST_WHOLE:
            most = f" up to {MOST_WHOLE:,}" if abs(value) > MOST_WHOLE else ""
            raise ValueError(
                f"{self.option}: {key} must be a whole number{most}; got {self.values[key]!r:.60}."
            )
        return int(value)

    def numbers(self, key: str) -> tuple[float, ...] | None:
        """The value as numbers separated by commas; None without it."""
        text = self.values.get(key)
        if text is None:
            return None
        try:
            return tuple(float(part) for part in text.split(","))
        except ValueError:
            raise ValueError(
                f"{self.option}: {key} must be numbers separated by commas; got {text!r:.60}."
            ) from None


def read_spec(
    option: str, text: str, keys: Iterable[str], *, meant: Mapping[str, str] | None = None
) -> Spec:
    """A text such as "h100 memory_share=0.7" as a Spec.

    Words without "=" are the name, quotes keep spaces. `meant` has other words for keys, which are not
    taken but answered with the key. Raises ValueError for an unknown key, with the
    closest ones, for a key given twice or without a value, for quotes that do not close and for control
    characters.

    >>> spec = read_spec("--draft", "eagle p=0.75 layers=2", ("p", "layers"))
    >>> spec.name, spec.number("p"), spec.whole("layers"), spec.number("q")
    ('eagle', 0.75, 2, None)
    """
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"{option} must have at most {MOST_CHARACTERS:,} characters; got more.")
    if not text.isprintable():
        raise ValueError(f"{option} must have no control characters; got {text!r:.60}.")
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{option} must close its quotes ({error}); got {text!r:.60}.") from None
    known, values = tuple(keys), dict[str, str]()
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            continue
        if key not in known:
            close = difflib.get_close_matches(key, known, n=3) or known
            close = [meant[key]] if meant and key in meant else close
            raise ValueError(f"{option} knows {', '.join(close)}; got {key!r:.40}.")
        if key in values or not value:
            wrong = "two" if value else "none"
            raise ValueError(f"{option} must give {key} one value; got {wrong}.")
        values[key] = value
    name = " ".join(word for word in words if "=" not in word)
    return Spec(option=option, name=name, values=values)


@contextmanager
def named(option: str) -> Iterator[None]:
    """Begin the sentences of what is computed from an option with the option's name.

    >>> with named("--draft"):
    ...     raise ValueError("layers must be a whole number of at least 1; got 0.")
    Traceback (most recent call last):
    ValueError: --draft: layers must be a whole number of at least 1; got 0.
    """
    try:
        yield
    except ValueError as error:
        if type(error) is not ValueError or str(error).startswith(option):
            raise  # files that are wrong have an error, and an exit code, of their own
        raise ValueError(f"{option}: {error}") from None

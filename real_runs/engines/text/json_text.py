"""Whole texts of JSON: read at once, within bounds, and never deeper than 200."""

from __future__ import annotations

import json
import re

from real_runs.engines.counts.skips import NoCounts
from real_runs.engines.errors import MetricsFormatError

MOST_BYTES = 64 << 20
MOST_NESTED = 200
MOST_VALUES = 4_000_000
MOST_CONTAINERS = 400_000
"""A container of one number takes a hundred times the memory of its text."""
LONGEST_STRING = 4 << 20
LONGEST_NUMBER = 1000

_BODY = rb'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+'
# Strings that end too early are kept, whole: so every quote is looked at once.
_STRING = re.compile(rb'%b"|(%b(?:\\?\Z|\n))' % (_BODY, _BODY))
_DIGITS = re.compile(rb"\d{%d}" % (LONGEST_NUMBER + 1))
_PUNCTUATION = b'[]{},:+-."0123456789 \t\r\n'
_LETTERS = b"truefalsenullNaNInfinityE"
_BRACKETS = b"[]{}"
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_SPACE = re.compile(r"[ \t\r\n]*+")


class JsonText:
    """Collects the text of JSON values, block by block.

    `add` says whether it still looks like JSON; MetricsFormatError for what is JSON and too much.
    """

    def __init__(self, source: str) -> None:
        self.text = bytearray()
        self._source = source
        self._depth = 0
        self._values = 0
        self._containers = 0
        self._open = b""  # a string, or the last digits, that go on in the next block

    def add(self, block: bytes) -> bool:
        """Add a block; False if the text is not JSON (it is kept all the same)."""
        self.text += block
        checked = self._open + block
        bare = _STRING.sub(rb"\1", checked)
        cut = bare.find(b'"')
        if cut >= 0 and b"\n" in bare[cut:]:
            return False  # no string of JSON holds the end of a line
        self._open = b"" if cut < 0 else checked[-(len(bare) - cut) :]
        bare = bare if cut < 0 else bare[:cut]
        if bare.translate(None, _PUNCTUATION + _LETTERS):
            return False
        self._values += bare.count(b",")
        brackets = bare.translate(None, _NO_BRACKETS)
        self._containers += len(brackets) // 2
        self._check_depth(brackets)
        self._check_sizes(bare)
        return True

    def _check_depth(self, brackets: bytes) -> None:
        for bracket in brackets:
            self._depth += 1 if bracket in b"[{" else -1
            if self._depth > MOST_NESTED:
                self._refuse(f"JSON is nested more than {MOST_NESTED} deep")

    def _check_sizes(self, bare: bytes) -> None:
        if len(self.text) > MOST_BYTES:
            self._refuse(
                f"a JSON text is longer than {MOST_BYTES >> 20} MB; expected a shorter one, or one "
                "object a line"
            )
        if len(self._open) > LONGEST_STRING:
            self._refuse(f"a string of JSON is longer than {LONGEST_STRING >> 20} MB")
        if self._values > MOST_VALUES or self._containers > MOST_CONTAINERS:
            self._refuse(
                f"a JSON text has more than {MOST_VALUES:,} values or {MOST_CONTAINERS:,} objects "
                "and lists; expected a shorter one, or one object a line"
            )
        if _DIGITS.search(bare) is not None:
            self._refuse(f"a number has more than {LONGEST_NUMBER} digits")
        if not self._open:
            digits = bare[-LONGEST_NUMBER:]
            kept = len(digits) - len(digits.rstrip(b"0123456789"))
            self._open = digits[len(digits) - kept :]

    def _refuse(self, problem: str) -> None:
        raise MetricsFormatError(self._source, problem=f"{problem}.")

    def values(self) -> tuple[list[object], bytes]:
        """The values that the text begins with, and the rest, which is no JSON; frees the text."""
        text = self.text.decode("utf-8", "replace")
        self.text = bytearray()
        decoder = json.JSONDecoder()
        found: list[object] = []
        position = _after_space(text, 0)
        while position < len(text) and text[position] in "{[":
            try:
                value, position = decoder.raw_decode(text, position)
            except (ValueError, RecursionError):
                break
            found.append(value)
            position = _after_space(text, position)
        return found, text[position:].encode()


def _after_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return position if space is None else space.end()


def is_whole(line: bytes) -> bool:
    """Whether the line is a JSON object or list by itself."""
    if not line.lstrip().startswith((b"{", b"[")):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def whole_object(line: str) -> object:
    """The JSON value that a long line is; NoCounts if it is none or too much of one."""
    text = JsonText("")
    try:
        looks_like_json = text.add(line.encode())
    except MetricsFormatError as error:
        raise NoCounts(error.problem.removesuffix(".")) from None
    values, rest = text.values() if looks_like_json else ([], b"")
    if len(values) != 1 or rest:
        raise NoCounts("a long line is no JSON object")
    return values[0]

"""The lines of a log that matter, from a stream of any size in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TypeAlias

from real_runs.engines.errors import MetricsFormatError

Stream: TypeAlias = IO[bytes] | IO[str]

BLOCK = 1 << 18
LONGEST_LINE = 1 << 16
MOST_JOINED = 8

_ESCAPE = b"\x1b["
_COLOUR = re.compile(rb"\x1b\[[\d;?]*+[A-Za-z]")
_UNREADABLE = (
    (b"\x1f\x8b", "this is packed with gzip; unpack it first, expected the text of a log."),
    (b"PK\x03\x04", "this is a zip archive; unpack it first, expected the text of a log."),
    (b"\xff\xfe", "this is UTF-16 text; save it as UTF-8 first."),
    (b"\xfe\xff", "this is UTF-16 text; save it as UTF-8 first."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line with one of the markers; of a `cut` one, too long to be kept, `text` is its markers."""

    number: int
    text: str
    cut: bool = False


class MarkedLines:
    r"""Iterates over the lines of a stream that contain a marker; `read` counts all lines so far.

    Lines end with \n, \r\n or, as progress bars write them, \r. Colours are taken out first, for
    they can stand within a marker. A marked line that ends in a comma was wrapped by whoever copied
    it: up to 8 lines are joined.
    """

    def __init__(self, stream: Stream, *, source: str, markers: tuple[str, ...]) -> None:
        self.read = 0
        self._stream = stream
        self._source = source
        self._markers = tuple(marker.encode() for marker in markers)
        self._overlap = max(len(marker) for marker in self._markers)

    def __iter__(self) -> Iterator[Line]:
        wrapped: list[bytes] = []
        for present, rows in self._rows():
            if not (present or wrapped):
                self.read += len(rows)
                continue
            for row in rows:
                self.read += 1
                marked = _has_one(present, row)
                if wrapped and marked:
                    yield self._as_line(self.read - len(wrapped), wrapped)
                    wrapped = []
                if not (wrapped or marked):
                    continue
                wrapped.append(row)
                if len(wrapped) == MOST_JOINED or not row.rstrip().endswith(b","):
                    yield self._as_line(self.read + 1 - len(wrapped), wrapped)
                    wrapped = []
        if wrapped:
            yield self._as_line(self.read + 1 - len(wrapped), wrapped)

    def _rows(self) -> Iterator[tuple[list[bytes], list[bytes]]]:
        """Whole lines, block by block, and which of the markers occur in them at all."""
        rest = b""
        for block in self._blocks():
            text = rest + block
            if _ESCAPE in text:
                text = _COLOUR.sub(b"", text)
            rows = text.split(b"\n")
            rest = self._abridged(rows.pop())
            yield [marker for marker in self._markers if marker in text], rows
        if rest:
            yield [marker for marker in self._markers if marker in rest], [rest]

    def _abridged(self, row: bytes) -> bytes:
        """Of an overlong line the beginning, all its markers, and what may begin another one."""
        if len(row) <= LONGEST_LINE:
            return row
        found = [marker for marker in self._markers if marker in row]
        # No marker has a NUL: none comes about where the parts meet.
        return b"\0".join((row[:LONGEST_LINE], *found, row[-self._overlap :]))

    def _blocks(self) -> Iterator[bytes]:
        r"""The stream with \n as its only line end."""
        block = _as_bytes(self._stream.read(BLOCK))
        self._refuse(block)
        after_return = False
        while block:
            text = block.removeprefix(b"\n") if after_return else block  # of a \r\n in two blocks
            after_return = block.endswith(b"\r")
            if b"\r" in text:
                text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            yield text
            block = _as_bytes(self._stream.read(BLOCK))

    def _refuse(self, first: bytes) -> None:
        problem = None if first else "this is empty; expected the log of an engine."
        for magic, sentence in _UNREADABLE:
            if first.startswith(magic):
                problem = sentence
        if problem is None and b"\0" in first:
            problem = "this is a binary file (it has NUL bytes); expected the text of a log."
        if problem is not None:
            raise MetricsFormatError(self._source, problem=problem)

    def _as_line(self, number: int, rows: list[bytes]) -> Line:
        if any(len(row) > LONGEST_LINE for row in rows):
            found = [marker for marker in self._markers if any(marker in row for row in rows)]
            return Line(number=number, text=b" ".join(found).decode(), cut=True)
        text = b" ".join(row.strip() for row in rows)
        return Line(number=number, text=text.decode("utf-8", "replace"))


def _has_one(markers: list[bytes], row: bytes) -> bool:
    for marker in markers:  # noqa: SIM110 — any() over a generator costs more than the search
        if marker in row:
            return True
    return False


def _as_bytes(block: bytes | str) -> bytes:
    return block.encode("utf-8", "replace") if isinstance(block, str) else block

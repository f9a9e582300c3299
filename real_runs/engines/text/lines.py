"""The lines of a log that matter, from a stream of any size in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, NamedTuple, Protocol, TypeAlias

from real_runs.engines.text.markers import Markers

Stream: TypeAlias = IO[bytes] | IO[str]


class Readable(Protocol):
    """All that is asked of a stream."""

    def read(self, size: int, /) -> bytes | str:
        """Up to so many bytes or characters; empty at the end."""


BLOCK = 1 << 18
LONGEST_LINE = 1 << 16
LONGEST_OBJECT = 16 << 20
"""A JSON object may fill a longer line than a log may."""
MOST_JOINED = 8

_ESCAPE = b"\x1b["
_MAY_GO_ON = b", \t\v\f\r"
_COLOUR = re.compile(rb"\x1b\[[\d;?]*+[A-Za-z]")


class Line(NamedTuple):  # made by the million: a frozen dataclass takes three times as long
    """A line with one of the markers; of a `cut` one, too long to be kept, `text` is its markers.

    `markers` are those that are in it. A line that is a JSON object is kept up to 16 MB; a `long`
    one is no line of a log. A `joined` one was several rows.
    """

    number: int
    text: str
    cut: bool = False
    long: bool = False
    joined: bool = False
    markers: tuple[str, ...] = ()


class MarkedLines:
    r"""Iterates over the lines of a stream that contain a marker; `read` counts all lines so far.

    Lines end with \n, \r\n or, as progress bars write them, \r. Colours are taken out first, for
    they can stand within a marker. A marked line that ends in a comma was wrapped by whoever copied
    it: up to 8 lines are joined. `start` lines came before the stream. A line with only `weak`
    markers may be the rest of a wrapped one.
    """

    def __init__(
        self,
        stream: Readable,
        *,
        markers: tuple[str, ...],
        start: int = 0,
        weak: frozenset[str] = frozenset(),
    ) -> None:
        self.read = start
        self._stream = stream
        self._markers = Markers(markers)
        self._weak = weak
        self._wrapped: list[bytes] = []
        self._wrapped_markers: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Line]:
        rest: list[bytes] = []  # a line that is not over yet
        size = 0
        for block in normalized(self._stream):
            end = block.rfind(b"\n") + 1
            if end:
                yield from self._of_rows(_plain(b"".join((*rest, block[:end]))))
                rest, size = [block[end:]], len(block) - end
                continue
            rest.append(block)
            size += len(block)
            if size > LONGEST_LINE and not (size <= LONGEST_OBJECT and _is_object(rest[0])):
                rest = [self._abridged(_plain(b"".join(rest)))]
                size = len(rest[0])
        last = b"".join(rest)
        if last:
            yield from self._of_rows(_plain(last) + b"\n")
        yield from self._joined()

    def _of_rows(self, text: bytes) -> Iterator[Line]:
        """The lines in a text of whole rows."""
        at = 0
        for start, end, markers in self._markers.rows_in(text):
            while self._wrapped and at < start:
                at = self._next_row(text, at)
                yield from self._joined(only_if_over=True)
            self.read += text.count(b"\n", at, start)
            row = text[start:end]
            if self._wrapped and self._weak.issuperset(markers):
                at = self._next_row(text, start)
                yield from self._joined(only_if_over=True)
                continue
            if self._wrapped:
                yield from self._joined()
            self.read += 1
            at = end + 1
            if _goes_on(row) or len(row) > LONGEST_LINE:
                self._wrapped, self._wrapped_markers = [row], markers
                yield from self._joined(only_if_over=True)
            else:
                yield Line(
                    number=self.read, text=row.strip().decode("utf-8", "replace"), markers=markers
                )
        while self._wrapped and at < len(text):
            at = self._next_row(text, at)
            yield from self._joined(only_if_over=True)
        self.read += text.count(b"\n", at)

    def _next_row(self, text: bytes, start: int) -> int:
        """Take the row at `start` to the wrapped ones; where the next one begins."""
        end = text.find(b"\n", start)
        self._wrapped.append(text[start:end])
        self.read += 1
        return end + 1

    def _joined(self, *, only_if_over: bool = False) -> Iterator[Line]:
        """The wrapped rows as a line, if there are any (and, if asked so, no more can belong to it)."""
        rows, markers = self._wrapped, self._wrapped_markers
        if not rows or (only_if_over and len(rows) < MOST_JOINED and _goes_on(rows[-1])):
            return
        self._wrapped, self._wrapped_markers = [], ()
        number = self.read + 1 - len(rows)
        longest = LONGEST_OBJECT if _is_object(rows[0]) else LONGEST_LINE
        size = max(map(len, rows))
        if size > longest:
            yield Line(number=number, text=" ".join(markers), cut=True, markers=markers)
            return
        text = b" ".join([row.strip() for row in rows]).decode("utf-8", "replace")
        yield Line(
            number=number,
            text=text,
            long=size > LONGEST_LINE,
            joined=len(rows) > 1,
            markers=markers,
        )

    def _abridged(self, row: bytes) -> bytes:
        """Of an overlong line the beginning, all its markers, and what may begin another one."""
        found = [marker.encode() for marker in self._markers.all_in(row)]
        # No marker has a NUL: none comes about where the parts meet.
        return b"\0".join((b"\0" + row[:LONGEST_LINE], *found, row[-self._markers.longest :]))


def _goes_on(row: bytes) -> bool:
    """Whether a row was wrapped; SGLang ends whole lines in a comma and a blank."""
    if row[-1:] not in _MAY_GO_ON:
        return False
    return row.rstrip()[-1:] == b"," and not (row.endswith(b", ") and b"#queue-req" in row)


def _is_object(row: bytes) -> bool:
    return row[:64].lstrip().startswith(b"{")


def _plain(text: bytes) -> bytes:
    return _COLOUR.sub(b"", text) if _ESCAPE in text else text


def normalized(stream: Readable) -> Iterator[bytes]:
    r"""The stream in blocks, with \n as its only line end."""
    after_return = False
    while block := as_bytes(stream.read(BLOCK)):
        text = block.removeprefix(b"\n") if after_return else block  # of a \r\n in two blocks
        after_return = block.endswith(b"\r")
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        yield text


def as_bytes(block: bytes | str) -> bytes:
    """What a stream of bytes or of text gives, as bytes."""
    return block.encode("utf-8", "replace") if isinstance(block, str) else block


def all_lines(stream: Readable) -> Iterator[tuple[int, str | None]]:
    """Every line of a stream with its number; None for one of more than 64 KiB."""
    number, rest = 0, b""
    for block in normalized(stream):
        *rows, rest = (rest + block).split(b"\n")
        for number, row in enumerate(rows, number + 1):  # noqa: B020
            yield number, _text_of(row)
        rest = rest[: LONGEST_LINE + 1]
    if rest:
        yield number + 1, _text_of(rest)


def _text_of(row: bytes) -> str | None:
    return None if len(row) > LONGEST_LINE else row.decode("utf-8", "replace")

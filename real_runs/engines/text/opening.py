"""The first bytes of a source: what it is, and whether it can be a log at all."""

from __future__ import annotations

import re

from real_runs.engines.errors import MetricsFormatError
from real_runs.engines.text.lines import BLOCK, Readable, as_bytes

MOST_READ = 1 << 20
"""What is read at most of a source before it is known to have lines."""
MOST_COLUMNS = 1000
MOST_DIGITS = 1 << 16

_EXPECTED = "unpack it first, expected the text of a log"
_TEXT = "expected the text of a log"
_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x1f\x8b", f"this is packed with gzip; {_EXPECTED}."),
    (0, b"PK\x03\x04", f"this is a zip archive; {_EXPECTED}."),
    (0, b"PK\x05\x06", f"this is a zip archive; {_EXPECTED}."),
    (0, b"\x28\xb5\x2f\xfd", f"this is packed with zstd; {_EXPECTED}."),
    (0, b"\xfd7zXZ\x00", f"this is packed with xz; {_EXPECTED}."),
    (0, b"BZh", f"this is packed with bzip2; {_EXPECTED}."),
    (0, b"7z\xbc\xaf\x27\x1c", f"this is a 7z archive; {_EXPECTED}."),
    (0, b"\x04\x22\x4d\x18", f"this is packed with lz4; {_EXPECTED}."),
    (257, b"ustar", f"this is a tar archive; {_EXPECTED}."),
    (0, b"PAR1", f"this is a Parquet file; {_TEXT}."),
    (0, b"ARROW1", f"this is an Arrow file; {_TEXT}."),
    (0, b"GGUF", f"this is a GGUF model; {_TEXT}."),
    (0, b"SQLite format 3\x00", f"this is an SQLite database; {_TEXT}."),
    (0, b"\x93NUMPY", f"this is a NumPy file; {_TEXT}."),
    (0, b"\x89HDF", f"this is an HDF5 file; {_TEXT}."),
    (0, b"%PDF-", f"this is a PDF; {_TEXT}."),
    (0, b"\xff\xfe", "this is UTF-16 text; save it as UTF-8 first."),
    (0, b"\xfe\xff", "this is UTF-16 text; save it as UTF-8 first."),
)
_PICKLES = tuple(bytes((0x80, protocol)) for protocol in range(2, 6))
_BOM = b"\xef\xbb\xbf"
_LONG_NUMBER = re.compile(rb"\d{%d}" % (MOST_DIGITS - 1))


class Opening:
    """A stream whose beginning was looked at: reading it gives the beginning again.

    `head` is at least one block, and up to 1 MB where no line ends earlier; `whole` says that there
    is no more. MetricsFormatError, after at most 1 MB, for what is no text of lines.
    """

    def __init__(self, stream: Readable, *, source: str) -> None:
        self._stream = stream
        self.whole = False
        head = bytearray()
        while len(head) < BLOCK or (b"\n" not in head and len(head) < MOST_READ):
            block = as_bytes(stream.read(min(BLOCK, MOST_READ - len(head))))
            if not block:
                self.whole = True
                break
            head += block
            problem = _no_text(head)
            if problem is not None:
                raise MetricsFormatError(source, problem=problem)
        if not head:
            raise MetricsFormatError(
                source, problem="this is empty; expected the log of an engine."
            )
        self.head = bytes(head.removeprefix(_BOM))
        self._again, self._position = self.head, 0

    def read(self, size: int) -> bytes:
        """The next bytes, the head first; empty at the end."""
        if self._position == len(self._again):
            self._again, self._position = b"", 0
            return b"" if self.whole else as_bytes(self._stream.read(size))
        start = self._position
        self._position = min(start + size, len(self._again))
        return self._again[start : self._position]

    def replace(self, text: bytes) -> None:
        """Give `text` instead of all that is left; only where that is known whole."""
        self._again, self._position = text, 0

    def unread(self, text: bytes) -> None:
        """Give `text` again, before all else."""
        self._again, self._position = text + self._again[self._position :], 0


def _no_text(head: bytearray) -> str | None:
    """What a file is that begins like this, if it is no text."""
    for offset, magic, sentence in _MAGIC:
        if head.startswith(magic, offset):
            return sentence
    if head.startswith(_PICKLES):
        return f"this is a pickle of Python, which is never opened; {_TEXT}."
    if head[8:10] == b'{"' and b"\0" in head[:8]:
        return f"this is a safetensors file; {_TEXT}."
    if b"\0" in head:
        return f"this is a binary file (it has NUL bytes); {_TEXT}."
    return None


def check_first_line(opening: Opening, *, marked: bool, source: str) -> None:
    """Raise MetricsFormatError for a source whose first line goes on for 1 MB and cannot be one of a log.

    It has more columns than any table, a number longer than any, or (not `marked`) none of the words
    that are looked for.
    """
    head = opening.head
    if b"\n" in head or b"\r" in head or len(head) < MOST_READ - len(_BOM):
        return
    problem = None
    if head.count(b",") > MOST_COLUMNS or head.count(b"\t") > MOST_COLUMNS:
        problem = f"the first line has more than {MOST_COLUMNS:,} columns and no end within 1 MB"
    elif _LONG_NUMBER.search(head) is not None:
        problem = f"a number has more than {MOST_DIGITS:,} digits"
    elif not marked:
        problem = "the first line has no end within 1 MB and no metrics in it"
    if problem is not None:
        raise MetricsFormatError(source, problem=f"{problem}; {_TEXT}.")

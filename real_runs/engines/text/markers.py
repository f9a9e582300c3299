"""Which of many markers stand in which rows of a text, at a cost that does not grow with their number.

Every marker is known by four of its bytes. All runs of four bytes of a text are looked up at once, in
NumPy, in a table of hashes; only where one is known, the markers that have it are compared. Rows that
differ in digits alone are compared once, for a log repeats few kinds of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

GRAM = 4
MOST_CONTEXTS = 1 << 14
MOST_SHAPES = 4096
LONGEST_SHAPE = 1024

# Words of lines that have no metrics: bytes from them would find every line.
_COMMON = (
    b"(APIServer pid=1) (EngineCore_DP0 pid=2) Engine 000: Avg Mean INFO WARNING ERROR DEBUG POST "
    b"/v1/chat/completions HTTP/1.1 200 OK request requests tokens token engine server time prompt "
    b"generation model cache running waiting slot task stop n_tokens total decode decoding output "
    b"input batch size number count mean max per sec second speed len length"
)
_BEFORE, _BEHIND = 4, 10
_MULTIPLIER = np.uint32(2654435761)  # Knuth's, for the upper bits of a product
_SHIFT = np.uint32(16)
_LINE_END = 10
_SHAPE = bytes.maketrans(b"123456789", b"0" * 9)


class Markers:
    """Finds the rows of a text that hold a marker."""

    def __init__(self, markers: Sequence[str]) -> None:
        self._all = tuple((each.encode(), each) for each in dict.fromkeys(markers))
        self.longest = max((len(marker) for marker, _ in self._all), default=1)
        self._of_gram: dict[bytes, list[tuple[bytes, int, str]]] = {}
        self._short = tuple(each for each in self._all if len(each[0]) < GRAM)
        for marker, name in sorted(self._all, key=lambda each: len(each[0])):
            if len(marker) >= GRAM:
                gram = self._gram_of(marker)
                entry = (marker, marker.index(gram), name)
                self._of_gram.setdefault(gram, []).append(entry)
        self._known = np.zeros(1 << 16, dtype=bool)
        grams = np.frombuffer(b"".join(self._of_gram), dtype=np.uint32)
        self._known[(grams * _MULTIPLIER) >> _SHIFT] = True
        self._contexts: dict[bytes, tuple[tuple[bytes, int, str], ...]] = {}
        shapes = [marker.translate(_SHAPE) for marker, _ in self._all]
        self._with_digits = tuple(shape for shape in shapes if b"0" in shape)
        self._of_shape: dict[bytes, tuple[str, ...]] = {}

    def _gram_of(self, marker: bytes) -> bytes:
        """Four bytes of a marker: those of another one if possible, and rare ones."""
        grams = [marker[at : at + GRAM] for at in range(len(marker) - GRAM, -1, -1)]
        return min(grams, key=lambda gram: (gram in _COMMON, gram not in self._of_gram))

    def rows_in(self, text: bytes) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Start and end of every row with a marker, in order, and its markers; rows end at line ends."""
        places = self._places(text)
        if not places.size:
            return
        ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == _LINE_END)
        ends = np.append(ends, len(text))
        row = np.searchsorted(ends, places)
        first = np.flatnonzero(
            np.diff(row, prepend=-1)
        )  # the first place of every row that has one
        last = np.append(first[1:], places.size)
        starts = np.where(row[first] > 0, ends[row[first] - 1] + 1, 0)
        columns = (starts, ends[row[first]], first, last)
        for start, end, begin, behind in zip(*(each.tolist() for each in columns), strict=True):
            shape = text[start:end].translate(_SHAPE)
            markers = self._of_shape.get(shape)
            if markers is None:
                markers = self._markers_at(text, places[begin:behind].tolist())
                self._remember(shape, markers)
            if markers:
                yield start, end, markers

    def _markers_at(self, text: bytes, places: list[int]) -> tuple[str, ...]:
        """The markers that stand around some places."""
        found: dict[str, None] = {}
        for at in places:
            known = None
            if at >= _BEFORE:
                known = self._contexts.get(text[at - _BEFORE : at + _BEHIND])
            if known is None:
                known = self._candidates(text, at)
            for marker, offset, name in known:
                if text.startswith(marker, at - offset) and at >= offset:
                    found[name] = None
        return tuple(found)

    def _remember(self, shape: bytes, markers: tuple[str, ...]) -> None:
        """Keep the markers for all rows that differ in digits alone, unless a marker can have those."""
        if len(shape) > LONGEST_SHAPE or any(digits in shape for digits in self._with_digits):
            return
        if len(self._of_shape) == MOST_SHAPES:
            self._of_shape.clear()
        self._of_shape[shape] = markers

    def _places(self, text: bytes) -> NDArray[np.int32]:
        """Where known runs of four bytes may begin, in order."""
        found = [np.empty(0, dtype=np.int32)]
        for offset in range(GRAM):
            whole = (len(text) - offset) // GRAM
            if whole > 0:
                grams = np.frombuffer(text, dtype=np.uint32, count=whole, offset=offset)
                hits = np.flatnonzero(self._known[(grams * _MULTIPLIER) >> _SHIFT])
                found.append(hits.astype(np.int32) * GRAM + offset)
        for marker, _ in self._short:
            found.append(np.fromiter(_all_places(text, marker), dtype=np.int32))
        return np.sort(np.concatenate(found))

    def _candidates(self, text: bytes, at: int) -> tuple[tuple[bytes, int, str], ...]:
        """The markers that can stand around a place, by the bytes there; few kinds of them occur."""
        first = max(at - _BEFORE, 0)
        context = text[first : at + _BEHIND]
        entries = (
            *self._of_gram.get(text[at : at + GRAM], ()),
            *((marker, 0, name) for marker, name in self._short),
        )
        known = tuple(each for each in entries if _can_stand(each[0], each[1], context, at - first))
        if at >= _BEFORE and len(context) == _BEFORE + _BEHIND:
            if len(self._contexts) == MOST_CONTEXTS:
                self._contexts.clear()
            self._contexts[context] = known
        return known

    def all_in(self, text: bytes) -> tuple[str, ...]:
        """The markers in a text."""
        return tuple(name for marker, name in self._all if marker in text)


def _can_stand(marker: bytes, offset: int, context: bytes, at: int) -> bool:
    """Whether a marker can stand in a text that has `context`, with its byte `offset` at `at`."""
    first, last = max(at - offset, 0), min(at - offset + len(marker), len(context))
    begin = first - (at - offset)
    return context[first:last] == marker[begin : begin + last - first]


def _all_places(text: bytes, marker: bytes) -> Iterator[int]:
    """Where a marker begins."""
    at = text.find(marker)
    while at >= 0:
        yield at
        at = text.find(marker, at + 1)

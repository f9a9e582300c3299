"""Which of many markers stand in which rows of a text, at a cost that does not grow with their number.

Every marker is known by four of its bytes. All runs of four bytes of a text are looked up at once, in
NumPy, in a table of hashes; only where one is known, the markers that have it are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

GRAM = 4
MOST_CONTEXTS = 1 << 14

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

    def _gram_of(self, marker: bytes) -> bytes:
        """Four bytes of a marker: those of another one if possible, and rare ones."""
        grams = [marker[at : at + GRAM] for at in range(len(marker) - GRAM, -1, -1)]
        return min(grams, key=lambda gram: (gram in _COMMON, gram not in self._of_gram))

    def rows_in(self, text: bytes) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Start and end of every row with a marker, in order, and its markers; rows end at line ends."""
        start, end = 0, -1
        found: dict[str, None] = {}
        contexts = self._contexts
        for at in self._places(text):
            known = contexts.get(text[at - _BEFORE : at + _BEHIND]) if at >= _BEFORE else None
            if known is None:
                known = self._candidates(text, at)
            if not known:
                continue
            if at > end:
                if found:
                    yield start, end, tuple(found)
                start, found = text.rfind(b"\n", 0, at) + 1, {}
                end = text.find(b"\n", at)
                end = len(text) if end < 0 else end
            for marker, offset, name in known:
                if text.startswith(marker, at - offset) and at >= offset:
                    found[name] = None
        if found:
            yield start, end, tuple(found)

    def _places(self, text: bytes) -> list[int]:
        """Where known runs of four bytes may begin, in order."""
        found = []
        for offset in range(GRAM):
            whole = (len(text) - offset) // GRAM
            if whole > 0:
                grams = np.frombuffer(text, dtype=np.uint32, count=whole, offset=offset)
                hits = np.flatnonzero(self._known[(grams * _MULTIPLIER) >> _SHIFT])
                found += (hits * GRAM + offset).tolist()
        for marker, _ in self._short:
            at = text.find(marker)
            while at >= 0:
                found.append(at)
                at = text.find(marker, at + 1)
        return sorted(found)

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

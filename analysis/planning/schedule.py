"""A draft length for every batch size, without gaps and without overlaps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from simulator._checks import as_count

_RANGE = re.compile(r"\s*(\d{1,9})\s*(?:(-)\s*(\d{1,9})?)?\s*:\s*(\d{1,9})\s*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Batch sizes from `first` to `last`, both included, and their draft length; last None: all beyond."""

    first: int
    last: int | None
    gamma: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Draft lengths by batch size: spans in order, from 1 on, each beginning where the one before ended.

    Raises ValueError for no span, a gap, an overlap, a first span that does not begin at 1, an open span
    that is not the last, and a span that ends before it begins.

    >>> schedule = Schedule.read("1-16:3, 17-64:1, 65-:0")
    >>> schedule.gamma(16), schedule.gamma(17), schedule.gamma(5_000), schedule.longest
    (3, 1, 0, 3)
    >>> Schedule.read("1-16:3, 18-:1")
    Traceback (most recent call last):
    ValueError: a schedule must have no gaps: after batch 16 comes 17; got a span from 18 on.
    """

    spans: tuple[Span, ...]

    def __post_init__(self) -> None:
        if not self.spans:
            raise ValueError("a schedule must hold at least one span; got none.")
        due = 1
        for at, span in enumerate(self.spans):
            as_count("first", span.first, least=1)
            as_count("gamma", span.gamma)
            if span.last is not None:
                as_count("last", span.last, least=1)
            if span.first != due:
                _refuse(due, span.first)
            if span.last is None:
                if at < len(self.spans) - 1:
                    raise ValueError(
                        f"only the last span of a schedule may be open; got one from {span.first} on."
                    )
                return
            if span.last < span.first:
                raise ValueError(
                    f"a span must not end before it begins; got {span.first} to {span.last}."
                )
            due = span.last + 1

    @classmethod
    def read(cls, text: str) -> Schedule:
        """The schedule in a text such as "1-16:3, 17-64:1, 65-:0"; ValueError for any other."""
        spans = []
        for part in text.split(","):
            found = _RANGE.match(part)
            if found is None:
                raise ValueError(
                    'a schedule must be spans of batch sizes such as "1-16:3, 17-64:1, 65-:0"; '
                    f"got {part.strip()!r:.60}."
                )
            first = int(found[1])
            last = first if found[2] is None else (None if found[3] is None else int(found[3]))
            spans.append(Span(first=first, last=last, gamma=int(found[4])))
        return cls(spans=tuple(spans))

    @classmethod
    def of_points(cls, batches: Sequence[int], gammas: Sequence[int]) -> Schedule:
        """The schedule that takes at each batch the draft length of the last planned one up to it.

        Batches below the first planned one take its length, those beyond the last the last one's.
        Raises ValueError for batches that do not rise, and numbers that are not whole.

        >>> Schedule.of_points((1, 8, 32), (4, 4, 0)).text
        '1-31:4, 32-:0'
        """
        if len(batches) == 0 or len(batches) != len(gammas):
            raise ValueError(
                "batches and gammas must be as many, at least one; "
                f"got {len(batches)} and {len(gammas)}."
            )
        spans: list[Span] = []
        for at, (batch, gamma) in enumerate(zip(batches, gammas, strict=True)):
            as_count("batches", batch, least=1)
            if at and batch <= batches[at - 1]:
                raise ValueError(f"batches must rise; got {batch} after {batches[at - 1]}.")
            last = None if at == len(batches) - 1 else batches[at + 1] - 1
            first = 1 if at == 0 else batch
            if spans and spans[-1].gamma == gamma:
                first = spans.pop().first
            spans.append(Span(first=first, last=last, gamma=gamma))
        return cls(spans=tuple(spans))

    @property
    def longest(self) -> int:
        """The longest draft of the schedule."""
        return max(span.gamma for span in self.spans)

    @property
    def text(self) -> str:
        """The schedule in the form that `read` takes."""
        return ", ".join(
            f"{s.first}{'-' if s.last is None else '' if s.last == s.first else f'-{s.last}'}:{s.gamma}"
            for s in self.spans
        )

    def gamma(self, batch: int) -> int:
        """The draft length at a batch size. Raises ValueError beyond a closed last span."""
        as_count("batch", batch, least=1)
        for span in self.spans:
            if span.last is None or batch <= span.last:
                return span.gamma
        raise ValueError(
            f"batch must be at most {self.spans[-1].last}, the schedule's last; got {batch}."
        )


def _refuse(due: int, first: int) -> None:
    if due == 1:
        raise ValueError(f"a schedule must begin at batch 1; got {first}.")
    if first > due:
        raise ValueError(
            f"a schedule must have no gaps: after batch {due - 1} comes {due}; "
            f"got a span from {first} on."
        )
    raise ValueError(
        f"a schedule must have no overlaps: batch {first} is in the span before already."
    )

"""Requests whose rounds are given by their lengths alone: what was drafted is not printed."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from real_runs.engines.counts.lengths import Steps, histogram_of, longest_note, of_first_positions
from real_runs.engines.counts.pool import MOST_UNITS, Extras, Layout, Pool, unit_of
from real_runs.engines.counts.printed import MOST_DEPTHS
from real_runs.engines.counts.skips import NoCounts
from real_runs.engines.reading import Reading
from simulator import AcceptanceTable

MOST_KEPT_ROUNDS = 5_000_000
"""Rounds that are kept in order; beyond them requests are counted and not listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    line: int
    kept: array[int]
    name: str
    labels: tuple[tuple[str, str], ...]
    decode_s: float | None


class LengthPool:
    """Keeps the accepted tokens of every round by request until the longest draft is known.

    That one stands for every draft: tables get the unknown length rule and a note. With
    `every_position` a request lists what a draft at each of its tokens would keep; its table counts
    the rounds that begin where the one before ended.
    """

    def __init__(self, layout: Layout, source: str, *, every_position: bool = False) -> None:
        self._layout = layout
        self._source = source
        self._every_position = every_position
        self._requests: list[_Request] = []
        self._rounds = 0
        self._left_out = 0
        self.longest = 0

    def add(
        self,
        line: int,
        kept: Sequence[int],
        *,
        name: str = "",
        labels: tuple[tuple[str, str], ...] = (),
        decode_s: float | None = None,
    ) -> None:
        """Add a request by the accepted tokens of its rounds in order, the bonus excluded."""
        if not kept:
            raise NoCounts("the request has no round")
        if min(kept) < 0 or max(kept) > MOST_DEPTHS:
            outside = min(kept) if min(kept) < 0 else max(kept)
            raise NoCounts(
                f"a round of {outside + 1} tokens is outside 1 to {MOST_DEPTHS + 1}",
                finding="length_outside_range",
            )
        self.longest = max(self.longest, *kept)
        if len(self._requests) == MOST_UNITS or self._rounds + len(kept) > MOST_KEPT_ROUNDS:
            self._left_out += 1
            return
        self._rounds += len(kept)
        self._requests.append(
            _Request(line=line, kept=array("H", kept), name=name, labels=labels, decode_s=decode_s)
        )

    def readings(
        self, lines: int, *, notes: tuple[str, ...] = (), extras: Extras | None = None
    ) -> list[Reading]:
        """One Reading of all requests; empty where no round kept a drafted token."""
        if self.longest == 0:
            return []
        pool = Pool(self._layout, self._source)
        pairs = [(self.longest, kept) for kept in range(self.longest + 1)]
        for request in self._requests:
            steps: Steps = tuple(pairs[kept] for kept in request.kept)
            table = self._table(request.kept)
            unit = unit_of(
                table,
                name=request.name,
                labels=request.labels,
                steps=steps,
                every_position=self._every_position,
                decode_s=request.decode_s,
            )
            pool.add(request.line, table, unit=unit)
        own = [longest_note(self.longest)]
        if self._left_out:
            own.append(
                f"{self._left_out} more requests are left out: the first ones fill the memory."
            )
        return pool.readings(lines, notes=(*own, *notes), extras=extras or Extras())

    def _table(self, kept: Sequence[int]) -> AcceptanceTable:
        if not self._every_position:
            return of_first_positions(histogram_of(kept), self.longest)
        rounds, position = [], 0
        while position < len(kept):
            rounds.append(kept[position])
            position += kept[position] + 1
        return of_first_positions(
            histogram_of(rounds), self.longest, discarded=position - len(kept)
        )

"""The running sum of the records of one layout, and the Reading it becomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import ne
from typing import TypeAlias

from real_runs.engines.counts.batch import Batch
from real_runs.engines.counts.pool_notes import depth_notes, rounds_notes, summed_notes
from real_runs.engines.counts.printed import MOST_DEPTHS
from real_runs.engines.counts.ratios import Ratios
from real_runs.engines.counts.recovery import Basis, Recovered
from real_runs.engines.counts.skips import NoCounts
from real_runs.engines.counts.sums import RunningTotals
from real_runs.engines.reading import Reading
from simulator import (
    AcceptanceTable,
    AcceptanceTotals,
    Clock,
    CountedUnit,
    Counts,
    LengthRule,
    Method,
)

MOST_UNITS = 50_000
"""Records that are kept apart; a log of a year would fill the memory."""

Record: TypeAlias = Recovered | AcceptanceTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What the records of one layout have in common; `unit` is what one of them counts.

    Units named "interval" or "snapshot" are stretches of time, all others are requests.
    """

    engine: str
    name: str
    unit: str
    averaged_over: str
    definition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What a text says beside the counts, for the fields of a Reading with these names."""

    clock: Clock = field(default_factory=Clock)
    gamma: int | None = None
    undrafted_rounds: int | None = None
    emitted: int | None = None
    method: Method | None = None
    version: str | None = None


NOTHING_MORE = Extras()


class Pool:
    """Adds up records; what one of them does not know, the sum does not know.

    Sums are kept by draft length, for only drafts of one length sum to totals that are still a
    table: two lengths together no longer say how many rounds drafted which. Records that are tables
    themselves, whatever the lengths of their drafts, are a sum of their own.
    """

    def __init__(self, layout: Layout, source: str) -> None:
        self._layout = layout
        self._source = source
        self._records = 0
        self._lines = 0
        self._last_line = 0
        self._by_length: dict[tuple[int | None, LengthRule], RunningTotals] = {}
        self._lengths: set[int | None] = set()
        self._table: AcceptanceTable | None = None
        self._bases: Counter[Basis] = Counter()
        self._first: dict[Basis, tuple[int, Recovered]] = {}
        self._ratios = Ratios()
        self._units: list[CountedUnit] = []
        self._more_units = False

    def add(
        self,
        line: int,
        record: Record,
        ratios: Ratios | None = None,
        *,
        unit: CountedUnit | None = None,
    ) -> None:
        """Add one record of `line`; lines come in order.

        `record` is what `recovery` makes of printed numbers, or a table where a format counts every
        depth. `unit` is the record as a unit of its own (see `unit_of`), where the text tells
        requests or intervals apart; the first 50,000 are kept. NoCounts for more than 256 lengths.
        """
        if isinstance(record, AcceptanceTable):
            self._table = record if self._table is None else self._table + record
            basis: Basis = "counted"
        else:
            self._add_totals(record.totals)
            basis = record.basis
            if basis not in self._first:
                self._first[basis] = (line, record)
        self._records += 1
        self._lines += line != self._last_line  # one line can hold several records
        self._last_line = line
        self._bases[basis] += 1
        self._ratios = ratios or Ratios()
        if unit is not None:
            self._keep(unit)

    def _add_totals(self, totals: AcceptanceTotals) -> None:
        key = (totals.longest_draft, totals.length_rule)
        before = self._by_length.get(key)
        if before is not None:
            before.add(totals)
            return
        if key[0] not in self._lengths and len(self._lengths) > MOST_DEPTHS:
            raise NoCounts(f"more than {MOST_DEPTHS} draft lengths in one log")
        self._lengths.add(key[0])
        self._by_length[key] = RunningTotals(totals)

    def add_many(self, lines: Sequence[int], records: Batch, units: Iterable[CountedUnit]) -> None:
        """Add two or more records with their units, as `add` does; of a length there `has_room_for`."""
        for basis, first, number in records.bases():
            if basis not in self._first:
                self._first[basis] = (lines[first], records.record(first))
            self._bases[basis] += number
        for totals in records.sums():
            self._add_totals(totals)
        self._records += len(lines)
        self._lines += sum(map(ne, lines, (self._last_line, *lines)))
        self._last_line = lines[-1]
        room = MOST_UNITS - len(self._units)
        self._units.extend(islice(units, room))
        self._more_units |= room < len(lines)

    def has_room_for(self, length: int) -> bool:
        """Whether drafts of a length can be added beside the others."""
        return length in self._lengths or len(self._lengths) <= MOST_DEPTHS

    def _keep(self, unit: CountedUnit) -> None:
        if self.wants_units:
            self._units.append(unit)
        else:
            self._more_units = True

    @property
    def wants_units(self) -> bool:
        """Whether the next unit would be kept: else it need not be made, `skip_unit` counts it."""
        return len(self._units) < MOST_UNITS

    def skip_unit(self) -> None:
        """Say that a unit came that was not made, for `wants_units` was False."""
        self._more_units = True

    def readings(
        self, lines: int, *, notes: tuple[str, ...] = (), extras: Extras = NOTHING_MORE
    ) -> list[Reading]:
        """One Reading of everything summed, `notes` behind its own; empty without a record."""
        if not self._records:
            return []
        layout, counts = self._layout, self._counts()
        # The ratios of one record are not those of the sum: beside it, they look like a mistake.
        ratios = self._ratios if self._records == 1 else Ratios()
        lengths = sorted(length for length in self._lengths if length is not None)
        own = [
            *summed_notes(self._records, layout.unit, lengths),
            *rounds_notes(self._records, layout.unit, self._bases, self._first),
            *depth_notes(counts),
        ]
        if self._more_units:
            own.append(f"Only the first {MOST_UNITS:,} {layout.unit}s are kept apart.")
        return [
            Reading(
                engine=layout.engine,
                layout=layout.name,
                source=self._source,
                counts=counts,
                printed=ratios.reported(layout.averaged_over),
                definition=layout.definition,
                lines=lines,
                used=self._lines,
                notes=(*own, *notes),
                unit="interval" if layout.unit in {"interval", "snapshot"} else "request",
                units=tuple(self._units),
                clock=extras.clock,
                gamma=extras.gamma,
                undrafted_rounds=extras.undrafted_rounds,
                emitted=extras.emitted,
                method=extras.method,
                version=extras.version,
            )
        ]

    def _counts(self) -> Counts:
        """The table if every depth of every record is known, else the totals."""
        sums = [running.total() for running in self._by_length.values()]
        tables = [table for table in (totals.to_table() for totals in sums) if table is not None]
        if self._table is not None:
            tables.append(self._table)
            sums.append(as_totals(self._table))
        if len(tables) == len(sums):
            return sum(tables[1:], start=tables[0])
        return sum(sums[1:], start=sums[0])


def as_totals(table: AcceptanceTable) -> AcceptanceTotals:
    """The totals of a table: for sums with records that do not know every depth."""
    accepted = sum(table.accepted)
    return AcceptanceTotals(
        drafted=table.drafted,
        accepted=accepted,
        rounds=table.rounds,
        emitted=table.emitted if table.discarded else None,
        accepted_by_depth=table.accepted,
        longest_draft=table.depths if table.drafted <= table.rounds * table.depths else None,
        length_rule=table.length_rule,
    )


def unit_of(
    record: Record,
    *,
    name: str = "",
    labels: tuple[tuple[str, str], ...] = (),
    steps: tuple[tuple[int, int], ...] = (),
    every_position: bool = False,
    decode_s: float | None = None,
) -> CountedUnit:
    """The record as a unit of its own: its table where every depth is known, else its totals."""
    whole = record if isinstance(record, AcceptanceTable) else record.totals
    counts = (whole.to_table() or whole) if isinstance(whole, AcceptanceTotals) else whole
    return CountedUnit(
        counts=counts,
        name=name,
        labels=labels,
        steps=steps,
        every_position=every_position,
        decode_s=decode_s,
    )

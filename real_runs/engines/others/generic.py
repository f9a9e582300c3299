"""Any program's pairs of name and value: the last resort, where no known format was found.

It reads lines that speak of speculative decoding and have its counts, or two of its quantities.
"""

from __future__ import annotations

import re

from real_runs.engines.counts.pool import Extras, Layout, Pool, unit_of
from real_runs.engines.counts.skips import MOST_KEPT, NoCounts, Skips
from real_runs.engines.others.generic_names import CORE, Pair, Value, pairs_in
from real_runs.engines.others.generic_record import GenericRecord, as_record
from real_runs.engines.reading import Reading
from real_runs.engines.text.lines import Line
from simulator import Clock

MARKERS = ("ccept", "draft", "Draft", "specul", "Specul", "rounds", "tokens/", "simulated_acc_len")
SHAPES = "names and values such as 'accepted=167 drafted=259 rounds=87'"

MOST_APART = 3
"""Lines of one record: as far apart as lines of a block are."""
MOST_RATIOS = 20

_ABOUT = re.compile(
    r"draft|specul|spec[_-]|mtp|acceptance|accept(?:ed)?[_ ](?:rate|ratio|len|prob)|accepts?_total"
    r"|tok(?:en)?s?[_ /](?:per[_ ])?(?:round|forward|pass|step)",
    re.IGNORECASE,
)
_TABLE_VALUES = re.compile(r"\|\s*+[*`~≈]*+[+-]?\d[\d.,]*+\s?%?[*`]*+\s*+(?=\|)")
_COLUMNS = (
    "Rows of the table have several values: the first of each row is read, the others are not."
)
_SURE = ("simulated_acc_len", "nextn_accepted")
"""Names that stand for one quantity and nothing else: they need no second one."""

_LAYOUT = Layout(
    engine="generic",
    name="names and values",
    unit="record",
    averaged_over="unknown",
    definition=(
        "unknown: an acceptance rate is taken as accepted / drafted, which its counts confirm where they "
        "are printed."
    ),
)


class NamesAndValues:
    """Collects pairs line by line; lines that belong together make one record."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._source = source
        self._skips = skips
        self._problems: list[tuple[int, NoCounts]] = []
        self._pool = Pool(_LAYOUT, source)
        self._records = 0
        self._last: GenericRecord | None = None
        self._notes: dict[str, None] = {}
        self._ratios: list[tuple[int, GenericRecord]] = []
        self._pairs: dict[str, Value] = {}
        self._about = False
        self._sure = False
        self._first_line = 0
        self._last_line = 0

    def take(self, line: Line) -> None:
        """Add the pairs of a line to the record that it belongs to."""
        pairs = pairs_in(line.text)
        if not any(pair.quantity is not None for pair in pairs):
            return
        mine = _named(pairs)
        apart = line.number - self._last_line > MOST_APART
        if self._pairs and (apart or not self._pairs.keys().isdisjoint(mine)):
            self._close()
        if not self._pairs:
            self._first_line = line.number
        if len(_TABLE_VALUES.findall(line.text)) > 1:
            self._notes[_COLUMNS] = None
        self._pairs.update(mine)
        self._about = self._about or _ABOUT.search(line.text) is not None
        self._sure = self._sure or any(name in line.text for name in _SURE)
        self._last_line = line.number

    def _close(self) -> None:
        pairs, line = self._pairs, self._first_line
        about, sure = self._about, self._sure
        self._pairs, self._about, self._sure = {}, False, False
        counts = {"accepted", "drafted"} <= pairs.keys() or "by_depth" in pairs
        several = len(pairs) > 1 and not CORE.isdisjoint(pairs)
        if not (about and (counts or several)) and not (sure and pairs):
            return
        try:
            record = as_record(pairs)
            if record.record is None:
                if record.ratios and len(self._ratios) < MOST_RATIOS:
                    self._ratios.append((line, record))
                return
            unit = unit_of(record.record)
            self._pool.add(line, record.record, record.checked, unit=unit)
        except NoCounts as problem:
            if len(self._problems) < MOST_KEPT:
                self._problems.append((line, problem))
            return
        self._records += 1
        self._last = record
        self._notes.update(dict.fromkeys(record.notes))

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of the records with counts, or one for each with ratios alone."""
        self._close()
        for line, problem in self._problems:
            with self._skips.guard(line, expected=SHAPES):
                raise problem
        if self._records and self._last is not None:
            last = self._last if self._records == 1 else GenericRecord()
            extras = Extras(
                gamma=last.gamma,
                emitted=last.emitted,
                clock=Clock(tokens_per_s=last.tokens_per_s),
            )
            return self._pool.readings(lines, notes=tuple(self._notes), extras=extras)
        return [
            Reading(
                engine="generic",
                layout="names and values" if index == 0 else f"names and values, line {line}",
                source=self._source,
                counts=None,
                printed=record.ratios,
                definition=_LAYOUT.definition,
                lines=lines,
                used=1,
                notes=("Ratios are printed, and no counts.", *record.notes, *self._notes),
                gamma=record.gamma,
                emitted=record.emitted,
                clock=Clock(tokens_per_s=record.tokens_per_s),
            )
            for index, (line, record) in enumerate(self._ratios)
        ]


def _named(pairs: list[Pair]) -> dict[str, Value]:
    """Values by quantity, the first of each; part / whole of an acceptance are its counts."""
    found: dict[str, Value] = {}
    before: str | None = None
    for pair in pairs:
        quantity, value = pair.quantity, pair.value
        # "33% (20/60)": the brackets belong to the acceptance before them.
        owner = before if quantity is None else quantity
        if value.part is not None:
            if owner in {"accepted", "accepted_fraction"}:
                found.setdefault("accepted", Value(counts=(value.part,)))
                found.setdefault("drafted", Value(counts=(value.whole or 0,)))
        elif value.counts:
            if owner in {"accepted", "accepted_fraction"} and len(value.counts) > 1:
                found.setdefault("by_depth", value)
        elif quantity is not None:
            found.setdefault(quantity, value)
        before = quantity
    return found

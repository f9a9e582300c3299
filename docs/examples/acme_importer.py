"""An importer of one's own: the lines of an invented engine, Acme, as counts."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from real_runs.engines.counts.lengths import counted_totals
from real_runs.engines.counts.pool import Extras, Layout, Pool, unit_of
from real_runs.engines.counts.printed import COUNT, as_count
from real_runs.engines.counts.ratios import check_counts
from real_runs.engines.counts.skips import NoCounts, Skips
from real_runs.engines.formats import LineFormat
from real_runs.engines.reading import Reading
from real_runs.engines.routing import Found, take_all
from real_runs.engines.text.lines import Line
from real_runs.engines.text.opening import Opening
from simulator import AcceptanceTotals

MARKERS = ("acme.spec",)
SHAPES = "'acme.spec req=... k=... rounds=... proposed=... kept=...' (Acme)"

_LINE = re.compile(
    rf"acme\.spec req=(\S{{1,80}}) k={COUNT} rounds={COUNT} proposed={COUNT} kept={COUNT}"
)
_LAYOUT = Layout(
    engine="acme",
    name="request line",
    unit="request",
    averaged_over="one request",
    definition="none is printed; kept / proposed would be accepted / drafted.",
)


class AcmeLines:
    """Sums the requests, and keeps them apart."""

    def __init__(self, source: str, skips: Skips) -> None:
        self._pool = Pool(_LAYOUT, source)
        self._skips = skips
        self._lengths: set[int] = set()

    def take(self, line: Line) -> None:
        """Add the request of a line, or record why it counts nothing."""
        with self._skips.guard(line.number, expected=SHAPES):
            found = _LINE.search(line.text)
            if found is None:
                raise NoCounts("the line is cut short or has other fields")
            names = ("k", "rounds", "proposed", "kept")
            numbers = zip(names, found.groups()[1:], strict=True)
            k, rounds, proposed, kept = (as_count(name, text) for name, text in numbers)
            check_counts(accepted=kept, drafted=proposed, of="in the request")
            if proposed > rounds * k:
                raise NoCounts(f"proposed ({proposed}) is above rounds × k ({rounds} × {k})")
            # Which depths were tested is not printed: totals, and no table is made up from them.
            totals = AcceptanceTotals(
                rounds=rounds,
                drafted=proposed,
                accepted=kept,
                longest_draft=k,
                length_rule="fixed" if proposed == rounds * k else "unknown",
            )
            record = counted_totals(totals)
            self._pool.add(line.number, record, unit=unit_of(record, name=found[1]))
            self._lengths.add(k)

    def readings(self, lines: int) -> list[Reading]:
        """One Reading of all requests; empty without one."""
        gamma = next(iter(self._lengths)) if len(self._lengths) == 1 else None
        return self._pool.readings(lines, extras=Extras(gamma=gamma))


FORMAT = LineFormat(engine="acme", collector=AcmeLines, markers=MARKERS, shapes=SHAPES)


def main() -> None:
    """Read a log with this format alone, before it is registered."""
    path = Path(sys.argv[1])
    with path.open("rb") as stream:
        found = Found([FORMAT], path.name)
        lines = take_all(Opening(stream, source=path.name), found, path.name)
    for reading in found.readings(lines):
        print(reading.title, reading.counts)
        print([unit.name for unit in reading.units], reading.notes)
    for skipped in found.skips.kept:
        print(f"line {skipped.line}: {skipped.reason}")


if __name__ == "__main__":
    main()

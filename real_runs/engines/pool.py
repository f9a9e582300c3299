"""The running sum of the records of one layout, and the Reading it becomes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from real_runs.engines.printed import MOST_DEPTHS
from real_runs.engines.ratios import Ratios
from real_runs.engines.reading import Reading
from real_runs.engines.recovery import Basis, Recovered
from real_runs.engines.skips import NoCounts
from real_runs.engines.wording import counted, listed
from simulator import AcceptanceTotals, Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What the records of one layout have in common; `unit` is what one of them counts."""

    engine: str
    name: str
    unit: str
    averaged_over: str
    definition: str


class Pool:
    """Adds up records; what one of them does not know, the sum does not know.

    Sums are kept by draft length, for only drafts of one length sum to totals that are still a
    table: two lengths together no longer say how many rounds drafted which.
    """

    def __init__(self, layout: Layout, source: str) -> None:
        self._layout = layout
        self._source = source
        self._records = 0
        self._lines = 0
        self._last_line = 0
        self._by_length: dict[int | None, AcceptanceTotals] = {}
        self._bases: Counter[Basis] = Counter()
        self._first: dict[Basis, tuple[int, Recovered]] = {}
        self._ratios = Ratios()

    def add(self, line: int, recovered: Recovered, ratios: Ratios) -> None:
        """Add one record of `line`; lines come in order."""
        longest = recovered.totals.longest_draft
        before = self._by_length.get(longest)
        if before is None and len(self._by_length) > MOST_DEPTHS:
            raise NoCounts(f"more than {MOST_DEPTHS} draft lengths in one log")
        totals = recovered.totals
        self._by_length[longest] = totals if before is None else before + totals
        self._records += 1
        self._lines += line != self._last_line  # one line can hold several records
        self._last_line = line
        self._bases[recovered.basis] += 1
        self._first.setdefault(recovered.basis, (line, recovered))
        self._ratios = ratios

    def readings(self, lines: int, *, notes: tuple[str, ...] = ()) -> list[Reading]:
        """One Reading of everything summed, `notes` behind its own; empty without a record."""
        if not self._records:
            return []
        layout, counts = self._layout, self._counts()
        # The ratios of one record are not those of the sum: beside it, they look like a mistake.
        ratios = self._ratios if self._records == 1 else Ratios()
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
                notes=(*self._summed(), *self._rounds(), *_depths(counts), *notes),
            )
        ]

    def _counts(self) -> Counts:
        """The table if every depth of every record is known, else the totals."""
        sums = list(self._by_length.values())
        tables = [table for table in (totals.to_table() for totals in sums) if table is not None]
        if len(tables) == len(sums):
            return sum(tables[1:], start=tables[0])
        return sum(sums[1:], start=sums[0])

    def _summed(self) -> list[str]:
        unit = self._layout.unit
        notes = [f"{self._records} {unit}s are summed."] if self._records > 1 else []
        lengths = sorted(length for length in self._by_length if length is not None)
        if len(lengths) > 1:
            notes.append(
                f"{unit.capitalize()}s of {listed(lengths)} positions are summed: "
                "the draft length changed."
            )
        return notes

    def _rounds(self) -> list[str]:
        """How the rounds are known that nobody printed, for one record and for many."""
        say = _rounds_of_one if self._records == 1 else self._rounds_of_many
        return [say(basis, *self._first[basis]) for basis in _INFERRED if self._bases[basis]]

    def _rounds_of_many(self, basis: Basis, line: int, recovered: Recovered) -> str:
        number, unit = self._bases[basis], self._layout.unit
        share = f"{number} of {self._records} {unit}s"
        if number == self._records:
            share = f"each of the {number} {unit}s"
        if basis == "only one agrees":
            return f"Rounds are not printed: in {share} only one number agrees with everything printed."
        if basis == "full drafts":
            return (
                f"Rounds are not printed: in {share} they are drafted / positions, which agrees with "
                "everything printed and rests on every draft having that many tokens "
                f"(in line {line} the printed ratios alone allow {_span(recovered)})."
            )
        return f"Rounds stay unknown: they are open in {share} (line {line} allows {_span(recovered)})."


_INFERRED: tuple[Basis, ...] = ("only one agrees", "full drafts", "unknown")


def _rounds_of_one(basis: Basis, _: int, recovered: Recovered) -> str:
    totals = recovered.totals
    if basis == "only one agrees":
        return (
            f"Rounds are not printed: {totals.rounds} is the only number that agrees with "
            "everything printed."
        )
    if basis == "full drafts":
        longest = totals.longest_draft or 0
        return (
            f"Rounds are not printed: {totals.drafted} drafted / {longest} = {totals.rounds} agrees "
            f"with everything printed and rests on every draft having {counted(longest, 'token')}; "
            f"the printed ratios alone allow {_span(recovered)}."
        )
    return f"Rounds stay unknown: what is printed allows {_span(recovered)}."


def _depths(counts: Counts) -> list[str]:
    if isinstance(counts, AcceptanceTotals) and counts.accepted_by_depth_bounds is not None:
        return ["Counts per depth are bounds: more than one count prints like this."]
    return []


def _span(recovered: Recovered) -> str:
    fewest, most = recovered.allowed
    return f"{fewest} or more" if most is None else f"{fewest} to {most}"

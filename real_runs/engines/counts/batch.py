"""Many records of one layout that were recovered together: their sums, and each as a record of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from real_runs.engines.counts.many import NO_LIMIT, Claims, Flags, Ints, agreements, one_by_one
from real_runs.engines.counts.recovery import Basis, Recovered, unchecked
from real_runs.engines.counts.skips import NoCounts
from simulator import AcceptanceTable, AcceptanceTotals, Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Records as columns of shape [records]: what `recovery.Recovered` holds of each.

    `rows` are their places among the claims. Rounds are `fewest` where they are `known`. Counts per depth
    lie in `lows` to `highs`, shape [records, depths].
    """

    rows: Ints
    drafted: Ints
    accepted: Ints
    fewest: Ints
    most: Ints
    known: Flags
    lows: Ints
    highs: Ints

    @property
    def depths(self) -> int:
        """Positions of every draft."""
        return int(self.lows.shape[1])

    @property
    def _fixed(self) -> Flags:
        fixed: Flags = self.known & (self.drafted == self.fewest * self.depths)
        return fixed

    def bases(self) -> Iterator[tuple[Basis, int, int]]:
        """What rounds rest on, with the first such record and the number of them."""
        one = self.known & (self.fewest == self.most)
        found: tuple[tuple[Basis, Flags], ...] = (
            ("only one agrees", one),
            ("full drafts", self.known & ~one),
            ("unknown", ~self.known),
        )
        for basis, which in found:
            if which.any():
                yield basis, int(which.argmax()), int(which.sum())

    def sums(self) -> Iterator[AcceptanceTotals]:
        """The sums of all records of one length rule, those with rounds apart from those without."""
        for which in (self._fixed, self.known & ~self._fixed, ~self.known):
            if which.any():
                known = bool(self.known[which.argmax()])
                yield self._totals(
                    int(self.drafted[which].sum()),
                    int(self.accepted[which].sum()),
                    int(self.fewest[which].sum()) if known else None,
                    self.lows[which].sum(axis=0).tolist(),
                    self.highs[which].sum(axis=0).tolist(),
                    fixed=bool(self._fixed[which.argmax()]),
                )

    def record(self, at: int) -> Recovered:
        """One of the records."""
        basis = next(
            basis for basis, first, _ in self._part(slice(at, at + 1)).bases() if first == 0
        )
        most = int(self.most[at])
        return Recovered(
            totals=self._totals(
                int(self.drafted[at]),
                int(self.accepted[at]),
                int(self.fewest[at]) if self.known[at] else None,
                self.lows[at].tolist(),
                self.highs[at].tolist(),
                fixed=bool(self._fixed[at]),
            ),
            basis=basis,
            allowed=(int(self.fewest[at]), None if most == NO_LIMIT else most),
        )

    def counts(self) -> Iterator[Counts]:
        """The records one after the other: a table where every depth is known, else totals."""
        exact = self._fixed & (self.lows == self.highs).all(axis=1)
        columns = (self.drafted, self.accepted, self.fewest, self.known, self._fixed, exact)
        rows = zip(*(each.tolist() for each in (*columns, self.lows, self.highs)), strict=True)
        for drafted, accepted, rounds, known, fixed, whole, lows, highs in rows:
            if whole:
                kept = tuple(lows)
                yield unchecked(
                    AcceptanceTable,
                    rounds=rounds,
                    drafted=drafted,
                    tested=(rounds, *kept[:-1]),
                    accepted=kept,
                    discarded=0,
                    length_rule="fixed",
                )
            else:
                yield self._totals(
                    drafted, accepted, rounds if known else None, lows, highs, fixed=fixed
                )

    def _part(self, part: slice) -> Batch:
        columns = {name: getattr(self, name)[part] for name in self.__slots__}
        return Batch(**columns)

    def _totals(
        self,
        drafted: int,
        accepted: int,
        rounds: int | None,
        lows: list[int],
        highs: list[int],
        *,
        fixed: bool,
    ) -> AcceptanceTotals:
        exact = lows == highs
        return unchecked(
            AcceptanceTotals,
            drafted=drafted,
            accepted=accepted,
            rounds=rounds,
            emitted=None,
            accepted_by_depth=tuple(lows) if exact else None,
            accepted_by_depth_bounds=None if exact else tuple(zip(lows, highs, strict=True)),
            longest_draft=self.depths,
            length_rule="fixed" if fixed else "unknown",
        )


def recovered_together(
    claims: Claims, *, full_drafts: bool
) -> tuple[Batch, dict[int, NoCounts]] | None:
    """What `recovery.without_rounds` makes of every claim, and why it makes nothing of some of them.

    None if nothing limits the counts per depth of one of them: such lines are taken one by one.
    """
    found = agreements(claims, full_drafts=full_drafts)
    refused: dict[int, NoCounts] = {}
    for row in np.flatnonzero(~found.settled).tolist():
        record = one_by_one(claims, row, full_drafts=full_drafts)
        if isinstance(record, NoCounts):
            refused[row] = record
            continue
        bounds = record.totals.depth_bounds
        if bounds is None:
            return None
        fewest, most = record.allowed
        found.fewest[row], found.most[row] = fewest, NO_LIMIT if most is None else most
        found.known[row] = record.totals.rounds is not None
        found.lows[row], found.highs[row] = zip(*bounds, strict=True)
    rows = np.setdiff1d(np.arange(claims.drafted.size), np.array(list(refused), dtype=np.int64))
    batch = Batch(
        rows=rows,
        drafted=claims.drafted[rows],
        accepted=claims.accepted[rows],
        fewest=found.fewest[rows],
        most=found.most[rows],
        known=found.known[rows],
        lows=found.lows[rows],
        highs=found.highs[rows],
    )
    return batch, refused

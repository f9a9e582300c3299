"""The running sum of the lines of one layout, and what its notes have to say."""

from __future__ import annotations

from collections import Counter

from real_runs.engines.recovery import Basis, Recovered
from simulator import AcceptanceTotals, Counts


class Pool:
    """Adds up lines; what one of them does not know, the sum does not know."""

    def __init__(self, unit: str) -> None:
        self.used = 0
        self._unit = unit
        self._totals: AcceptanceTotals | None = None
        self._bases: Counter[Basis] = Counter()
        self._first: dict[Basis, tuple[int, Recovered]] = {}

    def add(self, line: int, recovered: Recovered) -> None:
        totals = recovered.totals
        self._totals = totals if self._totals is None else self._totals + totals
        self.used += 1
        self._bases[recovered.basis] += 1
        self._first.setdefault(recovered.basis, (line, recovered))

    @property
    def counts(self) -> Counts | None:
        """The table if every depth is known, else the totals; None before the first line."""
        if self._totals is None:
            return None
        return self._totals.to_table() or self._totals

    def notes(self) -> list[str]:
        """What was summed, what was inferred, what is missing."""
        found = [f"{self.used} {self._unit}s are summed."] if self.used > 1 else []
        if self._bases["only one agrees"]:
            found.append(
                f"Rounds are not printed: in {self._share('only one agrees')} a single number of "
                "rounds agrees with everything printed."
            )
        if self._bases["full drafts"]:
            line, recovered = self._first["full drafts"]
            longest = recovered.totals.longest_draft
            found.append(
                f"Rounds are not printed: in {self._share('full drafts')} drafted / {longest} was taken, "
                f"which agrees with everything printed and rests on every draft having {longest} "
                f"tokens; the printed ratios alone allow {_span(recovered)} (line {line})."
            )
        if self._bases["unknown"]:
            line, recovered = self._first["unknown"]
            found.append(
                f"Rounds stay unknown: {self._share('unknown')} leave them open "
                f"(line {line} allows {_span(recovered)})."
            )
        if self._totals is not None and self._totals.accepted_by_depth_bounds is not None:
            found.append("Counts per depth are bounds: more than one count prints like this.")
        return found

    def _share(self, basis: Basis) -> str:
        return f"{self._bases[basis]} of {self.used} {self._unit}s"


def _span(recovered: Recovered) -> str:
    fewest, most = recovered.allowed
    return f"{fewest} or more" if most is None else f"{fewest} to {most}"

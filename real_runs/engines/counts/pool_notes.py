"""What the Reading of a sum says of it: how rounds are known, and what is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from real_runs.engines.counts.recovery import Basis, Recovered
from real_runs.engines.counts.wording import counted, listed
from simulator import AcceptanceTotals, Counts

INFERRED: tuple[Basis, ...] = ("only one agrees", "full drafts", "unknown")
"""Where rounds come from that nobody printed, in the order of the notes."""


def summed_notes(records: int, unit: str, lengths: Sequence[int]) -> list[str]:
    """How many records are summed, and of which draft lengths."""
    notes = [f"{records} {unit}s are summed."] if records > 1 else []
    if len(lengths) > 1:
        notes.append(
            f"{unit.capitalize()}s of {listed(lengths)} positions are summed: "
            "the draft length changed."
        )
    return notes


def rounds_notes(
    records: int,
    unit: str,
    bases: Mapping[Basis, int],
    first: Mapping[Basis, tuple[int, Recovered]],
) -> list[str]:
    """How the rounds are known that nobody printed, for one record and for many."""
    inferred = [basis for basis in INFERRED if bases.get(basis)]
    if records == 1:
        return [rounds_of_one(basis, first[basis][1]) for basis in inferred]
    return [
        rounds_of_many(basis, *first[basis], number=bases[basis], records=records, unit=unit)
        for basis in inferred
    ]


def rounds_of_one(basis: Basis, recovered: Recovered) -> str:
    """How the rounds of the only record are known."""
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


def rounds_of_many(
    basis: Basis, line: int, first: Recovered, *, number: int, records: int, unit: str
) -> str:
    """How the rounds of `number` of the `records` are known; the `first` of them is in `line`."""
    share = f"{number} of {records} {unit}s"
    if number == records:
        share = f"each of the {number} {unit}s"
    if basis == "only one agrees":
        return f"Rounds are not printed: in {share} only one number agrees with everything printed."
    if basis == "full drafts":
        return (
            f"Rounds are not printed: in {share} they are drafted / positions, which agrees with "
            "everything printed and rests on every draft having that many tokens "
            f"(in line {line} the printed ratios alone allow {_span(first)})."
        )
    return f"Rounds stay unknown: they are open in {share} (line {line} allows {_span(first)})."


def depth_notes(counts: Counts) -> list[str]:
    """Says so where rounding hides the counts per depth."""
    if isinstance(counts, AcceptanceTotals) and counts.accepted_by_depth_bounds is not None:
        return ["Counts per depth are bounds: more than one count prints like this."]
    return []


def _span(recovered: Recovered) -> str:
    fewest, most = recovered.allowed
    return f"{fewest} or more" if most is None else f"{fewest} to {most}"

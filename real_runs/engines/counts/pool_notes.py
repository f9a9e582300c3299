"""What the Reading of a sum says of it: how rounds are known, and what is not."""

from __future__ import annotations

from real_runs.engines.counts.recovery import Basis, Recovered
from real_runs.engines.counts.wording import counted
from simulator import AcceptanceTotals, Counts

INFERRED: tuple[Basis, ...] = ("only one agrees", "full drafts", "unknown")
"""Where rounds come from that nobody printed, in the order of the notes."""


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

"""Counts from the lengths of rounds: a histogram, or the rounds in order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from real_runs.engines.counts.pool import Record
from real_runs.engines.counts.recovery import Recovered
from real_runs.engines.counts.skips import NoCounts, NothingDrafted
from real_runs.engines.counts.wording import counted
from simulator import AcceptanceTable, AcceptanceTotals, LengthRule

Steps = tuple[tuple[int, int], ...]


def from_histogram(ended: Sequence[int], *, drafted: int | None, gamma: int | None) -> Record:
    """What rounds by number of accepted tokens (bonus excluded) support.

    A table where every draft had `gamma` tokens (drafted == rounds × gamma); otherwise totals, for
    which depths a shorter draft tested is not known. Where neither `drafted` nor `gamma` is printed,
    the table of the positions up to the longest accepted draft, of unknown length rule.

    NothingDrafted without rounds or drafts, NoCounts for a round longer than `gamma`.

    >>> from_histogram((4, 3, 3), drafted=20, gamma=2).accepted
    (6, 3)
    """
    reached = list(accumulate(reversed(ended)))[::-1]  # rounds that kept at least that many
    rounds = reached[0] if reached else 0
    by_depth = tuple(kept for kept in reached[1:] if kept)
    if rounds == 0:
        raise NothingDrafted("no round in the histogram")
    if gamma is not None and len(by_depth) > gamma:
        raise NoCounts(
            f"a round kept {counted(len(by_depth), 'token')} of a draft of at most {gamma}",
            finding="length_outside_range",
        )
    accepted = sum(by_depth)
    if drafted is None:
        return of_first_positions(ended[: len(by_depth) + 1], gamma)
    if accepted > drafted:
        raise NoCounts(
            f"accepted ({accepted}) is above drafted ({drafted})",
            finding="accepted_without_drafted",
        )
    if drafted == 0:
        raise NothingDrafted("no draft in any round")
    longest = gamma
    if longest is not None and drafted > rounds * longest:
        longest = None  # a tree: more nodes than positions
    if longest is not None:
        by_depth += (0,) * (longest - len(by_depth))
    totals = AcceptanceTotals(
        drafted=drafted,
        accepted=accepted,
        rounds=rounds,
        accepted_by_depth=by_depth,
        longest_draft=longest,
        length_rule="fixed" if longest and drafted == rounds * longest else "unknown",
    )
    return totals.to_table() or counted_totals(totals)


def of_first_positions(
    ended: Sequence[int], depths: int | None = None, *, discarded: int = 0
) -> AcceptanceTable:
    """The table of the first `depths` positions of drafts whose length is not printed.

    Every round is taken to have drafted as many, the longest accepted draft unless given; the length
    rule is unknown. NothingDrafted where no round kept a drafted token.

    >>> of_first_positions((4, 3, 3)).tested
    (10, 6)
    """
    reached = list(accumulate(reversed(ended)))[::-1]
    rounds, by_depth = (reached[0], reached[1:]) if reached else (0, [])
    depths = len(by_depth) if depths is None else depths
    if depths == 0:
        raise NothingDrafted(
            f"{counted(rounds, 'round')}, each of one token: no draft, or none kept"
        )
    kept = (*by_depth, *(0 for _ in range(depths - len(by_depth))))
    return AcceptanceTable(
        rounds=rounds,
        drafted=rounds * depths,
        tested=(rounds, *kept)[:depths],
        accepted=kept,
        discarded=discarded,
        length_rule="unknown",
    )


def longest_note(longest: int) -> str:
    """What to say of a table whose drafted tokens are not printed."""
    return (
        f"Drafted tokens are not printed: the longest accepted draft has {counted(longest, 'token')}, "
        f"and every round is taken to have drafted {longest}; longer drafts, or a tree, would be more."
    )


def from_steps(steps: Steps, *, length_rule: LengthRule = "unknown") -> AcceptanceTable:
    """The table of rounds given one by one as (drafted, accepted); a draft is tested up to its end.

    The rule is "fixed" where all drafts have one length, else `length_rule`.

    >>> from_steps(((2, 2), (2, 0), (1, 1))).tested
    (3, 1)
    """
    depths = max((drafted for drafted, _ in steps), default=0)
    tested, accepted = [0] * depths, [0] * depths
    for drafted, kept in steps:
        if kept > drafted:
            raise NoCounts(
                f"a round kept {kept} of {drafted} drafted tokens",
                finding="accepted_without_drafted",
            )
        for depth in range(min(kept + 1, drafted)):
            tested[depth] += 1
        for depth in range(kept):
            accepted[depth] += 1
    fixed = len({drafted for drafted, _ in steps}) <= 1
    return AcceptanceTable(
        rounds=len(steps),
        drafted=sum(drafted for drafted, _ in steps),
        tested=tuple(tested),
        accepted=tuple(accepted),
        length_rule="fixed" if fixed else length_rule,
    )


def histogram_of(steps: Sequence[int]) -> tuple[int, ...]:
    """Rounds by accepted tokens, from the accepted tokens of every round."""
    ended = [0] * (max(steps, default=-1) + 1)
    for kept in steps:
        ended[kept] += 1
    return tuple(ended)


def counted_totals(totals: AcceptanceTotals) -> Recovered:
    """Totals whose rounds are printed, or not known at all, as a pool takes them."""
    rounds = totals.rounds
    if rounds is None:
        return Recovered(totals=totals, basis="unknown", allowed=(1, None))
    return Recovered(totals=totals, basis="counted", allowed=(rounds, rounds))

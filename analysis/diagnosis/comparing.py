"""Which observations can be compared, and by how much two numbers differ."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

from analysis.diagnosis.derived import Derived
from analysis.diagnosis.known import Known
from analysis.uncertainty import Range

SIGMAS = 3.3
"""Standard errors that a difference must exceed: a chance of 1e-3 for one pair."""
VISIBLE = 0.05
"""Relative difference that two single runs without a known error must exceed."""


def grouped(
    knowns: Iterable[Known], key: Callable[[Known], Hashable]
) -> list[tuple[Hashable, list[Known]]]:
    """Observations with an equal key, in their order; groups of one are left out."""
    groups: dict[Hashable, list[Known]] = defaultdict(list)
    for known in knowns:
        groups[key(known)].append(known)
    return [(name, group) for name, group in groups.items() if len(group) > 1]


def pair(known: Known) -> Hashable:
    """The pair of models and the method."""
    seen = known.observation
    return seen.target, seen.method


def differ(first: Derived, second: Derived) -> bool:
    """True if rounding and sampling error cannot explain the difference.

    Without a known error on either side the difference must exceed rounding by VISIBLE.
    """
    gap = max(first.range[0] - second.range[1], second.range[0] - first.range[1])
    if gap <= 0.0:
        return False
    if first.se_most is None or second.se_most is None:
        error = SIGMAS * max(first.se_most or 0.0, second.se_most or 0.0)
        return gap > error + VISIBLE * min(first.number, second.number)
    return gap > SIGMAS * math.hypot(first.se_most, second.se_most)


def ranges_differ(first: Range, second: Range) -> bool:
    """The same for two ranges without an error."""
    gap = max(first[0] - second[1], second[0] - first[1])
    return gap > VISIBLE * max(*first, *second)


def widest(
    group: Sequence[Known], value: Callable[[Known], Derived | None]
) -> tuple[Known, Known] | None:
    """The two observations whose values are furthest apart, the smaller first; None unless they differ."""
    having = [(value(known), known) for known in group]
    known = [(each, one) for each, one in having if each is not None]
    if len(known) < 2:
        return None
    low = min(known, key=lambda each: each[0].number)
    high = max(known, key=lambda each: each[0].number)
    if differ(low[0], high[0]):
        return low[1], high[1]
    return next(
        (
            (first, second)
            for mine, first in known
            for theirs, second in known
            if mine.number < theirs.number and differ(mine, theirs)
        ),
        None,
    )


def seconds_of(known: Known) -> Derived | None:
    """Seconds per round, for one request or those that ran together."""
    return None if known.time is None else known.time.seconds_per_round


def round_cost_of(known: Known) -> Derived | None:
    """Plain steps per round."""
    return None if known.time is None else known.time.round_cost


def label(known: Known, others: Sequence[Known]) -> str:
    """What tells an observation from the others: its name, else its settings, else its place."""
    seen = known.observation
    if seen.name:
        return seen.name
    settings = [
        f"{word} {value:g}"
        for word, value in (("γ =", seen.gamma), ("batch", seen.batch), ("context", seen.context))
        if value is not None
    ]
    return ", ".join(settings) or f"observation {list(others).index(known) + 1}"

"""Does acceptance differ between groups of requests, or along a log? By whole requests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from analysis.group_tests import difference_test, ratio, trend_line
from analysis.rounded_counts import rounded_table
from simulator import AcceptanceTable, CountedUnit, Estimate
from simulator._checks import Rng, as_count, as_generator


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The pooled counts of one group, with intervals by request.

    `tokens_per_round` is 1 + accepted / rounds over the group's rounds, `accepted_fraction` accepted /
    drafted, `first` P(the first drafted token is kept). Intervals are unknown for a single unit.
    """

    label: str
    units: int
    rounds: int
    tokens_per_round: Estimate
    accepted_fraction: Estimate
    first: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Groups side by side and a test of their tokens per round.

    `p_value` is the chance of differences as large if all groups were alike; `method` says which test:
    "wald" (request-clustered, with Welch's allowance for the number of requests) or "permutation" of
    requests between groups. A small sample cannot show more than `smallest_p`. `unlabelled` units have no
    such label and are left out, `unusable` ones have no round or no counts by depth. `trend` is the
    change of tokens per round from the first part of a log to the last, along a straight line.
    """

    groups: tuple[Group, ...]
    p_value: float
    method: str
    smallest_p: float = 0.0
    unlabelled: int = 0
    unusable: int = 0
    trend: Estimate | None = None
    level: float = 0.95

    @property
    def differ(self) -> bool:
        """True if the groups differ at the level of the intervals."""
        return self.p_value < 1.0 - self.level


def by_label(
    units: Sequence[CountedUnit],
    label: str,
    *,
    buckets: Sequence[float] | None = None,
    level: float = 0.95,
    rng: Rng = 0,
    permutations: int = 2000,
) -> Groups:
    """Acceptance by the value of a label (category, temperature), and whether it differs.

    `buckets` are rising limits for a label that is a number (context length): each unit goes to the
    bucket it falls into, the upper limit excluded. Units without the label are counted, not guessed.
    The test's false-alarm rate is 1 - level. Raises ValueError without a unit and for limits that do
    not rise.

    >>> units = [CountedUnit(
    ...     counts=AcceptanceTable(rounds=10, drafted=10, tested=(10,), accepted=(kept,)),
    ...     labels=(("task", task),)) for task in ("code", "chat") for kept in (5, 6, 4, 5)]
    >>> found = by_label(units, "task")
    >>> [group.label for group in found.groups], found.differ
    (['chat', 'code'], False)
    """
    if not units:
        raise ValueError("units must hold one unit at least; got none.")
    name = _bucket_of(buckets)
    members: dict[str, list[AcceptanceTable]] = {}
    unlabelled = unusable = 0
    for unit in units:
        value = unit.label(label)
        key = None if value is None else name(value)
        table = table_of(unit)
        if key is None:
            unlabelled += 1
        elif table is None:
            unusable += 1
        else:
            members.setdefault(key, []).append(table)
    order = sorted(members, key=_order if buckets is None else _lower)
    return _compared(
        [(key, members[key]) for key in order],
        level=level, rng=rng, permutations=permutations, unlabelled=unlabelled, unusable=unusable,
    )  # fmt: skip


def over_time(
    units: Sequence[CountedUnit],
    *,
    parts: int = 10,
    level: float = 0.95,
    rng: Rng = 0,
    permutations: int = 2000,
) -> Groups:
    """Acceptance along a log whose units are in order, in `parts` of about equally many units.

    The test asks whether the parts differ; `trend` is the slope of a straight line through the
    units, weighted by their rounds, with an interval by unit. Raises ValueError without a unit and for
    fewer than 2 parts.

    >>> units = [CountedUnit(counts=AcceptanceTable(
    ...     rounds=100, drafted=100, tested=(100,), accepted=(80 - i,))) for i in range(40)]
    >>> found = over_time(units, parts=4)
    >>> found.differ, round(found.trend.value, 2)
    (True, -0.39)
    """
    parts = as_count("parts", parts, least=2)
    if not units:
        raise ValueError("units must hold one unit at least; got none.")
    found = [table_of(unit) for unit in units]
    tables = [table for table in found if table is not None]
    if not tables:
        raise ValueError("No unit has both a round and counts by depth, so none can be compared.")
    parts = min(parts, len(tables))
    cuts = [round(i * len(tables) / parts) for i in range(parts + 1)]
    groups = [(f"{cuts[i] + 1}–{cuts[i + 1]}", tables[cuts[i] : cuts[i + 1]]) for i in range(parts)]
    return _compared(
        groups, level=level, rng=rng, permutations=permutations, unlabelled=0,
        unusable=len(units) - len(tables), trend=trend_line(tables, level),
    )  # fmt: skip


def _compared(
    groups: Sequence[tuple[str, Sequence[AcceptanceTable]]],
    *,
    level: float,
    rng: Rng,
    permutations: int,
    unlabelled: int,
    unusable: int,
    trend: Estimate | None = None,
) -> Groups:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be a number between 0 and 1; got {level!r}.")
    permutations = as_count("permutations", permutations, least=100)
    generator = as_generator(rng)
    sums = [np.asarray([[sum(t.accepted), t.rounds] for t in tables]) for _, tables in groups]
    p_value, method, smallest = difference_test(
        [s.astype(float) for s in sums], generator, permutations
    )
    return Groups(
        groups=tuple(_group(label, tables, level) for label, tables in groups),
        p_value=p_value,
        method=method,
        smallest_p=smallest,
        unlabelled=unlabelled,
        unusable=unusable,
        trend=trend,
        level=level,
    )


def _group(label: str, tables: Sequence[AcceptanceTable], level: float) -> Group:
    rounds = np.asarray([t.rounds for t in tables], dtype=np.float64)
    accepted = np.asarray([sum(t.accepted) for t in tables], dtype=np.float64)
    drafted = np.asarray([t.drafted for t in tables], dtype=np.float64)
    first = np.asarray(
        [(t.accepted[0], t.tested[0]) if t.depths else (0, 0) for t in tables], dtype=np.float64
    )
    return Group(
        label=label,
        units=len(tables),
        rounds=int(rounds.sum()),
        tokens_per_round=ratio(accepted, rounds, level, plus=1.0),
        accepted_fraction=ratio(accepted, drafted, level),
        first=ratio(first[:, 0], first[:, 1], level),
    )


def table_of(unit: CountedUnit) -> AcceptanceTable | None:
    """The counts by depth that a unit is compared by; None without a round or without such counts."""
    counts = unit.counts
    if isinstance(counts, AcceptanceTable):
        table: AcceptanceTable | None = counts
    else:
        table = counts.to_table() or rounded_table(counts)
    return table if table is not None and table.rounds else None


def _bucket_of(buckets: Sequence[float] | None) -> Callable[[str], str | None]:
    if buckets is None:
        return lambda value: value
    try:
        limits = [float(limit) for limit in buckets]
    except (TypeError, ValueError):
        raise ValueError(f"buckets must be rising numbers; got {list(buckets)!r}.") from None
    if not limits or math.isnan(limits[0]) or any(not b > a for a, b in pairwise(limits)):
        raise ValueError(f"buckets must be rising numbers; got {list(buckets)!r}.")

    def name(value: str) -> str | None:
        try:
            number = float(value)
        except ValueError:
            return None
        if math.isnan(number):
            return None
        at = int(np.searchsorted(limits, number, side="right"))
        if at == 0:
            return f"below {limits[0]:g}"
        return (
            f"{limits[at - 1]:g} and above"
            if at == len(limits)
            else (f"{limits[at - 1]:g} to below {limits[at]:g}")
        )

    return name


def _order(label: str) -> tuple[float, str]:
    try:
        return float(label), label
    except ValueError:
        return math.inf, label


def _lower(label: str) -> float:
    first, _, rest = label.partition(" ")
    return -math.inf if first == "below" and rest else float(first)

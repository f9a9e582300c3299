"""Intervals of a log that tells its requests apart: whole requests are drawn, never rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.diagnosis.counts import FEWEST_UNITS, clustered_se
from analysis.group_tests import ratio
from analysis.groups import table_of
from analysis.uncertainty import estimate_p, estimate_p_by_depth
from simulator import AcceptanceTable, Estimate, Observation

_LEVEL = 0.95
_INDEPENDENT = "intervals take rounds as independent, for {}: the real uncertainty is larger."
_NOT_ALL = "not all that is counted is told apart by requests"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitIntervals:
    """What `count` requests, or intervals of a log, say of the error of its means.

    `tokens_se` is one standard error of tokens per round. `p` and `p_by_depth` are None where the
    units do not say which depths they tested.
    """

    unit: Literal["request", "interval"]
    count: int
    tokens_se: float
    p: Estimate | None = None
    p_by_depth: tuple[Estimate, ...] | None = None


def unit_intervals(observation: Observation) -> UnitIntervals | None:
    """The errors by whole units; None for too few units, and for units that are not all of the counts.

    As in the doctor, an error is never taken as smaller than independent rounds would have it.

    >>> from simulator import CountedUnit
    >>> tables = [AcceptanceTable(rounds=20, drafted=20, tested=(20,), accepted=(kept,))
    ...           for kept in (2, 19, 5, 18, 3, 16)]
    >>> seen = Observation(counts=sum(tables[1:], tables[0]),
    ...                    units=tuple(CountedUnit(counts=table) for table in tables))
    >>> found = unit_intervals(seen)
    >>> found.count, round(found.tokens_se, 3), found.p  # of independent rounds 0.045
    (6, 0.163, 0.53 [0.11, 0.94])
    """
    counts = observation.counts
    if counts is None or not counts.rounds:
        return None
    units = [unit for unit in observation.units if unit.counts.rounds]
    clustered = clustered_se(tuple(units))
    if clustered is None or sum(unit.counts.rounds or 0 for unit in units) != counts.rounds:
        return None
    found = UnitIntervals(
        unit=observation.unit,
        count=len(units),
        tokens_se=max(clustered, counts.tokens_per_round.se or 0.0),
    )
    tables = [table for table in map(table_of, units) if table is not None]
    if not isinstance(counts, AcceptanceTable) or len(tables) < len(units):
        return found
    shape = (len(tables), counts.depths)
    tested, accepted = np.zeros(shape), np.zeros(shape)
    for row, table in enumerate(tables):
        tested[row, : table.depths] = table.tested
        accepted[row, : table.depths] = table.accepted
    if tuple(tested.sum(axis=0)) != counts.tested or tuple(accepted.sum(axis=0)) != counts.accepted:
        return found
    return UnitIntervals(
        unit=found.unit,
        count=found.count,
        tokens_se=found.tokens_se,
        p=_wider(ratio(accepted.sum(axis=1), tested.sum(axis=1), _LEVEL), estimate_p(counts)),
        p_by_depth=tuple(
            _wider(ratio(accepted[:, depth], tested[:, depth], _LEVEL), by_rounds)
            for depth, by_rounds in enumerate(estimate_p_by_depth(counts))
        ),
    )


def drawn_note(errors: UnitIntervals | None, units: int) -> str:
    """What intervals are by, in a sentence; `units` is how many requests or intervals a log tells apart.

    >>> drawn_note(UnitIntervals(unit="request", count=60, tokens_se=0.1, p=Estimate(value=0.7)), 60)
    'intervals are by the 60 requests, for the rounds of one are alike.'
    """
    if errors is None:
        if units < 2:
            return _INDEPENDENT.format("the log does not tell several requests apart")
        few = f"the {units} requests or intervals told apart are too few to draw"
        return _INDEPENDENT.format(few if units < FEWEST_UNITS else _NOT_ALL)
    by = f"{errors.count:,} {'requests' if errors.unit == 'request' else 'intervals of the log'}"
    if errors.p is None:
        return (
            f"the interval of tokens per round is by the {by}; that of p takes rounds as independent, "
            "for the depths tested are not known of each: its real uncertainty is larger."
        )
    return f"intervals are by the {by}, for the rounds of one are alike."


def _wider(by_unit: Estimate, by_rounds: Estimate) -> Estimate:
    if by_unit.interval is None or by_rounds.interval is None:
        return by_rounds
    (low, high), (least, most) = by_unit.interval, by_rounds.interval
    return by_unit if high - low >= most - least else by_rounds

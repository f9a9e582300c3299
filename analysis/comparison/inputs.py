"""A table of counts as an observation: what is no log."""

from __future__ import annotations

from analysis.comparison.sides import SIMULATED
from simulator import AcceptanceTable, Observation


def observation_of_table(table: AcceptanceTable, *, name: str = "") -> Observation:
    """What a simulated table says: counts whose rounds are independent, and no times.

    >>> table = AcceptanceTable(rounds=10, drafted=20, tested=(10, 7), accepted=(7, 5))
    >>> observation_of_table(table).gamma
    2
    """
    return Observation(
        name=name,
        engine=SIMULATED,
        gamma=table.depths if table.length_rule == "fixed" else None,
        rounds=table.rounds,
        drafted=table.drafted,
        accepted=sum(table.accepted),
        emitted=table.emitted,
        length_rule=table.length_rule,
        counts=table,
    )

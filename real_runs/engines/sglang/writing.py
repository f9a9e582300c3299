"""Counts written as SGLang prints them: decode lines, and the meta_info of a request."""

from __future__ import annotations

import json
from itertools import pairwise

from real_runs.engines.sglang.rate import of_version
from simulator import AcceptanceTable, CountedUnit

FIRST_WITH_RATE = (0, 5, 4)
"""The first release whose decode line has an accept rate."""


def sglang_decode_line(
    table: AcceptanceTable,
    *,
    version: str = "0.5.11",
    running: int = 1,
    tokens_per_s: float | None = None,
) -> str:
    """The decode line that SGLang prints after the rounds of `table`, drafted as chains.

    Up to 0.5.10 accept rate = (accepted + rounds) / (rounds × window), from 0.5.11 on
    accepted / (rounds × (window - 1)), with window = depths + 1; before 0.5.4 there is none. Length and
    rate are printed to two decimals, and no count is: reading gives the ratios within their rounding.

    Raises ValueError for a table without rounds or depths.

    >>> table = AcceptanceTable(rounds=100, drafted=300, tested=(100, 60, 35), accepted=(60, 35, 22))
    >>> sglang_decode_line(table, tokens_per_s=178.86)
    'Decode batch, #running-req: 1, accept len: 2.17, accept rate: 0.39, gen throughput (token/s): 178.86'
    >>> "accept rate: 0.54" in sglang_decode_line(table, version="0.5.10")
    True
    """
    rounds, depths, accepted = _checked(table)
    numbers = tuple(int(part) for part in version.split(".")[:3] if part.isdigit())
    parts = [f"Decode batch{',' if numbers >= FIRST_WITH_RATE else '.'} #running-req: {running}"]
    parts.append(f"accept len: {1 + accepted / rounds:.2f}")
    if numbers >= FIRST_WITH_RATE:
        rate = accepted / (rounds * depths)
        if of_version(version) == "fraction_with_bonus":
            rate = (accepted + rounds) / (rounds * (depths + 1))
        parts.append(f"accept rate: {rate:.2f}")
    if tokens_per_s is not None:
        parts.append(f"gen throughput (token/s): {tokens_per_s:.2f}")
    return ", ".join(parts)


def sglang_meta_info(unit: CountedUnit) -> str:
    """The meta_info of one request as JSON, under the names of SGLang 0.5.12 and later.

    The counts are exact, and so is what comes back: rounds, drafted and accepted tokens, and, where
    every draft had the same length, the whole table. The unit's name is its "id".

    Raises ValueError for a unit that is not a table with rounds and depths, or that threw tokens away: no
    field tells of those.

    >>> table = AcceptanceTable(rounds=4, drafted=8, tested=(4, 3), accepted=(3, 1))
    >>> info = json.loads(sglang_meta_info(CountedUnit(counts=table)))["meta_info"]
    >>> info["spec_correct_drafts_histogram"]
    [1, 2, 1]
    """
    table = unit.counts
    if not isinstance(table, AcceptanceTable):
        raise ValueError("unit must have a table with counts by depth; got totals.")
    if table.discarded:
        raise ValueError(f"unit must have no discarded tokens; got {table.discarded}.")
    rounds, _, accepted = _checked(table)
    reached = (rounds, *table.accepted, 0)
    histogram = [here - deeper for here, deeper in pairwise(reached)]
    info = {
        "id": unit.name,
        "completion_tokens": rounds + accepted,
        "spec_verify_ct": rounds,
        "spec_accept_length": (rounds + accepted) / rounds,
        "spec_accept_rate": accepted / table.drafted,
        "spec_num_correct_drafts": accepted,
        "spec_num_proposed_drafts": table.drafted,
        "spec_correct_drafts_histogram": histogram,
    }
    return json.dumps({"meta_info": info})


def _checked(table: AcceptanceTable) -> tuple[int, int, int]:
    """Rounds, depths and accepted tokens of a table that an engine could print."""
    if not (table.rounds and table.drafted):
        raise ValueError(
            f"table must have rounds and drafted tokens; got {table.rounds} rounds, "
            f"{table.drafted} drafted."
        )
    return table.rounds, table.depths, sum(table.accepted)

"""What the requests of a measured run say, in the form that logs are read into."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from operator import add

from simulator.acceptance import AcceptanceTable
from simulator.costs import MeasuredRequest
from simulator.observation import Clock, CountedUnit, Method, Observation


def observation_of_requests(
    requests: Iterable[MeasuredRequest],
    *,
    gamma: int | None = None,
    name: str = "",
    method: Method | None = None,
    target: str | None = None,
    temperature: float | None = None,
) -> Observation:
    """What a measured run says of one draft length, the largest if none is given.

    Of trees the paths count, as `path_counts` says. A unit is a prompt: its repeats are one, for they
    are no independent texts. The plain step is that of the same prompts at gamma 0, if these were
    measured.

    Raises ValueError if nothing was measured with that draft length.
    """
    requests = tuple(requests)
    lengths = sorted({request.gamma for request in requests if request.gamma})
    wanted = gamma if gamma is not None else max(lengths, default=0)
    if wanted not in lengths:
        measured = ", ".join(map(str, lengths)) or "none"
        raise ValueError(f"gamma must be one that was measured ({measured}); got {wanted}.")
    by_prompt: dict[str, list[MeasuredRequest]] = defaultdict(list)
    for request in requests:
        if request.gamma == wanted and request.table.rounds:
            by_prompt[request.prompt].append(request)
    if not by_prompt:
        raise ValueError(f"requests of gamma {wanted} must hold a round at least; got none.")
    tables = {
        prompt: path_counts(reduce(add, (request.table for request in group)))
        for prompt, group in by_prompt.items()
    }
    units = tuple(
        CountedUnit(
            name=prompt,
            counts=tables[prompt],
            decode_s=sum(request.decode_s for request in group),
        )
        for prompt, group in by_prompt.items()
    )
    table = reduce(add, tables.values())
    plain = [r for r in requests if r.gamma == 0 and r.prompt in by_prompt and r.emitted]
    tokens = sum(request.emitted for request in plain)
    return Observation(
        name=name,
        engine="specdec",
        method=method,
        target=target,
        gamma=wanted,
        batch=1.0,
        temperature=temperature,
        rounds=table.rounds,
        drafted=table.drafted,
        accepted=sum(table.accepted),
        emitted=table.emitted,
        length_rule=table.length_rule,
        counts=table,
        units=units,
        clock=Clock(
            decode_s=sum(unit.decode_s or 0.0 for unit in units),
            plain_s_per_token=sum(r.decode_s for r in plain) / tokens if tokens else None,
        ),
    )


def path_counts(table: AcceptanceTable) -> AcceptanceTable:
    """The counts of a table as if each round had drafted one path: of trees the nodes beside it go.

    What reads `drafted` as tokens one after the other would else take nodes for depth. Rounds that
    tested nothing count as without a draft. Where kept paths ended at leaves that lie less deep than
    others the length rule becomes "confidence": what goes on there is what the draft thought likely.
    Tables of chains stay as they are.

    >>> path_counts(AcceptanceTable(rounds=5, drafted=80, tested=(5, 3), accepted=(3, 2)))
    AcceptanceTable(rounds=5, drafted=10, tested=(5, 3), accepted=(3, 2), discarded=0, length_rule='fixed')
    >>> path_counts(AcceptanceTable(rounds=5, drafted=80, tested=(5, 2), accepted=(3, 2))).length_rule
    'confidence'
    """
    if table.drafted <= table.rounds * table.depths:
        return table
    uneven = any(t < a for t, a in zip(table.tested[1:], table.accepted[:-1], strict=True))
    return replace(
        table,
        drafted=table.tested[0] * table.depths,
        length_rule="confidence" if uneven else table.length_rule,
    )

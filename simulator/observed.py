"""What the requests of a measured run say, in the form that logs are read into."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from operator import add

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

    A unit is a prompt: its repeats are one, for they are no independent texts. The plain step is that
    of the same prompts at gamma 0, if these were measured.

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
    units = tuple(
        CountedUnit(
            name=prompt,
            counts=reduce(add, (request.table for request in group)),
            decode_s=sum(request.decode_s for request in group),
        )
        for prompt, group in by_prompt.items()
    )
    table = reduce(add, (r.table for group in by_prompt.values() for r in group))
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

"""How many requests per second a server can take at all, and how long it takes to settle below that."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from simulator._checks import Rng, as_count, as_generator
from simulator.estimate import Estimate
from simulator.serving.lengths import EmpiricalTokens
from simulator.serving.replications import mean_of, replicate
from simulator.serving.run import LoopName, ServingRun
from simulator.serving.server import Server
from simulator.serving.workload import ClosedLoop, PoissonArrivals, RecordedArrivals, Workload

USUAL_REQUESTS = 2000
_ANSWERS = 1 << 20  # from which the mean of their law is known to a thousandth of its spread
SETTLES_TO = 0.96
"""Loads as shares of a limit up to which runs are made long enough for the queue to settle."""


def stable_limit(
    server: Server,
    workload: Workload,
    *,
    rng: Rng,
    requests: int = USUAL_REQUESTS,
    replications: int = 4,
    loop: LoopName = "auto",
) -> Estimate:
    """Requests per second that the server answers when one is always waiting: more cannot be stable.

    A closed loop with a user more than the server runs never leaves a slot empty, whatever arrivals would
    do: as many requests as it then answers is what arrivals may bring at most on average (Baccelli and Foss
    1995, the saturation rule). Each user always has one request there, so that

        rate = users / mean time of a request · mean tokens of its answer / mean tokens of any answer

    (Little 1961). The last factor, near 1, takes out that a run had longer answers than usual, most of what
    runs differ by. Requests that began together end in bursts for a long time: to count them between two
    moments would depend on where in a burst these lie, which their times do not.

    Of `workload` only the tokens count; recorded ones are drawn as they are frequent, prompt and answer each
    on its own. `requests` are made whole batches: of answers of one length each place in a batch then counts
    as often as every other. Raises what `replicate` raises.

    >>> from simulator.serving import *
    >>> times = ServingTimes(passes=PassTable(requests=(1, 2), tokens=(1,), contexts=(0,),
    ...     seconds=[[[0.01]], [[0.01]]]), drafting_s=[[[0.0]] * 2],
    ...     prompts=PromptTable(tokens=(1,), target_s=(0.02,), draft_s=(0.0,)))
    >>> alone = Workload(arrivals=PoissonArrivals(rate_per_s=1.0), prompt=FixedTokens(tokens=1),
    ...     output=FixedTokens(tokens=19))
    >>> round(stable_limit(Server(times=times, most_running=1), alone, rng=0, requests=200).value, 9)
    5.0
    """
    whole = as_count("requests", requests, least=1)
    generator = as_generator(rng)
    crowd = ClosedLoop(users=server.most_running + 1)
    lengths = workload
    if isinstance(workload.arrivals, RecordedArrivals):
        lengths = Workload(
            arrivals=crowd,
            prompt=EmpiricalTokens(values=workload.arrivals.prompt_tokens),
            output=EmpiricalTokens(values=workload.arrivals.output_tokens),
        )
    runs = replicate(
        server,
        replace(lengths, arrivals=crowd),
        replications=replications,
        rng=generator,
        requests=-(-whole // server.most_running) * server.most_running,
        loop=loop,
    )
    assert lengths.output is not None  # noqa: S101 — of a closed loop
    usual = float(lengths.output.draw(_ANSWERS, generator).mean())

    def rate(run: ServingRun) -> float:
        all_s = run.measured * run.e2e.mean_s
        return crowd.users / all_s * run.answer_tokens / usual if all_s else math.nan

    return mean_of([rate(run) for run in runs])


def settling_requests(workload: Workload, limits: Iterable[Estimate]) -> int:
    """Requests that come before a queue that begins empty is about as long as it will be.

    4 / (1 − ρ)², ρ = rate / limit: the relaxation time of M/M/1 under heavy traffic (Cohen 1982), counted in
    arrivals. It holds for any number of slots, as a backlog falls by the spare part of the limit. ρ counts
    as 0.96 at most: closer to a limit no run of affordable length settles. `limits` are of the sides that
    are to serve the load; a load that does not come at a rate needs none.

    >>> from simulator.serving import FixedTokens
    >>> busy = Workload(arrivals=PoissonArrivals(rate_per_s=9.0), prompt=FixedTokens(tokens=9),
    ...     output=FixedTokens(tokens=9))
    >>> settling_requests(busy, [Estimate(value=10.0), Estimate(value=18.0)])
    400
    """
    if not isinstance(workload.arrivals, PoissonArrivals):
        return 0
    rate = workload.arrivals.rate_per_s
    shares = [rate / limit.value for limit in limits if is_stable(workload, limit)]
    spare = 1.0 - min(max(shares, default=0.0), SETTLES_TO)
    return math.ceil(round(4.0 / spare**2, 6)) if shares else 0


def is_stable(workload: Workload, limit: Estimate) -> bool:
    """Whether arrivals come more slowly than the server surely answers: below the limit's interval."""
    arrivals = workload.arrivals
    if not isinstance(arrivals, PoissonArrivals):
        return True
    least = limit.interval[0] if limit.interval is not None else limit.value
    return arrivals.rate_per_s < least

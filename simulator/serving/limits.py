"""How many requests per second a server can take at all."""

from __future__ import annotations

from dataclasses import replace

from simulator._checks import Rng, as_count
from simulator.estimate import Estimate
from simulator.serving.lengths import EmpiricalTokens
from simulator.serving.replications import mean_of, replicate
from simulator.serving.run import Engine
from simulator.serving.server import Server
from simulator.serving.workload import ClosedLoop, RecordedArrivals, Workload

USUAL_REQUESTS = 2000


def stable_limit(
    server: Server,
    workload: Workload,
    *,
    rng: Rng,
    requests: int = USUAL_REQUESTS,
    replications: int = 4,
    engine: Engine = "auto",
) -> Estimate:
    """Requests per second that the server answers when one is always waiting: more cannot be stable.

    A closed loop with a user more than the server runs never leaves a slot empty, whatever arrivals would
    do: as many requests as it then answers is what arrivals may bring at most on average. Of `workload`
    only the tokens count; recorded ones are drawn as they are frequent, prompt and answer each on its own.
    `requests` are made whole batches: answers of one length end together, and a part of a batch would count
    as a whole one. Raises what `replicate` raises.

    >>> from simulator.serving import *
    >>> times = ServingTimes(passes=PassTable(requests=(1, 2), tokens=(1,), contexts=(0,),
    ...     seconds=[[[0.01]], [[0.01]]]), drafting_s=[[[0.0]] * 2],
    ...     prompts=PromptTable(tokens=(1,), target_s=(0.02,), draft_s=(0.0,)))
    >>> alone = Workload(arrivals=PoissonArrivals(rate_per_s=1.0), prompt=FixedTokens(tokens=1),
    ...     output=FixedTokens(tokens=19))
    >>> round(stable_limit(Server(times=times, most_running=1), alone, rng=0).value, 9)
    5.0
    """
    whole = as_count("requests", requests, least=1)
    loop = ClosedLoop(users=server.most_running + 1)
    lengths = workload
    if isinstance(workload.arrivals, RecordedArrivals):
        lengths = Workload(
            arrivals=loop,
            prompt=EmpiricalTokens(values=workload.arrivals.prompt_tokens),
            output=EmpiricalTokens(values=workload.arrivals.output_tokens),
        )
    runs = replicate(
        server,
        replace(lengths, arrivals=loop),
        replications=replications,
        rng=rng,
        requests=-(-whole // server.most_running) * server.most_running,
        engine=engine,
    )
    return mean_of([run.requests_per_s for run in runs])

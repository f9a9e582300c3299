"""The same arrivals with and without speculation, at one load or over a range of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from simulator._checks import Rng, as_count, as_generator
from simulator.estimate import Estimate
from simulator.serving.limits import (
    USUAL_REQUESTS,
    is_stable,
    settling_requests,
    stable_limit,
)
from simulator.serving.records import LatencyObjective
from simulator.serving.replications import Seen, ServingEstimates, ratio_of, replicate
from simulator.serving.run import MOST_REQUESTS, LoopName, ServingRun, usual_warm_up
from simulator.serving.server import Server
from simulator.serving.workload import ClosedLoop, PoissonArrivals, RecordedArrivals, Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingComparison:
    """One load on two servers. A side is None where the load is not stable for it.

    `gain_*` are ratios of mean times without / with speculation, above 1 a gain, and `throughput_ratio` tokens
    per second with / without: over replications on the same arrivals, with their intervals (`ratio_of`);
    None where a side is missing. `limit` and `plain_limit` are `stable_limit` of each [requests/s], None for a
    closed loop, which is always stable.
    """

    workload: Workload
    speculative: ServingEstimates | None
    plain: ServingEstimates | None
    gain_e2e: Estimate | None
    gain_ttft: Estimate | None
    gain_tpot: Estimate | None
    throughput_ratio: Estimate | None
    limit: Estimate | None
    plain_limit: Estimate | None

    def gain(self, of: Seen) -> Estimate | None:
        """The gain of one of the times that requests see; None where a side is missing."""
        return {"e2e": self.gain_e2e, "ttft": self.gain_ttft, "tpot": self.gain_tpot}[of]

    @property
    def rate_per_s(self) -> float | None:
        """Requests per second that arrive; None for a closed loop and recorded arrivals."""
        arrivals = self.workload.arrivals
        return arrivals.rate_per_s if isinstance(arrivals, PoissonArrivals) else None

    @property
    def users(self) -> int | None:
        """Users of a closed loop; None for arrivals."""
        arrivals = self.workload.arrivals
        return arrivals.users if isinstance(arrivals, ClosedLoop) else None


def compare_serving(
    server: Server,
    plain: Server,
    workload: Workload,
    *,
    rng: Rng,
    requests: int | None = None,
    warm_up: int | None = None,
    replications: int = 8,
    objective: LatencyObjective | None = None,
    limits: tuple[Estimate, Estimate] | None = None,
    loop: LoopName = "auto",
    progress: Callable[[float], None] | None = None,
) -> ServingComparison:
    """A load with and without speculation, the same requests at the same times on both.

    `plain` is mostly `server.plain()`. Poisson arrivals at or above the stable limit of a side are not
    simulated there: its queue would grow for ever, and what a run shows would be its length only. `limits`
    of both sides are found first unless they are given. Without `requests` 2,000 are measured, and all of
    recorded arrivals. Without `warm_up` it is the longer one of what `simulate_serving` takes for either
    side, so that both measure the same requests, and `settling_requests`. Raises what `replicate` raises.

    A lone user whose drafts are all kept, three tokens in the time of one:

    >>> from simulator import draft_model
    >>> from simulator.serving import *
    >>> times = ServingTimes(passes=PassTable(requests=(1,), tokens=(1, 3), contexts=(0,),
    ...     seconds=[[[0.01], [0.01]]]), drafting_s=[[[0.0]]] * 3,
    ...     prompts=PromptTable(tokens=(1,), target_s=(0.05,), draft_s=(0.0,)))
    >>> server = Server(times=times, most_running=1, strategy=draft_model(p=1.0, gamma=2))
    >>> alone = Workload(arrivals=ClosedLoop(users=1), prompt=FixedTokens(tokens=1),
    ...     output=FixedTokens(tokens=31))
    >>> found = compare_serving(server, server.plain(), alone, rng=0, requests=20, replications=2)
    >>> found.gain_tpot, round(found.gain_e2e.value, 9)  # 30 rounds or 10, behind a prompt of 5
    (3.0000 [3.0000, 3.0000], 2.333333333)
    """
    generator = as_generator(rng)
    recorded = isinstance(workload.arrivals, RecordedArrivals)
    if requests is None and not recorded:
        requests = USUAL_REQUESTS
    if limits is None and isinstance(workload.arrivals, PoissonArrivals):
        limits = _limits(server, plain, workload, generator, loop)
    if warm_up is None and requests is not None and not recorded:
        measured = as_count("requests", requests, least=1, most=MOST_REQUESTS)
        warm_up = max(
            *(usual_warm_up(side, workload, measured) for side in (server, plain)),
            settling_requests(workload, limits or ()),
        )
    seed = int(generator.integers(0, 1 << 63))
    sides: list[tuple[ServingRun, ...] | None] = []
    for number, side in enumerate((server, plain)):
        if limits is not None and not is_stable(workload, limits[number]):
            sides.append(None)
            if progress is not None:
                progress((number + 1) / 2.0)
            continue
        sides.append(
            replicate(
                side,
                workload,
                replications=replications,
                rng=seed,
                requests=requests,
                warm_up=warm_up,
                objective=objective,
                loop=loop,
                progress=_half(progress, number),
            )
        )
    fast, slow = sides

    def ratio(of: Callable[[ServingRun], float], *, gain: bool) -> Estimate | None:
        if fast is None or slow is None:
            return None
        with_it, without = [of(run) for run in fast], [of(run) for run in slow]
        return ratio_of(without, with_it) if gain else ratio_of(with_it, without)

    return ServingComparison(
        workload=workload,
        speculative=None if fast is None else ServingEstimates.of(fast),
        plain=None if slow is None else ServingEstimates.of(slow),
        gain_e2e=ratio(lambda run: run.e2e.mean_s, gain=True),
        gain_ttft=ratio(lambda run: run.ttft.mean_s, gain=True),
        gain_tpot=ratio(lambda run: run.tpot.mean_s, gain=True),
        throughput_ratio=ratio(lambda run: run.tokens_per_s, gain=False),
        limit=None if limits is None else limits[0],
        plain_limit=None if limits is None else limits[1],
    )


def compare_rates(
    server: Server,
    plain: Server,
    workload: Workload,
    rates_per_s: Sequence[float],
    *,
    rng: Rng,
    requests: int = USUAL_REQUESTS,
    warm_up: int | None = None,
    replications: int = 8,
    objective: LatencyObjective | None = None,
    limits: tuple[Estimate, Estimate] | None = None,
    loop: LoopName = "auto",
    progress: Callable[[float], None] | None = None,
) -> tuple[ServingComparison, ...]:
    """`compare_serving` under Poisson arrivals at each of these rates, lengths as in `workload`.

    Every rate sees the same requests, only closer together. `limits` of both sides are found first unless
    they are given. Raises what `compare_serving` raises, and
    ValueError for no rate.
    """
    if len(rates_per_s) == 0:
        raise ValueError("rates_per_s must hold one rate at least; got none.")
    loads = [
        replace(workload, arrivals=PoissonArrivals(rate_per_s=float(rate))) for rate in rates_per_s
    ]
    generator = as_generator(rng)
    if limits is None:
        limits = _limits(server, plain, loads[0], generator, loop)
    seed = int(generator.integers(0, 1 << 63))
    points = []
    for number, load in enumerate(loads):
        points.append(
            compare_serving(
                server,
                plain,
                load,
                rng=seed,
                requests=requests,
                warm_up=warm_up,
                replications=replications,
                objective=objective,
                limits=limits,
                loop=loop,
            )
        )
        if progress is not None:
            progress((number + 1) / len(loads))
    return tuple(points)


def _limits(
    server: Server, plain: Server, workload: Workload, rng: Rng, loop: LoopName
) -> tuple[Estimate, Estimate]:
    seed = int(as_generator(rng).integers(0, 1 << 63))
    fast, slow = (stable_limit(side, workload, rng=seed, loop=loop) for side in (server, plain))
    return fast, slow


def _half(progress: Callable[[float], None] | None, number: int) -> Callable[[float], None] | None:
    if progress is None:
        return None
    return lambda share: progress((number + share) / 2.0)

"""Independent runs of the same load, and how sure their means are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from simulator._checks import FloatArray, Rng, as_count, as_generator
from simulator.estimate import Estimate
from simulator.serving.records import LatencyObjective
from simulator.serving.run import LoopName, ServingRun, simulate_serving
from simulator.serving.server import Server
from simulator.serving.times_seen import SeenLatency
from simulator.serving.workload import Workload

MOST_REPLICATIONS = 1000


Seen: TypeAlias = Literal["e2e", "ttft", "tpot"]
"""What requests see of which a gain is said: the whole, the first token, a token behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyEstimate:
    """A time that requests saw [s]: mean, median and two high percentiles, each with its interval."""

    mean_s: Estimate
    p50_s: Estimate
    p95_s: Estimate
    p99_s: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingEstimates:
    """What `ServingRun` says, over independent runs: means with 95 % intervals by Student's t."""

    replications: int
    tokens_per_s: Estimate
    requests_per_s: Estimate
    goodput_per_s: Estimate
    met_share: Estimate
    mean_batch: Estimate
    busy_share: Estimate
    tokens_per_round: Estimate
    ttft: LatencyEstimate
    tpot: LatencyEstimate
    itl: LatencyEstimate
    e2e: LatencyEstimate
    waiting: LatencyEstimate

    def mean_s(self, of: Seen) -> Estimate:
        """The mean of one of the times that gains are of [s]."""
        return {"e2e": self.e2e, "ttft": self.ttft, "tpot": self.tpot}[of].mean_s

    @classmethod
    def of(cls, runs: Sequence[ServingRun]) -> ServingEstimates:
        """The estimates of runs that differ by their seed alone; ValueError for none.

        >>> from simulator.serving import *
        >>> times = ServingTimes(passes=PassTable(requests=(1,), tokens=(1,), contexts=(0,),
        ...     seconds=[[[0.01]]]), drafting_s=[[[0.0]]],
        ...     prompts=PromptTable(tokens=(1,), target_s=(0.02,), draft_s=(0.0,)))
        >>> alone = Workload(arrivals=ClosedLoop(users=1), prompt=FixedTokens(tokens=1),
        ...     output=UniformTokens(least=10, most=28))
        >>> runs = replicate(Server(times=times, most_running=1), alone, replications=5, rng=0, requests=40)
        >>> found = ServingEstimates.of(runs)
        >>> round(found.ttft.mean_s.value, 9), round(found.tpot.mean_s.value, 9)
        (0.02, 0.01)
        >>> low, high = found.e2e.mean_s.interval  # 0.02 + 0.01 × 18 on average
        >>> low < 0.2 < high
        True
        """
        if not runs:
            raise ValueError("runs must hold one run at least; got none.")

        def over(value: Callable[[ServingRun], float]) -> Estimate:
            return mean_of([value(run) for run in runs])

        def times(of: Callable[[ServingRun], SeenLatency]) -> LatencyEstimate:
            return LatencyEstimate(
                mean_s=over(lambda run: of(run).mean_s),
                p50_s=over(lambda run: of(run).p50_s),
                p95_s=over(lambda run: of(run).p95_s),
                p99_s=over(lambda run: of(run).p99_s),
            )

        return cls(
            replications=len(runs),
            tokens_per_s=over(lambda run: run.tokens_per_s),
            requests_per_s=over(lambda run: run.requests_per_s),
            goodput_per_s=over(lambda run: run.goodput_per_s),
            met_share=over(lambda run: run.met_share),
            mean_batch=over(lambda run: run.mean_batch),
            busy_share=over(lambda run: run.busy_share),
            tokens_per_round=over(lambda run: run.tokens_per_round),
            ttft=times(lambda run: run.ttft),
            tpot=times(lambda run: run.tpot),
            itl=times(lambda run: run.itl),
            e2e=times(lambda run: run.e2e),
            waiting=times(lambda run: run.waiting),
        )


def replicate(
    server: Server,
    workload: Workload,
    *,
    replications: int,
    rng: Rng,
    requests: int | None = None,
    warm_up: int | None = None,
    objective: LatencyObjective | None = None,
    loop: LoopName = "auto",
    progress: Callable[[float], None] | None = None,
) -> tuple[ServingRun, ...]:
    """Independent runs of `simulate_serving`; another server with the same `rng` sees the same requests.

    Recorded arrivals are the same in every run, only what drafts keep differs. Raises what
    `simulate_serving` raises, and ValueError for replications outside [1, 1000].

    >>> from simulator.serving import *
    >>> times = ServingTimes(passes=PassTable(requests=(1,), tokens=(1,), contexts=(0,),
    ...     seconds=[[[0.01]]]), drafting_s=[[[0.0]]],
    ...     prompts=PromptTable(tokens=(1,), target_s=(0.02,), draft_s=(0.0,)))
    >>> alone = Workload(arrivals=ClosedLoop(users=1), prompt=FixedTokens(tokens=1),
    ...     output=FixedTokens(tokens=9))
    >>> runs = replicate(Server(times=times, most_running=1), alone, replications=3, rng=0, requests=5)
    >>> [round(run.e2e.mean_s, 9) for run in runs]
    [0.1, 0.1, 0.1]
    """
    count = as_count("replications", replications, least=1, most=MOST_REPLICATIONS)
    seeds = as_generator(rng).integers(0, 1 << 63, size=count)
    runs = []
    for done, seed in enumerate(seeds.tolist(), start=1):
        runs.append(
            simulate_serving(
                server,
                workload,
                rng=seed,
                requests=requests,
                warm_up=warm_up,
                objective=objective,
                loop=loop,
            )
        )
        if progress is not None:
            progress(done / count)
    return tuple(runs)


def mean_of(values: Sequence[float]) -> Estimate:
    """The mean of independent values with its 95 % interval: mean ± t · standard deviation / √n.

    One value has no interval. A value that is not a number leaves the mean unknown. Raises ValueError
    for no value.

    >>> mean_of([1.0, 2.0, 3.0])
    2.0 [-0.5, 4.5]
    """
    found = _some(values)
    mean = float(found.mean())
    if not math.isfinite(mean):
        return Estimate(value=math.nan)
    if found.size < 2:
        return Estimate(value=mean)
    from scipy.special import stdtrit  # noqa: PLC0415 — `import simulator` loads numpy only

    se = float(found.std(ddof=1)) / math.sqrt(found.size)
    reach = float(stdtrit(found.size - 1, 0.975)) * se
    return Estimate(value=mean, se=se, interval=(mean - reach, mean + reach))


def ratio_of(above: Sequence[float], below: Sequence[float]) -> Estimate:
    """The ratio of two means with its 95 % interval; values at the same place are of the same run.

    With d = above / mean above − below / mean below, the error of the logarithm to first order, the interval
    is the ratio times exp(± t · standard deviation of d / √n) with Student's t. The mean of each run's ratio
    would be of something else where runs differ much: near a limit its error was seen to be 5 %. Means that are
    not above 0 leave it unknown. Raises ValueError for no value and for others than pairs.

    >>> ratio_of([1.0, 5.0], [1.0, 2.0]).value
    2.0
    """
    over, under = _some(above), _some(below)
    if over.size != under.size:
        raise ValueError(f"above and below must be as many; got {over.size} and {under.size}.")
    top, bottom = float(over.mean()), float(under.mean())
    if not (0.0 < top < math.inf and 0.0 < bottom < math.inf):
        return Estimate(value=math.nan)
    value = top / bottom
    error = mean_of((over / top - under / bottom).tolist())
    if error.interval is None or error.se is None:
        return Estimate(value=value)
    reach = (error.interval[1] - error.interval[0]) / 2.0
    ends = (value * math.exp(-reach), value * math.exp(reach))
    return Estimate(value=value, se=value * error.se, interval=ends)


def _some(values: Sequence[float]) -> FloatArray:
    found = np.asarray(values, dtype=np.float64)
    if not found.size:
        raise ValueError("values must hold one number at least; got none.")
    return found

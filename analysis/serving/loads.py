"""Which loads are simulated, how long, and both servers under each of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.serving.tables import ServerPair
from simulator import Estimate
from simulator.serving import (
    ClosedLoop,
    LatencyObjective,
    LoopName,
    PoissonArrivals,
    RecordedArrivals,
    Server,
    ServingComparison,
    Workload,
    compare_serving,
    stable_limit,
)
from simulator.serving.lengths import mean_tokens
from simulator.serving.limits import settling_requests

USUAL_REPLICATIONS = 6
SHARES = (0.1, 0.25, 0.5, 0.7, 0.85, 0.95)
"""Rates that are tried if none is named, as shares of the smaller stable limit."""
_GENERATIONS = 32  # full batches in the measurement of a limit
_LEAST_GENERATIONS = 8
_LEAST, _MOST = 200, 2000  # requests of a run
_PASSES = 20_000  # of a run, about
_LIMIT_TOKENS = 1_500_000  # of a run that looks for a limit, about


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSize:
    """How many requests a run measures, and how many come before."""

    requests: int | None
    warm_up: int | None


def stable_limits(
    pair: ServerPair,
    workload: Workload,
    *,
    rng: int,
    requests: int | None = None,
    loop: LoopName = "auto",
) -> tuple[Estimate, Estimate]:
    """The stable limits of both servers [requests/s], with speculation and without.

    A run measures about `requests`, eight full batches at least, or as many as are affordable: requests that
    begin together stay nearly so for some batches, and each counts less the more there are. Raises what
    `stable_limit` raises.

    >>> from analysis.deployment.deployment import Deployment
    >>> from analysis.deployment.drafting import Drafting
    >>> from analysis.fitting import Fit
    >>> from analysis.pass_cost import PassCost
    >>> from analysis.serving.tables import server_of
    >>> from simulator import ConstantAcceptance
    >>> from simulator.serving import FixedTokens
    >>> flat = Deployment(name="flat", target=PassCost(weights_s=0.01, compute_s=0.0),
    ...     drafting=Drafting(shape="lookup"), acceptance=Fit.of_process(ConstantAcceptance(p=1.0)))
    >>> pair = server_of(flat, gamma=1, most_running=4, most_prompt=100, most_output=97)
    >>> chat = Workload(arrivals=ClosedLoop(users=1), prompt=FixedTokens(tokens=100),
    ...     output=FixedTokens(tokens=97))
    >>> fast, slow = stable_limits(pair, chat, rng=0, requests=32)  # 4 prompts and 48 or 96 rounds of 10 ms
    >>> round(fast.value, 3), round(slow.value, 3)
    (7.692, 4.0)
    """
    _, output = mean_lengths(workload)
    wanted = _LIMIT_TOKENS / output if requests is None else requests
    fast, slow = (
        stable_limit(
            side,
            workload,
            rng=rng,
            requests=_whole_batches(side.most_running, wanted),
            loop=loop,
        )
        for side in (pair.speculative, pair.plain)
    )
    return fast, slow


def _whole_batches(running: int, requests: float) -> int:
    """Requests of whole batches, so many or a few more, within reason.

    >>> _whole_batches(256, 5_000), _whole_batches(256, 10), _whole_batches(1, 1e6)
    (5120, 2048, 2000)
    """
    most = max(_GENERATIONS * running, _MOST)
    batches = max(math.ceil(min(requests, most) / running), _LEAST_GENERATIONS)
    return batches * running


def usual_rates(limits: tuple[Estimate, Estimate]) -> tuple[float, ...]:
    """Rates from a tenth of the smaller limit to beyond the larger one, three digits each.

    >>> usual_rates((Estimate(value=10.0), Estimate(value=12.0)))
    (1.0, 2.5, 5.0, 7.0, 8.5, 9.5, 11.0, 12.6)
    """
    low, high = sorted(limit.value for limit in limits)
    rates = [low * share for share in SHARES]
    if high > 1.02 * low:
        rates.append((low + high) / 2.0)
    rates.append(1.05 * high)
    return tuple(float(f"{rate:.3g}") for rate in rates)


def mean_lengths(workload: Workload) -> tuple[float, float]:
    """Mean tokens of a prompt and of an answer."""
    arrivals = workload.arrivals
    if isinstance(arrivals, RecordedArrivals):
        return float(np.mean(arrivals.prompt_tokens)), float(np.mean(arrivals.output_tokens))
    assert workload.prompt is not None and workload.output is not None  # noqa: S101, PT018
    return mean_tokens(workload.prompt), mean_tokens(workload.output)


def mean_context(workload: Workload) -> float:
    """Tokens that a request holds on average while it is answered: its prompt and half of its answer."""
    prompt, output = mean_lengths(workload)
    return prompt + output / 2.0


def run_size(
    pair: ServerPair, workload: Workload, limits: tuple[Estimate, Estimate] | None
) -> RunSize:
    """Requests of a run and of its warm-up where none are asked for.

    About so many passes are affordable, and a busy server shares them; warm-up fills the batch that the
    load will have. Near a limit both last as long as the queue takes to settle. Recorded arrivals are what
    they are.
    """
    arrivals = workload.arrivals
    if isinstance(arrivals, RecordedArrivals):
        return RunSize(requests=None, warm_up=None)
    prompt, output = mean_lengths(workload)
    most = pair.plain.most_running
    if isinstance(arrivals, ClosedLoop):
        together = float(min(arrivals.users, most))
        filled = 2.0 * arrivals.users
        least = max(_LEAST, 4 * arrivals.users)
    else:
        together = min(1.0 + arrivals.rate_per_s * _alone_s(pair.plain, prompt, output), most)
        smaller = min(limit.value for limit in limits) if limits else math.inf
        filled = 2.0 * most * min(arrivals.rate_per_s / smaller, 1.0)
        settles = settling_requests(workload, limits or ())
        filled, least = max(filled, settles), max(settles, _LEAST)
    requests = max(min(math.ceil(_PASSES * together / output), _MOST), least)
    return RunSize(requests=requests, warm_up=math.ceil(max(0.2 * requests, filled)))


def compare_loads(
    pair: ServerPair,
    loads: Sequence[Workload],
    *,
    rng: int,
    limits: tuple[Estimate, Estimate] | None,
    requests: int | None = None,
    warm_up: int | None = None,
    replications: int = USUAL_REPLICATIONS,
    objective: LatencyObjective | None = None,
    loop: LoopName = "auto",
    progress: Callable[[float], None] | None = None,
) -> tuple[ServingComparison, ...]:
    """`compare_serving` at each of these loads, with runs as long as `run_size` says unless told.

    All loads see the same requests, only closer together. Raises what `compare_serving` raises, and
    ValueError for no load.
    """
    if len(loads) == 0:
        raise ValueError("loads must hold one load at least; got none.")
    points = []
    for number, load in enumerate(loads):
        size = run_size(pair, load, limits)
        timed = isinstance(load.arrivals, PoissonArrivals)
        recorded = isinstance(load.arrivals, RecordedArrivals)
        points.append(
            compare_serving(
                pair.speculative,
                pair.plain,
                load,
                rng=rng,
                requests=None if recorded else requests or size.requests,
                warm_up=None if recorded else _given(warm_up, size.warm_up),
                replications=replications,
                objective=objective,
                limits=limits if timed else None,
                loop=loop,
                progress=_part(progress, number, len(loads)),
            )
        )
    return tuple(points)


def _given(asked: int | None, usual: int | None) -> int | None:
    return usual if asked is None else asked


def _alone_s(server: Server, prompt: float, output: float) -> float:
    """Time of a request that has the machine for itself, without drafts [s]."""
    times = server.times
    contexts = np.asarray(times.passes.contexts)
    step = float(np.interp(prompt + output / 2.0, contexts, times.passes.batch(1)[0]))
    read = float(np.asarray(times.prompts.read_s(prompt, drafting=False)))
    return read + max(output - 1.0, 0.0) * step


def _part(
    progress: Callable[[float], None] | None, number: int, count: int
) -> Callable[[float], None] | None:
    if progress is None:
        return None
    return lambda share: progress((number + share) / count)

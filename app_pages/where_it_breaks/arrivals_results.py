"""What arrivals do to the server, sampled once per setting: calls into simulator and analysis."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import streamlit as st

from analysis.serving import charts
from analysis.serving.loads import mean_context
from analysis.serving.tables import ServerPair, server_of
from analysis.serving.turning import Turning, turning_rate
from app_pages.deployment.address import EXAMPLE
from app_pages.deployment.results import BY_SETUP, Setup, deployment
from app_pages.where_it_breaks import arrivals
from app_pages.where_it_breaks.arrivals import Kind, Load
from simulator import Estimate
from simulator.serving import (
    LatencyObjective,
    LoopName,
    PoissonArrivals,
    Seen,
    ServingComparison,
    Workload,
    compare_serving,
    stable_limit,
)
from simulator.serving.limits import settling_requests

REPLICATIONS = 4
_LOOP: LoopName = "numpy"
"""Compiling the loop would take longer than these short runs do."""
_SHARES = (0.1, 0.3, 0.55, 0.75, 0.9)
"""Rates of the curve, of what both sides surely take: closer to it a queue settles too slowly to wait for."""
_BEYOND = (0.8,)
"""And from there to what the better side takes."""
_FEWEST, _MOST = 30, 400
"""Measured requests of a run."""
_BATCHES_MEASURED, _BATCHES_BEFORE = 2.0, 3.0
"""How many times what runs is answered while it is measured, and before."""
_FULL = 0.5  # of the batch runs at the highest rate, about
_BATCHES_AT_LIMIT, _FEWEST_AT_LIMIT = 6, 120


def served(setup: Setup, kind: Kind) -> Setup:
    """The setup without what changes no arrival: one key for all that is sampled once."""
    names = ["batch", "context", "price", "source", "tau", "speed", "plain_speed", "share"]
    names += ["pass_cost", "step_cost", "against", "batches", "prefer", "schedule"]
    if kind != "request":
        names += ["prompt", "output"]
    usual = {name: getattr(EXAMPLE, name) for name in names}
    return Setup(choice=dataclasses.replace(setup.choice, **usual), log=setup.log)


def asked(load: Load) -> Load:
    """The load without what changes no arrival and no limit: the other part of that key."""
    return Load(on=True, kind=load.kind, alone=load.alone, seed=load.seed)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=BY_SETUP)
def servers(setup: Setup, load: Load) -> ServerPair:
    """The server with and without drafts. Raises ValueError for what does not fit."""
    prompt, output = arrivals.lengths(load.kind, setup.choice)
    return server_of(
        deployment(setup),
        gamma=setup.gamma,
        most_running=None,
        most_prompt=prompt.most,
        most_output=output.most,
        token_budget=load.token_budget,
        mean_context=mean_context(_workload(setup, load.kind, 1.0)),
    )


@st.cache_data(max_entries=64, show_spinner=False, hash_funcs=BY_SETUP)
def limit(setup: Setup, load: Load, *, drafting: bool) -> Estimate:
    """Requests per second that a side answers while one is always waiting."""
    pair = servers(setup, load)
    side = pair.speculative if drafting else pair.plain
    return stable_limit(
        side,
        _workload(setup, load.kind, 1.0),
        rng=load.seed,
        requests=max(_BATCHES_AT_LIMIT * side.most_running, _FEWEST_AT_LIMIT),
        replications=REPLICATIONS,
        loop=_LOOP,
    )


def limits(setup: Setup, load: Load) -> tuple[Estimate, Estimate]:
    """Both, with drafts first."""
    return (
        limit(setup, load, drafting=True),
        limit(setup, load, drafting=False),
    )


def rates(both: tuple[Estimate, Estimate]) -> tuple[float, ...]:
    """Rates of the curve, rising: up to what both sides surely take, then to what the better one does.

    >>> rates((Estimate(value=20.0), Estimate(value=10.0)))
    (1.0, 3.0, 5.5, 7.5, 9.0, 18.0)
    """
    low, high = sorted(_surely(each) for each in both)
    found = [share * low for share in _SHARES]
    if high > 1.1 * low:
        found += [low + share * (high - low) for share in _BEYOND]
    return tuple(float(f"{rate:.4g}") for rate in found)


def _surely(estimate: Estimate) -> float:
    """The lower end; of an interval that says nothing, a part of the value."""
    low = estimate.interval[0] if estimate.interval is not None else estimate.value
    return max(low, estimate.value / 2.0)


def curve(
    setup: Setup, load: Load, progress: Callable[[float], None] = lambda _: None
) -> tuple[ServingComparison, ...]:
    """The load at each of some rates, rising. From the highest one down: it says how many run below it.

    `progress` is told the share that is done, and may end it: every rate is kept on its own.
    """
    both = limits(setup, load)
    wanted = rates(both)
    progress(0.2)
    found: list[ServingComparison] = []
    running = _FULL * servers(setup, load).plain.most_running
    for done, rate in enumerate(reversed(wanted), start=1):
        if found:
            running *= rate / (found[-1].rate_per_s or rate)
        found.append(_compared(setup, load, rate, running))
        running = _running(found[-1], running)
        progress(0.2 + 0.8 * done / len(wanted))
    return tuple(reversed(found))


@st.cache_data(max_entries=512, show_spinner=False, hash_funcs=BY_SETUP)
def _compared(
    setup: Setup,
    load: Load,
    rate: float,
    running: float,
    objective: LatencyObjective | None = None,
) -> ServingComparison:
    """The same arrivals on both sides. So few requests run at most that it is over before long."""
    pair, both = servers(setup, load), limits(setup, load)
    workload = _workload(setup, load.kind, rate)
    requests, warm_up = sizes(running, settling_requests(workload, both))
    return compare_serving(
        pair.speculative,
        pair.plain,
        workload,
        rng=load.seed,
        requests=requests,
        warm_up=warm_up,
        replications=REPLICATIONS,
        loop=_LOOP,
        objective=objective,
        limits=both,
    )


def sizes(running: float, settles: int = 0) -> tuple[int, int]:
    """Requests that are measured, and those before them, where so many run at a time.

    Near a limit a queue needs as many as `settles` to be as long as it will be; half as many measure it.

    >>> sizes(5.0), sizes(100.0), sizes(100.0, 1600)
    ((30, 15), (200, 300), (800, 1600))
    """
    measured = min(max(math.ceil(_BATCHES_MEASURED * running), _FEWEST), _MOST)
    return max(measured, settles // 2), max(math.ceil(_BATCHES_BEFORE * running), settles)


def _running(point: ServingComparison, otherwise: float) -> float:
    """How many decode at a time on the side where more do."""
    sides = [side for side in (point.plain, point.speculative) if side is not None]
    return max((side.mean_batch.value for side in sides), default=otherwise)


def here(setup: Setup, load: Load, points: tuple[ServingComparison, ...]) -> ServingComparison:
    """The load at the chosen rate, with what counts as good. `points` say how many run there."""
    rate, key = chosen_rate(setup, load), asked(load)
    above = next((point for point in points if (point.rate_per_s or 0.0) >= rate), None)
    running = float(servers(setup, key).plain.most_running)
    if above is not None:
        running = _running(above, running) * rate / (above.rate_per_s or rate)
    return _compared(setup, key, rate, float(f"{running:.3g}"), objective_of(load))


def chosen_rate(setup: Setup, load: Load) -> float:
    """Requests per second that arrive, as a share of what the server takes without drafts."""
    return load.share / 100.0 * limit(setup, asked(load), drafting=False).value


def objective_of(load: Load) -> LatencyObjective:
    """What counts as a good answer; 0 asks for nothing."""
    return LatencyObjective(
        ttft_s=load.ttft or None, tpot_s=load.tpot / 1e3 or None, e2e_s=load.e2e or None
    )


def _workload(setup: Setup, kind: Kind, rate: float) -> Workload:
    prompt, output = arrivals.lengths(kind, setup.choice)
    return Workload(arrivals=PoissonArrivals(rate_per_s=rate), prompt=prompt, output=output)


def turning(points: tuple[ServingComparison, ...]) -> Turning:
    """Where the gain of the whole request turns to a loss."""
    return turning_rate(points, of="e2e")


def times_spec(
    points: tuple[ServingComparison, ...], of: Seen, point: ServingComparison
) -> dict[str, object]:
    """What requests wait for over the rate, as Vega-Lite."""
    return charts.times_over_rate(points, of=of, here=point).to_dict(validate=False)


def gain_spec(
    points: tuple[ServingComparison, ...], turn: Turning, point: ServingComparison
) -> dict[str, object]:
    """What speculation gains over the rate, as Vega-Lite."""
    at = None if turn.at is None else turn.at.value
    return charts.gain_over_rate(points, turning_per_s=at, here=point).to_dict(validate=False)

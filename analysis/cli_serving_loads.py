"""The options of `specdec serving` as loads and draft lengths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.options import numbers, whole_numbers
from analysis.serving_options import USUAL_OUTPUT, USUAL_PROMPT

if TYPE_CHECKING:
    from analysis.deployment.deployment import Deployment
    from analysis.planning.schedule import Schedule
    from simulator.serving import Arrivals, LatencyObjective, Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedLoads:
    """The loads in words."""

    rate: str | None
    users: str | None
    trace: Path | None
    speed_up: float | None
    prompt: str | None
    output: str | None
    warm_up: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedLoads:
    """The loads, none for automatic rates, one with their lengths, and the unit that a trace was read in."""

    loads: tuple[Workload, ...]
    lengths: Workload
    unit: str | None = None


def loads_of(asked: AskedLoads) -> ServedLoads:
    """The loads of the options; ValueError naming the option that is wrong."""
    from analysis.serving.length_words import token_lengths  # noqa: PLC0415
    from analysis.serving.trace_file import read_trace  # noqa: PLC0415
    from simulator.serving import ClosedLoop, Workload  # noqa: PLC0415
    from simulator.serving.workload import (  # noqa: PLC0415
        LEAST_RATE,
        MOST_RATE,
        MOST_USERS,
    )

    named = {"--rate": asked.rate, "--users": asked.users, "--trace": asked.trace}
    given = [option for option, value in named.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"give one of --rate, --users and --trace; got {' and '.join(given)}.")
    if asked.speed_up is not None and asked.trace is None:
        raise ValueError("--speed-up belongs to --trace FILE; got it alone.")
    if asked.trace is not None:
        _refuse_beside_a_trace(asked)
        trace = read_trace(asked.trace)
        recorded = trace.arrivals
        if asked.speed_up is not None:
            if not 0.0 < asked.speed_up < math.inf:
                raise ValueError(f"--speed-up must be above 0; got {asked.speed_up:g}.")
            recorded = recorded.scaled(asked.speed_up)
        load = Workload(arrivals=recorded)
        return ServedLoads(loads=(load,), lengths=load, unit=trace.unit)
    lengths = Workload(
        arrivals=ClosedLoop(users=1),
        prompt=token_lengths("--prompt-tokens", asked.prompt or USUAL_PROMPT),
        output=token_lengths("--output-tokens", asked.output or USUAL_OUTPUT),
    )
    if asked.users is not None:
        users = sorted(set(whole_numbers("--users", asked.users)))
        _check_within("--users", users, 1, MOST_USERS, "whole numbers")
        loads = tuple(_with(lengths, ClosedLoop(users=each)) for each in users)
        return ServedLoads(loads=loads, lengths=lengths)
    if asked.rate is None or asked.rate.strip().lower() == "auto":
        return ServedLoads(loads=(), lengths=lengths)
    rates = sorted(set(numbers("--rate", asked.rate)))
    _check_within("--rate", rates, LEAST_RATE, MOST_RATE, "requests per second")
    return ServedLoads(loads=at_rates(rates, lengths), lengths=lengths)


def _check_within(
    option: str, values: Sequence[float], least: float, most: float, what: str
) -> None:
    """ValueError naming the option; NaN is within nothing."""
    for value in values:
        if not least <= value <= most:
            raise ValueError(f"{option} must be {what} in [{least:g}, {most:,g}]; got {value:g}.")


def objective_of(*, ttft: float | None, tpot: float | None, e2e: float | None) -> LatencyObjective:
    """The objective of --ttft, --tpot and --e2e."""
    from simulator.serving import LatencyObjective  # noqa: PLC0415

    for option, value in (("--ttft", ttft), ("--tpot", tpot), ("--e2e", e2e)):
        if value is not None and not 0.0 <= value < math.inf:
            raise ValueError(f"{option} must be seconds, at least 0; got {value:g}.")
    return LatencyObjective(ttft_s=ttft, tpot_s=tpot, e2e_s=e2e)


def check_given(
    *, target: str | None, hardware: str | None, draft: Sequence[str] | None, steps: Path | None
) -> None:
    """ValueError naming all that is missing at once."""
    named = {"--draft": draft or None}
    if steps is None:
        named = {"--target": target, "--hardware": hardware, **named}
    missing = [option for option, value in named.items() if value is None]
    if len(missing) > 1:
        both = {"--target", "--hardware"} <= set(missing)
        instead = " (--steps FILE stands for the first two)" if both else ""
        raise ValueError(
            f"{', '.join(missing[:-1])} and {missing[-1]} must be given{instead}, such as --target "
            'llama-3.1-8b --hardware h100 --draft "llama-3.2-1b p=0.7".'
        )


def _refuse_beside_a_trace(asked: AskedLoads) -> None:
    """A record brings its requests, all of which are measured: what would be ignored is refused."""
    beside = {
        "--prompt-tokens": asked.prompt,
        "--output-tokens": asked.output,
        "--warm-up": asked.warm_up,
    }
    given = [option for option, value in beside.items() if value is not None]
    if given:
        raise ValueError(
            f"--trace brings its own requests and measures all of them; got {' and '.join(given)} too."
        )


def at_rates(rates: Sequence[float], lengths: Workload) -> tuple[Workload, ...]:
    """Poisson arrivals at these rates, with the lengths of another load."""
    from simulator.serving import PoissonArrivals  # noqa: PLC0415

    return tuple(_with(lengths, PoissonArrivals(rate_per_s=rate)) for rate in rates)


def _with(lengths: Workload, arrivals: Arrivals) -> Workload:
    return replace(lengths, arrivals=arrivals)


def gamma_of(
    text: str | None, deployment: Deployment, context: float, most_running: int | None
) -> int | Schedule | None:
    """The draft length or schedule of --gamma."""
    from analysis.planning.schedule import Schedule  # noqa: PLC0415

    if text is None:
        return None
    words = text.strip().lower()
    if words == "plan":
        return _planned(deployment, context, most_running)
    if ":" in words:
        return Schedule.read(words)
    try:
        return int(words)
    except ValueError:
        raise ValueError(
            f'--gamma must be a number, a schedule such as "1-16:3, 17-:0", or plan; got {text!r:.60}.'
        ) from None


def _planned(deployment: Deployment, context: float, most_running: int | None) -> Schedule:
    from analysis.planning.planner import plan  # noqa: PLC0415
    from analysis.serving.tables import USUAL_RUNNING  # noqa: PLC0415

    cap = USUAL_RUNNING if most_running is None else most_running
    deployment.check_batch(1, context, drafting=True)
    last = int(min(cap, deployment.most_requests(context)))
    batches = sorted({*(2**n for n in range(17) if 2**n < last), last})
    return plan(deployment, batches, context=context).schedule()

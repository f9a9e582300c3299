"""One run of a server under a load, and what its requests saw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from simulator._checks import Rng, as_count, as_generator
from simulator.serving.compiled import compiled_loop, run_compiled
from simulator.serving.loop import Loop
from simulator.serving.records import (
    Counters,
    LatencyObjective,
    Portions,
    ServedRequests,
    Sink,
)
from simulator.serving.server import Server
from simulator.serving.stream import InOrder, RequestStream
from simulator.serving.times_seen import SeenLatency
from simulator.serving.workload import ClosedLoop, RecordedArrivals, Workload

LoopName: TypeAlias = Literal["auto", "numpy", "numba"]
LOOPS: tuple[LoopName, ...] = ("auto", "numpy", "numba")
MOST_REQUESTS = 10**8
MOST_KEPT = 10**6


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ServingRun:
    """What the measured requests of a run saw, and what the server gave meanwhile.

    `ttft` time to the first token, from arrival; `tpot` time per token behind the first, one value per request
    of at least two; `itl` gaps between chunks of tokens, as clients see them (a round brings several tokens
    at once); `e2e` arrival to last token; `waiting` arrival to admission. `met` requests kept the
    objective, and all measured answers together have `answer_tokens`. `counters` are of the whole run, warm-up
    included, but for those of the window.
    """

    measured: int
    answer_tokens: int
    ttft: SeenLatency
    tpot: SeenLatency
    itl: SeenLatency
    e2e: SeenLatency
    waiting: SeenLatency
    met: int
    objective: LatencyObjective
    counters: Counters
    requests: ServedRequests | None = None

    @property
    def window_s(self) -> float:
        """From the first measured arrival to the first one behind, at the ends of passes."""
        return self.counters.window_to_s - self.counters.window_from_s

    @property
    def tokens_per_s(self) -> float:
        """Tokens that arrived in the window per second, of all requests."""
        return _ratio(self.counters.window_tokens, self.window_s)

    @property
    def requests_per_s(self) -> float:
        """Requests that ended in the window, per second."""
        return _ratio(self.counters.window_finished, self.window_s)

    @property
    def goodput_per_s(self) -> float:
        """Requests per second that kept the objective: of those that ended, the share of the measured ones.

        The goodput of `vllm bench serve`; DistServe's is the largest rate at which enough requests keep it.
        """
        return self.met_share * self.requests_per_s

    @property
    def met_share(self) -> float:
        """Share of the measured requests that kept the objective."""
        return self.met / self.measured

    @property
    def mean_batch(self) -> float:
        """Decoding requests while the machine worked in the window, on average over time."""
        return _ratio(self.counters.window_decoding_s, self.counters.window_busy_s)

    @property
    def busy_share(self) -> float:
        """Share of the window in which the machine worked."""
        return _ratio(self.counters.window_busy_s, self.window_s)

    @property
    def tokens_per_round(self) -> float:
        """1 + accepted / rounds, of all rounds."""
        return 1.0 + _ratio(self.counters.accepted, self.counters.rounds)


def simulate_serving(
    server: Server,
    workload: Workload,
    *,
    rng: Rng,
    requests: int | None = None,
    warm_up: int | None = None,
    objective: LatencyObjective | None = None,
    keep_requests: bool = False,
    loop: LoopName = "auto",
) -> ServingRun:
    """Serve `requests` requests behind the first `warm_up`, which are not measured.

    The load goes on until the last measured request has its answer, so that the end is no easier than the
    middle; recorded arrivals are all measured and end when the record does. Without `warm_up` it is a tenth
    of the requests and at least two full batches, or twice the users (of arrivals no more than measured).
    The same `rng` gives the same requests on every server: two servers are compared on the same arrivals.
    `loop` "numba" compiles the loop (extra `fast`) and gives the same numbers; "auto" takes it, where it
    is installed, for runs of 200,000 answer tokens or more and for all behind one of these. Memory does not
    grow with `requests` unless `keep_requests` asks for the times of each.

    Nothing here says whether a load is stable: `stable_limit` does, and `compare_serving` asks it, also for
    the longer warm-up that a load near its limit needs.

    Raises ValueError for requests below 1, prompts and contexts beyond the times, and an unknown loop.

    >>> from simulator import draft_model
    >>> from simulator.serving import *
    >>> times = ServingTimes(passes=PassTable(requests=(1, 8), tokens=(1, 5), contexts=(0,),
    ...     seconds=[[[0.010], [0.011]], [[0.011], [0.014]]]), drafting_s=[[[0.0]] * 2] * 4 + [[[0.004]] * 2],
    ...     prompts=PromptTable(tokens=(1, 1024), target_s=(0.01, 0.05), draft_s=(0.001, 0.005)))
    >>> server = Server(times=times, most_running=8, strategy=draft_model(p=0.8, gamma=4))
    >>> chat = Workload(arrivals=ClosedLoop(users=1), prompt=FixedTokens(tokens=256),
    ...     output=FixedTokens(tokens=128))
    >>> run = simulate_serving(server, chat, requests=200, rng=0)
    >>> plain = simulate_serving(server.plain(), chat, requests=200, rng=0)
    >>> round(plain.tpot.mean_s / run.tpot.mean_s, 2)
    2.21
    """
    arrivals = workload.arrivals
    if loop not in LOOPS:
        raise ValueError(f"loop must be one of {', '.join(LOOPS)}; got {loop!r}.")
    _check_reach(server, workload)
    if isinstance(arrivals, RecordedArrivals):
        if requests is not None or warm_up is not None:
            raise ValueError(
                "requests and warm_up must be None, as recorded arrivals are all measured; "
                f"got {requests!r} and {warm_up!r}."
            )
        first, behind = 0, len(arrivals.arrival_s)
    else:
        if requests is None:
            raise ValueError("requests must be given, how many are measured; got None.")
        measured = as_count("requests", requests, least=1, most=MOST_REQUESTS)
        first = usual_warm_up(server, workload, measured) if warm_up is None else warm_up
        first = as_count("warm_up", first, most=MOST_REQUESTS)
        behind = first + measured
    if keep_requests:
        as_count("requests that are kept", behind - first, most=MOST_KEPT)
    sink = Sink(objective or LatencyObjective(), keep=keep_requests)
    stream = RequestStream(server, workload, as_generator(rng))
    users = arrivals.users if isinstance(arrivals, ClosedLoop) else 0
    window = {"first": first, "behind": behind, "users": users}
    go_on = compiled_loop(loop, workload, requests=behind)
    if go_on is None:
        counters = Loop(server, InOrder(stream, arrivals), Portions(sink), **window).run()
    else:
        counters = run_compiled(go_on, server, stream, sink, **window)
    return ServingRun(
        measured=behind - first,
        answer_tokens=sink.tokens,
        ttft=sink.ttft.latency,
        tpot=sink.tpot.latency,
        itl=sink.gaps.latency,
        e2e=sink.e2e.latency,
        waiting=sink.waiting.latency,
        met=sink.met,
        objective=sink.objective,
        counters=counters,
        requests=sink.requests,
    )


def usual_warm_up(server: Server, workload: Workload, measured: int) -> int:
    """Requests that come before the measured ones unless it is said how many."""
    tenth = math.ceil(0.1 * measured)
    if isinstance(workload.arrivals, ClosedLoop):
        return max(tenth, 2 * max(server.most_running, workload.arrivals.users))
    return max(tenth, min(2 * server.most_running, measured))


def _check_reach(server: Server, workload: Workload) -> None:
    """ValueError where the times end before the load does."""
    prompts, contexts = server.times.prompts, np.asarray(server.times.passes.contexts)
    if workload.most_prompt > prompts.most_tokens:
        raise ValueError(
            f"prompts must have at most {prompts.most_tokens:,} tokens, the last mark of the times; "
            f"the load has up to {workload.most_prompt:,}."
        )
    held = workload.most_prompt + workload.most_output
    if contexts.size > 1 and held > contexts[-1]:
        raise ValueError(
            f"contexts must reach {held:,} tokens, the longest prompt with its answer; "
            f"they end at {contexts[-1]:,.0f}."
        )
    if server.token_budget is not None:
        known = float(np.asarray(server.times.passes.tokens)[-1])
        if server.token_budget > known:
            raise ValueError(
                f"token_budget must be at most {known:,.0f}, the most tokens of a request in passes; "
                f"got {server.token_budget:,}."
            )


def _ratio(above: float, below: float) -> float:
    return above / below if below else math.nan

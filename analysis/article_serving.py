"""The article's "latency, not throughput" when requests come and wait: a server simulated at three loads.

The pair, p and gamma are those of `analysis.article_load`; requests are short chats that arrive at random. The
runs are few and their seed is fixed: intervals say how sure the numbers are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from analysis.article_example import GAMMA, P
from analysis.article_load import SHORT, pair
from analysis.judgement import Judgement, Verdict
from analysis.serving.tables import ServerPair, server_of
from analysis.serving.usual import USUAL_BUDGET
from simulator import Estimate
from simulator.serving import (
    ClosedLoop,
    FixedTokens,
    PoissonArrivals,
    ServingComparison,
    UniformTokens,
    Workload,
    compare_serving,
    stable_limit,
)

ANSWER = (100, 300)
"""Tokens of an answer, each number as likely."""
CALM, HALF, BUSY = 0.05, 0.6, 0.9
"""The loads as shares of what the server can take without speculation."""
SEED = 2023
_RUNS = 4
_REQUESTS = {CALM: (120, 20), HALF: (600, 200), BUSY: (800, 500)}  # measured, before
_GENERATIONS = 10  # full batches in the measurement of a limit


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPair:
    """The pair under the three loads, and what it can take with speculation and without [requests/s]."""

    calm: ServingComparison
    half: ServingComparison
    busy: ServingComparison
    limit: Estimate
    plain_limit: Estimate

    @property
    def limit_ratio(self) -> float:
        """What the server can take with speculation / without: the throughput that there is to gain."""
        return self.limit.value / self.plain_limit.value


def chats(rate_per_s: float | None = None) -> Workload:
    """Short chats at a rate, or from users who ask at once."""
    return Workload(
        arrivals=ClosedLoop(users=1)
        if rate_per_s is None
        else PoissonArrivals(rate_per_s=rate_per_s),
        prompt=FixedTokens(tokens=SHORT),
        output=UniformTokens(least=ANSWER[0], most=ANSWER[1]),
    )


def servers(token_budget: int | None = USUAL_BUDGET) -> ServerPair:
    """The pair as a server, with drafts and without; prompts are read beside decoding or, None, alone."""
    return server_of(
        pair(), gamma=GAMMA, most_running=None, most_prompt=SHORT, most_output=ANSWER[1],
        token_budget=token_budget, mean_context=SHORT + sum(ANSWER) / 4.0,
    )  # fmt: skip


@cache
def loaded_pair() -> LoadedPair:
    """Simulate the pair at the three loads; a second or two, the same every time."""
    served = servers()
    limit, plain_limit = (
        stable_limit(
            side, chats(), rng=SEED, requests=_GENERATIONS * side.most_running, replications=_RUNS,
            loop="numpy",
        )
        for side in (served.speculative, served.plain)
    )  # fmt: skip
    calm, half, busy = (
        compare_serving(
            served.speculative, served.plain, chats(share * plain_limit.value), rng=SEED,
            requests=_REQUESTS[share][0], warm_up=_REQUESTS[share][1], replications=_RUNS,
            limits=(limit, plain_limit), loop="numpy",
        )
        for share in (CALM, HALF, BUSY)
    )  # fmt: skip
    return LoadedPair(calm=calm, half=half, busy=busy, limit=limit, plain_limit=plain_limit)


def latency_under_load() -> Judgement:
    """Whether requests gain while the server does not, when they come at random and wait."""
    found = loaded_pair()
    gain, ratio = found.calm.gain_e2e, found.limit_ratio
    gains_calm = gain is not None and gain.value > 1.0
    verdict: Verdict = "holds if" if gains_calm and ratio <= 1.05 else "does not hold"
    worse = ", which is more than slightly worse" if ratio < 0.9 else ""
    return Judgement(
        claim="latency, not throughput, under load",
        says="throughput is unchanged or slightly worse",
        verdict=verdict,
        finding=f"if the load is low. Requests of {SHORT} tokens with answers of {ANSWER[0]} to {ANSWER[1]} "
        f"come at random to one H100 (Llama 3.1 8B and 1B, p = {P}, γ = {GAMMA}, simulated). At "
        f"{_rate(found.calm)} requests/s, {CALM:.0%} of what it can take without speculation, they end "
        f"{_gain(found.calm)} as fast; at {_rate(found.half)}, {HALF:.0%}, {_gain(found.half)}; at "
        f"{_rate(found.busy)}, {BUSY:.0%}, {_gain(found.busy)}. "
        f"{_first_tokens(found.calm)}It can take {found.limit} requests/s with "
        f"speculation and {found.plain_limit} without: {ratio:.2f} of the throughput{worse}. Below both limits "
        "a server gives the tokens that are asked of it, so that nothing but the limit can gain.",
    )


def _gain(point: ServingComparison) -> str:
    """How much sooner requests end; a queue that grows on one side has no such number."""
    if point.gain_e2e is not None:
        return f"{point.gain_e2e.value:.2f}×"
    if point.speculative is None and point.plain is None:
        return "not at all, on neither side"
    return (
        f"never {'with' if point.speculative is None else 'without'} speculation: the queue grows"
    )


def _first_tokens(point: ServingComparison) -> str:
    """That they do not come sooner, where that is so: the gain is behind them."""
    gain = point.gain_ttft
    if gain is None or not gain.value < 1.0:
        return ""
    return (
        f"The first token comes later ({gain.value:.2f}× as fast at the lowest load), as the draft "
        "reads the prompt too. "
    )


def _rate(point: ServingComparison) -> str:
    return f"{point.rate_per_s:.3g}"

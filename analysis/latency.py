"""What whole requests take: time per request, time per token, and how unevenly the tokens arrive."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.optimum import VerifyCost, verify_costs
from simulator import Estimate, SimulatedRequests
from simulator._checks import FloatArray, IntArray, as_nonnegative


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSpread:
    """Mean and percentiles of a time [s].

    p95 is the smallest value that 95 % of all do not exceed, and so on. Between requests they have an
    interval that holds at 95 % whatever the law is: two of the ordered values, by the binomial law of
    how many lie below. Percentiles of gaps have none, for the gaps of a request belong together.
    """

    mean: Estimate
    p50: Estimate
    p95: Estimate
    p99: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """What simulated requests take [s].

    `request_s`: prefill and decoding of a request. `tpot_s`: its decoding time per token, as servers
    report "time per output token". The gaps between tokens ("inter-token latency") are told in both
    ways that are in use:

    - `gap_by_chunk_s`: the tokens of a round arrive together; one gap per round.
    - `gap_by_token_s`: one gap per token; the first of a round waits for it, the others follow at
      once, with gaps of 0. Its mean is the decoding time per token.

    `emitted_per_round`: tokens that arrived per round, all rounds counted. `undrafted_share`: rounds
    without a draft / rounds. `speedup`: time of the same requests in plain decoding / their time,
    prefill in both.
    """

    request_s: TimeSpread
    tpot_s: TimeSpread
    gap_by_chunk_s: TimeSpread
    gap_by_token_s: TimeSpread
    emitted_per_round: Estimate
    undrafted_share: Estimate
    speedup: Estimate


def request_latency(
    simulated: SimulatedRequests,
    *,
    step_s: float,
    cost_ratio: float = 0.0,
    verify_cost: VerifyCost = 1.0,
    overhead: float = 0.0,
    prefill_s: float = 0.0,
) -> Latency:
    """The times of simulated requests, if a round costs what its draft length says.

    A round that drafts n tokens takes step_s · (n · cost_ratio + V(n + 1) + overhead), a round
    without a draft one plain pass, step_s; `verify_cost` as in `best_gamma`. A request takes
    prefill_s and its rounds, whole ones, also the last: what it kept beyond the end is lost time.

    Raises ValueError for a step that takes no time, other values out of range, a replayed trace with
    rounds that are unknown, and drafts of several lengths whose rounds were not recorded.

    >>> from simulator import draft_model, simulate_requests
    >>> run = simulate_requests(draft_model(p=1.0, gamma=3), requests=2, tokens=10, rng=0)
    >>> latency = request_latency(run, step_s=0.02, cost_ratio=0.1)  # 3 rounds of 1.3 steps
    >>> round(latency.request_s.p99.value, 6), round(latency.gap_by_chunk_s.p50.value, 6)
    (0.078, 0.026)
    >>> latency.gap_by_token_s.p50.value, round(latency.gap_by_token_s.p95.value, 6)
    (0.0, 0.026)
    """
    step_s = as_nonnegative("step_s", step_s)
    if step_s == 0.0:
        raise ValueError("step_s must be above 0; got 0.")
    prefill_s = as_nonnegative("prefill_s", prefill_s)
    cost_ratio = as_nonnegative("cost_ratio", cost_ratio)
    overhead = as_nonnegative("overhead", overhead)
    if simulated.untested.any():
        raise ValueError(
            "simulated must know all its rounds; got "
            f"{int(simulated.untested.sum())} that hang on a token which was never tested."
        )
    costs = verify_costs(verify_cost, simulated.gamma)
    drafting = cost_ratio * np.arange(costs.size)
    times: FloatArray = step_s * (drafting + costs + overhead)  # by draft length
    times[0] = step_s
    rounds = rounds_by_length(simulated)
    decode_s = rounds @ times
    request_s = prefill_s + decode_s
    tokens = simulated.tokens
    in_all = rounds.sum(axis=0)
    together = int(tokens.sum() - simulated.rounds.sum())  # tokens that wait for nothing
    return Latency(
        request_s=_over_requests(request_s),
        tpot_s=_over_requests(decode_s / tokens),
        gap_by_chunk_s=_over_gaps(times, in_all, _ratio(decode_s, simulated.rounds)),
        gap_by_token_s=_over_gaps(
            np.append(times, 0.0), np.append(in_all, together), _ratio(decode_s, tokens)
        ),
        emitted_per_round=simulated.emitted_per_round,
        undrafted_share=_ratio(simulated.undrafted, simulated.rounds),
        speedup=_ratio(prefill_s + tokens * step_s, request_s),
    )


def rounds_by_length(simulated: SimulatedRequests) -> IntArray:
    """Rounds of each request by drafted tokens, shape [requests, gamma + 1].

    Raises ValueError for drafts of several lengths whose rounds were not recorded.
    """
    gamma = simulated.gamma
    counts = np.zeros((simulated.requests, gamma + 1), dtype=np.int64)
    whole = simulated.rounds - simulated.undrafted
    if np.array_equal(whole * gamma, simulated.drafted):
        counts[:, 0] = simulated.undrafted
        counts[:, gamma] += whole
        return counts
    order = simulated.in_order
    if order is None:
        raise ValueError(
            "simulated must have its steps recorded (record_steps=True) where drafts have several "
            "lengths; got none."
        )
    np.add.at(counts, (order.request, order.drafted), 1)
    return counts


def _over_requests(values: FloatArray) -> TimeSpread:
    ordered = np.sort(values)
    size = ordered.size
    se = float(values.std(ddof=1)) / math.sqrt(size) if size > 1 else None

    def percentile(share: float) -> Estimate:
        value = float(ordered[max(math.ceil(share * size - 1e-9), 1) - 1])
        return Estimate(value=value, interval=_order_interval(ordered, share))

    return TimeSpread(
        mean=Estimate(value=float(values.mean()), se=se),
        p50=percentile(0.50),
        p95=percentile(0.95),
        p99=percentile(0.99),
    )


def _order_interval(ordered: FloatArray, share: float) -> tuple[float, float] | None:
    """Two ordered values that hold a percentile between them at 95 %; None with too few values."""
    from scipy.special import bdtr  # noqa: PLC0415 — keeps `import analysis` light

    size = ordered.size
    below = bdtr(np.arange(size, dtype=np.float64), size, share)  # P(at most k values lie below)
    low = int(np.searchsorted(below, 0.025, side="right"))  # P(fewer than low below) <= 2.5 %
    high = int(np.searchsorted(below, 0.975, side="left")) + 1
    if low < 1 or high > size:
        return None
    return float(ordered[low - 1]), float(ordered[high - 1])


def _over_gaps(values: FloatArray, counts: IntArray, mean: Estimate) -> TimeSpread:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(counts[order])

    def percentile(share: float) -> Estimate:
        rank = max(math.ceil(share * int(reached[-1]) - 1e-9), 1)
        return Estimate(value=float(values[order][np.searchsorted(reached, rank)]))

    return TimeSpread(mean=mean, p50=percentile(0.50), p95=percentile(0.95), p99=percentile(0.99))


def _ratio(upper: npt.NDArray[np.number], lower: npt.NDArray[np.number]) -> Estimate:
    """Σ upper / Σ lower over requests, with the linearised error of a ratio (Cochran 1977, 6.3)."""
    whole = float(lower.sum())
    value = float(upper.sum()) / whole
    if lower.size < 2:
        return Estimate(value=value)
    rest = upper - value * lower
    spread = float(rest @ rest) * lower.size / (lower.size - 1)
    return Estimate(value=value, se=math.sqrt(spread) / whole)

"""What a run leaves behind: times of the measured requests, and what the clock and the machine counted."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from simulator._checks import FloatArray, IntArray, as_nonnegative
from simulator.serving.times_seen import SeenTimes


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyObjective:
    """What a request must keep to count as served well [s]; None asks for nothing.

    `ttft_s` to the first token, `tpot_s` per token behind it, on average over the request, `e2e_s` to the
    last one. Raises ValueError for a negative time.
    """

    ttft_s: float | None = None
    tpot_s: float | None = None
    e2e_s: float | None = None

    def __post_init__(self) -> None:
        for name in ("ttft_s", "tpot_s", "e2e_s"):
            if getattr(self, name) is not None:
                as_nonnegative(name, getattr(self, name))

    @property
    def asks(self) -> bool:
        """Whether it asks for anything."""
        return any(limit is not None for limit in (self.ttft_s, self.tpot_s, self.e2e_s))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ServedRequests:
    """The measured requests one by one, in the order in which they ended, shape [requests] each.

    Times are those of the server's clock [s]: arrival, admission, first token, last token.
    """

    arrival_s: FloatArray
    admitted_s: FloatArray
    first_token_s: FloatArray
    end_s: FloatArray
    output_tokens: IntArray


@dataclass(slots=True, kw_only=True)
class Counters:
    """What a loop counts while it runs. Times are sums over the whole run, from time 0 to `clock_s`.

    `rounds` are rounds of single requests, `batch_rounds` passes with at least one of them. `decoding_s` is
    the integral of the requests that decode over the time in which the machine works, `in_system_s` that of
    those that wait or run over all time, and `sojourn_s` the sum over requests of the time from arrival to
    end, those that are unfinished at the end counted up to it: Little's law says that the last two are the
    same. `emitted` tokens = `prompts` (the first of each) + `rounds` + `accepted` − `discarded`. In the
    measured window (`window_from_s`, `window_to_s`] `window_tokens` came and `window_finished` requests ended;
    `window_busy_s` and `window_decoding_s` are its part of those sums.
    """

    clock_s: float = 0.0
    busy_s: float = 0.0
    in_system_s: float = 0.0
    decoding_s: float = 0.0
    sojourn_s: float = 0.0
    arrived: int = 0
    finished: int = 0
    batch_rounds: int = 0
    prompts: int = 0
    rounds: int = 0
    undrafted: int = 0
    drafted: int = 0
    accepted: int = 0
    discarded: int = 0
    emitted: int = 0
    answered: int = 0
    """Tokens of finished requests."""
    running_tokens: int = 0
    """Tokens that unfinished requests have emitted at the end."""
    window_from_s: float = 0.0
    window_to_s: float = 0.0
    window_tokens: int = 0
    window_finished: int = 0
    window_busy_s: float = 0.0
    window_decoding_s: float = 0.0


class Sink:
    """Takes what a loop says of measured requests, in any portions."""

    def __init__(self, objective: LatencyObjective, *, keep: bool = False) -> None:
        self.objective = objective
        self.ttft, self.tpot, self.e2e, self.waiting, self.gaps = (SeenTimes() for _ in range(5))
        self.met = 0
        self.tokens = 0
        self._kept: list[tuple[FloatArray, ...]] | None = [] if keep else None

    def add_requests(
        self,
        arrival: FloatArray,
        admitted: FloatArray,
        first: FloatArray,
        end: FloatArray,
        output: IntArray,
    ) -> None:
        """Requests that ended: the times on the clock, and the tokens of their answers."""
        ttft, e2e = first - arrival, end - arrival
        several = output > 1
        tpot = np.divide(end - first, output - 1, out=np.zeros_like(first), where=several)
        self.ttft.add(ttft)
        self.e2e.add(e2e)
        self.waiting.add(admitted - arrival)
        self.tpot.add(tpot[several])
        good = np.ones(first.size, dtype=np.bool_)
        for limit, taken in (
            (self.objective.ttft_s, ttft),
            (self.objective.tpot_s, tpot),
            (self.objective.e2e_s, e2e),
        ):
            if limit is not None:
                good &= taken <= limit
        self.met += int(np.count_nonzero(good))
        self.tokens += int(output.sum())
        if self._kept is not None:
            self._kept.append((arrival, admitted, first, end, output.astype(np.float64)))

    def add_gaps(self, gaps: FloatArray, counts: IntArray) -> None:
        """Gaps between chunks of tokens that readers saw, each so many times."""
        self.gaps.add(gaps, counts)

    @property
    def requests(self) -> ServedRequests | None:
        """The requests one by one, if they are kept."""
        if self._kept is None:
            return None
        columns = [np.concatenate(part) for part in zip(*self._kept, strict=True)] or [
            np.empty(0)
        ] * 5
        arrival, admitted, first, end, output = columns
        return ServedRequests(
            arrival_s=arrival,
            admitted_s=admitted,
            first_token_s=first,
            end_s=end,
            output_tokens=output.astype(np.int64),
        )


@dataclass(slots=True)
class Portions:
    """Collects requests and gaps one by one and hands them on in portions."""

    sink: Sink
    requests: list[tuple[float, float, float, float, int]] = field(default_factory=list)
    gaps: list[tuple[float, int]] = field(default_factory=list)

    def request(
        self, arrival: float, admitted: float, first: float, end: float, output: int
    ) -> None:
        """Keep a request that ended."""
        self.requests.append((arrival, admitted, first, end, output))
        if len(self.requests) >= _PORTION:
            self.hand_on()

    def gap(self, gap: float, count: int) -> None:
        """Keep a gap that so many saw."""
        self.gaps.append((gap, count))
        if len(self.gaps) >= _PORTION:
            self.hand_on()

    def hand_on(self) -> None:
        """Give the sink what was collected."""
        if self.requests:
            arrival, admitted, first, end, output = np.array(self.requests, dtype=np.float64).T
            self.sink.add_requests(arrival, admitted, first, end, output.astype(np.int64))
            self.requests.clear()
        if self.gaps:
            gaps, counts = zip(*self.gaps, strict=True)
            self.sink.add_gaps(np.array(gaps), np.array(counts, dtype=np.int64))
            self.gaps.clear()


_PORTION = 4096

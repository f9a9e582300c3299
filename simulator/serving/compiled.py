"""The compiled loop from outside: when it is taken, what it is fed, and what becomes of what it says."""

from __future__ import annotations

import inspect
import sys
import zlib
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

import numpy as np

from simulator._checks import IntArray
from simulator.serving.compiled_arrays import (
    DONE,
    HAND_ON,
    REQUESTS,
    STATE,
    VERDICTS,
    Seen,
    empty_feed,
    empty_rows,
    times_of,
)
from simulator.serving.lengths import mean_tokens
from simulator.serving.records import Counters, Sink
from simulator.serving.server import Server
from simulator.serving.stream import BLOCK, RequestStream
from simulator.serving.workload import RecordedArrivals, Workload

WORTH_TOKENS = 200_000
"""Answer tokens of a run, on average, from which "auto" takes the compiled loop: about here NumPy's loop takes
as long as it takes to load numba. Once loaded it is always taken. The first run of all compiles for some
seconds, and keeps that on disk."""
_BUFFER = 16_384
_PARTS = ("arrays", "times", "requests", "loop")
GoOn: TypeAlias = Callable[..., int]


def compiled_loop(loop: str, workload: Workload, *, requests: int) -> GoOn | None:
    """The compiled loop where it is asked for, or worth it and there; ValueError where it cannot be loaded."""
    if loop == "numpy" or (loop == "auto" and not _is_worth(workload, requests)):
        return None
    try:
        from simulator.serving.compiled_loop import go_on  # noqa: PLC0415 — loads numba
    except ImportError as error:
        if loop == "auto":
            return None
        raise ValueError(
            "loop must be 'auto' or 'numpy' without the extra `fast` (pip install -e '.[fast]'); "
            f"got 'numba': {error}."
        ) from error
    return go_on


def run_compiled(
    go_on: GoOn,
    server: Server,
    stream: RequestStream,
    sink: Sink,
    *,
    first: int,
    behind: int,
    users: int,
) -> Counters:
    """What `Loop.run` does, by a compiled loop."""
    run = _Run(server, stream, sink, first=first, behind=behind, users=users)
    while (missing := go_on(run.state, run.feed, run.rows, run.times, run.seen)) != DONE:
        run.supply(missing)
    return run.close()


class _Run:
    """The arrays of a run, and who fills them."""

    def __init__(
        self,
        server: Server,
        stream: RequestStream,
        sink: Sink,
        *,
        first: int,
        behind: int,
        users: int,
    ) -> None:
        self._stream, self._sink = stream, sink
        self._outputs: deque[IntArray] = deque()  # of blocks whose verdicts are not all drawn
        size = server.most_running
        self.state = np.zeros(1, dtype=[*STATE.descr, (_code(), np.int64)])
        s = self.state[0]
        s["timed"], s["arrived"], s["in_system"] = users == 0, users, users
        s["most_running"], s["budget"] = size, server.token_budget or 0
        s["verdicts"] = -1 if stream.supply is None else 0
        s["first"], s["behind"], s["left"], s["began"] = (
            first,
            behind,
            behind - first,
            first < max(users, 1),
        )
        s["closes_at"] = behind if behind >= users else np.iinfo(np.int64).max
        self.feed = empty_feed(max(users, 2 * BLOCK))
        self.rows = empty_rows(size)
        self.times = times_of(server)
        room = _BUFFER + 2 * size
        self.seen = Seen(
            np.empty((room, 5)), np.empty(room), np.empty(room, np.int64), np.empty(size)
        )

    def supply(self, missing: int) -> None:
        """Bring what the loop came back for."""
        if missing == REQUESTS:
            self._draw_requests()
        elif missing == VERDICTS:
            self._draw_verdicts()
        elif missing == HAND_ON:
            self._hand_on()
        else:
            self._widen()

    def _draw_requests(self) -> None:
        s, block = self.state[0], self._stream.next()
        if block is None:
            s["exhausted"] = 1
            return
        drawn, new = int(s["drawn"]), block.output.size
        if drawn + new - int(s["admitted"]) > self.feed.output.size:
            self._grow()
        at = np.arange(drawn, drawn + new) & (self.feed.output.size - 1)
        if s["timed"]:
            self.feed.arrival[at] = block.arrival_s
        self.feed.prompt[at], self.feed.output[at] = block.prompt, block.output
        self.feed.prompt_s[at] = block.prompt_s
        self.feed.draft_s[at] = block.draft_prompt_s / block.prompt
        s["drawn"] += new
        if self._stream.supply is not None:
            self._outputs.append(block.output)

    def _grow(self) -> None:
        """Make room for twice as many requests that wait."""
        s, old = self.state[0], self.feed
        wider = empty_feed(2 * old.output.size)
        kept = np.arange(s["admitted"], max(s["drawn"], s["arrived"]))
        before, now = kept & (old.output.size - 1), kept & (wider.output.size - 1)
        for name in ("arrival", "prompt", "output", "prompt_s", "draft_s"):
            getattr(wider, name)[now] = getattr(old, name)[before]
        self.feed = wider._replace(kept=old.kept)

    def _draw_verdicts(self) -> None:
        outputs = self._outputs.popleft()
        count, kept = self._stream.kept(outputs)
        if count < outputs.size:
            self._outputs.appendleft(outputs[count:])
        self.feed = self.feed._replace(kept=kept)
        self.state[0]["verdicts"], self.state[0]["verdict_at"] = count, 0

    def _widen(self) -> None:
        s, old = self.state[0], self.rows.kept
        tokens = int(self.feed.output[s["admitted"] & (self.feed.output.size - 1)]) - 1
        wider = np.zeros((len(old), max(tokens, 2 * old.shape[1])), dtype=np.int16)
        wider[:, : old.shape[1]] = old
        self.rows = self.rows._replace(kept=wider)

    def _hand_on(self) -> None:
        s = self.state[0]
        if s["requests"]:
            arrival, admitted, first, end, output = self.seen.requests[: s["requests"]].T.copy()
            self._sink.add_requests(arrival, admitted, first, end, output.astype(np.int64))
        if s["gaps"]:
            gaps, counts = self.seen.gaps[: s["gaps"]], self.seen.counts[: s["gaps"]]
            self._sink.add_gaps(gaps.copy(), counts.copy())
        s["requests"] = s["gaps"] = 0

    def close(self) -> Counters:
        """Count what is unfinished, hand on the rest, and say what was counted."""
        self._hand_on()
        s, rows = self.state[0], self.rows
        counters = Counters(
            **{name: s[name].item() for name in Counters.__dataclass_fields__}  # same names
        )
        now = counters.clock_s = float(s["now"])
        if not s["ended"]:
            counters.window_to_s = now
            counters.window_tokens = counters.emitted - int(s["before"])
            counters.window_finished = counters.finished - int(s["finished_before"])
            counters.window_busy_s = counters.busy_s - float(s["busy_before"])
            counters.window_decoding_s = counters.decoding_s - float(s["decoding_before"])
        waiting = np.arange(s["admitted"], s["arrived"]) & (self.feed.arrival.size - 1)
        counters.sojourn_s += sum(now - arrival for arrival in self.feed.arrival[waiting].tolist())
        running = [*rows.reading[: s["reading"]].tolist(), *rows.decoding[: s["decoding"]].tolist()]
        for row in running:
            counters.sojourn_s += now - float(rows.arrival[row])
        answers = rows.output[rows.decoding[: s["decoding"]]]
        counters.running_tokens = int(answers.sum() - rows.left[: s["decoding"]].sum())
        return counters


def _is_worth(workload: Workload, requests: int) -> bool:
    arrivals, law = workload.arrivals, workload.output
    if _is_ready():
        return True
    if isinstance(arrivals, RecordedArrivals):
        return sum(arrivals.output_tokens) >= WORTH_TOKENS
    assert law is not None  # noqa: S101 — the workload has checked it
    return requests * mean_tokens(law) >= WORTH_TOKENS


def _is_ready() -> bool:
    """Whether a run before this one has loaded the compiled loop: then the next costs nothing to begin."""
    module = sys.modules.get(f"{__name__}_loop")
    return bool(module is not None and getattr(module.go_on, "signatures", ()))


@cache
def _code() -> str:
    """A name for this code of the loop: numba's cache looks at types, of which this is one, and one file."""
    modules = [sys.modules.get(f"{__name__}_{part}") for part in _PARTS]
    text = "".join(inspect.getsource(module) for module in modules if module is not None)
    return f"code_{zlib.crc32(text.encode()):08x}"

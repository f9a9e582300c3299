"""What the compiled loop works on: its numbers as one record, and arrays by what they are about."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simulator._checks import FloatArray, IntArray
from simulator.serving.server import Server
from simulator.serving.verdicts import Kept

GOES_ON, DONE, REQUESTS, VERDICTS, WIDTH, HAND_ON = range(6)
"""Why the loop comes back: it is over, or wants more requests, more verdicts, wider rows, empty buffers."""
TURN, IDLE, PROMPT, ROUND, MIXED = range(5)  # what time is passing for; at a turn none is

STATE = np.dtype(
    [(name, np.float64) for name in ("now", "end", "decoded_at")]
    + [(name, np.float64) for name in ("clock_s", "busy_s", "in_system_s", "decoding_s")]
    + [(name, np.float64) for name in ("sojourn_s", "window_from_s", "window_to_s")]
    + [(name, np.float64) for name in ("window_busy_s", "window_decoding_s")]
    + [(name, np.float64) for name in ("busy_before", "decoding_before")]
    + [(name, np.int64) for name in ("arrived", "finished", "batch_rounds", "prompts", "rounds")]
    + [(name, np.int64) for name in ("undrafted", "drafted", "accepted", "discarded", "emitted")]
    + [(name, np.int64) for name in ("answered", "running_tokens", "window_tokens")]
    + [(name, np.int64) for name in ("window_finished", "finished_before", "closes_at")]
    + [(name, np.int64) for name in ("phase", "timed", "exhausted", "most_running", "budget")]
    + [(name, np.int64) for name in ("drawn", "admitted", "verdicts", "verdict_at")]
    + [(name, np.int64) for name in ("decoding", "reading", "held", "in_system")]
    + [(name, np.int64) for name in ("first", "behind", "left", "began", "ended", "before")]
    + [(name, np.int64) for name in ("old", "fresh", "requests", "gaps")]
)
"""The loop's own numbers and those of `Counters`, which keep their names."""


class Feed(NamedTuple):
    """Requests that wait or are to come, in rings: request n is at n mod size; shape [size] each."""

    arrival: FloatArray
    prompt: IntArray
    output: IntArray
    prompt_s: FloatArray
    draft_s: FloatArray  # of the draft, per token of the prompt
    kept: Kept  # verdicts of the next to be admitted, [requests, tokens]


class Rows(NamedTuple):
    """What is known of requests that run, shape [most_running] each, and who has which row."""

    number: IntArray
    arrival: FloatArray
    admitted: FloatArray
    first: FloatArray
    prompt: IntArray
    output: IntArray
    draft_s: FloatArray
    read: IntArray
    kept: Kept  # [most_running, tokens]
    free: IntArray  # a stack of the rows that nobody has
    reading: IntArray  # rows of those whose prompt is not read, in order
    decoding: IntArray  # rows of those who decode
    left: IntArray  # of those who decode: tokens to come
    at: IntArray  # of those who decode: tokens behind the first one


class Times(NamedTuple):
    """The server's times and drafts; `lower` and `share` place every batch among the marks of requests."""

    lower: IntArray
    share: FloatArray
    tokens: FloatArray
    contexts: FloatArray
    passes: FloatArray  # [requests, tokens, contexts]
    drafting: FloatArray  # [batch, contexts]
    beside: FloatArray  # overhead_s, draft_overlap
    gamma: IntArray  # by batch, as are the next three
    width: IntArray
    riders: IntArray
    nodes: IntArray


class Seen(NamedTuple):
    """Buffers on the way out, and first tokens of measured requests since the last round."""

    requests: FloatArray  # [size, 5]: arrival, admitted, first, end, output
    gaps: FloatArray
    counts: IntArray
    fresh: FloatArray


def empty_feed(least: int) -> Feed:
    """Rings for at least so many requests; their size is a power of two."""
    size = 1 << (least - 1).bit_length()
    whole, real = np.zeros((2, size), np.int64), np.zeros((3, size))
    return Feed(real[0], whole[0], whole[1], real[1], real[2], np.empty((0, 0), np.int16))


def empty_rows(size: int) -> Rows:
    """Rows for so many requests, all of them free."""
    whole = [np.zeros(size, np.int64) for _ in range(8)]
    real = [np.zeros(size) for _ in range(4)]
    return Rows(
        number=whole[0],
        arrival=real[0],
        admitted=real[1],
        first=real[2],
        prompt=whole[1],
        output=whole[2],
        draft_s=real[3],
        read=whole[3],
        kept=np.zeros((size, 0), dtype=np.int16),
        free=np.arange(size),
        reading=whole[4],
        decoding=whole[5],
        left=whole[6],
        at=whole[7],
    )


def times_of(server: Server) -> Times:
    """What the loop must know of a server's times."""
    times, lengths = server.times, server.lengths
    marks = np.asarray(times.passes.requests)
    batches = np.arange(lengths.size)
    upper = np.minimum(np.searchsorted(marks, batches, side="left"), marks.size - 1)
    lower = np.maximum(upper - 1, 0)
    # At a mark the share is 1, at the first one 0: what stands there, to the last digit.
    span = np.where(upper > lower, marks[upper] - marks[lower], 1.0)
    share = np.where(marks[upper] == batches, 1.0, (batches - marks[lower]) / span)
    share[upper == 0] = 0.0
    drafting = np.zeros((lengths.size, np.size(times.passes.contexts)))
    for batch in range(1, lengths.size):
        drafting[batch] = times.drafting(int(lengths[batch]), batch)
    return Times(
        lower=lower,
        share=share,
        tokens=np.array(times.passes.tokens, dtype=np.float64),
        contexts=np.array(times.passes.contexts, dtype=np.float64),
        passes=np.array(times.passes.seconds, dtype=np.float64, order="C"),
        drafting=drafting,
        beside=np.array([times.overhead_s, times.draft_overlap]),
        gamma=lengths,
        width=np.array([server.width(int(gamma)) for gamma in lengths]),
        riders=np.array([server.riders(int(gamma)) for gamma in lengths]),
        nodes=np.array([server.nodes(int(gamma)) for gamma in lengths]),
    )

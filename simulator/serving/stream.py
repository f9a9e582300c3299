"""The requests of a run in order, with what their drafts would keep: drawn in blocks as the run gets there."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from simulator._checks import FloatArray, IntArray
from simulator.serving.server import Server
from simulator.serving.verdicts import Kept, Verdicts
from simulator.serving.workload import (
    Arrivals,
    ClosedLoop,
    PoissonArrivals,
    RecordedArrivals,
    Workload,
)

BLOCK = 4096
"""Requests whose arrival and tokens are drawn at once."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """Requests one after the other, shape [requests] each; `arrival_s` is empty in a closed loop.

    `prompt_s` is what reading the prompt alone takes, `draft_prompt_s` what of it is the draft's.
    """

    arrival_s: FloatArray
    prompt: IntArray
    output: IntArray
    prompt_s: FloatArray
    draft_prompt_s: FloatArray


class RequestStream:
    """Draws requests block by block, and their verdicts part by part; the same for every server.

    Arrivals, tokens and verdicts have generators of their own: two servers see the same requests, and one
    strategy's verdicts do not move another's arrivals.
    """

    def __init__(self, server: Server, workload: Workload, generator: np.random.Generator) -> None:
        seeds = generator.integers(0, 1 << 63, size=4)
        self._gaps, self._prompts, self._outputs, self._verdicts = (
            np.random.default_rng(seed) for seed in seeds
        )
        self._server, self._workload = server, workload
        self._clock = 0.0
        self._given = 0
        self.supply: Verdicts | None = None
        if server.strategy is not None and server.speculates:
            gammas = frozenset(server.lengths[1:].tolist())
            self.supply = Verdicts(server.strategy, gammas, self._verdicts)

    @property
    def total(self) -> float:
        """How many requests there are; infinite unless they were recorded."""
        arrivals = self._workload.arrivals
        return len(arrivals.arrival_s) if isinstance(arrivals, RecordedArrivals) else math.inf

    def next(self) -> Block | None:
        """The next requests; None where recorded ones are all given."""
        work = self._workload
        arrivals = work.arrivals
        if isinstance(arrivals, RecordedArrivals):
            part = slice(self._given, self._given + BLOCK)
            times = np.asarray(arrivals.arrival_s[part], dtype=np.float64)
            if not times.size:
                return None
            prompt = np.asarray(arrivals.prompt_tokens[part], dtype=np.int64)
            output = np.asarray(arrivals.output_tokens[part], dtype=np.int64)
        else:
            assert work.prompt is not None and work.output is not None  # noqa: S101, PT018
            prompt = work.prompt.draw(BLOCK, self._prompts)
            output = work.output.draw(BLOCK, self._outputs)
            times = np.empty(0)
            if isinstance(arrivals, PoissonArrivals):
                times = self._clock + np.cumsum(_gaps(arrivals.rate_per_s, BLOCK, self._gaps))
                self._clock = float(times[-1])
        self._given += prompt.size
        prompts = self._server.times.prompts
        drafting = self._server.speculates
        return Block(
            arrival_s=times,
            prompt=prompt,
            output=output,
            prompt_s=prompts.read_s(prompt, drafting=drafting),
            draft_prompt_s=prompts.draft_share_s(prompt) * drafting,
        )

    def kept(self, output: IntArray) -> tuple[int, Kept]:
        """Verdicts for the first requests of those with these answers: how many, and [requests, tokens].

        Requests must be asked for in order and block by block. Column j is a draft behind j + 1 tokens: the
        first token is the prompt's.
        """
        assert self.supply is not None  # noqa: S101 — asked for by drafting servers only
        decoded = np.maximum(output - 1, 1)
        rows = self.supply.rows_of(decoded)
        return rows, self.supply.draw(decoded[:rows])


class InOrder:
    """The requests one by one: the way in for a loop in plain Python."""

    def __init__(self, stream: RequestStream, arrivals: Arrivals) -> None:
        self._stream = stream
        self._timed = not isinstance(arrivals, ClosedLoop)
        self._waiting: deque[Block] = deque()  # drawn, not yet all admitted
        self._arrivals: list[float] = []
        self._arrived = 0
        self._columns: tuple[list[int], list[int], list[float], list[float]] = ([], [], [], [])
        self._outputs: IntArray = np.empty(0, dtype=np.int64)
        self._at = 0
        self._kept: Kept = np.empty((0, 0), dtype=np.int16)
        self._kept_at = 0

    def next_arrival(self) -> float:
        """When the next request comes; infinite if none does on its own."""
        if not self._timed:
            return math.inf
        if self._arrived == len(self._arrivals):
            block = self._stream.next()
            if block is None:
                return math.inf
            self._waiting.append(block)
            self._arrivals, self._arrived = block.arrival_s.tolist(), 0
        self._arrived += 1
        return self._arrivals[self._arrived - 1]

    def take(self) -> tuple[int, int, float, float, Kept | None]:
        """The next request in order: prompt, output, prompt_s, draft_prompt_s and its verdicts."""
        if self._at == len(self._columns[0]):
            block = self._waiting.popleft() if self._waiting else self._stream.next()
            assert block is not None  # noqa: S101 — who is taken has arrived
            self._columns = (
                block.prompt.tolist(),
                block.output.tolist(),
                block.prompt_s.tolist(),
                block.draft_prompt_s.tolist(),
            )
            self._outputs, self._at = block.output, 0
            self._kept, self._kept_at = self._kept[:0], 0
        at = self._at
        row = None
        if self._stream.supply is not None:
            if self._kept_at == len(self._kept):
                _, self._kept = self._stream.kept(self._outputs[at:])
                self._kept_at = 0
            row = self._kept[self._kept_at]
            self._kept_at += 1
        self._at += 1
        prompts, outputs, prompt_s, draft_s = self._columns
        return prompts[at], outputs[at], prompt_s[at], draft_s[at], row


def _gaps(rate_per_s: float, n: int, generator: np.random.Generator) -> FloatArray:
    """`n` times between arrivals at this rate [s], exponential."""
    return generator.standard_exponential(n) / rate_per_s

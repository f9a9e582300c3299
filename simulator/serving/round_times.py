"""What a round takes on a server at a batch: its parts added up once, at the marks of the context."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from simulator._checks import FloatArray
from simulator.serving.server import Server


class RoundTimes:
    """Times of rounds and passes of a server [s], over the context that requests hold on average.

    Rows are kept once they were asked for; shapes are [contexts].
    """

    def __init__(self, server: Server) -> None:
        self._server, times = server, server.times
        self.contexts = np.asarray(times.passes.contexts)
        self.tokens = np.asarray(times.passes.tokens)
        self._marks: list[float] = self.contexts.tolist()
        self._passes: dict[int, FloatArray] = {}
        self._rounds: dict[tuple[int, int], list[float]] = {}
        self._drafting: dict[int, list[float]] = {}

    def round_s(self, requests: int, drafted: int, context: float) -> float:
        """A round of so many requests, of which `drafted` have a draft."""
        if self._server.times.draft_overlap > 0.0:  # the smaller of two lines is none
            return self.mixed_s(requests, self.tokens_of(requests, drafted), context, requests)
        key = (requests, drafted)
        row = self._rounds.get(key)
        if row is None:
            row = self._rounds[key] = self.round_row(requests, drafted).tolist()
        return self._at(row, context)

    def round_row(self, requests: int, drafted: int) -> FloatArray:
        """The same at all marks of the context without overlap, shape [contexts]."""
        gamma = int(self._server.lengths[requests])
        verify = self.pass_row(requests, self.tokens_of(requests, drafted) / requests)
        if gamma == 0:
            return verify
        times = self._server.times
        return np.asarray(verify + (times.drafting(gamma, requests) + times.overhead_s))

    def tokens_of(self, requests: int, drafted: int) -> int:
        """Tokens in a pass over so many decoding requests, of which `drafted` have a draft."""
        gamma, server = int(self._server.lengths[requests]), self._server
        along = 1 + server.riders(gamma)
        return requests * along + drafted * (server.width(gamma) - along)

    def pass_row(self, requests: int, width: float) -> FloatArray:
        """A pass over so many requests and tokens of each on average, shape [contexts]."""
        table = self._passes.get(requests)
        if table is None:
            table = self._passes[requests] = self._server.times.passes.batch(requests)
        upper = min(max(int(np.searchsorted(self.tokens, width)), 1), self.tokens.size - 1)
        if self.tokens.size == 1:
            return np.asarray(table[0])
        share = (width - self.tokens[upper - 1]) / (self.tokens[upper] - self.tokens[upper - 1])
        return np.asarray((1.0 - share) * table[upper - 1] + share * table[upper])

    def mixed_s(self, requests: int, tokens: float, context: float, decoding: int) -> float:
        """A pass that also reads prompts, and the drafting of those who decode.

        `requests` take part with `tokens` in all and hold `context` on average; `decoding` of them draft, and
        what that takes is looked up at the context of all.
        """
        passed = self._at(self.pass_row(requests, tokens / requests).tolist(), context)
        gamma = int(self._server.lengths[decoding])
        if gamma == 0 or decoding == 0:
            return passed
        row = self._drafting.get(decoding)
        if row is None:
            row = self._drafting[decoding] = self._server.times.drafting(gamma, decoding).tolist()
        times, drafting = self._server.times, self._at(row, context)
        hidden = times.draft_overlap * min(drafting, passed)
        return passed + drafting + times.overhead_s - hidden

    def _at(self, row: list[float], context: float) -> float:
        marks = self._marks
        if len(marks) == 1:
            return row[0]
        upper = min(max(bisect_right(marks, context), 1), len(marks) - 1)
        share = (context - marks[upper - 1]) / (marks[upper] - marks[upper - 1])
        return row[upper - 1] + share * (row[upper] - row[upper - 1])

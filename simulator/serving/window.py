"""The window of a run: which requests are measured, and what the server does while they arrive."""

from __future__ import annotations

import math

from simulator.serving.records import Counters


class Window:
    """Requests [first, behind) are measured; `left` of them have not ended.

    The window of time begins when the first of them has arrived and ends when the first one behind has, each
    noticed between passes. All users of a closed loop come at time 0: where the window would begin and end
    there it stays open to the end of the run. What the counters gain within it goes to their `window_*`.
    """

    def __init__(self, first: int, behind: int, *, users: int) -> None:
        self.left = behind - first
        self._first, self._behind = first, behind
        self._closes_at = behind if behind >= users else math.inf  # arrivals
        self._began, self._ended = first < max(users, 1), False
        self._tokens = self._finished = 0  # before it began
        self._busy_s = self._decoding_s = 0.0

    def measures(self, number: int) -> bool:
        """Whether the request of this number, in order of arrival, is measured."""
        return self._first <= number < self._behind

    def mark(self, counters: Counters, now: float) -> None:
        """Notice between passes whether the window begins or ends."""
        if not self._began and counters.arrived > self._first:
            self._began, self._tokens = True, counters.emitted
            self._finished = counters.finished
            self._busy_s, self._decoding_s = counters.busy_s, counters.decoding_s
            counters.window_from_s = now
        if self._began and not self._ended and counters.arrived > self._closes_at:
            self.close(counters, now)

    def close(self, counters: Counters, now: float) -> None:
        """End it now, unless it has ended."""
        if self._ended:
            return
        self._ended = True
        counters.window_to_s = now
        counters.window_tokens = counters.emitted - self._tokens
        counters.window_finished = counters.finished - self._finished
        counters.window_busy_s = counters.busy_s - self._busy_s
        counters.window_decoding_s = counters.decoding_s - self._decoding_s

"""The server's loop in NumPy: admit, read prompts, decode a round, and again."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from simulator._checks import IntArray
from simulator.serving.records import Counters, Portions
from simulator.serving.round_times import RoundTimes
from simulator.serving.server import Server
from simulator.serving.stream import InOrder
from simulator.serving.verdicts import Kept
from simulator.serving.window import Window


@dataclass(slots=True)
class _Admitted:
    """A request that runs."""

    number: int
    arrival: float
    admitted: float
    prompt: int
    output: int
    draft_s: float  # of the draft, per token of the prompt
    kept: Kept | None
    read: int = 0  # tokens of the prompt
    first: float = math.nan  # when its first token came


class Loop:
    """A run of a server: `run` goes on until every measured request has ended.

    Requests are numbered as they arrive. The slots [0, decoding) hold what decodes: where a request ends,
    the last takes its place, so that a round works on plain slices.
    """

    def __init__(
        self,
        server: Server,
        requests: InOrder,
        portions: Portions,
        *,
        first: int,
        behind: int,
        users: int,
    ) -> None:
        self.server, self.requests, self.portions = server, requests, portions
        self.counters = Counters()
        self._times = RoundTimes(server)
        self._lengths = server.lengths.tolist()
        self._window = Window(first, behind, users=users)
        self._now = 0.0
        self._decoded_at = 0.0  # when those who decode emitted last
        self._next_s = requests.next_arrival()
        self._waiting: deque[float] = deque([0.0] * users)
        self._is_closed = users > 0
        self._in_system = users
        self.counters.arrived = users
        self._admitted = 0
        self._reading: list[_Admitted] = []  # whose prompt is not read yet
        size = server.most_running
        self._held = 0  # tokens of all that decode
        self._left = np.zeros(size, dtype=np.int64)
        self._at = np.zeros(size, dtype=np.int64)  # tokens behind the first one
        self._row = np.arange(size)
        self._kept: Kept = np.zeros((size, 0), dtype=np.int16)
        self._slots: list[_Admitted] = []  # who decodes
        self._fresh: list[float] = []  # first tokens of measured requests since the last round
        self._old = 0  # measured requests that decoded in the last round too

    def run(self) -> Counters:
        """Run to the end of the window and return what was counted."""
        alone = self.server.token_budget is None
        while self._window.left:
            self._admit(alone=alone)
            if not self._window.left:
                break
            if self._slots or self._reading:
                if alone:
                    self._round()
                else:
                    self._mixed_pass()
                self._window.mark(self.counters, self._now)
            elif self._waiting:
                continue  # all that was admitted ended with its prompt
            elif math.isinf(self._next_s):
                break
            else:
                self._now = self._next_s
                while self._next_s <= self._now:  # several may come at once
                    self._arrive()
        self._close()
        return self.counters

    def _pass(self, seconds: float) -> None:
        """Let the machine work: time goes on, and requests arrive meanwhile."""
        end = self._now + seconds
        counters = self.counters
        counters.busy_s += seconds
        counters.decoding_s += seconds * len(self._slots)
        counters.in_system_s += seconds * self._in_system
        while self._next_s <= end:
            counters.in_system_s += end - self._next_s
            self._arrive()
        self._now = end

    def _arrive(self) -> None:
        self._waiting.append(self._next_s)
        self._in_system += 1
        self.counters.arrived += 1
        self._next_s = self.requests.next_arrival()

    def _admit(self, *, alone: bool) -> None:
        free = self.server.most_running - len(self._reading)
        while self._waiting and len(self._slots) < free and self._window.left:
            arrival = self._waiting.popleft()
            prompt, output, prompt_s, draft_s, kept = self.requests.take()
            number, admitted = self._admitted, self._now
            self._admitted += 1
            request = _Admitted(number, arrival, admitted, prompt, output, draft_s / prompt, kept)
            if alone:
                self._pass(prompt_s)
                self._begin(request)
                self._window.mark(self.counters, self._now)
            else:
                self._reading.append(request)
                free -= 1

    def _begin(self, request: _Admitted) -> None:
        """The prompt is read: its pass emits the first token."""
        self.counters.prompts += 1
        self.counters.emitted += 1
        request.first = self._now
        if request.output == 1:
            self._end(request)
            return
        slot = len(self._slots)
        self._slots.append(request)
        self._left[slot] = request.output - 1
        self._at[slot] = 0
        self._held += request.prompt + 1
        if request.kept is not None:
            self._store(int(self._row[slot]), request.kept, request.output - 1)
        if self._window.measures(request.number):
            self._fresh.append(request.first)

    def _store(self, row: int, kept: Kept, tokens: int) -> None:
        if tokens > self._kept.shape[1]:
            wider = np.zeros(
                (self._kept.shape[0], max(tokens, 2 * self._kept.shape[1])), dtype=np.int16
            )
            wider[:, : self._kept.shape[1]] = self._kept
            self._kept = wider
        self._kept[row, :tokens] = kept[:tokens]

    def _round(self) -> None:
        batch = len(self._slots)
        gamma = self._lengths[batch]
        kept, drafted = self._verdicts(batch, gamma)
        self._pass(self._times.round_s(batch, drafted, self._held / batch))
        self._emit(batch, gamma, kept, drafted)

    def _mixed_pass(self) -> None:
        """One pass for those who decode and, as far as the budget goes, for prompts in order."""
        batch = len(self._slots)
        gamma = self._lengths[batch]
        kept, drafted = self._verdicts(batch, gamma) if batch else (None, 0)
        tokens = self._times.tokens_of(batch, drafted)
        room = (self.server.token_budget or 0) - tokens
        held, part, draft_s = self._held, 0, 0.0
        for request in self._reading:
            if room <= 0:
                break
            chunk = min(room, request.prompt - request.read)
            room -= chunk
            tokens += chunk
            held += request.read
            request.read += chunk
            draft_s += chunk * request.draft_s
            part += 1
        requests = batch + part
        self._pass(self._times.mixed_s(requests, tokens, held / requests, batch) + draft_s)
        if kept is not None:
            self._emit(batch, gamma, kept, drafted)
        self._decoded_at = self._now
        read = [request for request in self._reading[:part] if request.read == request.prompt]
        if read:
            self._reading = [r for r in self._reading if r.read < r.prompt]
            for request in read:
                self._begin(request)

    def _verdicts(self, batch: int, gamma: int) -> tuple[IntArray, int]:
        """Tokens that each keeps of its draft, and how many have one."""
        if gamma == 0:
            return np.zeros(batch, dtype=np.int64), 0
        kept = self._kept[self._row[:batch], self._at[:batch]]
        least = int(kept.min())
        drafted = batch if least >= 0 else batch - int(np.count_nonzero(kept < 0))
        return np.minimum(kept, gamma, dtype=np.int64), drafted

    def _emit(self, batch: int, gamma: int, kept: IntArray, drafted: int) -> None:
        counters, left = self.counters, self._left[:batch]
        if drafted < batch and gamma:
            np.maximum(kept, 0, out=kept)
        accepted = int(kept.sum())
        kept += 1
        np.minimum(kept, left, out=kept)
        emitted = int(kept.sum())
        left -= kept
        self._at[:batch] += kept
        counters.batch_rounds += 1
        counters.rounds += batch
        counters.undrafted += batch - drafted
        counters.drafted += drafted * self.server.nodes(gamma)
        counters.accepted += accepted
        counters.discarded += batch + accepted - emitted
        counters.emitted += emitted
        self._held += emitted
        self._see_gaps()
        if not left.all():
            for slot in np.flatnonzero(left == 0)[::-1].tolist():
                self._leave(slot)

    def _see_gaps(self) -> None:
        """Everyone's gap since its last tokens: the same for all who decoded before."""
        now = self._now
        if self._old:
            self.portions.gap(now - self._decoded_at, self._old)
        for first in self._fresh:
            self.portions.gap(now - first, 1)
        self._old += len(self._fresh)
        self._fresh.clear()
        self._decoded_at = now

    def _leave(self, slot: int) -> None:
        request, moved = self._slots[slot], self._slots.pop()
        last = len(self._slots)
        if slot != last:
            self._left[slot], self._at[slot] = self._left[last], self._at[last]
            self._row[slot], self._row[last] = self._row[last], self._row[slot]
            self._slots[slot] = moved
        self._held -= request.prompt + request.output
        if self._window.measures(request.number):
            self._old -= 1
        self._end(request)

    def _end(self, request: _Admitted) -> None:
        counters, now = self.counters, self._now
        counters.finished += 1
        counters.answered += request.output
        counters.sojourn_s += now - request.arrival
        if self._window.measures(request.number):
            self._window.left -= 1
            self.portions.request(
                request.arrival, request.admitted, request.first, now, request.output
            )
        if self._is_closed:
            self._waiting.append(self._now)
            counters.arrived += 1
        else:
            self._in_system -= 1

    def _close(self) -> None:
        counters = self.counters
        counters.clock_s = self._now
        self._window.close(counters, self._now)
        counters.sojourn_s += sum(self._now - arrival for arrival in self._waiting)
        for request in (*self._reading, *self._slots):
            counters.sojourn_s += self._now - request.arrival
        emitted = (r.output - int(left) for r, left in zip(self._slots, self._left, strict=False))
        counters.running_tokens += sum(emitted)
        self.portions.hand_on()

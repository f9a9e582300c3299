"""A second server, written from the words that describe the first: one list of requests, one event at a time.

No slots, no arrays, no tables added up beforehand. It takes requests with their verdicts as they come.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass, field

import numpy as np


@dataclass
class SlowRequest:
    """`kept[i]` is what a draft behind i + 1 tokens of the answer keeps, -1 where there is none."""

    prompt: int
    output: int
    kept: list = field(default_factory=list)
    arrival: float = math.nan
    admitted: float = math.nan
    first: float = math.nan
    end: float = math.nan
    read: int = 0
    emitted: int = 0

    @property
    def held(self):
        return self.read + self.emitted

    @property
    def seen(self):
        return (self.arrival, self.admitted, self.first, self.end, self.output)


class SlowServer:
    def __init__(self, server):
        self.server = server
        self.now = 0.0
        self.rounds = 0
        self.emitted = 0
        self.passes = []  # (from, to, decoding requests)

    def serve(self, requests, *, wanted, users=0):
        """Times of the first `wanted` requests. With `users` requests come as answers are given."""
        self.coming, self.closed = deque(requests), users > 0
        self.waiting, self.reading, self.decoding = deque(), [], []
        for _ in range(users):
            self.come()
        wanted = list(requests)[:wanted]
        while any(math.isnan(request.end) for request in wanted):
            while not self.closed and self.coming and self.coming[0].arrival <= self.now:
                self.waiting.append(self.coming.popleft())
            running = len(self.reading) + len(self.decoding)
            if self.waiting and running < self.server.most_running:
                self.admit(self.waiting.popleft())
            elif running:
                self.work()
            else:
                self.now = self.coming[0].arrival
        return [request.seen for request in wanted]

    def come(self):
        request = self.coming.popleft()
        request.arrival = self.now
        self.waiting.append(request)

    def admit(self, request):
        request.admitted = self.now
        if self.server.token_budget is not None:
            self.reading.append(request)
            return
        prompts = self.server.times.prompts
        seconds = along(prompts.tokens, prompts.target_s, request.prompt)
        self.spend(seconds + self.draft_reads(request.prompt, request.prompt))
        request.read = request.prompt
        self.begin(request)

    def draft_reads(self, prompt, tokens):
        if not any(self.gamma_of(batch) for batch in range(1, 1 + self.server.most_running)):
            return 0.0
        prompts = self.server.times.prompts
        return along(prompts.tokens, prompts.draft_s, prompt) / prompt * tokens

    def begin(self, request):
        request.first = self.now
        self.decoding.append(request)
        self.emit(request, 1)

    def emit(self, request, tokens):
        tokens = min(tokens, request.output - request.emitted)
        request.emitted += tokens
        self.emitted += tokens
        if request.emitted == request.output:
            request.end = self.now
            self.decoding.remove(request)
            if self.closed:
                self.come()

    def gamma_of(self, batch):
        server = self.server
        if server.strategy is None or batch == 0:
            return 0
        gamma = server.strategy.draft.gamma if server.gamma is None else server.gamma
        return gamma if isinstance(gamma, int) else gamma[min(batch, len(gamma)) - 1]

    def work(self):
        """One pass: a round of all that decode, and as much of the prompts as the budget takes."""
        batch = list(self.decoding)
        gamma = self.gamma_of(len(batch))
        strategy, kept, tokens = self.server.strategy, [], 0
        for request in batch:
            found = request.kept[request.emitted - 1] if gamma else -1
            width = 1 + (strategy.extra_nodes if gamma else 0)
            if found >= 0:
                width = (
                    strategy.verified_tokens
                    if strategy.is_tree
                    else 1 + gamma + strategy.extra_nodes
                )
            tokens += width
            kept.append(min(max(found, 0), gamma))
        held = [request.held for request in batch]
        room, draft_s, parts = (self.server.token_budget or 0) - tokens, 0.0, []
        for request in self.reading:
            part = min(room, request.prompt - request.read)
            if part <= 0:
                break
            room -= part
            tokens += part
            held.append(request.held)
            parts.append((request, part))
            draft_s += self.draft_reads(request.prompt, part)
        requests = len(held)
        context = sum(held) / requests
        self.spend(self.pass_s(gamma, len(batch), requests, tokens / requests, context) + draft_s)
        self.rounds += len(batch)
        for request, accepted in zip(batch, kept, strict=True):
            self.emit(request, accepted + 1)
        for request, part in parts:
            request.read += part
            if request.read == request.prompt:
                self.reading.remove(request)
                self.begin(request)

    def pass_s(self, gamma, batch, requests, tokens, context):
        times, passes = self.server.times, self.server.times.passes
        by_requests = [
            along(passes.tokens, [along(passes.contexts, row, context) for row in rows], tokens)
            for rows in np.asarray(passes.seconds)
        ]
        verify = along(passes.requests, by_requests, requests)
        if not gamma:
            return verify
        drafts = [
            along(passes.contexts, row, context) for row in np.asarray(times.drafting_s)[gamma]
        ]
        draft = along(passes.requests, drafts, batch)
        return draft + verify + times.overhead_s - times.draft_overlap * min(draft, verify)

    def spend(self, seconds):
        self.passes.append((self.now, self.now + seconds, len(self.decoding)))
        self.now += seconds


def along(marks, values, at):
    """`values` at a point between its marks, on a straight line; as they are where there is one mark."""
    marks, values = [float(mark) for mark in np.asarray(marks)], [float(v) for v in values]
    if len(marks) == 1:
        return values[0]
    upper = min(max(bisect_left(marks, at), 1), len(marks) - 1)
    share = (at - marks[upper - 1]) / (marks[upper] - marks[upper - 1])
    return (1.0 - share) * values[upper - 1] + share * values[upper]

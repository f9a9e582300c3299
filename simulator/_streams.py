"""The engine for laws that belong to requests: a number of rounds of each, not a number of tokens."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simulator._checks import IntArray
from simulator._positions import TEXTS_AT_ONCE, Flags, Positions, Source
from simulator.acceptance import AcceptanceTable
from simulator.flips import Progress
from simulator.mixtures import TextProcess
from simulator.request_counts import table_of
from simulator.trace import TraceReplay
from simulator.trace_walk import replay_texts, simulate_trace_rounds

_CHUNK = 1 << 20  # positions drawn at a time
_NARROW = 64  # fewer texts than this are followed one by one: array calls would cost more


def simulate_streams(
    process: TextProcess,
    gamma: int,
    rounds: int,
    streams: int,
    generator: np.random.Generator,
    progress: Progress | None,
) -> AcceptanceTable:
    """The counts of rounds / streams rounds in each of `streams` requests."""
    each = rounds // streams
    if isinstance(process, TraceReplay):
        _refuse_untested(process, gamma)
        return simulate_trace_rounds(process, gamma, each, streams, generator).table
    counts = _Counts(gamma)
    source = Source(process, gamma, generator)
    positions = each * (gamma + 1)  # as many as the rounds can take at most
    chunk = max(_CHUNK // positions // TEXTS_AT_ONCE, 1) * TEXTS_AT_ONCE
    for first in range(0, streams, chunk):
        texts = min(chunk, streams - first)
        source.begin(texts)
        follow = _Follow(gamma, each, texts, counts)
        block = max(_CHUNK // texts, gamma + 1)
        for done in range(0, positions, block):
            follow.go_on(source.next(texts, min(block, positions - done)))
            if progress is not None:
                progress((first + texts * min(done + block, positions) / positions) / streams)
    return table_of(counts.ended, counts.undrafted)


def _refuse_untested(trace: TraceReplay, gamma: int) -> None:
    untested = int(replay_texts(trace, gamma=gamma).untested.sum())
    if untested:
        raise ValueError(
            f"the trace must know every token that drafts of {gamma} test; got {untested} that were "
            "never tested: simulate_requests and replay_texts count them."
        )


class _Counts:
    """Rounds by number of accepted tokens, and how many had no draft."""

    def __init__(self, gamma: int) -> None:
        self.ended: IntArray = np.zeros(gamma + 1, dtype=np.int64)
        self.undrafted = 0

    def add(self, accepted: npt.NDArray[np.integer], found: Flags | None) -> None:
        self.ended += np.bincount(accepted, minlength=self.ended.size)
        if found is not None and self.ended.size > 1:
            self.undrafted += found.size - int(np.count_nonzero(found))


class _Follow:
    """Follows texts round by round, through positions that come in parts."""

    def __init__(self, gamma: int, rounds: int, texts: int, counts: _Counts) -> None:
        self.gamma, self.counts = gamma, counts
        self.here: IntArray = np.zeros(texts, dtype=np.int64)
        self.left = np.full(texts, rounds, dtype=np.int64)
        self.rest: Positions | None = None

    def go_on(self, positions: Positions) -> None:
        """Count the rounds that end within the positions so far; keep what the next one needs."""
        if self.rest is not None:
            positions = Positions.stacked(self.rest, positions)
        accepted = accepted_from(positions, self.gamma)
        size, texts = accepted.shape
        sure = size - self.gamma  # a round that begins before this ends within
        if texts < _NARROW:
            for text in range(texts):
                self._one(text, accepted[:, text], positions.found, sure)
        else:
            self._side_by_side(accepted, positions.found, sure)
        busy = self.left > 0
        behind = int(self.here[busy].min()) if busy.any() else size
        self.rest = positions.since(behind)
        self.here -= behind

    def _one(
        self, text: int, accepted: npt.NDArray[np.integer], found: Flags | None, sure: int
    ) -> None:
        steps, here, left = accepted.tolist(), int(self.here[text]), int(self.left[text])
        starts = []
        while left and here < sure:
            starts.append(here)
            here += steps[here] + 1
            left -= 1
        self.here[text], self.left[text] = here, left
        begun = np.array(starts, dtype=np.int64)
        self.counts.add(accepted[begun], None if found is None else found[begun, text])

    def _side_by_side(
        self, accepted: npt.NDArray[np.integer], found: Flags | None, sure: int
    ) -> None:
        going = np.flatnonzero((self.left > 0) & (self.here < sure))
        while going.size:
            at = self.here[going]
            kept = accepted[at, going]
            self.counts.add(kept, None if found is None else found[at, going])
            self.here[going] += kept + 1
            self.left[going] -= 1
            going = going[(self.left[going] > 0) & (self.here[going] < sure)]


def accepted_from(positions: Positions, gamma: int) -> npt.NDArray[np.int32]:
    """Tokens that a round beginning at a position keeps, [positions, texts]; too few near the end."""
    assert positions.kept is not None  # noqa: S101 — laws by depth do not come here
    accepted = _run(positions.kept, gamma)
    if positions.found is not None:
        assert positions.kept_wrong is not None and positions.right is not None  # noqa: S101, PT018 — drawn together
        wrong = _run(positions.kept_wrong, gamma)
        accepted = np.where(positions.right, accepted, wrong)
        accepted *= positions.found
    return accepted


def _run(kept: Flags, gamma: int) -> npt.NDArray[np.int32]:
    """How many tokens in a row are kept from a position on, at most gamma."""
    size = kept.shape[0]
    position = np.arange(size, dtype=np.int32)[:, np.newaxis]
    lost = np.where(kept, np.int32(size), position)
    run = np.minimum.accumulate(lost[::-1], axis=0)[::-1] - position
    return np.minimum(run, np.int32(gamma))

"""Texts of which every position is recorded: what drafts of any length up to the recorded one keep."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from simulator import TraceReplay
from simulator._checks import FloatArray, IntArray
from simulator.trace_walk import Outcomes, outcomes_of, walk

Steps = Sequence[tuple[int, int]]


class Replay:
    """The rounds that recorded texts take with drafts of any length, counted by row of the fit.

    A row is a text, or with `cuts` a stretch of the only text, that begins at this position of it. No
    process is needed: which rounds there would have been is known.

    >>> replay = Replay([[(2, 1), (2, 0), (2, 2), (2, 1), (2, 0)]])
    >>> [round(replay.tokens(gamma), 3) for gamma in (1, 2)]
    [1.667, 2.5]
    """

    def __init__(self, texts: Sequence[Steps], cuts: IntArray | None = None) -> None:
        self.trace = TraceReplay(texts=tuple(map(tuple, texts)), every_position=True)
        self.cuts = cuts
        self.gamma = self.trace.gamma  # the longest recorded draft
        self._known: dict[int, tuple[FloatArray, FloatArray]] = {}

    @cached_property
    def _outcomes(self) -> Outcomes:
        return outcomes_of(self.trace, self.gamma)

    def sums(self, gamma: int) -> tuple[FloatArray, FloatArray]:
        """Accepted tokens and rounds, [rows] each, with drafts of at most `gamma` tokens."""
        if gamma not in self._known:
            self._known[gamma] = self._counted(gamma)
        return self._known[gamma]

    def tokens(self, gamma: int) -> float:
        """Tokens per round, 1 + accepted / rounds."""
        accepted, rounds = self.sums(gamma)
        return 1.0 + float(accepted.sum() / rounds.sum())

    def deletions(self, gamma: int) -> FloatArray:
        """How far the tokens per round move without a row, sign turned, [rows]."""
        accepted, rounds = self.sums(gamma)
        above = accepted - (self.tokens(gamma) - 1.0) * rounds
        return np.asarray(above / np.maximum(rounds.sum() - rounds, 1.0))

    def draws(self, gamma: int, weights: FloatArray) -> FloatArray:
        """Tokens per round of rows drawn again; `weights` [draws, rows] say how often."""
        accepted, rounds = self.sums(gamma)
        return np.asarray(1.0 + weights @ accepted / np.maximum(weights @ rounds, 1.0))

    def _counted(self, gamma: int) -> tuple[FloatArray, FloatArray]:
        known = self._outcomes
        outcomes = dataclasses.replace(
            known,
            drafted=np.minimum(known.drafted, gamma),
            tested=np.minimum(known.tested, gamma),
            accepted=np.minimum(known.accepted, gamma),
        )
        texts = np.arange(known.first.size)
        lengths = known.behind - known.first
        one = self.cuts is not None
        found = walk(outcomes, gamma, texts, lengths, None, record_steps=one)
        if self.cuts is None:
            return found.accepted.sum(axis=1).astype(np.float64), found.rounds.astype(np.float64)
        assert found.in_order is not None  # noqa: S101 — it was asked for
        kept = found.in_order.accepted
        begun = np.cumsum(kept + 1) - (kept + 1)
        row = np.searchsorted(self.cuts, begun, side="right") - 1
        rows = len(self.cuts)
        rounds = np.bincount(row, minlength=rows).astype(np.float64)
        return np.bincount(row, weights=kept, minlength=rows).astype(np.float64), rounds

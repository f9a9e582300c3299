"""What a draft that begins at any token of an answer would keep: drawn before anyone knows where rounds begin.

A token is tested at most once and a round begins at most once behind a token, so that all of these draws
can be made ahead, whatever the batch, the draft length and the machine do: a round of g tokens keeps
min(kept, g). With the same seed the verdicts of a request are the same under every load.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from simulator._checks import IntArray
from simulator._positions import TEXTS_AT_ONCE, Source
from simulator._streams import accepted_from
from simulator.drafts import Chain
from simulator.engine import simulate_lengths
from simulator.flips import flip
from simulator.mixtures import TEXT_PROCESSES
from simulator.parallel_candidates import ParallelCandidates
from simulator.serving.independent_drafts import IndependentDrafts
from simulator.strategies import Strategy
from simulator.trace import TraceReplay
from simulator.trace_walk import outcomes_of

NO_DRAFT = -1
"""Where a look-up would find nothing: the round is one of plain decoding."""
Kept = npt.NDArray[np.int16]
_CELLS = 1 << 20
_MOST_AT_ONCE = 1024


class Verdicts:
    """Draws what drafts would keep, for requests in their order.

    `gamma` is the longest draft. Raises ValueError for a recorded trace that does not say what drafts of
    another length than its own keep, if there are any (`gammas`).
    """

    def __init__(
        self, strategy: Strategy, gammas: frozenset[int], generator: np.random.Generator
    ) -> None:
        self._strategy, self._generator = strategy, generator
        self._gamma = strategy.draft.gamma if strategy.is_tree else max(gammas)
        law = strategy.acceptance
        self._source: Source | None = None
        self._recorded: tuple[IntArray, IntArray, IntArray] | None = None
        if isinstance(law, TraceReplay):
            if not law.every_position and gammas != {law.gamma}:
                raise ValueError(
                    "a trace of rounds must be served with drafts of its own length alone, "
                    f"{law.gamma}; got {sorted(gammas)}: one of every position knows others."
                )
            self._recorded = _recorded(law, self._gamma)
        elif isinstance(law, TEXT_PROCESSES):
            self._source = Source(law, self._gamma, generator)
        elif not strategy.is_tree and self._gamma < strategy.draft.gamma:
            self._strategy = replace(strategy, draft=Chain(gamma=self._gamma))
        self._hit = 1.0
        if isinstance(law, ParallelCandidates):
            self._hit = law.hit
            self._strategy = replace(strategy, acceptance=replace(law, hit=1.0))
        self._independent: IndependentDrafts | None = None
        if not (strategy.is_tree or isinstance(law, (*TEXT_PROCESSES, ParallelCandidates))):
            self._independent = IndependentDrafts(self._strategy.conditional_acceptance, generator)

    @staticmethod
    def rows_of(tokens: IntArray) -> int:
        """How many of the next requests, with answers of so many tokens, are drawn at once."""
        widest = np.maximum.accumulate(tokens) * np.arange(1, tokens.size + 1)
        rows = int(np.searchsorted(widest, _CELLS, side="right"))
        rows -= rows % TEXTS_AT_ONCE
        return min(max(rows, TEXTS_AT_ONCE), _MOST_AT_ONCE, tokens.size)

    def draw(self, tokens: IntArray) -> Kept:
        """Kept tokens by request and the tokens before the draft, shape [requests, max(tokens)].

        `tokens` of each answer; entries behind its end say nothing.
        """
        texts, longest = tokens.size, int(tokens.max(initial=1))
        if self._recorded is not None:
            return self._from_record(tokens)
        if self._source is None:
            count = int(tokens.sum())
            drawn = self._each_alone(count)
            if count == texts * longest:
                return drawn.reshape(texts, longest)
            rows = np.zeros((texts, longest), dtype=np.int16)
            rows[np.arange(longest) < tokens[:, np.newaxis]] = drawn
            return rows
        self._source.begin(texts)
        positions = self._source.next(texts, longest + self._gamma)
        kept = accepted_from(positions, self._gamma)[:longest].astype(np.int16)
        if positions.found is not None:
            kept[~positions.found[:longest]] = NO_DRAFT
        return np.ascontiguousarray(kept.T)

    def _each_alone(self, count: int) -> Kept:
        """Drafts that know nothing of one another, shape [count]."""
        if self._independent is not None:
            return self._independent.draw(count)
        drawn = simulate_lengths(self._strategy, rounds=count, rng=self._generator).astype(np.int16)
        if self._hit < 1.0:
            drawn[~flip(self._generator, self._hit, count)] = NO_DRAFT
        return drawn

    def _from_record(self, tokens: IntArray) -> Kept:
        assert self._recorded is not None  # noqa: S101
        kept, first, behind = self._recorded
        rows = np.full((tokens.size, int(tokens.max(initial=1))), 0, dtype=np.int16)
        for row, wanted in zip(rows, tokens.tolist(), strict=True):
            done = 0
            while done < wanted:
                text = int(self._generator.integers(first.size))
                part = kept[first[text] : behind[text]][: wanted - done]
                row[done : done + part.size] = part
                done += part.size
        return rows


def _recorded(trace: TraceReplay, gamma: int) -> tuple[IntArray, IntArray, IntArray]:
    """Kept tokens at every position of all texts, and where texts begin and end.

    A draft that went on behind the end of its text counts as far as the text does: another one follows.
    """
    outcomes = outcomes_of(trace, gamma)
    left = np.repeat(outcomes.behind, outcomes.behind - outcomes.first)
    position = np.concatenate(
        [np.arange(a, b) for a, b in zip(outcomes.first, outcomes.behind, strict=True)]
    )
    kept = np.zeros_like(outcomes.accepted)
    kept[position] = np.minimum(outcomes.accepted[position], left - position - 1)
    kept[outcomes.drafted == 0] = NO_DRAFT
    return kept, outcomes.first, outcomes.behind

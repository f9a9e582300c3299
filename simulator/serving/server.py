"""A server: what its passes take, how it drafts, and how many requests it runs at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from simulator._checks import IntArray, as_count
from simulator.serving.times import ServingTimes
from simulator.strategies import Strategy

MOST_RUNNING = 4096
MOST_BUDGET = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Continuous batching: requests join and leave the batch between rounds.

    Waiting requests are admitted in order of arrival while fewer than `most_running` run. All that run
    decode together, in rounds: a draft of `gamma` tokens each, one pass of the target, and a verdict
    for each by the acceptance of `strategy` (None is plain decoding). `gamma` is one number, or one for
    every number of decoding requests from 1 on (the last holds beyond); None is the strategy's own.

    Without `token_budget` a prompt is read as soon as its request is admitted, alone, while all others wait
    (one after the other where several are). With it a pass takes up to so many tokens: those of the
    decoding requests first (all of them, even where they alone are more), then parts of prompts in order of
    admission, so that prompts are read beside decoding. Either way the end of its prompt emits a request's
    first token.

    Raises ValueError for drafts that may end early, a gamma beyond the strategy's or beyond the times, a
    tree with a gamma that is neither 0 nor its depth, and a batch that the times do not know.
    """

    times: ServingTimes
    most_running: int
    strategy: Strategy | None = None
    gamma: int | tuple[int, ...] | None = None
    token_budget: int | None = None

    def __post_init__(self) -> None:
        as_count("most_running", self.most_running, least=1, most=MOST_RUNNING)
        known = self.times.passes.most_requests
        if self.most_running > known:
            raise ValueError(
                f"most_running must be at most {known}, the largest batch of passes; "
                f"got {self.most_running}."
            )
        if self.token_budget is not None:
            as_count("token_budget", self.token_budget, least=1, most=MOST_BUDGET)
        if self.strategy is None:
            if self.gamma is not None:
                raise ValueError(f"gamma must be None without a strategy; got {self.gamma!r}.")
            return
        if not self.strategy.draft.is_fixed:
            raise ValueError(
                f"strategy must draft a fixed number of tokens; got {self.strategy.draft!r:.80}."
            )
        deepest = self.strategy.draft.gamma
        if not self._gammas:
            raise ValueError(f"gamma must hold one number at least; got {self.gamma!r}.")
        for gamma in self._gammas:
            as_count("gamma", gamma, most=deepest)
            if self.strategy.is_tree and gamma not in {0, deepest}:
                raise ValueError(f"gamma of a tree must be 0 or its depth, {deepest}; got {gamma}.")
        if max(self._gammas) > self.times.most_gamma:
            raise ValueError(
                f"gamma must be at most {self.times.most_gamma}, the longest of drafting_s; "
                f"got {max(self._gammas)}."
            )
        widest, known_width = (
            self.width(max(self._gammas)),
            float(np.asarray(self.times.passes.tokens)[-1]),
        )
        if widest > known_width:
            raise ValueError(
                f"passes must know {widest} tokens of each request; they end at {known_width:g}."
            )

    @property
    def _gammas(self) -> tuple[int, ...]:
        if self.strategy is None:
            return (0,)
        if self.gamma is None:
            return (self.strategy.draft.gamma,)
        return (self.gamma,) if not isinstance(self.gamma, Sequence) else tuple(self.gamma)

    @property
    def speculates(self) -> bool:
        """Whether any batch drafts."""
        return bool(self.lengths.max() > 0)

    @property
    def most_gamma(self) -> int:
        """The longest draft of any batch."""
        return max(self._gammas)

    @property
    def lengths(self) -> IntArray:
        """Draft length by the number of decoding requests, shape [most_running + 1]; 0 for none."""
        by_batch = np.array((0, *self._gammas), dtype=np.int64)
        found = np.full(self.most_running + 1, by_batch[-1], dtype=np.int64)
        some = min(by_batch.size, found.size)
        found[:some] = by_batch[:some]
        return found

    def width(self, gamma: int) -> int:
        """Tokens that a request with a draft of gamma tokens brings into the target's pass."""
        if gamma == 0 or self.strategy is None:
            return 1
        if self.strategy.is_tree:
            return self.strategy.verified_tokens
        return 1 + gamma + self.strategy.extra_nodes

    def riders(self, gamma: int) -> int:
        """What of that rides along also where no draft is found, such as Lookahead's window."""
        return 0 if gamma == 0 or self.strategy is None else self.strategy.extra_nodes

    def nodes(self, gamma: int) -> int:
        """Drafted tokens of a request with a draft of gamma tokens: those of the whole tree, if it is one."""
        if gamma == 0 or self.strategy is None:
            return 0
        return self.strategy.nodes if self.strategy.is_tree else gamma

    def plain(self, *, most_running: int | None = None) -> Server:
        """The same server without drafts; without a draft in memory it may run more requests."""
        return replace(
            self,
            strategy=None,
            gamma=None,
            most_running=self.most_running if most_running is None else most_running,
        )

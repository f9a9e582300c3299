"""Our loop with the customs of transformers' assisted generation, so that the two count the same.

Three things differ (transformers 5.24, `GenerationMixin._assisted_decoding`): its pass over the prompt
judges a draft at once, so that it is a round and no token comes from prefill alone; prompt lookup copies
what followed the earliest match and stops at the end of the text; and drafts end where the text will.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from real_runs.drafters.prompt_lookup import PromptLookup
from real_runs.engines.assisted.rounds import AssistedRound, table_of
from real_runs.passed_on import PassedOn
from real_runs.peers.result import Counts
from simulator._checks import IntArray
from simulator.generation import Generation, Round
from simulator.models import Draft, Drafter, KeepGoing, Logits, Target
from simulator.rules import Picked
from simulator.sampling import Sampling


class PromptWithoutItsLast(PassedOn):
    """A target whose prompt lacks its last token, which it then emits: the next pass is the first round.

    Decode `prompt[:-1]`, with one token more at most; the text begins with prompt[-1].
    """

    def __init__(self, target: Target, last: int) -> None:
        super().__init__(target)
        self._last = last

    def start(self, prompt: IntArray) -> Logits:
        """Read the prompt; all probability is on the token that it lacks."""
        super().start(prompt)
        row = np.full(self.vocabulary, -np.inf, dtype=np.float32)
        row[self._last] = 0.0
        return row


class EarliestLookup(PromptLookup):
    """Prompt lookup as transformers does it: the earliest match, copied to the end of the text at most.

    >>> lookup = EarliestLookup(longest_ngram=2)
    >>> lookup.start(np.array([5, 6, 7, 5, 6, 8, 5]), Sampling())
    >>> lookup.settle(np.array([6]))
    >>> lookup.propose(9, lambda confidence: True, np.random.default_rng(0)).tokens
    array([7, 5, 6, 8, 5, 6])
    """

    def __init__(self, longest_ngram: int = 3) -> None:
        super().__init__(longest_ngram)

    def settle(self, tokens: IntArray) -> None:
        """The text grew; an n-gram that is known keeps its first place."""
        for token in tokens:
            end = len(self._text)
            for size in range(self.shortest_ngram, min(self.longest_ngram, end) + 1):
                self._follows.setdefault(tuple(self._text[end - size :]), end)
            self._text.append(int(token))

    def propose(self, length: int, keep_going: KeepGoing, rng: np.random.Generator) -> Draft:
        """Up to `length` tokens that are in the text already."""
        source = self._find()
        if source is None:
            return Draft(tokens=np.empty(0, dtype=np.int64))
        return super().propose(min(length, len(self._text) - source), keep_going, rng)


class EndingDrafter:
    """A drafter whose drafts end where the text will, by the habit of transformers.

    `limit` counts the tokens of the text, the one that `PromptWithoutItsLast` emits included. A draft
    model is asked for no token that the limit would cut, and stops behind a stop token; a `copied` draft
    ends before a stop token, and is given up only where one token is left to emit.
    """

    def __init__(
        self, drafter: Drafter, *, limit: int, stop_tokens: Iterable[int], copied: bool
    ) -> None:
        self._drafter = drafter
        self._limit = limit
        self._stops = frozenset(stop_tokens)
        self._copied = copied
        self._length = 0

    @property
    def picked(self) -> Picked:
        """As the drafter's."""
        return self._drafter.picked

    def start(self, prompt: IntArray, sampling: Sampling) -> None:
        """As the drafter's."""
        self._length = 0
        self._drafter.start(prompt, sampling)

    def propose(self, length: int, keep_going: KeepGoing, rng: np.random.Generator) -> Draft:
        """The drafter's tokens up to where the text ends."""
        room = self._limit - self._length - 1
        if room <= 0:
            return Draft(tokens=np.empty(0, dtype=np.int64))
        length = length if self._copied else min(length, room)
        draft = self._drafter.propose(length, keep_going, rng)
        stop = next((i for i, token in enumerate(draft.tokens) if int(token) in self._stops), None)
        if stop is None:
            return draft
        kept = stop if self._copied else stop + 1
        probs = None if draft.probs is None else draft.probs[:kept]
        return Draft(tokens=draft.tokens[:kept], probs=probs)

    def settle(self, tokens: IntArray) -> None:
        """As the drafter's."""
        self._length += len(tokens)
        self._drafter.settle(tokens)


def counts_of(text: Generation) -> Counts:
    """The rounds as our loop counts them."""
    rounds = text.rounds
    return Counts(
        drafted=tuple(each.drafted for each in rounds),
        accepted=tuple(each.accepted for each in rounds),
        emitted=tuple(each.emitted for each in rounds),
        table=text.table,
    )


def counts_to_the_end(text: Generation) -> Counts:
    """The rounds as the peer's hook counts them: nothing behind the text's last token was judged."""
    return assisted_counts([_to_the_end(each) for each in text.rounds])


def assisted_counts(rounds: list[AssistedRound]) -> Counts:
    """Rounds of assisted generation, and their table under fixed draft lengths."""
    return Counts(
        drafted=tuple(each.drafted for each in rounds),
        accepted=tuple(each.accepted for each in rounds),
        emitted=tuple(each.emitted for each in rounds),
        table=table_of(rounds, length_rule="fixed"),
    )


def _to_the_end(each: Round) -> AssistedRound:
    cut = each.accepted >= each.emitted  # the last token that arrived is a drafted one
    return AssistedRound(
        drafted=each.drafted,
        accepted=min(each.accepted, each.emitted),
        emitted=each.emitted,
        cut=cut,
    )

"""Prompt lookup: propose what followed the last time that the text read like this."""

from __future__ import annotations

from typing import Literal

import numpy as np

from simulator._checks import IntArray, as_count
from simulator.models import Draft, KeepGoing
from simulator.sampling import Sampling


class PromptLookup:
    """Copies what followed an earlier occurrence of the text's last n-gram, in prompt or output.

    The longest n-gram that occurred before is taken, from `longest_ngram` down to `shortest_ngram`;
    of several occurrences the latest, which the present passage resembles most. (transformers'
    PromptLookupCandidateGenerator and vLLM's n-gram proposer take the earliest.) A copy that reaches
    the end of the text goes on into what it has just copied, so that a draft is either empty or of
    full length; transformers' stops there.

    With `keep_place` the occurrence that the last copy has arrived at goes before the latest one, if it
    is as long: a text that repeats another with changes goes on where it was.

    Each token of the text costs `longest_ngram` entries of a dictionary, each draft as many
    look-ups, however long the text is. The confidence of a copied token is 1: there is no
    distribution. Raises ValueError unless 1 <= shortest_ngram <= longest_ngram.

    >>> lookup = PromptLookup(longest_ngram=2)
    >>> lookup.start(np.array([5, 6, 7, 8, 5]), Sampling())
    >>> lookup.settle(np.array([6]))
    >>> lookup.propose(6, lambda confidence: True, np.random.default_rng(0)).tokens
    array([7, 8, 5, 6, 7, 8])
    """

    def __init__(
        self, longest_ngram: int = 3, shortest_ngram: int = 1, *, keep_place: bool = False
    ) -> None:
        self.longest_ngram = as_count("longest_ngram", longest_ngram, least=1)
        self.shortest_ngram = as_count(
            "shortest_ngram", shortest_ngram, least=1, most=self.longest_ngram
        )
        self._keep_place = keep_place
        self._place: int | None = None  # what would come next if the text went on like its source
        self._text: list[int] = []
        self._follows: dict[tuple[int, ...], int] = {}  # n-gram -> position of what followed it

    @property
    def picked(self) -> Literal["chosen"]:
        """Its tokens involve no chance."""
        return "chosen"

    def start(self, prompt: IntArray, sampling: Sampling) -> None:  # noqa: ARG002
        """Read a prompt; how the target samples makes no difference here."""
        self._text = []
        self._follows = {}
        self._place = None
        self.settle(prompt)

    def propose(self, length: int, keep_going: KeepGoing, rng: np.random.Generator) -> Draft:  # noqa: ARG002
        """`length` tokens, fewer if the stopping rule says so, none if nothing matches."""
        length = as_count("length", length, least=1)
        source = self._find()
        if source is not None and self._keep_place:
            self._place = source
        tokens: list[int] = []
        while source is not None and len(tokens) < length:
            beyond = source - len(self._text)
            tokens.append(self._text[source] if beyond < 0 else tokens[beyond])
            source += 1
            if not keep_going(1.0):
                break
        return Draft(tokens=np.array(tokens, dtype=np.int64))

    def settle(self, tokens: IntArray) -> None:
        """The text grew: its n-grams are entered as soon as it is known what follows them."""
        if self._place is not None:
            self._place += len(tokens)
        for token in tokens:
            end = len(self._text)
            for size in range(self.shortest_ngram, min(self.longest_ngram, end) + 1):
                self._follows[tuple(self._text[end - size :])] = end
            self._text.append(int(token))

    def _find(self) -> int | None:
        """Where the continuation of the text's last tokens begins."""
        end = len(self._text)
        for size in range(min(self.longest_ngram, end), self.shortest_ngram - 1, -1):
            ngram = self._text[end - size :]
            source = self._follows.get(tuple(ngram))
            if source is None:
                continue
            place = self._place
            if place is not None and place >= size and self._text[place - size : place] == ngram:
                return place
            return source
        return None

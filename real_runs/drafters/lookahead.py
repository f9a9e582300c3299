"""Lookahead decoding: the target guesses n-grams beside its own work, and looks them up later.

Fu et al. 2024, arXiv:2402.02057. A window of W columns and N - 1 levels of guesses behind the text
rides along in every pass. Column w of level 0 guesses the token w places behind the last one (column
0 is that token itself), and a column read downwards is a run of text. What the target says behind a
column's last level ends an n-gram, which goes into a pool; then every level moves up by one, and the
new tokens are the last level. Candidates for the text are the pool's n-grams that begin with its last
token.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from real_runs.drafters.ngram_pool import NgramPool, merged
from simulator._checks import IntArray, as_count
from simulator.models import Draft, KeepGoing, Logits
from simulator.sampling import Sampling

WIDEST, LONGEST, MOST_CANDIDATES = 256, 32, 256


class Lookahead:
    """Drafts with n-grams that the target itself came up with, without a model or training.

    `window` is W, `ngram` N and `candidates` G in the paper: a round proposes up to G candidates of
    N - 1 tokens, merged where they begin alike, and (N - 1) W - 1 passengers, all in one pass. The
    pool keeps the G latest n-grams of each first token. With `from_prompt` the n-grams of the prompt
    and of the text itself go into it too, which is prompt lookup beside.

    The window learns from the target's most likely tokens, also where the text is drawn: candidates
    involve no chance of the text's, so that the rules for "chosen" tokens are exact for them. It
    begins with the prompt's last tokens as guesses. Where a round emits more than one token the
    window moves on by as many places, and what falls out of it in front comes in again behind.

    Costs no draft step: Python's work is one look-up and W entries into the pool per round.

    Raises ValueError unless W >= 1, N >= 2, G >= 1.

    >>> lookahead = Lookahead(window=2, ngram=3, candidates=4)
    >>> lookahead.start(np.array([5, 6, 7, 8]), Sampling())
    >>> lookahead.settle(np.array([9]))
    >>> draft = lookahead.propose(2, lambda confidence: True, np.random.default_rng(0))
    >>> draft.judged, draft.tokens, draft.parents
    (0, array([6, 7, 8]), array([-1, -1,  0]))
    """

    def __init__(
        self, *, window: int, ngram: int, candidates: int, from_prompt: bool = False
    ) -> None:
        self.window = as_count("window", window, least=1, most=WIDEST)
        self.ngram = as_count("ngram", ngram, least=2, most=LONGEST)
        self.candidates = as_count("candidates", candidates, least=1, most=MOST_CANDIDATES)
        self.from_prompt = bool(from_prompt)
        self.pool = NgramPool(per_token=self.candidates)
        self.levels: IntArray = np.zeros((self.ngram - 1, self.window), dtype=np.int64)
        """The window, [N - 1, W]; its first entry is the text's last token."""
        self._above = window_parents(self.window, self.ngram)
        self._follow_text = self._above < 0
        self._text: list[int] = []  # as much of it as n-grams need
        self._rows = 0  # rows of the pass that judges the last draft, if nothing is cut off

    @property
    def picked(self) -> Literal["chosen"]:
        """Its tokens involve no chance."""
        return "chosen"

    def start(self, prompt: IntArray, sampling: Sampling) -> None:  # noqa: ARG002
        """Begin with an empty pool; how the target samples makes no difference here."""
        self.pool.clear()
        self.levels = np.resize(prompt[-self.levels.size :], self.levels.shape).astype(np.int64)
        self._text = []
        self._rows = 0
        self._grow(prompt)

    def propose(self, length: int, keep_going: KeepGoing, rng: np.random.Generator) -> Draft:  # noqa: ARG002
        """The pool's n-grams behind the text's last token, up to `length` deep, and the window."""
        length = as_count("length", length, least=1)
        tokens, parents = merged(self.pool.after(self._text[-1]), length)
        judged = len(tokens)
        window = self.levels.ravel()[1:]
        above = np.where(self._follow_text, -1, self._above + judged)
        self._rows = 1 + judged + window.size
        return Draft(
            tokens=np.concatenate([np.array(tokens, dtype=np.int64), window]),
            parents=np.concatenate([np.array(parents, dtype=np.int64), above]),
            passengers=window.size,
        )

    def read_pass(self, logits: Logits, kept: IntArray) -> None:
        """Enter the n-grams that the pass ended into the pool, and move the window on.

        A pass that had no room for the window teaches nothing.
        """
        if len(logits) != self._rows:
            return
        self._rows = 0
        if self.ngram > 2:
            last = logits[len(logits) - self.window :]
        else:  # the text's last token stands in the first column of the only level
            last = logits[np.r_[0, len(logits) - self.window + 1 : len(logits)]]
        columns = np.concatenate([self.levels, last.argmax(axis=1)[None]])
        for first, *rest in columns.T.tolist():
            self.pool.add(first, tuple(rest))
        self.levels = np.roll(columns[1:], 1 - kept.size, axis=1)

    def settle(self, tokens: IntArray) -> None:
        """The text grew: its last token heads the window."""
        self._grow(tokens)
        self.levels[0, 0] = self._text[-1]

    def _grow(self, tokens: IntArray) -> None:
        """Remember the end of the text, and its n-grams if they are asked for."""
        size = self.ngram
        text = self._text + [int(token) for token in tokens]
        if self.from_prompt:
            for end in range(max(size, len(self._text) + 1), len(text) + 1):
                self.pool.add(text[end - size], tuple(text[end - size + 1 : end]))
        self._text = text[1 - size :]


def window_parents(window: int, ngram: int) -> IntArray:
    """Whom each passenger follows: another passenger, or the text where it is -1.

    Level 0 is a chain without its first column, which is the text's last token: window - 1 tokens.
    Each deeper level has `window`, and each of them follows the one above it.

    >>> window_parents(3, 4)
    array([-1,  0, -1,  0,  1,  2,  3,  4])
    """
    columns = np.arange(window)
    # Passengers are the entries of the window but the first, so that this one has number -1.
    first = columns[1:] - 2
    second_on = (np.arange(window, (ngram - 1) * window) - window) - 1
    return np.concatenate([first, second_on])

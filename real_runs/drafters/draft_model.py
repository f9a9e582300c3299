"""A small model that drafts for a big one."""

from __future__ import annotations

from typing import Literal

import numpy as np

from simulator._checks import FloatArray, IntArray, as_count
from simulator.models import Draft, KeepGoing, Logits, Target
from simulator.sampling import Sampling
from simulator.verification import draw


class DraftModel:
    """Drafts with a model of the target's tokenizer, which keeps a cache of its own.

    `picked` "drawn" samples each token by the target's `Sampling`, "chosen" takes the most likely
    one. gamma tokens take gamma forwards: the last drafted token is not read, and if it is kept
    the next draft begins with one pass over it and the bonus.

    The confidence that a stopping rule sees is the probability that the token was drawn with; for a
    chosen token, and at temperature 0, the model's own probability of it (softmax of its logits).

    `vocabulary` is the target's, where it differs (models of one tokenizer are padded to different
    widths): logits beyond it are cut, missing ones count as impossible. `forwards` counts passes
    since the prompt was read.

    Raises ValueError for another `picked`.
    """

    def __init__(
        self,
        model: Target,
        picked: Literal["drawn", "chosen"] = "drawn",
        *,
        vocabulary: int | None = None,
    ) -> None:
        if picked not in {"drawn", "chosen"}:
            raise ValueError(f"picked must be drawn or chosen; got {picked!r}.")
        self.model = model
        self.forwards = 0
        self._picked: Literal["drawn", "chosen"] = picked
        self._vocabulary = model.vocabulary if vocabulary is None else vocabulary
        self._sampling = Sampling()
        self._read = 0  # tokens in the model's cache
        self._pending: list[int] = []  # text that the cache lacks
        self._ahead: list[int] = []  # drafted tokens in the cache, whose fate is open
        self._last: Logits | None = None  # logits after the prompt, until text follows it

    @property
    def picked(self) -> Literal["drawn", "chosen"]:
        """How its tokens come about."""
        return self._picked

    def start(self, prompt: IntArray, sampling: Sampling) -> None:
        """Read a prompt. Raises ValueError where the model does: a prompt beyond its context."""
        self._sampling = sampling
        self._last = self.model.start(prompt)
        self._read = len(prompt)
        self._pending, self._ahead = [], []
        self.forwards = 0

    def propose(self, length: int, keep_going: KeepGoing, rng: np.random.Generator) -> Draft:
        """Draft `length` tokens, or as many as the stopping rule and the model's context allow."""
        length = as_count("length", length, least=1)
        if self.model.context is not None:
            # All but the last drafted token are read.
            length = min(length, self.model.context - self._read - len(self._pending) + 1)
        tokens: list[int] = []
        rows: list[FloatArray] = []
        unread = self._pending
        while len(tokens) < length:
            logits = self._forward(unread)
            token, confidence, row = self._pick(logits, rng)
            tokens.append(token)
            if row is not None:
                rows.append(row)
            if len(tokens) > 1:
                self._ahead.append(tokens[-2])
            unread = [token]
            if not keep_going(confidence):
                break
        if tokens:
            self._pending = []
        probs = None
        if self._picked == "drawn":
            probs = np.stack(rows) if rows else np.empty((0, self._vocabulary))
        return Draft(tokens=np.array(tokens, dtype=np.int64), probs=probs)

    def settle(self, tokens: IntArray) -> None:
        """Forget drafted tokens that did not stay; the others are in the cache already.

        Raises ValueError if the text did not grow.
        """
        grown = [int(token) for token in tokens]
        if not grown:
            raise ValueError("tokens must hold at least one: the text grows in every round.")
        kept = 0
        # The last token is always left to read: the next draft needs the logits after it.
        while kept < min(len(self._ahead), len(grown) - 1) and self._ahead[kept] == grown[kept]:
            kept += 1
        wrong = len(self._ahead) - kept
        if wrong:
            self.model.rollback(wrong)
            self._read -= wrong
        self._ahead = []
        self._last = None
        self._pending = self._pending + grown[kept:]

    def _forward(self, unread: list[int]) -> Logits:
        """Logits of the next token, after a pass over what is not read yet."""
        if not unread:
            if self._last is None:
                raise ValueError("settle must be called between two drafts.")
            return self._last
        self.forwards += 1
        self._read += len(unread)
        row: Logits = self.model.extend(np.array(unread, dtype=np.int64))[-1]
        return row

    def _pick(
        self, logits: Logits, rng: np.random.Generator
    ) -> tuple[int, float, FloatArray | None]:
        """A token, the confidence in it, and the distribution it was drawn from, if it was."""
        logits = self._fitted(logits)
        if self._picked == "chosen":
            token = int(logits.argmax())
            return token, _own_probability(logits, token), None
        row = self._sampling.probabilities(logits)
        token = int(draw(row, rng=rng))
        if self._sampling.temperature == 0.0:
            return token, _own_probability(logits, token), row
        return token, float(row[token]), row

    def _fitted(self, logits: Logits) -> Logits:
        """The logits in the target's vocabulary."""
        lacking = self._vocabulary - len(logits)
        if lacking > 0:
            return np.concatenate([logits, np.full(lacking, -np.inf, dtype=logits.dtype)])
        return logits[: self._vocabulary]


def _own_probability(logits: Logits, token: int) -> float:
    """Softmax of the logits at one token, in their own precision: a whole row in float64 takes longer."""
    weights = np.exp(logits - logits.max())
    return float(weights[token] / weights.sum())

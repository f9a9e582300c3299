"""Small language models whose distributions are known exactly, and a drafter that runs on them.

They answer to `simulator.models`, so the one loop runs on them as on real models, and everything it
counts can be compared with exact values. Logits are log-probabilities, minus infinity for tokens
that cannot be.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, IntArray, as_count, as_nonnegative, as_probability
from simulator._picking import pick
from simulator._toy import ToyModel, contexts_at, distributions
from simulator.models import Draft, KeepGoing
from simulator.rules import PICKED, Picked
from simulator.sampling import Sampling


class ContextModel(ToyModel):
    """One side of `IndependentContexts`: the distribution depends on the position alone."""

    def __init__(self, probs: FloatArray, seed: int, context: int | None) -> None:
        super().__init__(probs.shape[1], context)
        self._probs, self._seed = probs, seed

    def rows(self, tokens: IntArray, positions: IntArray) -> FloatArray:
        """Distributions of what follows each of the tokens: their positions decide."""
        del tokens
        return self._probs[contexts_at(positions + 1, contexts=len(self._probs), seed=self._seed)]


class IndependentContexts:
    """A target and a draft that look at the position in the text and at nothing else.

    At position t (the prompt's first token has 0) both have context k(t), a fixed pseudo-random
    function of t and `seed` (`contexts_at`), and the token there has distribution target_probs[k] or
    draft_probs[k]. So a token's acceptance depends on its position alone, and given the contexts all
    verdicts are independent. Shapes: [contexts, vocabulary] both. Raises ValueError for rows that are
    no distributions or shapes that differ.

    >>> pair = IndependentContexts([[0.5, 0.5]], [[0.9, 0.1]])
    >>> np.exp(pair.target.start([0])).round(12), np.exp(pair.draft.start([0])).round(12)
    (array([0.5, 0.5]), array([0.9, 0.1]))
    """

    def __init__(
        self,
        target_probs: npt.ArrayLike,
        draft_probs: npt.ArrayLike,
        *,
        seed: int = 0,
        context: int | None = None,
    ) -> None:
        self.target_probs = distributions("target_probs", target_probs)
        self.draft_probs = distributions("draft_probs", draft_probs)
        if self.target_probs.shape != self.draft_probs.shape:
            raise ValueError(
                "target_probs and draft_probs must have one shape; "
                f"got {list(self.target_probs.shape)} and {list(self.draft_probs.shape)}."
            )
        self.seed = as_count("seed", seed, most=2**63 - 1)
        self.target = ContextModel(self.target_probs, self.seed, context)
        self.draft = ContextModel(self.draft_probs, self.seed, context)

    def contexts(self, positions: npt.ArrayLike) -> IntArray:
        """The context at each position of a text, same shape."""
        return contexts_at(positions, contexts=len(self.target_probs), seed=self.seed)


class MarkovChain(ToyModel):
    """A model that looks at the last token and at nothing else.

    transitions[i, j] is the probability of token j after token i, shape [vocabulary, vocabulary].
    Raises ValueError for rows that are no distributions or a matrix that is not square.

    >>> chain = MarkovChain([[0.0, 1.0], [0.5, 0.5]])
    >>> np.exp(chain.start([1, 0]))
    array([0., 1.])
    """

    def __init__(self, transitions: npt.ArrayLike, *, context: int | None = None) -> None:
        self.transitions = distributions("transitions", transitions)
        rows, columns = self.transitions.shape
        if rows != columns:
            raise ValueError(f"transitions must be square; got shape {[rows, columns]}.")
        super().__init__(columns, context)

    def rows(self, tokens: IntArray, positions: IntArray) -> FloatArray:
        """Distributions of what follows each of the tokens, wherever they are."""
        del positions
        return self.transitions[tokens]

    def tempered(self, temperature: float) -> MarkovChain:
        """A copy with rows proportional to transitions^(1 / temperature): a draft too sure, or too timid.

        Raises ValueError for a temperature that is not above 0.

        >>> MarkovChain([[0.8, 0.2], [0.5, 0.5]]).tempered(0.5).transitions[0].round(4)
        array([0.9412, 0.0588])
        """
        if as_nonnegative("temperature", temperature) == 0.0:
            raise ValueError("temperature must be above 0; got 0.")
        largest = self.transitions.max(axis=1, keepdims=True)  # no row may vanish in the power
        powers = (self.transitions / largest) ** (1.0 / temperature)
        return MarkovChain(powers / powers.sum(axis=1, keepdims=True), context=self.context)

    def mixed(self, share: float, with_probs: npt.ArrayLike) -> MarkovChain:
        """A copy with rows (1 - share) · transitions + share · with_probs.

        `with_probs` is one distribution for all rows, [vocabulary], or one per row. Raises ValueError
        for a share outside [0, 1] or rows that are no distributions.

        >>> MarkovChain([[0.8, 0.2], [0.4, 0.6]]).mixed(0.5, [0.0, 1.0]).transitions
        array([[0.4, 0.6],
               [0.2, 0.8]])
        """
        share = as_probability("share", share)
        others = distributions("with_probs", np.atleast_2d(np.asarray(with_probs)))
        if others.shape not in {self.transitions.shape, (1, self.vocabulary)}:
            raise ValueError(
                f"with_probs must have shape {[self.vocabulary]} or {list(self.transitions.shape)}; "
                f"got {list(others.shape)}."
            )
        return MarkovChain((1.0 - share) * self.transitions + share * others, context=self.context)


class ToyDrafter:
    """Drafts with a toy model, one token after the other; satisfies `simulator.models.Drafter`.

    `picked` says how a token comes about: "drawn" from the draft's distribution after temperature
    and filters, "chosen" as its most likely token (of equal ones the first), or "dropped": drawn,
    and where its probability is below `drop_below` thrown away again, which ends the draft. The
    confidence of a token is its probability in that distribution. Raises ValueError for another
    `picked`, or a `drop_below` that is used by no other than "dropped".
    """

    def __init__(
        self, model: ToyModel, *, picked: Picked = "drawn", drop_below: float = 0.0
    ) -> None:
        if picked not in PICKED:
            raise ValueError(f"picked must be one of {', '.join(PICKED)}; got {picked!r}.")
        self.drop_below = as_probability("drop_below", drop_below)
        if self.drop_below and picked != "dropped":
            raise ValueError(f"drop_below belongs to picked 'dropped'; got it with {picked!r}.")
        self.model = model
        self._picked: Picked = picked
        self._sampling = Sampling()
        self._logits: FloatArray | None = None  # of the token after the text
        self._ahead: list[int] = []  # drafted tokens that the model has read behind the text

    @property
    def picked(self) -> Picked:
        """How the tokens come about."""
        return self._picked

    def start(self, prompt: npt.ArrayLike, sampling: Sampling) -> None:
        """Begin a new text."""
        self._logits = self.model.start(prompt)
        self._sampling, self._ahead = sampling, []

    def propose(self, length: int, keep_going: KeepGoing, rng: np.random.Generator) -> Draft:
        """At most `length` tokens, fewer if `keep_going` or a thrown-away token ends the draft.

        Raises ValueError before the first text and between a proposal and its verdict.
        """
        logits = self._text_logits()
        if self._ahead:
            raise ValueError("propose must wait for settle: the last draft has no verdict yet.")
        tokens: list[int] = []
        probs: list[FloatArray] = []
        for _ in range(as_count("length", length, least=1)):
            row = self._sampling.probabilities(logits)
            token = self._pick(row, rng)
            if self._picked == "dropped" and row[token] < self.drop_below:
                break
            tokens.append(token)
            probs.append(row)
            if not keep_going(float(row[token])) or len(tokens) == length:
                break
            logits = self.model.extend([token])[-1]
            self._ahead.append(token)
        return Draft(
            tokens=np.array(tokens, dtype=np.int64),
            probs=None
            if self._picked == "chosen"
            else np.array(probs, dtype=np.float64).reshape(len(tokens), self.model.vocabulary),
        )

    def settle(self, tokens: npt.ArrayLike) -> None:
        """The text grew by `tokens` [n]: forget what was drafted beyond, read what is missing."""
        self._text_logits()
        grown = [int(token) for token in np.asarray(tokens)]
        same = 0
        while same < min(len(self._ahead), len(grown) - 1) and self._ahead[same] == grown[same]:
            same += 1  # the last one is always read anew: its logits begin the next draft
        self.model.rollback(len(self._ahead) - same)
        self._ahead = []
        if grown:
            self._logits = self.model.extend(grown[same:])[-1]

    def _pick(self, row: FloatArray, rng: np.random.Generator) -> int:
        return int(row.argmax() if self._picked == "chosen" else pick(row[None], rng.random(1))[0])

    def _text_logits(self) -> FloatArray:
        if self._logits is None:
            raise ValueError("start must come first: the drafter has no text yet.")
        return self._logits

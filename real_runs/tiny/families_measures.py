"""How much of a draft a target keeps along a text of the target's, in exact sums: no round is sampled.

Given that the text has token x at a place, the draft's token there was kept with chance
min(1, Q(x) / P(x)), whatever happened before (Leviathan et al. 2023, section 2.3). Where rounds begin
along the text is therefore a Markov chain, and its sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator._checks import FloatArray, IntArray, as_count


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedRounds:
    """Rounds that are expected to begin along a text, and the tokens that these emit."""

    rounds: float
    tokens: float


def overlaps(target_probs: FloatArray, draft_probs: FloatArray) -> FloatArray:
    """Σ min(P, Q) of every place, [places, vocabulary] to [places]: the chance that a draft is kept.

    >>> overlaps(np.array([[0.4, 0.35, 0.25]]), np.array([[0.6, 0.3, 0.1]])).round(3)
    array([0.8])
    """
    shared: FloatArray = np.minimum(target_probs, draft_probs).sum(axis=-1)
    return shared


def chances_kept(target_probs: FloatArray, draft_probs: FloatArray, text: IntArray) -> FloatArray:
    """min(1, Q(x) / P(x)) of every token x of the text, [places].

    The chance that it was drafted and kept, if it stands where a draft was tested; P(x) > 0, as the
    target wrote it.

    >>> chances_kept(np.array([[0.5, 0.5]]), np.array([[0.2, 0.8]]), np.array([0]))
    array([0.4])
    """
    places = np.arange(len(text))
    return np.minimum(1.0, draft_probs[places, text] / target_probs[places, text])


def rounds_along(kept: FloatArray, *, gamma: int) -> ExpectedRounds:
    """Rounds of `gamma` drafted tokens that begin at the first token and follow each other.

    `kept` [n] are the chances of `chances_kept`, or 0 and 1 where texts are greedy. Rounds count that
    begin before the last `gamma` tokens, so that none is cut: tokens / rounds is tokens per round.
    Raises ValueError if gamma is below 1.

    >>> rounds_along(np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0]), gamma=2)
    ExpectedRounds(rounds=2.0, tokens=5.0)
    """
    gamma = as_count("gamma", gamma, least=1)
    begins = np.zeros(len(kept) + 1)  # chance that a round begins at this token
    begins[0] = 1.0
    rounds = tokens = 0.0
    for place in range(len(kept) - gamma):
        alive = float(begins[place])
        rounds += alive
        tokens += alive
        for depth in range(1, gamma + 1):
            here = float(kept[place + depth - 1])
            begins[place + depth] += alive * (1.0 - here)
            alive *= here
            tokens += alive
        begins[place + gamma + 1] += alive
    return ExpectedRounds(rounds=rounds, tokens=tokens)

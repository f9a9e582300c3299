"""The exact law of what the draft-verify-keep loop emits, by enumeration: losslessness proved.

Every draft, every verdict and every correction of every round, with its probability. Written apart
from `simulator.verification` and without arrays, so that each is the other's check. The arithmetic
is that of the numbers which the models give: fractions in, exact fractions out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import TypeAlias

from analysis.tokens._verdicts import Number, Row, Tokens, best, gap, only, total, verdicts
from analysis.tokens.acceptance import check_picked
from simulator._checks import as_count, as_probability
from simulator._inputs import check_rule
from simulator._rows import SUM_TOLERANCE
from simulator.rules import Picked, Rule

Model: TypeAlias = Callable[[Tokens], Row]
"""From the tokens so far (none at first) to the distribution of the next one, [vocabulary]."""

MOST_SEQUENCES = 1_000_000
"""Enumerated are vocabulary^(gamma + length) sequences, at most this many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JointLaw:
    """Probability of every sequence of the first `length` tokens; absent ones have probability 0."""

    length: int
    weights: Mapping[Tokens, Number]

    def distance(self, other: JointLaw) -> Number:
        """Total variation ½ Σ |a - b| between two laws; 0 if they are the same."""
        sequences = {**self.weights, **other.weights}
        return total(gap(self.weights.get(s, 0), other.weights.get(s, 0)) for s in sequences) / 2


def target_law(target: Model, *, length: int, greedy: bool = False) -> JointLaw:
    """The law of the first `length` tokens of plain decoding: what a lossless loop must emit.

    Π_i P(x_i | x_1 … x_{i-1}); with `greedy` all on the most likely tokens.

    >>> law = target_law(lambda tokens: (0.75, 0.25), length=2)
    >>> law.weights[0, 1]
    0.1875
    """
    as_count("length", length, least=1)
    rows = _rows("target", target)

    def one_token(tokens: Tokens) -> Iterator[tuple[Tokens, Number]]:
        row = only(rows(tokens), best(rows(tokens))) if greedy else rows(tokens)
        return (((token,), weight) for token, weight in enumerate(row))

    return _grow(one_token, length, len(rows(())))


def emitted_law(
    target: Model,
    draft: Model,
    *,
    rule: Rule,
    gamma: int,
    length: int,
    picked: Picked = "drawn",
    drop_below: float = 0.0,
    stop_below: float = 0.0,
) -> JointLaw:
    """The law of the first `length` tokens that rounds of up to gamma drafted tokens emit.

    A round drafts gamma tokens, keeps some, and adds a correction, or after a full draft a bonus
    drawn from the target (greedy, typical acceptance: its most likely token). Drafts are "drawn"
    from the draft's Q, "chosen" as its most likely token, or "dropped": drawn, but a token with
    Q(x) < `drop_below` is thrown away and ends the draft before it. With `stop_below` such a token
    ends the draft and stays in it. The models are functions of the tokens so far. Compare with
    `target_law(...).distance`.

    Raises ValueError if MOST_SEQUENCES would be exceeded, for rows that are no distributions, and
    for a `drop_below` that does not go with `picked`.

    >>> from fractions import Fraction as F
    >>> from simulator.rules import lenience, speculative_sampling
    >>> def target(tokens):
    ...     return (F(1, 3), F(2, 3)) if sum(tokens) % 2 else (F(3, 4), F(1, 4))
    >>> def draft(tokens):
    ...     return (F(1, 2), F(1, 2))
    >>> plain = target_law(target, length=3)
    >>> emitted_law(target, draft, rule=speculative_sampling(), gamma=2, length=3).distance(plain)
    Fraction(0, 1)
    >>> emitted_law(target, draft, rule=lenience(0.5), gamma=2, length=3).distance(plain)
    Fraction(5, 16)
    """
    check_rule(rule)
    as_count("gamma", gamma)
    as_count("length", length, least=1)
    check_picked(picked, drop_below)
    as_probability("stop_below", stop_below)
    targets, drafts = _rows("target", target), _rows("draft", draft)
    vocabulary = len(targets(()))
    if len(drafts(())) != vocabulary:
        raise ValueError(
            f"target and draft must have one vocabulary; got {vocabulary} and {len(drafts(()))} tokens."
        )
    if vocabulary ** (gamma + length) > MOST_SEQUENCES:
        raise ValueError(
            f"vocabulary^(gamma + length) must be at most {MOST_SEQUENCES:,} to be enumerated; got "
            f"{vocabulary}^{gamma + length}."
        )

    def drafted(tokens: Tokens, before: Tokens = ()) -> Iterator[tuple[Tokens, Number]]:
        """Every draft that can follow, with its probability."""
        if len(before) == gamma:
            yield before, 1
            return
        row = drafts(tokens + before)
        for token, weight in enumerate(only(row, best(row)) if picked == "chosen" else row):
            if not weight:
                continue
            if row[token] < drop_below:
                yield before, weight
            elif row[token] < stop_below:
                yield (*before, token), weight
            else:
                for full, chance in drafted(tokens, (*before, token)):
                    yield full, weight * chance

    def one_round(tokens: Tokens) -> Iterator[tuple[Tokens, Number]]:
        for draft_tokens, weight in drafted(tokens):
            cuts = [tokens + draft_tokens[:depth] for depth in range(len(draft_tokens) + 1)]
            expected = [targets(cut) for cut in cuts]
            offered = [drafts(cut) for cut in cuts[:-1]]
            for kept, correction, chance in verdicts(rule, expected, offered, draft_tokens):
                for token, share in enumerate(correction):
                    yield (*draft_tokens[:kept], token), weight * chance * share

    return _grow(one_round, length, vocabulary)


def _grow(
    step: Callable[[Tokens], Iterator[tuple[Tokens, Number]]], length: int, vocabulary: int
) -> JointLaw:
    """Repeat a step until `length` tokens are out; what a step emits beyond them is thrown away."""
    if vocabulary**length > MOST_SEQUENCES:
        raise ValueError(
            f"vocabulary^length must be at most {MOST_SEQUENCES:,} to be enumerated; got "
            f"{vocabulary}^{length}."
        )
    # Equal texts are merged: a round knows nothing of how the text before it came about.
    pending: list[dict[Tokens, Number]] = [{(): 1}, *({} for _ in range(length))]
    for laws in pending[:-1]:
        for tokens, weight in laws.items():
            for emitted, chance in step(tokens):
                if chance:
                    longer = (tokens + emitted)[:length]
                    grown = pending[len(longer)]
                    grown[longer] = grown.get(longer, 0) + weight * chance
    return JointLaw(length=length, weights=MappingProxyType(pending[-1]))


def _rows(name: str, model: Model) -> Callable[[Tokens], Row]:
    """The model, asked once per text and checked: distributions over one vocabulary, divided by their sum."""
    vocabulary: list[int] = []

    @cache
    def row(tokens: Tokens) -> Row:
        probs = [p if isinstance(p, Fraction) else float(p) for p in model(tokens)]
        vocabulary.append(len(probs))
        mass = total(probs)
        good = probs and all(p >= 0 for p in probs) and gap(mass, 1) <= SUM_TOLERANCE
        if not good or len(probs) != vocabulary[0]:
            raise ValueError(
                f"{name} must give distributions over one vocabulary; got {probs!r} after {tokens}."
            )
        return [p / mass for p in probs]

    return row

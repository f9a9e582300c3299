"""Every verdict of a rule on one draft, with its probability, for numbers of any exact kind.

Written apart from `simulator.verification` and without arrays: each is the other's check.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from simulator.rules import Rule

Number: TypeAlias = float | Fraction
Row: TypeAlias = Sequence[Number]
Tokens: TypeAlias = tuple[int, ...]


def verdicts(
    rule: Rule, targets: list[Row], drafts: list[Row], drafted: Tokens
) -> Iterator[tuple[int, Row, Number]]:
    """(tokens kept, law of the token after them, probability) of every verdict on one draft."""
    last = targets[-1]
    sure = rule.name in {
        "greedy",
        "typical_acceptance",
    }  # Medusa's own token is its most likely one
    bonus = only(last, best(last)) if sure else last
    if rule.name == "block_verification":
        yield from _block_verdicts(targets, drafts, drafted, bonus)
        return
    alive: Number = 1
    for depth, token in enumerate(drafted):
        keeps, correction = _judge(rule, targets[depth], drafts[depth], token)
        yield depth, correction, alive * (1 - keeps)
        alive *= keeps
    yield len(drafted), bonus, alive


def _judge(rule: Rule, target: Row, draft: Row, token: int) -> tuple[Number, Row]:
    """P(the token is kept), and the law of what replaces it."""
    if rule.name in {"speculative_sampling", "lenience", "without_replacement"}:
        allowed = target[token] / _like(target[token], rule.lenience)
        keeps = 1 if allowed >= draft[token] else allowed / draft[token]
        return keeps, normed([max(p - q, 0) for p, q in zip(target, draft, strict=True)])
    if rule.name == "greedy":
        return int(token == best(target)), only(target, best(target))
    if rule.name == "typical_acceptance":
        entropy = -math.fsum(float(p) * math.log(p) for p in target if p)
        typical = target[token] > min(rule.epsilon, rule.delta * math.exp(-entropy))
        return int(typical), only(target, best(target))
    # One draw from the target decides: the drafted token is kept if it is the one that was drawn.
    # Its twin, one hot, tosses first and then draws from the others: the same two numbers.
    others = [0 if other == token else p for other, p in enumerate(target)]
    keeps = target[token] if rule.name == "one_hot" else 1 - total(others)
    return keeps, normed(others)


def _block_verdicts(
    targets: list[Row], drafts: list[Row], drafted: Tokens, bonus: Row
) -> Iterator[tuple[int, Row, Number]]:
    """Sun et al. 2024, algorithm 2: the longest part of the draft whose own toss succeeds is kept."""
    product: Number = 1
    tosses: list[Number] = [
        1
    ]  # success chance of the toss for each length; keeping none needs none
    corrections: list[Row] = []
    for depth, token in enumerate(drafted):
        target, draft = targets[depth], drafts[depth]
        left = [max(product * p - q, 0) for p, q in zip(target, draft, strict=True)]
        if depth:
            mass = total(left)
            # 0 / 0: product is 1 and P equals Q here; a longer part is then kept with certainty.
            tosses.append(mass / (mass + 1 - product) if mass else 0)
        corrections.append(normed(left))
        product = min(product * target[token] / draft[token], 1)
    if drafted:
        tosses.append(product)
    corrections.append(bonus)
    missed: Number = 1
    for kept in reversed(range(len(tosses))):
        yield kept, corrections[kept], missed * tosses[kept]
        missed *= 1 - tosses[kept]


def normed(weights: list[Number]) -> Row:
    """Weights over their sum; all 0 where nothing is left, which then has probability 0 as well."""
    mass = total(weights)
    return [weight / mass for weight in weights] if mass else weights


def total(numbers: Iterator[Number] | Sequence[Number]) -> Number:
    """The sum, in the arithmetic of the numbers."""
    return sum(numbers, 0)


def gap(a: Number, b: Number) -> Number:
    """How far apart two numbers are, in their arithmetic."""
    return a - b if a > b else b - a


def only(row: Row, token: int) -> Row:
    """All on one token."""
    return [int(other == token) for other in range(len(row))]


def best(row: Row) -> int:
    """The most likely token; of equal ones the first."""
    return max(range(len(row)), key=row.__getitem__)


def _like(number: Number, value: float) -> Number:
    """A parameter in the arithmetic of the models."""
    return Fraction(value) if isinstance(number, Fraction) else value

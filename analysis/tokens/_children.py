"""The children of one node: every way in which they can come about, and what a rule makes of each.

Written apart from `simulator.tree_verification` and without arrays: each is the other's check.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from analysis.tokens._verdicts import Number, Row, Tokens, best, normed, only
from simulator.rules import Picked, Rule


def drafts_of(
    draft: Row, count: int, picked: Picked, drop_below: float
) -> Iterator[tuple[Tokens, Number]]:
    """Every row of children that can come about, with its probability."""
    if picked == "chosen":
        ranked = sorted(range(len(draft)), key=lambda token: (-draft[token], token))
        yield tuple(ranked[:count]), 1
        return
    for children, weight in _drawn(draft, count, distinct=picked == "distinct"):
        yield tuple(token for token in children if draft[token] >= drop_below), weight


def _drawn(draft: Row, count: int, *, distinct: bool) -> Iterator[tuple[Tokens, Number]]:
    """Children drawn one after the other; without replacement there are no more than possible tokens."""
    if count == 0 or not any(draft):
        yield (), 1
        return
    for token, chance in enumerate(draft):
        if chance:
            left = normed([0 if token == x else q for x, q in enumerate(draft)])
            for others, weight in _drawn(left if distinct else draft, count - 1, distinct=distinct):
                yield (token, *others), chance * weight


def judged(rule: Rule, target: Row, draft: Row, children: Tokens) -> tuple[list[Number], Row]:
    """P(each child is kept), and the law of the token that follows where none is."""
    if rule.name == "greedy":
        wanted = best(target)
        return _the_first(children, lambda token: token == wanted), only(target, wanted)
    if rule.name == "typical_acceptance":
        entropy = -math.fsum(float(p) * math.log(p) for p in target if p)
        limit = min(rule.epsilon, rule.delta * math.exp(-entropy))
        return _the_first(children, lambda token: target[token] > limit), only(target, best(target))
    if rule.name == "sample_and_match":
        kept = [
            0 if token in children[:place] else target[token]
            for place, token in enumerate(children)
        ]
        return kept, normed([0 if x in children else p for x, p in enumerate(target)])
    return _one_by_one(rule, target, draft, children)


def _one_by_one(rule: Rule, target: Row, draft: Row, children: Tokens) -> tuple[list[Number], Row]:
    """The rules that change the target with every child that they reject."""
    reached: Number = 1
    kept: list[Number] = []
    for token in children:
        if rule.name == "one_hot":
            keeps: Number = target[token]
            target = normed([0 if x == token else p for x, p in enumerate(target)])
        else:
            if not draft[token]:
                raise ValueError(
                    f"{rule.name} must have children that the draft can draw behind their siblings; "
                    f"token {token} has probability 0 there."
                )
            keeps = 1 if target[token] >= draft[token] else target[token] / draft[token]
            target = normed([max(p - q, 0) for p, q in zip(target, draft, strict=True)])
            if rule.name == "without_replacement":
                draft = normed([0 if x == token else q for x, q in enumerate(draft)])
        kept.append(reached * keeps)
        reached *= 1 - keeps
        if not reached:
            break
    return kept + [0] * (len(children) - len(kept)), target


def _the_first(children: Tokens, wanted: Callable[[int], bool]) -> list[Number]:
    """All on the first child that is wanted."""
    fits = [wanted(token) for token in children]
    return [int(fit and not any(fits[:place])) for place, fit in enumerate(fits)]

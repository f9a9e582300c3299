"""Several tokens drafted for one place, exactly: which is kept, and what comes out.

One node of a tree with its children. A tree is as lossless as its nodes are: given the path so far
each node is judged afresh, so that the law of one node is the whole proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from analysis.tokens._children import drafts_of, judged
from analysis.tokens._verdicts import Number, Row, best, gap, only, total
from analysis.tokens.acceptance import as_pair, check_picked
from simulator._checks import FloatArray, as_count, as_nonnegative
from simulator._inputs import check_rule
from simulator._rows import SUM_TOLERANCE
from simulator.rules import PICKED, Picked, Rule
from simulator.tree_verification import check_tree_rule

MOST_DRAFTS = 200_000
"""Enumerated are all rows of children, vocabulary^children at most."""
MOST_CHILDREN = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildrenLaw:
    """What a rule makes of the children of one node, in the arithmetic of the numbers given.

    `kept` [children, vocabulary] is how likely a child of each rank is kept with each token, `following`
    [vocabulary] how likely no child is kept and that token follows, `wanted` [vocabulary] what a
    lossless rule must emit.
    """

    kept: tuple[tuple[Number, ...], ...]
    following: tuple[Number, ...]
    wanted: tuple[Number, ...]

    @property
    def by_rank(self) -> tuple[Number, ...]:
        """P(the child of each rank is the one that is kept), [children]: exclusive, so that they add."""
        return tuple(total(row) for row in self.kept)

    @property
    def acceptance(self) -> Number:
        """P(some child is kept)."""
        return total(self.by_rank)

    @property
    def emitted(self) -> tuple[Number, ...]:
        """The law of the token that comes out in this place, kept or not, [vocabulary]."""
        return tuple(total(column) for column in zip(*self.kept, self.following, strict=True))

    @property
    def distance(self) -> Number:
        """Total variation between what is emitted and what is wanted; 0 for a lossless rule."""
        return total([gap(a, b) for a, b in zip(self.emitted, self.wanted, strict=True)]) / 2


def children_law(
    target_probs: Sequence[Number],
    draft_probs: Sequence[Number],
    children: int,
    *,
    rule: Rule,
    picked: Picked = "drawn",
    drop_below: float = 0.0,
) -> ChildrenLaw:
    """The exact law of one place in the text for which `children` tokens are drafted, by enumeration.

    Children are "drawn" from Q with replacement, "distinct": drawn without (fewer where Q has fewer
    possible tokens), "chosen": the most likely ones (of equal ones the first), or "dropped": drawn
    with replacement, and those with Q(x) < `drop_below` thrown away. The rules are those of
    `simulator.tree_verification`. `by_rank` of the result is the acceptance of each rank that
    Sequoia's and Medusa's trees are built from. Fractions in, exact fractions out; [vocabulary] each.

    Raises ValueError for a rule that cannot judge a tree, rows that are no distributions over one
    vocabulary, more than MOST_DRAFTS possible drafts, more chosen children than tokens, a
    `drop_below` that does not go with `picked`, and children that a rule which divides by their
    probability cannot judge: chosen ones of probability 0, or, without replacement, the same twice.

    >>> from fractions import Fraction as F
    >>> from simulator import one_hot, without_replacement
    >>> target, draft = (F(1, 2), F(3, 10), F(1, 5)), (F(3, 5), F(3, 10), F(1, 10))
    >>> law = children_law(target, draft, 2, rule=one_hot(), picked="chosen")
    >>> law.by_rank, law.acceptance, law.distance
    ((Fraction(1, 2), Fraction(3, 10)), Fraction(4, 5), Fraction(0, 1))
    >>> law = children_law(target, draft, 2, rule=without_replacement(), picked="chosen")
    >>> law.emitted  # children that were chosen, judged as if they had been drawn: not the target
    (Fraction(5, 6), Fraction(0, 1), Fraction(1, 6))
    """
    check_rule(rule)
    check_tree_rule(rule)
    count = as_count("children", children, most=MOST_CHILDREN)
    check_picked(picked, drop_below, ways=(*PICKED, "distinct"))
    target, draft = _row("target_probs", target_probs), _row("draft_probs", draft_probs)
    size = len(target)
    if len(draft) != size:
        raise ValueError(
            f"draft_probs must have as many tokens as target_probs, {size}; got {len(draft)}."
        )
    if picked == "chosen" and count > size:
        raise ValueError(
            f"children must be at most the {size} tokens of the vocabulary; got {count}."
        )
    if picked != "chosen" and sum(map(bool, draft)) ** count > MOST_DRAFTS:
        raise ValueError(
            f"vocabulary^children must be at most {MOST_DRAFTS:,} to be enumerated; got "
            f"{sum(map(bool, draft))}^{count}."
        )
    kept: list[list[Number]] = [[0] * size for _ in range(count)]
    following: list[Number] = [0] * size
    for tokens, weight in drafts_of(draft, count, picked, drop_below):
        chances, rest = judged(rule, target, draft, tokens)
        for rank, (token, chance) in enumerate(zip(tokens, chances, strict=True)):
            kept[rank][token] += weight * chance
        missed = weight * (1 - total(chances))
        if missed:
            following = [sofar + missed * p for sofar, p in zip(following, rest, strict=True)]
    return ChildrenLaw(
        kept=tuple(map(tuple, kept)),
        following=tuple(following),
        wanted=tuple(only(target, best(target)) if rule.name == "greedy" else target),
    )


def k_seq_acceptance(
    target_probs: npt.ArrayLike,
    draft_probs: npt.ArrayLike,
    children: int,
    *,
    rho: float | None = None,
) -> float:
    """P(one of `children` tokens drawn from Q is kept) under SpecTr's K-SEQ: 1 - (1 - β)^children.

    β(ρ) = Σ min(Q, P / ρ), ρ in [1, children]; lossless where 1 - (1 - β)^children <= ρ β. Without
    `rho` the smallest such ρ, which keeps most (Sun et al. 2023, SpecTr). Shapes
    [vocabulary]. Raises ValueError for rows that are no distributions over one vocabulary, and for
    a ρ outside its range or one that would not be lossless.

    >>> k_seq_acceptance([1.0, 0.0], [0.5, 0.5], 2)
    0.75
    """
    target, draft = _pair(target_probs, draft_probs)
    count = as_count("children", children, least=1)

    def excess(rho: float) -> float:
        """What would be kept too often; it falls as rho grows."""
        beta = _beta(target, draft, rho)
        return _any_of(beta, count) - rho * beta

    if rho is None:
        rho = _smallest(excess, 1.0, float(count))
    elif not 1.0 <= as_nonnegative("rho", rho) <= count:
        raise ValueError(f"rho must lie in [1, {count}], the number of children; got {rho!r}.")
    elif excess(rho) > 1e-9:
        raise ValueError(
            f"rho must be large enough to be lossless, {_smallest(excess, 1.0, float(count)):.6g} "
            f"or more here; got {rho!r}."
        )
    return _any_of(_beta(target, draft, rho), count)


def optimal_acceptance(
    target_probs: npt.ArrayLike, draft_probs: npt.ArrayLike, children: int
) -> float:
    """The most that any lossless rule keeps of `children` tokens drawn from Q with replacement.

    1 - max over sets S of tokens of (Q(S)^children - P(S)): the minimum cut of the transport from
    drafts to tokens. Only sets of tokens with the smallest P / Q can be the maximum, since the value is
    convex in (Q(S), P(S)). With one child 1 - total variation. Shapes [vocabulary]; raises
    ValueError for rows that are no distributions over one vocabulary.

    >>> optimal_acceptance([1.0, 0.0], [0.5, 0.5], 2)
    0.75
    """
    target, draft = _pair(target_probs, draft_probs)
    count = as_count("children", children, least=1)
    possible = draft > 0.0
    order = np.argsort(target[possible] / draft[possible], kind="stable")
    drawn = np.minimum(draft[possible][order].cumsum(), 1.0)
    gains = drawn**count - target[possible][order].cumsum()
    return float(1.0 - max(0.0, gains.max()))


def _pair(target_probs: npt.ArrayLike, draft_probs: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    target, draft = as_pair(target_probs, draft_probs)
    if target.ndim != 1:
        raise ValueError(
            f"target_probs and draft_probs must have shape [vocabulary]; got {list(target.shape)}."
        )
    return target, draft


def _beta(target: FloatArray, draft: FloatArray, rho: float) -> float:
    """P(one child is kept), Σ min(Q, P / ρ)."""
    return min(1.0, float(np.minimum(draft, target / rho).sum()))


def _any_of(chance: float, count: int) -> float:
    """P(one of so many independent attempts succeeds); exact for small chances too."""
    return 1.0 if chance == 1.0 else -math.expm1(count * math.log1p(-chance))


def _smallest(excess: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function becomes 0, by bisection; its upper side, so that it is not above 0."""
    if excess(low) <= 0.0:
        return low
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (middle, high) if excess(middle) > 0.0 else (low, middle)
    return high


def _row(name: str, probs: Sequence[Number]) -> Row:
    """A distribution in its own arithmetic, divided by its sum."""
    try:
        row = [p if isinstance(p, Fraction) else float(p) for p in probs]
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be probabilities [vocabulary]; got {probs!r}.") from None
    mass = total(row)
    if not (row and all(p >= 0 for p in row) and gap(mass, 1) <= SUM_TOLERANCE):
        raise ValueError(f"{name} must hold probabilities that sum to 1; got {probs!r}.")
    return [p / mass for p in row]

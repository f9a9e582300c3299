"""Closed forms for trees of a regular shape, and what no tree of a kind can pass."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis._arrays import Numbers, lengths, nonnegatives, plain, probabilities
from analysis.formulas import expected_tokens
from analysis.trees.rates import RateRows, Rates, rate_rows
from simulator._checks import FloatArray, as_count


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeBounds:
    """Expected tokens per round that no tree of a kind exceeds, whatever its size; infinite at sums of 1.

    `chain`: one sequence. `sequences`: `width` independent ones from the root, however long. `tree`:
    every node with at most `width` children.
    """

    chain: float
    sequences: float
    tree: float


def tree_bounds(rates: Rates, *, width: int) -> TreeBounds:
    """What chains, sequences side by side and trees approach as they grow, for rates by position.

    With P_k = p_1 + … + p_k: chain 1 / (1 - p_1); k sequences 1 + P_k / (1 - p_1), at most one more than
    the chain; trees with k children per node 1 / (1 - P_k). Sequoia (2402.12374), section 3.1 and
    theorem 3.6 for k = 2, the rest of the geometric sums derived. More ranks than `rates` has add
    nothing. Raises ValueError for rates per depth: these bounds need one vector for all.

    >>> tree_bounds([0.5, 0.25], width=2)
    TreeBounds(chain=2.0, sequences=2.5, tree=4.0)
    """
    row = _one_vector(rate_rows(rates))
    together = min(math.fsum(row[: as_count("width", width, least=1)]), 1.0)
    chain = _inverse(1.0 - row[0])
    return TreeBounds(
        chain=chain,
        sequences=1.0 + (together * chain if together else 0.0),
        tree=_inverse(1.0 - together),
    )


def sequences_value(rates: Rates, *, count: int, length: int) -> float:
    """Expected tokens per round of `count` chains of `length` tokens that share only the root.

    F = 1 + P_W (1 - p_1^D) / (1 - p_1) with W = count, D = length, P_W = p_1 + … + p_W: SpecInfer's "W x D"
    (2305.09781), from Sequoia's proposition 3.4. Raises ValueError for rates per depth and for more
    sequences than there are rates.

    >>> sequences_value([0.5, 0.25], count=2, length=3)
    2.3125
    """
    row = _one_vector(rate_rows(rates))
    count = as_count("count", count, least=1, most=len(row))
    length = as_count("length", length, least=1)
    return 1.0 + math.fsum(row[:count]) * float(expected_tokens(row[0], length - 1))


def lookahead_tokens(
    p: Numbers, ngram: Numbers, candidates: Numbers, *, hit: Numbers = 1.0
) -> FloatArray | float:
    """Expected tokens per round of Lookahead decoding, E = N - Σ_{i=1..N-1} (1 - p^i)^G.

    N = ngram: the first token of an n-gram is the text's last, so it proposes N - 1. G = candidates,
    taken to be independent of each other; P(the longest reaches i) = 1 - (1 - p^i)^G. With `hit`, the
    share of rounds whose pool has candidates, 1 + hit (E - 1): once in f rounds, (f - 1 + E) / f. G = 1 is
    the chain of N - 1 tokens, G without end gives N. Lookahead (Fu et al. 2024, 2402.02057), section 4,
    re-derived. Candidates of one pool follow the same text and fail together: at N 5 and G 15 the
    paper counts 1.96 (Table 3) where independence promises 4.2, with p from its row of G 1.
    Broadcasts; raises ValueError for N or G below 1.

    >>> lookahead_tokens(0.5, 3, [1, 2, 1000])
    array([1.75  , 2.1875, 3.    ])
    """
    chance, share = probabilities("p", p), probabilities("hit", hit)
    length, count = _from_one("ngram", ngram), _from_one("candidates", candidates)
    deepest = int(length.max(initial=1.0))
    total = np.zeros(np.broadcast_shapes(chance.shape, length.shape, count.shape, share.shape))
    for depth in range(1, deepest):
        with np.errstate(divide="ignore"):  # log 0 = -inf is right where a token is sure
            reached = -np.expm1(count * np.log1p(-(chance**depth)))
        total += np.where(depth < length, reached, 0.0)
    return plain(np.asarray(1.0 + share * total))


def _from_one(name: str, value: Numbers) -> FloatArray:
    found = lengths(name, value)
    if np.any(found < 1.0):
        raise ValueError(f"{name} must be at least 1; got {float(found.min()):g}.")
    return nonnegatives(name, found)


def _one_vector(rows: RateRows) -> tuple[float, ...]:
    if not rows.repeats:
        raise ValueError(
            "rates must be one vector that holds at every depth; "
            f"got {len(rows.rows)} rows, one per depth."
        )
    return rows.rows[0]


def _inverse(left: float) -> float:
    return 1.0 / left if left > 0.0 else math.inf

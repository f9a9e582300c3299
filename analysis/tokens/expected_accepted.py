"""Expected accepted tokens of a round, exactly, for contexts that do not depend on the draft."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from analysis.tokens.acceptance import acceptance_of_rows, as_pair, check_picked
from simulator._checks import FloatArray, as_count
from simulator._inputs import check_rule
from simulator.rules import Picked, Rule

MOST_DRAFTS = 4_000_000
"""Block verification is summed over every possible draft, at most this many."""


def expected_accepted(
    target_probs: npt.ArrayLike,
    draft_probs: npt.ArrayLike,
    gamma: int,
    *,
    rule: Rule,
    picked: Picked = "drawn",
    drop_below: float = 0.0,
) -> float:
    """E[accepted tokens per round] for gamma drafted tokens whose contexts do not depend on them.

    Rules that judge one token after the other: Σ_l Π_{i<=l} a_i with a_i the acceptance at depth i
    (times the chance that nothing was dropped up to there). Block verification: Σ_l E[p_l] over
    every possible draft, p_0 = 1, p_i = min(p_{i-1} P_i(X_i) / Q_i(X_i), 1), X drawn from Q
    (Sun et al. 2024). Add 1 for the tokens per round.

    `target_probs`, `draft_probs`: one distribution for all depths, shape [vocabulary], or one per
    depth, [gamma, vocabulary]. Raises ValueError for other shapes, and for block verification of
    drafts that were not drawn or of more than MOST_DRAFTS possible ones.

    >>> from simulator.rules import block_verification, speculative_sampling
    >>> target, draft = [1 / 3, 2 / 3], [2 / 3, 1 / 3]
    >>> round(expected_accepted(target, draft, 2, rule=speculative_sampling()), 6)
    1.111111
    >>> round(expected_accepted(target, draft, 2, rule=block_verification()), 6)
    1.222222
    """
    as_count("gamma", gamma)
    check_rule(rule)
    check_picked(picked, drop_below)
    target, draft = as_pair(target_probs, draft_probs)
    if target.ndim > 2 or (target.ndim == 2 and len(target) != gamma):
        raise ValueError(
            "target_probs and draft_probs must have shape [vocabulary] or "
            f"[{gamma}, vocabulary], one row per depth; got {list(target.shape)}."
        )
    shape = (gamma, target.shape[-1])
    target, draft = np.broadcast_to(target, shape), np.broadcast_to(draft, shape)
    if rule.name == "block_verification" and gamma > 1:
        return _expected_block(target, draft, picked)
    kept = np.atleast_1d(acceptance_of_rows(target, draft, rule, picked, drop_below))
    if picked == "dropped":
        stays = np.where(draft >= drop_below, draft, 0.0).sum(axis=-1)
        kept = np.where(stays > 0.0, kept * stays, 0.0)
    return float(np.cumprod(kept).sum())


def _expected_block(target: FloatArray, draft: FloatArray, picked: Picked) -> float:
    """Σ_l E[p_l], depth by depth over every draft so far."""
    if picked != "drawn":
        raise ValueError(
            "block verification has this expectation for drafts that were drawn from draft_probs; "
            f"got picked={picked!r}."
        )
    possible = [row > 0.0 for row in draft]
    drafts = math.prod(int(mask.sum()) for mask in possible)
    if drafts > MOST_DRAFTS:
        many = f"10^{math.log10(drafts):.0f}" if drafts > 10**15 else f"{drafts:,}"
        raise ValueError(
            f"block verification is summed over every possible draft, at most {MOST_DRAFTS:,}; got "
            f"{many} drafts of gamma = {len(draft)} tokens."
        )
    total, weights, products = 0.0, np.ones(1), np.ones(1)  # one entry per draft so far
    for row, other, mask in zip(target, draft, possible, strict=True):
        ratio = row[mask] / other[mask]
        products = np.minimum(np.multiply.outer(products, ratio), 1.0).ravel()
        weights = np.multiply.outer(weights, other[mask]).ravel()
        total += float(weights @ products)
    return total

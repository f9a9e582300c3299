"""Block verification: the longest prefix of the draft that passes, not the first token that fails."""

from __future__ import annotations

import numpy as np

from simulator._checks import FloatArray, IntArray
from simulator._rows import Rows, chunks, possible


def judge_blocks(
    target: Rows,
    draft: Rows,
    drafted: IntArray,
    where: tuple[IntArray, IntArray],
    rng: np.random.Generator,
) -> tuple[IntArray, FloatArray]:
    """Kept tokens per round, and the factor of P in the residual max(factor P - Q, 0) behind them.

    With w_0 = 1 and w_i = min(w_(i-1) P(x_i) / Q(x_i), 1), prefix i passes with probability
    h_i = A_i / (A_i + 1 - w_i), A_i = sum_x max(w_i P(x) - Q(x), 0) over the next token, and the
    whole draft with h_gamma = w_gamma; the longest prefix that passes is kept (Sun et al. 2024,
    algorithm 2). Shapes [rounds]; `where` numbers the rows of each position.
    """
    rounds, gamma = drafted.shape
    lengths = np.zeros(rounds, dtype=np.int64)
    weight = np.ones(rounds)
    kept_weight = np.ones(rounds)
    for depth in range(gamma):
        tokens = drafted[:, depth]
        likely = target.look_up(where[0][:, depth], tokens)
        weight = np.minimum(weight * likely / possible(draft, where[1][:, depth], tokens), 1.0)
        if depth + 1 == gamma:
            passes = weight
        else:
            gain = _gains(target, draft, where[0][:, depth + 1], where[1][:, depth + 1], weight)
            loss = 1.0 - weight
            # 0 / 0 is a certain prefix before two equal distributions: any answer gives one law.
            passes = np.divide(gain, gain + loss, out=np.ones(rounds), where=gain + loss > 0.0)
        passed = rng.random(rounds) < passes
        lengths[passed] = depth + 1
        kept_weight[passed] = weight[passed]
    return lengths, kept_weight


def _gains(
    target: Rows, draft: Rows, target_rows: IntArray, draft_rows: IntArray, weight: FloatArray
) -> FloatArray:
    """sum_x max(w P(x) - Q(x), 0) per round."""
    gains = np.zeros(weight.size)
    for some in chunks(np.flatnonzero(weight > 0.0), target.vocabulary):
        rest = target.at(target_rows[some])
        rest = rest * weight[some, None].astype(rest.dtype) - draft.at(draft_rows[some])
        np.maximum(rest, 0.0, out=rest)
        gains[some] = rest.sum(axis=1)
    return gains

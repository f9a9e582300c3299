"""One token from each of many rows of weights, by inversion of one uniform number per row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray, IntArray

BLOCK = 128
"""Tokens summed together first: a running sum over a whole vocabulary costs several plain ones."""


def pick(weights: npt.NDArray[Any], uniforms: FloatArray) -> IntArray:
    """The first token whose running weight exceeds uniform x total, [k] from weights [k, vocabulary].

    Never a token of weight 0, if its row has any other; a row of zeros gives -1.
    """
    vocabulary = weights.shape[1]
    if vocabulary <= 2 * BLOCK:
        return _pick_small(weights.astype(np.float64, copy=False), uniforms)
    whole = vocabulary - vocabulary % BLOCK
    blocks = weights[:, :whole].reshape(len(weights), whole // BLOCK, BLOCK)
    sums = blocks.sum(axis=2, dtype=np.float64)
    if whole < vocabulary:
        sums = np.column_stack([sums, weights[:, whole:].sum(axis=1, dtype=np.float64)])
    running = sums.cumsum(axis=1)
    goal = uniforms * running[:, -1]
    block = _first_above(running, goal, sums)
    tokens = np.empty(len(weights), dtype=np.int64)
    for row, (number, wanted) in enumerate(zip(block.tolist(), goal.tolist(), strict=True)):
        inside = weights[row, BLOCK * number : BLOCK * (number + 1)].astype(np.float64)
        before = running[row, number - 1] if number > 0 else 0.0
        found = _first_above(inside.cumsum()[None], np.array([wanted - before]), inside[None])
        tokens[row] = -1 if number < 0 else BLOCK * number + int(found[0])
    return tokens


def _pick_small(weights: FloatArray, uniforms: FloatArray) -> IntArray:
    running = weights.cumsum(axis=1)
    return _first_above(running, uniforms * running[:, -1], weights)


def _first_above(running: FloatArray, goal: FloatArray, weights: FloatArray) -> IntArray:
    """First index whose running sum exceeds the goal; where rounding left none, the last with weight."""
    index: IntArray = (running <= goal[:, None]).sum(axis=1)
    for row in np.flatnonzero(index == running.shape[1]):
        positive = np.flatnonzero(weights[row])
        index[row] = positive[-1] if positive.size else -1
    return index

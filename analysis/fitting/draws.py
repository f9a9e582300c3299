"""The best point of a law for many draws of requests at once: a few of Newton's steps from the data's.

The first step takes each draw's own score and curvature from those of the requests at the data's best
point; where that is quick, two more take derivatives at the draw's own point. A step that does not
raise the draw's likelihood is halved or left out. (k-step bootstrap: Davidson and MacKinnon 1999,
Andrews 2002.)
"""

from __future__ import annotations

import numpy as np

from analysis.fitting.laws import Law
from analysis.fitting.maximise import Peak
from analysis.fitting.rows import Rows
from simulator._checks import FloatArray

_SHARES = (1.0, 0.5)  # of a Newton step
_LONGEST = 4.0  # of theta
_STEP = 2e-3
_CELLS = 2_000_000  # points × rows at a time
_WORK = 4_000_000  # points × rows × rounds in order for which more steps are quick
_MORE_STEPS = 2


def newton_draws(peak: Peak, weights: FloatArray, rows: Rows) -> FloatArray:
    """The best point of each draw, [draws, k]; `weights` [draws, rows] say how often a row is in it."""
    k = len(peak.theta)
    slope = weights @ peak.scores  # [draws, k]
    curvature = (weights @ peak.curvature.reshape(-1, k * k)).reshape(-1, k, k)
    thetas = np.repeat(peak.theta[np.newaxis], len(weights), axis=0)
    values = weights @ peak.values
    thetas, values = _step(peak.law, thetas, values, slope, curvature, weights, rows)
    rounds = len(rows.kept) if peak.law.in_order and rows.kept is not None else 1
    if len(weights) * (1 + k + k * k) * len(rows.rounds) * rounds > _WORK:
        return thetas
    pinned = list(peak.pinned)
    for _ in range(_MORE_STEPS):
        slope, curvature = _derivatives(peak.law, thetas, values, weights, rows)
        slope[:, pinned] = 0.0
        curvature[:, pinned, :] = curvature[:, :, pinned] = 0.0
        curvature[:, pinned, pinned] = -1.0
        thetas, values = _step(peak.law, thetas, values, slope, curvature, weights, rows)
    return thetas


def draw_totals(law: Law, thetas: FloatArray, weights: FloatArray, rows: Rows) -> FloatArray:
    """Log-likelihood of each draw at its own point, [draws], a block of draws at a time."""
    block = max(_CELLS // max(len(rows.rounds), 1), 1)
    parts = [
        np.einsum(
            "dr,dr->d", weights[i : i + block], law.log_likelihood(thetas[i : i + block], rows)
        )
        for i in range(0, len(thetas), block)
    ]
    return np.concatenate(parts)


def _step(
    law: Law,
    thetas: FloatArray,
    values: FloatArray,
    slope: FloatArray,
    curvature: FloatArray,
    weights: FloatArray,
    rows: Rows,
) -> tuple[FloatArray, FloatArray]:
    roots, axes = np.linalg.eigh(-curvature)
    floor = 1e-8 * np.abs(roots).max(axis=1, keepdims=True) + 1e-300
    along = np.einsum("dk,dkj->dj", slope, axes) / np.maximum(np.abs(roots), floor)
    step = np.einsum("dkj,dj->dk", axes, along)
    size = np.linalg.norm(step, axis=1, keepdims=True)
    step *= np.minimum(1.0, _LONGEST / np.maximum(size, 1e-300))
    best, value = thetas.copy(), values.copy()
    for share in _SHARES:
        trial = thetas + share * step
        now = draw_totals(law, trial, weights, rows)
        better = now > value
        best[better], value[better] = trial[better], now[better]
    return best, value


def _derivatives(
    law: Law, thetas: FloatArray, values: FloatArray, weights: FloatArray, rows: Rows
) -> tuple[FloatArray, FloatArray]:
    """Score [draws, k] and curvature [draws, k, k] of each draw at its own point, by differences."""
    k = thetas.shape[1]
    steps = np.eye(k) * _STEP
    up = [draw_totals(law, thetas + step, weights, rows) for step in steps]
    down = [draw_totals(law, thetas - step, weights, rows) for step in steps]
    slope = np.stack([(u - d) / (2.0 * _STEP) for u, d in zip(up, down, strict=True)], axis=1)
    curvature = np.empty((len(thetas), k, k))
    for i in range(k):
        curvature[:, i, i] = (up[i] - 2.0 * values + down[i]) / _STEP**2
        for j in range(i):
            both = steps[i] + steps[j]
            mixed = draw_totals(law, thetas + both, weights, rows)
            mixed += draw_totals(law, thetas - both, weights, rows)
            mixed += 2.0 * values - up[i] - down[i] - up[j] - down[j]
            curvature[:, i, j] = curvature[:, j, i] = mixed / (2.0 * _STEP**2)
    return slope, curvature

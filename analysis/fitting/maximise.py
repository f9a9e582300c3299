"""The best parameters of a law: Newton's steps, damped, with derivatives by differences."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from analysis.fitting.laws import Law
from analysis.fitting.rows import Rows
from simulator._checks import FloatArray

_STEP = 2e-3  # of theta, a log odds: truncation and rounding both stay below 1e-5 of a score
_MANY = 600  # rows; more are approached from the best point of that many
_DAMPING = (0.0, 1e-3, 1e-2, 0.1, 1.0, 10.0)
_ITERATIONS = 60
_PINNED = 9.0  # log odds beyond which a probability is taken as 0 or 1: 1 in 8,000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Peak:
    """The best point of a law, and the likelihood around it.

    `values` [rows], `scores` [rows, k] and `curvature` [rows, k, k] (a diagonal only for a law whose
    parameters are separate) are those of each row there. `pinned` parameters lie at the end of their
    range and stay there; `edge` says why the point cannot be used.
    """

    law: Law
    theta: FloatArray
    value: float
    values: FloatArray
    scores: FloatArray
    curvature: FloatArray
    pinned: tuple[int, ...]
    edge: str | None

    def inverse(self, weights: FloatArray) -> FloatArray | None:
        """The inverse of the negative curvature, [k, k]; None if the peak is no peak."""
        information = -np.tensordot(weights, self.curvature, axes=1)
        roots, axes = np.linalg.eigh(information)
        if not roots.size or roots[0] <= 1e-9 * max(float(roots[-1]), 1e-9):
            return None
        return np.asarray((axes / roots) @ axes.T, dtype=np.float64)


def maximise(law: Law, rows: Rows, *, start: FloatArray | None = None) -> Peak:
    """The maximum of Σ weights · log-likelihood over the parameters of `law`."""
    exact = law.exact(rows.weights[np.newaxis], rows)
    if exact is not None:
        return _peak(law, rows, exact[0])
    if start is None and len(rows.rounds) > _MANY:
        chosen = np.arange(0, len(rows.rounds), -(-len(rows.rounds) // _MANY))
        start = maximise(law, rows.subset(chosen)).theta
    if start is not None:
        return _peak(law, rows, _climb(law, rows, start))
    starts = law.starts(rows)
    totals = law.log_likelihood(starts, rows) @ rows.weights
    best = [_climb(law, rows, starts[i]) for i in np.argsort(-totals)[:2]]
    ends = law.log_likelihood(np.asarray(best), rows) @ rows.weights
    return _peak(law, rows, best[int(np.argmax(ends))])


def _climb(law: Law, rows: Rows, theta: FloatArray) -> FloatArray:
    value = -np.inf
    for _ in range(_ITERATIONS):
        values, scores, curvature = derivatives(law, theta, rows)
        now = float(rows.weights @ values)
        slope = rows.weights @ scores
        roots, axes = np.linalg.eigh(np.tensordot(rows.weights, curvature, axes=1))
        roots = np.abs(roots)  # a step up, also where the likelihood is no hill yet
        largest = max(float(roots.max()), 1e-12)
        along = slope @ axes
        steps = np.asarray([axes @ (along / (roots + max(d, 1e-10) * largest)) for d in _DAMPING])
        sizes = np.linalg.norm(steps, axis=1, keepdims=True)
        steps *= np.minimum(1.0, 2.0 / np.maximum(sizes, 1e-300))
        trials = theta + steps
        totals = law.log_likelihood(trials, rows) @ rows.weights
        best = int(np.argmax(totals))
        if not totals[best] > now:
            return theta
        theta, value = trials[best], float(totals[best])
        if value - now < 1e-8 * max(1.0, abs(now) * 1e-4):
            return theta
    return theta


def derivatives(
    law: Law, theta: FloatArray, rows: Rows
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Log-likelihood, score and curvature of each row, by central differences in one call.

    Shapes [rows], [rows, k], [rows, k, k].
    """
    k = len(theta)
    steps = np.eye(k) * _STEP
    both = [] if law.separate else [(i, j) for i in range(k) for j in range(i)]
    points = [theta[np.newaxis], theta + steps, theta - steps]
    if both:
        points.append(np.asarray([theta + steps[i] + steps[j] for i, j in both]))
        points.append(np.asarray([theta - steps[i] - steps[j] for i, j in both]))
    found = law.log_likelihood(np.concatenate(points), rows)
    middle, up, down = found[0], found[1 : k + 1], found[k + 1 : 2 * k + 1]
    scores = (up - down).T / (2.0 * _STEP)
    curvature = np.zeros((len(middle), k, k))
    for i in range(k):
        curvature[:, i, i] = (up[i] - 2.0 * middle + down[i]) / _STEP**2
    more, less = found[2 * k + 1 : 2 * k + 1 + len(both)], found[2 * k + 1 + len(both) :]
    for at, (i, j) in enumerate(both):
        mixed = more[at] + less[at] - up[i] - down[i] - up[j] - down[j] + 2.0 * middle
        curvature[:, i, j] = curvature[:, j, i] = mixed / (2.0 * _STEP**2)
    return middle, scores, curvature


def _peak(law: Law, rows: Rows, theta: FloatArray) -> Peak:
    theta = law.canonical(theta)
    values, scores, curvature = derivatives(law, theta, rows)
    pinned = np.flatnonzero(np.abs(theta) > _PINNED) if law.odds_only else np.zeros(0, dtype=int)
    scores[:, pinned] = 0.0
    curvature[:, pinned, :] = curvature[:, :, pinned] = 0.0
    curvature[:, pinned, pinned] = -1.0  # it stays, and nothing depends on it
    peak = Peak(
        law=law,
        theta=theta,
        value=float(rows.weights @ values),
        values=values,
        scores=scores,
        curvature=curvature,
        pinned=tuple(int(i) for i in pinned),
        edge=law.at_edge(theta),
    )
    if peak.edge is None and law.extrapolates and peak.inverse(rows.weights) is None:
        flat = "its likelihood is flat: these rounds do not tell its parameters apart"
        return dataclasses.replace(peak, edge=flat)
    return peak

"""Least squares in log time at one overlap: linear parts, parameters with a least value, a soft loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.pass_fit.design import Design
from simulator._checks import FloatArray

SOFT = 0.1
"""Residuals (log time) beyond which a cell counts for less than its square."""
_ROUNDS = 120
_FLOOR = 1e-9  # of the measured time: no logarithm of 0
_SPLITS = 10
_STEP = 1e-4  # in 1 / k


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """The parameters of `design` at the overlap k = 1 / `turn`, and the loss that is left."""

    design: Design
    turn: float
    theta: FloatArray
    loss: float

    @property
    def fitted(self) -> FloatArray:
        """The time of each cell [s]."""
        return times(self.design, self.theta, self.turn)[0]

    @property
    def residuals(self) -> FloatArray:
        """log(fitted / measured)."""
        return np.asarray(np.log(self.fitted / self.design.seconds))


def times(design: Design, theta: FloatArray, turn: float) -> tuple[FloatArray, FloatArray]:
    """The time of each cell [s] and its derivatives by the parameters, shape [cells, parameters]."""
    parts = design.parts
    memory, compute, rest = design.known + parts @ theta
    combined, by_memory, by_compute = _combined(memory, compute, turn)
    slopes = by_memory[:, None] * parts[0] + by_compute[:, None] * parts[1] + parts[2]
    return np.maximum(combined + rest, _FLOOR * design.seconds), slopes


def log_slopes(design: Design, theta: FloatArray, turn: float) -> FloatArray:
    """Derivatives of log time by the parameters, weighted by the root of each cell's weight."""
    fitted, slopes = times(design, theta, turn)
    weights = np.sqrt(_soft_weights(design, np.log(fitted / design.seconds)))
    return np.asarray((weights / fitted)[:, None] * slopes)


def turn_slope(design: Design, theta: FloatArray, turn: float) -> FloatArray:
    """The same by 1 / k, shape [cells]."""
    low, high = max(turn - _STEP, 0.0), min(turn + _STEP, 1.0)
    fitted = times(design, theta, turn)[0]
    change = times(design, theta, high)[0] - times(design, theta, low)[0]
    weights = np.sqrt(_soft_weights(design, np.log(fitted / design.seconds)))
    return np.asarray(weights * change / (high - low) / fitted)


def solve(design: Design, turn: float, starts: Sequence[FloatArray]) -> Solution:
    """The best of what Levenberg's and Marquardt's steps reach from every start."""
    found = [_descend(design, turn, start) for start in starts]
    return min(found, key=lambda each: each.loss)


def polish(solution: Solution) -> Solution:
    """The same with 1 / k sought too, from where the solution is."""
    return _descend(solution.design, solution.turn, solution.theta, free=True)


def starts(design: Design, turn: float) -> list[FloatArray]:
    """Where to begin: linear fits with everything added up, and with the cells split at a width.

    Where cells below a width are bound by reading and those above by computing, time is linear in the
    parameters: nonnegative least squares finds them at once. The two best splits are tried.
    """
    memory, compute, rest = design.parts
    fixed = design.known
    found = [_linear(design, memory + compute + rest, fixed.sum(axis=0))]
    if turn < 1.0:
        widths = np.unique(design.width)
        cuts = np.unique(np.quantile(widths, np.linspace(0.0, 1.0, _SPLITS + 1), method="lower"))
        splits = []
        for cut in cuts:
            below = design.width <= cut
            rows = np.where(below[:, None], memory, compute) + rest
            splits.append(_linear(design, rows, np.where(below, fixed[0], fixed[1]) + fixed[2]))
        losses = [loss_of(design, start, turn) for start in splits]
        found += [splits[index] for index in np.argsort(losses)[:2]]
    return found


def loss_of(design: Design, theta: FloatArray, turn: float) -> float:
    """Σ weight · SOFT² (√(1 + (r / SOFT)²) − 1): half the square where r is small."""
    residuals = np.log(times(design, theta, turn)[0] / design.seconds)
    return _loss(design, residuals)


def _loss(design: Design, residuals: FloatArray) -> float:
    squares = (residuals / SOFT) ** 2
    return float(design.weights @ (squares / (1.0 + np.sqrt(1.0 + squares)))) * SOFT**2


def _soft_weights(design: Design, residuals: FloatArray) -> FloatArray:
    return np.asarray(design.weights / np.sqrt(1.0 + (residuals / SOFT) ** 2))


def _descend(design: Design, turn: float, theta: FloatArray, *, free: bool = False) -> Solution:
    """Steps that solve the linearised problem with its bounds, damped until they descend.

    The bounds are kept by nonnegative least squares, so that a parameter can end on its bound.
    """
    from scipy.optimize import nnls  # noqa: PLC0415 — `import analysis` loads numpy only

    low, damping = design.low, 1e-3
    loss = loss_of(design, theta, turn)
    if not design.names and not free:  # SciPy 1.17 ends the process for a matrix without columns
        return Solution(design=design, turn=turn, theta=theta, loss=loss)
    for _ in range(_ROUNDS):
        fitted, _ = times(design, theta, turn)
        residuals = np.log(fitted / design.seconds)
        root = np.sqrt(_soft_weights(design, residuals))
        slopes = log_slopes(design, theta, turn)
        point, bound = theta - low, 0.0
        if free:
            slopes = np.column_stack([slopes, turn_slope(design, theta, turn)])
            point = np.append(point, turn)
        scale = _scales(slopes)
        wanted = slopes @ point - root * residuals
        moved = False
        while damping < 1e12:
            damp = np.sqrt(damping)
            rows = np.vstack([slopes * scale, damp * np.eye(len(scale))])
            try:
                step, _ = nnls(rows, np.concatenate([wanted, damp * point / scale]))
            except RuntimeError:  # it gave up: a shorter step is an easier problem
                damping *= 8.0
                continue
            reached = scale * step
            new_turn = float(min(reached[-1], 1.0)) if free else turn
            new_theta = low + (reached[:-1] if free else reached)
            new = loss_of(design, new_theta, new_turn)
            if new < loss:
                moved = loss - new > 1e-13 * loss
                theta, turn, loss, bound = new_theta, new_turn, new, damping
                damping = max(bound / 10.0, 1e-15)
                break
            damping *= 8.0
        if not moved:
            break
    return Solution(design=design, turn=turn, theta=theta, loss=loss)


def _scales(slopes: FloatArray) -> FloatArray:
    size = np.linalg.norm(slopes, axis=0)
    return np.asarray(1.0 / np.where(size > 0.0, size, 1.0))


def _linear(design: Design, rows: FloatArray, known: FloatArray) -> FloatArray:
    """Nonnegative least squares of relative errors for a linear model of the times."""
    if not design.names:
        return design.low
    from scipy.optimize import nnls  # noqa: PLC0415 — `import analysis` loads numpy only

    scaled = rows / design.seconds[:, None] * np.sqrt(design.weights)[:, None]
    left = (design.seconds - known - rows @ design.low) / design.seconds
    scale = _scales(scaled)
    try:
        found, _ = nnls(scaled * scale, left * np.sqrt(design.weights))
    except RuntimeError:
        found = np.zeros(len(scale))
    return np.asarray(design.low + scale * found)


def _combined(
    memory: FloatArray, compute: FloatArray, turn: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(memory^k + compute^k)^(1/k) with k = 1 / turn, and its derivatives by both."""
    longer, shorter = np.maximum(memory, compute), np.minimum(memory, compute)
    if turn == 0.0:
        first = (memory >= compute).astype(np.float64)
        return longer, first, 1.0 - first
    ratio = np.divide(shorter, longer, out=np.zeros_like(longer), where=longer > 0.0)
    k = 1.0 / turn
    with np.errstate(under="ignore"):
        combined = longer * np.exp(np.log1p(ratio**k) * turn)
        safe = np.where(combined > 0.0, combined, 1.0)
        by_memory, by_compute = (
            np.where(combined > 0.0, (part / safe) ** (k - 1.0), 1.0) for part in (memory, compute)
        )
    return combined, by_memory, by_compute

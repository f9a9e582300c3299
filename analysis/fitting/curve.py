"""A process behind means at several draft lengths: weighted least squares on the curve."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from analysis.fitting.choice import Candidate
from analysis.fitting.families import extrapolation_errors
from analysis.fitting.laws import chance
from analysis.fitting.result import MOST, Fit
from analysis.fitting.shapes import SHAPES, Shape
from analysis.fitting.spread import Spread, t_quantile
from simulator import Estimate, Method
from simulator._checks import FloatArray, as_count, as_nonnegative

CurveChoice = Literal["loo", "aicc"]
_STEP = 1e-4
_PINNED = 9.0  # log odds
_CLOSE = 0.05  # of the smallest score: what does not decide between two processes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Found:
    shape: Shape
    theta: FloatArray
    squares: float  # Σ ((predicted - given) / weight)²
    left_out: float  # the same, each point predicted from the others; NaN with too few


def fit_curve(
    curve: Mapping[int, float],
    *,
    half_width: float | Mapping[int, float] = 0.005,
    method: Method | None = None,
    choice: CurveChoice = "loo",
    level: float = 0.95,
) -> Fit:
    """The process whose curve of tokens per round comes closest to means at several draft lengths.

    `curve` maps gamma to tokens per round (at least two), `half_width` is that of their rounding, one
    number or one per gamma; points are weighted by 1 / half_width. Candidates, as far as there are
    more points than parameters: constant p, geometric decay p_i = p_1 d^(i - 1) (falls with depth),
    rise (a draft is right with one probability, then each token is kept with another), easy/hard
    chain along the text. `choice` "loo": the smallest error when each point is predicted from the
    others, and of those within 5 % of it, or within the rounding, the one with fewest parameters;
    "aicc": the corrected criterion of Akaike (Hurvich and Tsai 1989). Intervals are those of least
    squares, from the residuals and at least the rounding; they take the process as right. The
    `method` adds what its published curves say about one p.

    Raises ValueError for fewer than two points and means outside [1, gamma + 1].

    >>> found = fit_curve({1: 1.8, 2: 2.44, 3: 2.952, 4: 3.3616})
    >>> found.name, round(found.parameters["p"].value, 3), round(found.tokens_per_round(8).value, 2)
    ('constant p', 0.8, 4.33)
    """
    gammas, means, widths = _checked(curve, half_width)
    if choice not in {"loo", "aicc"}:
        raise ValueError(f"choice must be loo or aicc; got {choice!r}.")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be a number between 0 and 1; got {level!r}.")
    found: list[_Found] = []
    candidates: list[Candidate] = []
    for shape in SHAPES:
        needed = len(shape.names) + 1
        if len(gammas) < needed:
            why = f"cannot be told: needs {needed} points; there are {len(gammas)}"
            candidates.append(Candidate(name=shape.name, parameters=needed - 1, reason=why))
            continue
        if simple := [f for f in found if _score(f, len(gammas), "loo") <= 1.0]:
            why = f"not tried: {simple[0].shape.name} explains the means within their rounding"
            candidates.append(Candidate(name=shape.name, parameters=needed - 1, reason=why))
            continue
        one = _fitted(shape, gammas, means, widths)
        if needed > 4 and bool(np.any(np.abs(one.theta) > _PINNED)):
            why = "cannot be told: its best parameters lie at the edge of their range"
            candidates.append(Candidate(name=shape.name, parameters=needed - 1, reason=why))
            continue
        found.append(one)
    scores = {f.shape.name: _score(f, len(gammas), choice) for f in found}
    least = min(scores.values())
    best = min(
        (f for f in found if scores[f.shape.name] <= least + abs(least) * _CLOSE),
        key=lambda f: (len(f.theta), scores[f.shape.name]),
    )
    label = "leave-one-out error" if choice == "loo" else "AICc"
    for f in found:
        score = scores[f.shape.name]
        rmse = math.sqrt(f.squares / len(gammas))
        chosen = f is best
        what = f"{label} {score:.3g}, residuals {rmse:.3g}" + (
            "" if choice == "aicc" else " (half-widths of the rounding)"
        )
        if chosen:
            word = "smallest" if score <= least else "fewest parameters of those near the smallest"
        else:
            word = "larger" if score > scores[best.shape.name] else "no smaller by more than chance"
        reason = f"{word}: {what}"
        candidates.append(
            Candidate(
                name=f.shape.name,
                parameters=len(f.theta),
                criterion=score,
                chosen=chosen,
                reason=reason,
            )
        )
    return _result(best, curve, gammas, widths, tuple(candidates), method, level)


def _result(
    best: _Found,
    means: Mapping[int, float],
    gammas: list[int],
    widths: FloatArray,
    candidates: tuple[Candidate, ...],
    method: Method | None,
    level: float,
) -> Fit:
    shape, theta = best.shape, best.theta
    spare = len(gammas) - len(theta)
    jacobian = _jacobian(shape, theta, gammas) / widths[:, np.newaxis]
    variance = max(best.squares / spare, 1.0 / 3.0)  # of a point; rounding alone has a third
    covariance = variance * np.linalg.pinv(jacobian.T @ jacobian, rcond=1e-10, hermitian=True)

    def curve(asked: Sequence[int]) -> Spread:
        gradient = _jacobian(shape, theta, asked)
        values = shape.tokens(theta[np.newaxis], asked)[0]
        spread = gradient @ covariance @ gradient.T
        return Spread(values=values, covariance=spread, units=spare + 1.0, level=level)

    held = (
        "The intervals take the process as right and hold the residuals and the rounding of "
        f"{len(gammas)} means; which requests were run is not in them."
    )
    notes = [held]
    falls = [(a, b) for a, b in pairwise(gammas) if means[b] < means[a]]
    if falls:
        notes.append(
            f"The means fall from γ = {falls[0][0]} to γ = {falls[0][1]}: longer drafts alone hardly do "
            "that, so the runs may differ in more than the draft length."
        )
    if method is not None and extrapolation_errors(method):
        errors = [e.error for e in extrapolation_errors(method) if e.asked > e.known]
        notes.append(
            f"On published curves of {method}, one p promised {min(errors):+.0%} to {max(errors):+.0%} "
            "for longer drafts."
        )
    half = t_quantile(spare + 1.0, level) * np.sqrt(np.diag(covariance))
    return Fit(
        name=shape.name,
        process=shape.process(theta, max(gammas)),
        candidates=candidates,
        parameters={
            name: _parameter(float(theta[i]), float(half[i]), level)
            for i, name in enumerate(shape.names)
        },
        notes=tuple(notes),
        how="residuals",
        unit="means",
        units=len(gammas),
        measured=max(gammas),
        level=level,
        curve=curve,
    )


def _parameter(theta: float, half: float, level: float) -> Estimate:
    if abs(theta) > _PINNED:  # at the end of its range: the slope there says nothing of an interval
        return Estimate(value=float(chance(np.asarray([theta]))[0]), level=level)
    low, value, high = chance(np.asarray([theta - half, theta, theta + half]))
    return Estimate(value=float(value), interval=(float(low), float(high)), level=level)


def _checked(
    curve: Mapping[int, float], half_width: float | Mapping[int, float]
) -> tuple[list[int], FloatArray, FloatArray]:
    if not isinstance(curve, Mapping) or len(curve) < 2:
        raise ValueError(
            "curve must give tokens per round at two draft lengths or more; "
            f"got {len(curve) if isinstance(curve, Mapping) else curve!r}: fit_mean takes one."
        )
    gammas = sorted(as_count("gamma", gamma, least=1, most=MOST) for gamma in curve)
    widths: list[float] = []
    for gamma in gammas:
        mean = as_nonnegative(f"curve[{gamma}]", curve[gamma])
        if not 1.0 <= mean <= gamma + 1.0:
            raise ValueError(
                f"curve[{gamma}] must lie in [1, gamma + 1] = [1, {gamma + 1}]; got {mean!r}."
            )
        width = half_width.get(gamma, 0.0) if isinstance(half_width, Mapping) else half_width
        if as_nonnegative("half_width", width) == 0.0:
            raise ValueError(
                f"half_width must be above 0 for each gamma; got {width!r} at {gamma}."
            )
        widths.append(width)
    return gammas, np.asarray([curve[g] for g in gammas]), np.asarray(widths)


def _fitted(shape: Shape, gammas: list[int], means: FloatArray, widths: FloatArray) -> _Found:
    theta, squares = _least_squares(shape, shape.starts, gammas, means, widths)
    total = 0.0
    for i in range(len(gammas)):
        others = [g for j, g in enumerate(gammas) if j != i]
        keep = np.arange(len(gammas)) != i
        left, _ = _least_squares(shape, theta[np.newaxis], others, means[keep], widths[keep])
        predicted = shape.tokens(left[np.newaxis], [gammas[i]])[0, 0]
        total += ((predicted - means[i]) / widths[i]) ** 2
    return _Found(shape=shape, theta=theta, squares=squares, left_out=total)


def _least_squares(
    shape: Shape, starts: FloatArray, gammas: list[int], means: FloatArray, widths: FloatArray
) -> tuple[FloatArray, float]:
    from scipy.optimize import least_squares  # noqa: PLC0415 — `import analysis` loads numpy only

    def residuals(theta: FloatArray) -> FloatArray:
        return np.asarray((shape.tokens(theta[np.newaxis], gammas)[0] - means) / widths)

    def slope(theta: FloatArray) -> FloatArray:
        return _jacobian(shape, theta, gammas) / widths[:, np.newaxis]

    first = np.sum((shape.tokens(starts, gammas) - means) ** 2 / widths**2, axis=1)
    best, squares = starts[0], math.inf
    for i in np.argsort(first)[:2]:
        found = least_squares(residuals, starts[i], jac=slope, bounds=(-13.0, 13.0), max_nfev=80)
        if 2.0 * found.cost < squares:
            best, squares = found.x, 2.0 * float(found.cost)
    return best, squares


def _score(found: _Found, points: int, choice: CurveChoice) -> float:
    if choice == "loo":
        # What rounding alone does to a prediction is no reason to prefer a process.
        return max(math.sqrt(found.left_out / points), 1.0)
    k = len(found.theta) + 1  # the variance is one
    if points - k - 1 <= 0:
        return math.inf
    squares = max(found.squares, points / 3.0)
    return points * math.log(squares / points) + 2.0 * k + 2.0 * k * (k + 1) / (points - k - 1)


def _jacobian(shape: Shape, theta: FloatArray, gammas: Sequence[int]) -> FloatArray:
    steps = np.eye(len(theta)) * _STEP
    up, down = shape.tokens(theta + steps, gammas), shape.tokens(theta - steps, gammas)
    return np.asarray((up - down).T / (2.0 * _STEP), dtype=np.float64)

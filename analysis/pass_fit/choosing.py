"""Which overlap the data show, which parameters they tell apart, and how surely."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis.pass_fit.design import SEVERAL, Design
from analysis.pass_fit.solving import Solution, log_slopes, polish, solve, starts, turn_slope
from simulator._checks import FloatArray

TURNS = (0.0, 0.0625, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0)
"""1 / k from the roofline to no overlap: where the loss is looked at."""
_DEPENDENT = 1e-5  # of a column's length that the columns before it must leave
_NO_EFFECT = 1e-6
_CHOOSE, _LEVEL = 0.99, 0.95
_EXACT = 1e-9  # residuals below are rounding
_SPARE = 2  # settings beyond the parameters that an overlap wants


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Choice:
    """The solution, and what it rests on.

    `held` are parameters that the data do not tell, at the value they were given, and `why` each is
    (the parameters it cannot be told from; none where it changes nothing). `turns` is the interval of
    1 / k at 95 %, None where k was given or nothing tells it. `contradicted` says that the data exclude k = 1.
    """

    solution: Solution
    held: Mapping[str, float]
    why: Mapping[str, tuple[str, ...]]
    turns: tuple[float, float] | None
    contradicted: bool


def choose(design: Design, *, turn: float | None, clusters: int) -> Choice:
    """The fit at the overlap 1 / `turn`, or at the one that the data show.

    No overlap (k = 1) is the simplest: time is linear then. Another is taken where k = 1 is excluded at
    99 % by an F test on the losses, `clusters` being the independent times. Nor is a step behind the
    first token taken (`several_s`) unless it is needed by the same test at 95 %.
    """
    plain = _overlap_chosen(design.held({SEVERAL: 0.0}), turn=turn, clusters=clusters)
    if SEVERAL in _idle(design) or design.width.max() == design.width.min():
        return plain
    stepped = _overlap_chosen(design, turn=turn, clusters=clusters)
    freedom = _freedom(stepped, clusters)
    if SEVERAL in stepped.held or freedom < 1:
        return plain
    gained = plain.solution.loss - stepped.solution.loss
    error = max(2.0 * stepped.solution.loss, len(design.seconds) * _EXACT**2) / freedom
    return stepped if 2.0 * gained / error > _threshold(freedom, _LEVEL) else plain


def errors_of(choice: Choice, *, clusters: int) -> tuple[FloatArray, int]:
    """Standard errors of the parameters that were sought, and degrees of freedom.

    Least squares' own, from the residuals, with cells of one setting whose contexts were put together as
    one: they share what the formula does not know. A parameter on its bound counts as unknown for the
    errors of the others. NaN where there are no more settings than parameters.
    """
    solution = choice.solution
    design = solution.design
    slopes = log_slopes(design, solution.theta, solution.turn)
    if choice.contradicted:
        slopes = np.column_stack([slopes, turn_slope(design, solution.theta, solution.turn)])
    freedom = _freedom(choice, clusters)
    if freedom < 1:
        return np.full(len(design.names), math.nan), freedom
    error = math.sqrt(2.0 * solution.loss / freedom)  # Σ weight · r² over independent settings
    size = np.linalg.norm(slopes, axis=0)
    size = np.where(size > 0.0, size, 1.0)
    inner = np.linalg.pinv((slopes / size).T @ (slopes / size))
    found = error * np.sqrt(np.maximum(np.diag(inner), 0.0)) / size
    return found[: len(design.names)], freedom


def _overlap_chosen(design: Design, *, turn: float | None, clusters: int) -> Choice:
    if turn is not None:
        return _settled(design, turn, turns=None, contradicted=False)
    simple = _settled(design, 1.0, turns=None, contradicted=False)
    sought = len(simple.solution.design.names)
    if clusters < sought + _SPARE or design.width.max() == design.width.min():
        return simple
    profile = _profile(design)
    best = min(profile, key=lambda each: each.loss)
    best = _better(polish(best), best)
    freedom = clusters - 1 - int((best.theta > best.design.low).sum())
    if freedom < 1:
        return simple
    error = max(2.0 * best.loss, len(design.seconds) * _EXACT**2) / freedom
    worse = np.array([2.0 * max(each.loss - best.loss, 0.0) for each in profile]) / error
    turns = _interval(worse, best.turn, _threshold(freedom, _LEVEL))
    if worse[-1] < _threshold(freedom, _CHOOSE):
        told = (turns[0], 1.0) if turns[0] > 0.0 else None  # what is taken lies within
        return _settled(design, 1.0, turns=told, contradicted=False)
    return _settled(design, best.turn, turns=turns, contradicted=True, first=best)


def _freedom(choice: Choice, clusters: int) -> int:
    solution = choice.solution
    active = int((solution.theta > solution.design.low).sum())
    return clusters - active - (1 if choice.contradicted else 0)


def _settled(
    design: Design,
    turn: float,
    *,
    turns: tuple[float, float] | None,
    contradicted: bool,
    first: Solution | None = None,
) -> Choice:
    """The fit at one overlap without what the data cannot tell there."""
    why = _idle(design)
    held = _at(design, design.assumed, why)
    if turn == 1.0:  # linear: what depends on what is known before anything is sought
        total = design.parts.sum(axis=0) / design.seconds[:, None]
        why = _dependent(design, total, total)
        held = _at(design, design.assumed, why)
    left = design.held(held)
    solution = first or solve(left, turn, starts(left, turn))
    for _ in range(len(design.names)):
        if turn == 1.0:
            break
        total = left.parts.sum(axis=0) / left.seconds[:, None]
        more = _dependent(left, log_slopes(left, solution.theta, turn), total)
        if not more:
            break
        values = _at(left, left.assumed, more)
        kept = np.array([name not in more for name in left.names], dtype=bool)
        shorter = left.held(values)
        found = solve(shorter, turn, [solution.theta[kept], *starts(shorter, turn)])
        if found.loss > solution.loss * (1.0 + 1e-6) + 1e-15:
            values = _at(left, solution.theta, more)
            shorter = left.held(values)
            found = solve(shorter, turn, [solution.theta[kept]])
        held, why, left, solution = {**held, **values}, {**why, **more}, shorter, found
    return Choice(solution=solution, held=held, why=why, turns=turns, contradicted=contradicted)


def _idle(design: Design) -> dict[str, tuple[str, ...]]:
    """Parameters of which no cell has anything, such as the cache at context 0."""
    return {
        name: () for index, name in enumerate(design.names) if not design.parts[:, :, index].any()
    }


def _at(design: Design, values: FloatArray, names: Mapping[str, object]) -> dict[str, float]:
    pairs = zip(design.names, values, strict=True)
    return {name: float(value) for name, value in pairs if name in names}


def _dependent(design: Design, slopes: FloatArray, total: FloatArray) -> dict[str, tuple[str, ...]]:
    """Parameters that change nothing, or nothing that those before them do not change as well."""
    found: dict[str, tuple[str, ...]] = {}
    basis: FloatArray = np.zeros((len(slopes), 0))
    before: list[int] = []
    for index, name in enumerate(design.names):
        column = slopes[:, index]
        size = float(np.linalg.norm(column))
        if size <= _NO_EFFECT * float(np.linalg.norm(total[:, index])):
            found[name] = ()
            continue
        column = column / size
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)
        if float(np.linalg.norm(rest)) < _DEPENDENT:
            found[name] = _like(design, slopes[:, before], column, before)
            continue
        basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
        before.append(index)
    return found


def _like(
    design: Design, slopes: FloatArray, column: FloatArray, before: list[int]
) -> tuple[str, ...]:
    """The parameters whose columns make up another one."""
    scale = np.linalg.norm(slopes, axis=0)
    shares = np.linalg.lstsq(slopes / scale, column, rcond=None)[0]
    return tuple(
        design.names[index]
        for index, share in zip(before, shares, strict=True)
        if abs(share) > 1e-3
    )


def _profile(design: Design) -> list[Solution]:
    """The best fit at each of TURNS, each begun also where its neighbours ended."""
    left = design.held(_at(design, design.assumed, _idle(design)))
    found: list[Solution] = []
    for turn in TURNS:
        near = [found[-1].theta] if found else []
        found.append(solve(left, turn, [*near, *starts(left, turn)]))
    for index in range(len(TURNS) - 2, -1, -1):
        again = solve(left, TURNS[index], [found[index + 1].theta])
        found[index] = _better(again, found[index])
    return found


def _better(new: Solution, old: Solution) -> Solution:
    """The new one where it is clearly better: rounding must not move an overlap off its end."""
    return new if new.loss < old.loss * (1.0 - 1e-6) and old.loss > _EXACT**2 else old


def _interval(worse: FloatArray, best: float, threshold: float) -> tuple[float, float]:
    """Where the loss crosses the threshold around the best 1 / k, by its root between the TURNS."""
    ends = []
    for side in (-1, 1):
        inside, reached = best, 0.0
        end = 0.0 if side < 0 else 1.0
        turns = [
            (turn, value)
            for turn, value in zip(TURNS, worse, strict=True)
            if (turn - best) * side > 0.0
        ]
        for turn, value in turns[::side]:
            root, limit = math.sqrt(value), math.sqrt(threshold)
            if root > limit:
                share = (limit - reached) / (root - reached) if root > reached else 1.0
                end = inside + (turn - inside) * min(max(share, 0.0), 1.0)
                break
            inside, reached = turn, min(root, limit)
        ends.append(end)
    return ends[0], ends[1]


def _threshold(freedom: int, level: float) -> float:
    from scipy.special import fdtri  # noqa: PLC0415 — `import analysis` loads numpy only

    return float(fdtri(1.0, freedom, level))

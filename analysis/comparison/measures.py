"""The log factors of a comparison and acceptance by depth, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.comparison.resampling import Fixed, Logs, RatioDifference, Statistic, intervals
from analysis.comparison.result import DepthChange
from analysis.comparison.sides import Side
from simulator import Estimate, Observation
from simulator._checks import FloatArray

PARTS = ("acceptance", "kept", "pass_time")
"""tokens / rounds, tokens that arrived / tokens, and rounds / second: their product is speed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The log of each factor, after against before, by name; `whole` is their sum."""

    whole: Estimate
    parts: dict[str, Estimate]


def measure(
    before: Side, after: Side, *, paired: bool, rng: np.random.Generator, level: float
) -> Measured:
    """The logs of the factors that both sides know, and of their product."""
    known = ["acceptance"]
    timed = before.seconds_per_round is not None and after.seconds_per_round is not None
    if timed and before.emitted is not None and after.emitted is not None:
        known.append("kept")
    if timed:
        known.append("pass_time")
    names = [*known, "whole"]
    if paired:
        columns = np.concatenate([_columns(before, known), _columns(after, known)], axis=1)
        signs = _signs(known)
        both: Statistic = Logs(columns=columns, signs=np.concatenate([-signs, signs], axis=1))
        found = intervals([(both, before.count)], rng=rng, level=level)
    else:
        samples = [_sample(side, known, sign) for side, sign in ((before, -1.0), (after, 1.0))]
        found = intervals(samples, rng=rng, level=level)
    by_name = dict(zip(names, found, strict=True))
    by_name = {
        name: _without_noise_unknown(name, value, before, after) for name, value in by_name.items()
    }
    whole = by_name.pop("whole")
    return Measured(whole=whole, parts=by_name)


def _without_noise_unknown(name: str, value: Estimate, before: Side, after: Side) -> Estimate:
    """Time from a clock alone is one number a side: how noisy it is, nobody knows."""
    clocked = any(s.decode_s is None for s in (before, after))
    if name == "pass_time" and clocked:
        return Estimate(value=value.value, level=value.level)
    return value


def _columns(side: Side, known: Sequence[str]) -> FloatArray:
    """Rounds, tokens, tokens that arrived and seconds, [units, 4]; what is not asked for is 1."""
    ones = np.ones(side.count)
    emitted = side.emitted if "kept" in known and side.emitted is not None else side.tokens
    seconds = ones
    if "pass_time" in known and side.decode_s is not None:
        seconds = side.decode_s
    elif "pass_time" in known and side.seconds_per_round is not None:
        seconds = side.rounds * side.seconds_per_round  # the clock gives one pace for all of them
    return np.stack([side.rounds, side.tokens, emitted, seconds], axis=1)


def _signs(known: Sequence[str]) -> FloatArray:
    """One row per part and one for their sum, over the columns of `_columns`."""
    rows = {
        "acceptance": [-1.0, 1.0, 0.0, 0.0],
        "kept": [0.0, -1.0, 1.0, 0.0],
        "pass_time": [1.0, 0.0, 0.0, -1.0],
    }
    parts = np.array([rows[name] for name in known])
    return np.concatenate([parts, parts.sum(axis=0, keepdims=True)])


def _sample(side: Side, known: Sequence[str], sign: float) -> tuple[Statistic, int]:
    columns, signs = _columns(side, known), _signs(known)
    if side.count > 1:
        return Logs(columns=columns, signs=sign * signs), side.count
    values = sign * (signs @ np.log(columns[0]))
    spread = math.nan
    if side.accepted_se is not None:
        spread = (side.accepted_se / side.tokens_per_round) ** 2
    varies = np.array([name == "acceptance" for name in (*known, "")])
    varies[-1] = True  # the whole: what its time adds is not known
    return Fixed(values=values, variances=np.where(varies, spread, 0.0)), 0


def depth_changes(
    before: Side,
    after: Side,
    observed: tuple[Observation, Observation],
    *,
    paired: bool,
    rng: np.random.Generator,
    level: float,
) -> tuple[DepthChange, ...]:
    """Acceptance depth by depth on both sides: of tested tokens where tables are known, else survival."""
    if before.tested is not None and after.tested is not None:
        return _conditional(before, after, paired=paired, rng=rng, level=level)
    return _survival(observed, level)


def _conditional(
    before: Side, after: Side, *, paired: bool, rng: np.random.Generator, level: float
) -> tuple[DepthChange, ...]:
    assert before.tested is not None and after.tested is not None  # noqa: S101, PT018
    assert before.kept is not None and after.kept is not None  # noqa: S101, PT018
    depths = min(before.tested.shape[1], after.tested.shape[1])
    reached = (before.tested.sum(axis=0)[:depths] > 0) & (after.tested.sum(axis=0)[:depths] > 0)
    depths = int(reached.sum())  # depths are tested in order
    if not depths:
        return ()
    if paired:
        statistic: Statistic = RatioDifference(
            above=np.stack([before.kept[:, :depths], after.kept[:, :depths]], axis=1),
            below=np.stack([before.tested[:, :depths], after.tested[:, :depths]], axis=1),
            signs=np.array([-1.0, 1.0]),
        )
        found = intervals([(statistic, before.count)], rng=rng, level=level)
    else:
        samples = [_ratios(before, depths, -1.0), _ratios(after, depths, 1.0)]
        found = intervals(samples, rng=rng, level=level)
    shares = [
        side.kept[:, :depths].sum(axis=0) / side.tested[:, :depths].sum(axis=0)
        for side in (before, after)
        if side.kept is not None and side.tested is not None
    ]
    return tuple(
        DepthChange(
            depth=depth,
            quantity="conditional_acceptance",
            before=float(shares[0][depth]),
            after=float(shares[1][depth]),
            difference=found[depth]
            if _varies(before, depth) and _varies(after, depth)
            else Estimate(value=found[depth].value, level=level),
        )
        for depth in range(depths)
    )


def _varies(side: Side, depth: int) -> bool:
    """False where one unit of several is all that tested a depth: how units differ is unknown."""
    assert side.tested is not None  # noqa: S101
    return side.count == 1 or int((side.tested[:, depth] > 0).sum()) > 1


def _ratios(side: Side, depths: int, sign: float) -> tuple[Statistic, int]:
    assert side.tested is not None and side.kept is not None  # noqa: S101, PT018
    kept, tested = side.kept[:, :depths], side.tested[:, :depths]
    if side.count > 1:
        ratio = RatioDifference(
            above=kept[:, None, :], below=tested[:, None, :], signs=np.array([sign])
        )
        return ratio, side.count
    share = kept[0] / tested[0]
    return Fixed(values=sign * share, variances=share * (1.0 - share) / tested[0]), 0


def _survival(observed: tuple[Observation, Observation], level: float) -> tuple[DepthChange, ...]:
    """Survival by depth of pooled counts or printed ratios; their intervals take rounds as independent."""
    from analysis.comparison.resampling import estimate  # noqa: PLC0415

    sides = [_survival_of(each) for each in observed]
    quantity: Literal["survival"] = "survival"
    changes = []
    for depth, ((first, first_rounds), (second, second_rounds)) in enumerate(
        zip(*sides, strict=False)  # the shorter draft ends the comparison
    ):
        se = None
        if first_rounds and second_rounds:
            se = math.sqrt(
                first * (1.0 - first) / first_rounds + second * (1.0 - second) / second_rounds
            )
        changes.append(
            DepthChange(
                depth=depth,
                quantity=quantity,
                before=first,
                after=second,
                difference=estimate(second - first, se, level=level),
            )
        )
    return tuple(changes)


def _survival_of(observation: Observation) -> list[tuple[float, int | None]]:
    counts = observation.counts
    if counts is not None and counts.rounds:
        bounds = getattr(counts, "depth_bounds", None)
        if bounds is None:
            kept = getattr(counts, "accepted", None)
            bounds = [(count, count) for count in kept] if isinstance(kept, tuple) else None
        if bounds is not None:
            return [((low + high) / 2.0 / counts.rounds, counts.rounds) for low, high in bounds]
    ratios = [ratio for ratio in observation.printed if ratio.quantity == "survival"]
    return [
        (min(max(ratio.value, 0.0), 1.0), None)
        for ratio in sorted(ratios, key=lambda ratio: ratio.depth or 0)
    ]

"""How much data would decide, by the normal approximation of the log factor."""

from __future__ import annotations

import math

from analysis.comparison.result import Needed
from analysis.comparison.sides import Side
from simulator import Estimate

_MOST_GROWTH = 10_000.0


def needed(
    log: Estimate,
    regression: float | None,
    sides: tuple[Side, Side],
    *,
    level: float,
    power: float,
) -> Needed | None:
    """How much more of both sides would tell the whole from no change (or from the stated regression).

    The standard error must fall to |effect| / (z_level + z_power), and falls with the root of the
    data. None where it is decided already or has no standard error, and where more than 10,000
    times the data would be needed.
    """
    if log.se is None or log.interval is None:
        return None
    limit = 0.0 if regression is None else math.log1p(-regression)
    if log.interval[0] > limit or log.interval[1] < limit:
        return None
    effect = abs(log.value - limit)
    if effect == 0.0:
        return None
    growth = (log.se * _ends(level, power) / effect) ** 2
    if growth > _MOST_GROWTH:
        return None
    growth = max(growth, 1.0)  # the interval of few units is wider than the normal one
    counts = [_units(side) for side in sides]
    more = [max(math.ceil((growth - 1.0) * count), 1) for count in counts]
    before, after = ("round" if side.count < 2 else side.unit for side in sides)
    return Needed(
        growth=growth,
        more_before=more[0],
        more_after=more[1],
        units=(before, after),
    )


def smallest_visible(log: Estimate, *, level: float, power: float) -> float | None:
    """The slowdown, as a share, that data like these show with the given power.

    1 − exp(−(z_level + z_power) × standard error of the log).
    """
    if log.se is None:
        return None
    return -math.expm1(-_ends(level, power) * log.se)


def _units(side: Side) -> float:
    return float(side.count) if side.count > 1 else float(side.rounds.sum())


def _ends(level: float, power: float) -> float:
    from scipy.special import ndtri  # noqa: PLC0415 — scipy.stats would cost a second at import

    return float(ndtri(0.5 + level / 2.0) + ndtri(power))

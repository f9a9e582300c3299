"""The ratios that vLLM's blocks print: as they were rounded, in order, and alone without their counts."""

from __future__ import annotations

import math
from dataclasses import replace

from real_runs.engines.counts.pool import Layout
from real_runs.engines.counts.printed import Printed
from real_runs.engines.counts.ratios import Ratios
from real_runs.engines.counts.skips import NoCounts, NothingDrafted
from real_runs.engines.reading import Reading

_MOST_DECIMALS = 10**10
_ROUNDING = 1e-9  # of adding decimals in binary


def coarser(printed: Printed) -> Printed:
    """The number as rounded to its last digit that is not 0, if that is behind the point.

    >>> coarser(Printed(units=7600, scale=100))
    Printed(units=76, scale=1)
    """
    units, scale = printed.units, printed.scale
    while units and scale > 1 and units % 10 == 0:
        units, scale = units // 10, scale // 10
    return Printed(units=units, scale=scale)


def as_percent(printed: Printed) -> Printed:
    """A ratio printed in percent without its sign, as a fraction.

    >>> as_percent(Printed(units=7617, scale=100)).value
    0.7617
    """
    return replace(printed, scale=printed.scale * 100)


def shortened(printed: Printed | None) -> Printed | None:
    """A quotient in full as a decimal of at most 10 digits: the last ones are those of a float.

    >>> shortened(Printed(units=3278846153846154, scale=10**15))
    Printed(units=32788461538, scale=10000000000)
    """
    if printed is None or printed.scale <= _MOST_DECIMALS:
        return printed
    return Printed(units=round(printed.value * _MOST_DECIMALS), scale=_MOST_DECIMALS)


def in_order(positions: dict[int, Printed]) -> tuple[Printed, ...]:
    """The ratios of the positions 0, 1, 2 ...; NoCounts where one is missing between others."""
    if sorted(positions) != list(range(len(positions))):
        raise NoCounts(f"the positions listed are not 0 to {len(positions) - 1}")
    return tuple(positions[index] for index in range(len(positions)))


def ratios_alone(ratios: Ratios) -> Ratios:
    """The ratios of a block without counts; NoCounts where they contradict each other or are none."""
    if ratios.length is None and not ratios.survival:
        raise NothingDrafted("no draft in this run")
    if ratios.fraction is not None and ratios.fraction.value > 1.0:
        raise NoCounts(
            f"an acceptance rate of {ratios.fraction.value * 100.0:g} per cent, above 100",
            finding="unit_error",
        )
    if ratios.length is not None and ratios.length.value + ratios.length.half_width < 1.0:
        raise NoCounts(
            f"an acceptance length of {ratios.length.value:g}, and a round emits one token at least",
            finding="length_outside_range",
        )
    if not _can_be_cut(ratios):
        raise NoCounts("the printed ratios contradict each other")
    return ratios


def _can_be_cut(ratios: Ratios) -> bool:
    """Whether the positions fall, and the sum of those listed is at most the length less 1."""
    length = ratios.length
    return falls_within(
        ratios.survival, math.inf if length is None else length.value - 1.0 + length.half_width
    )


def falls_within(survival: tuple[Printed, ...], total: float) -> bool:
    """Whether the first positions of a list are shares that fall and sum to the total at most."""
    values = [printed.value for printed in survival]
    slack = sum(printed.half_width for printed in survival) + _ROUNDING
    falls = values == sorted(values, reverse=True) and max(values, default=0.0) <= 1.0
    return falls and sum(values) <= total + slack


def of_ratios(layout: Layout, ratios: Ratios, source: str, lines: int) -> Reading:
    """The reading of a block that was copied without its counts."""
    return Reading(
        engine=layout.engine,
        layout=f"{layout.name} without counts",
        source=source,
        counts=None,
        printed=ratios.reported(layout.averaged_over),
        definition=layout.definition,
        lines=lines,
        used=1,
        notes=("Ratios only: without counts there is no sampling error.",),
        version="V1",
    )

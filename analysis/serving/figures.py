"""The figure of servers under load: times over the load on both sides, and the gain below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.palette import BEST, PLAIN, SPECULATIVE
from simulator.serving import ServingComparison, ServingEstimates

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = (7.0, 6.4)


def times_over_load(points: Sequence[ServingComparison], *, title: str = "") -> Figure:
    """End-to-end time over rate or users, mean and 99th percentile, and the gain with its interval.

    Upright lines are the stable limits. Raises ValueError for no point, and for recorded arrivals,
    which are one load only.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 — matplotlib costs a second at import

    if len(points) == 0:
        raise ValueError("points must hold one comparison at least; got none.")
    loads = [_load(point) for point in points]
    figure = Figure(figsize=_SIZE, layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for name, color, dash, mark, side in (
        ("without", PLAIN, "--", "s", "plain"),
        ("with speculation", SPECULATIVE, "-", "o", "speculative"),
    ):
        _times(above, loads, [getattr(point, side) for point in points], name, color, dash, mark)
    above.set_yscale("log")
    above.yaxis.set_major_formatter("{x:g}")
    above.yaxis.set_minor_formatter("{x:g}")
    above.set_ylabel("End-to-end time [s]")
    above.legend(frameon=False)
    if title:
        above.set_title(title, parse_math=False)
    _gain(below, loads, points)
    below.set_ylabel("Time without / with")
    by_rate = points[0].rate_per_s is not None
    below.set_xlabel("Requests per second" if by_rate else "Users")
    if by_rate:
        _limits(above, points[0], named=False)
        _limits(below, points[0], named=True)
    below.legend(frameon=False)
    return figure


def _load(point: ServingComparison) -> float:
    load = point.rate_per_s if point.rate_per_s is not None else point.users
    if load is None:
        raise ValueError(
            "points must be rates or users; got recorded arrivals, which are one load."
        )
    return float(load)


def _times(
    axes: Axes,
    loads: Sequence[float],
    sides: Sequence[ServingEstimates | None],
    name: str,
    color: str,
    dash: str,
    mark: str,
) -> None:
    seen = [(load, side) for load, side in zip(loads, sides, strict=True) if side is not None]
    x = [load for load, _ in seen]
    mean = [side.e2e.mean_s.value for _, side in seen]
    high = [side.e2e.p99_s.value for _, side in seen]
    axes.plot(x, mean, dash, color=color, marker=mark, markersize=4, label=f"{name}, mean")
    axes.plot(x, high, ":", color=color, marker=mark, markersize=3, fillstyle="none",
              label=f"{name}, 99th percentile")  # fmt: skip


def _gain(axes: Axes, loads: Sequence[float], points: Sequence[ServingComparison]) -> None:
    for name, color, dash, gains in (
        ("end to end", BEST, "-", [point.gain_e2e for point in points]),
        ("per token", PLAIN, "-.", [point.gain_tpot for point in points]),
    ):
        seen = [(load, gain) for load, gain in zip(loads, gains, strict=True) if gain is not None]
        x, y = [load for load, _ in seen], [gain.value for _, gain in seen]
        axes.plot(x, y, dash, color=color, marker="o", markersize=3, label=name)
        ends = [gain.interval or (gain.value, gain.value) for _, gain in seen]
        axes.fill_between(
            x, [low for low, _ in ends], [high for _, high in ends], color=color, alpha=0.2, lw=0
        )
    axes.axhline(1.0, color=PLAIN, lw=0.8)


def _limits(axes: Axes, point: ServingComparison, *, named: bool) -> None:
    for name, limit, color, dash in (
        ("stable up to here without", point.plain_limit, PLAIN, "--"),
        ("stable up to here with speculation", point.limit, SPECULATIVE, "-"),
    ):
        if limit is not None and point.limit is not None and point.plain_limit is not None:
            axes.axvline(limit.value, color=color, ls=dash, lw=1.0, label=name if named else None)

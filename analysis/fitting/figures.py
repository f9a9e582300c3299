"""The figure of a fit: tokens per round, and the speedup where costs are known, over draft length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.fitting.costs import RoundCosts
from analysis.fitting.result import Fit
from analysis.palette import BEST, EXACT, PLAIN, YOURS
from simulator import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 6.2, 4.2


def prediction_over_gamma(
    fitted: Fit,
    gammas: Sequence[int],
    *,
    costs: RoundCosts | None = None,
    measured: Mapping[int, Estimate] | None = None,
    measured_speedup: Mapping[int, Estimate] | None = None,
    measured_is: str = "measured",
    other: Mapping[int, float] | None = None,
    other_is: str = "one p",
) -> Figure:
    """Predictions with their band over draft length; hollow beyond the measured depth.

    With `costs` a second panel shows the speedup and its best gamma. Gammas about which the process or
    the costs say nothing are left out. `measured` and `measured_speedup` are drawn beside them, by gamma and
    with their intervals where they have one; `other` is another prediction, as a dashed line. Raises
    ValueError for a fit that was refused, and if no gamma is left.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 — matplotlib costs a second at import

    shown = [g for g in sorted(set(gammas)) if fitted.longest is None or g <= fitted.longest]
    if not shown:
        raise ValueError(f"gammas must hold one of at most {fitted.longest}; got {list(gammas)}.")
    panels = 1 if costs is None else 2
    figure = Figure(figsize=(_WIDTH * panels, _HEIGHT), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    _draw(axes[0], fitted, shown, [fitted.tokens_per_round(g) for g in shown])
    if other:
        axes[0].plot(*zip(*sorted(other.items()), strict=True), "--", color=PLAIN, label=other_is)
    _beside(axes[0], measured, measured_is)
    axes[0].set_ylabel("Tokens per round")
    axes[0].set_title(f"Predicted by: {fitted.name}", parse_math=False)
    if costs is not None:
        priced = [g for g in shown if costs.longest is None or g <= costs.longest]
        _draw(axes[1], fitted, priced, [fitted.speedup(g, costs) for g in priced])
        best = fitted.best_gamma(costs, priced)
        axes[1].axhline(1.0, color=PLAIN, linestyle="--", linewidth=1)
        if best.gamma:
            axes[1].axvline(best.gamma, color=BEST, linestyle=":", linewidth=1.5)
            axes[1].annotate(
                f"best γ = {best.gamma}",
                (best.gamma, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(4, -12),
                textcoords="offset points",
                color=BEST,
            )
        _beside(axes[1], measured_speedup, measured_is)
        axes[1].set_ylabel("Speedup of decoding, one request")
        axes[1].set_title("With the given costs", parse_math=False)
    return figure


def _beside(axes: Axes, measured: Mapping[int, Estimate] | None, name: str) -> None:
    """What was measured, and the legend of all that is drawn."""
    if measured:
        values = [estimate.value for estimate in measured.values()]
        ends = [estimate.interval or (estimate.value,) * 2 for estimate in measured.values()]
        axes.errorbar(
            list(measured),
            values,
            yerr=[
                [max(value - low, 0.0) for value, (low, _) in zip(values, ends, strict=True)],
                [max(high - value, 0.0) for value, (_, high) in zip(values, ends, strict=True)],
            ],
            fmt="D",
            color=YOURS,
            markersize=6,
            label=name,
        )
    axes.legend(loc="best", frameon=False)


def _draw(axes: Axes, fitted: Fit, gammas: Sequence[int], values: Sequence[Estimate]) -> None:
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 — see above

    ends = [value.interval or (value.value, value.value) for value in values]
    axes.fill_between(
        gammas,
        [low for low, _ in ends],
        [high for _, high in ends],
        color=EXACT,
        alpha=0.2,
        linewidth=0,
        label=fitted.intervals,
    )
    axes.plot(gammas, [value.value for value in values], color=EXACT, linewidth=1.5)
    for within, face, label in ((True, EXACT, "measured depth"), (False, "white", "extrapolated")):
        points = [
            (gamma, value.value)
            for gamma, value in zip(gammas, values, strict=True)
            if fitted.extrapolates(gamma) is not within
        ]
        if points:
            axes.plot(
                *zip(*points, strict=True),
                linestyle="",
                marker="o",
                markersize=6,
                markerfacecolor=face,
                markeredgecolor=EXACT,
                label=label,
            )
    axes.set_xlabel("Draft length γ (tokens)")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.25)

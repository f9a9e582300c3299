"""The figure of a pass: V(n) by batch, with the knee and what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from analysis.palette import LINES, PLAIN, YOURS
from analysis.pass_cost import PassCost
from analysis.pass_fit.curves import Curve, curves_of
from analysis.pass_fit.result import PassCostFit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 6.8, 4.4
_MARKERS = ("o", "s", "^", "D", "v")
Dash: TypeAlias = str | tuple[int, tuple[int, ...]]
_DASHES: tuple[Dash, ...] = ("-", (0, (6, 1)), "-.", (0, (3, 1, 1, 1, 1, 1)), ":")


def verify_cost_over_tokens(
    shown: PassCost | PassCostFit,
    *,
    batches: Iterable[float] | None = None,
    widths: Iterable[float] | None = None,
    context: float | None = None,
    unseen: Mapping[int, float] | None = None,
) -> Figure:
    """V(n), a pass over n tokens of each request / over one, over n: a line per batch.

    Lines of a fit are solid within what was measured and dashed beyond; without one each batch has a dash of
    its own. The knee is a large hollow circle, the article's V = 1 grey. Points are measured times over the
    fitted plain step, those of other contexts moved to this one by the fit; `unseen` are further measured
    V(n), by n, that the fit did not see. Raises ValueError for more than five batches.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 — matplotlib costs a second at import

    curves = curves_of(shown, batches=batches, widths=widths, context=context)
    figure = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    axes = figure.subplots()
    axes.axhline(1.0, color=PLAIN, linestyle=":", linewidth=1, label="the article: V = 1")
    for curve, color, marker, dash in zip(curves, LINES, _MARKERS, _DASHES, strict=False):
        _draw(axes, curve, color, marker, dash)
    if any(curve.measured for curve in curves):
        axes.plot([], [], _MARKERS[0], color=PLAIN, markersize=5, label="measured")
    if unseen:
        axes.plot(
            *zip(*sorted(unseen.items()), strict=True), _MARKERS[3], color=YOURS,
            label="measured, not seen by the fit",
        )  # fmt: skip
    last = float(curves[0].tokens[-1])
    axes.set_xlim(0.0, max(last, max(unseen) + 0.5) if unseen else last)
    axes.set_ylim(0.0)
    axes.set_xlabel("Tokens of each request in a pass, n = γ + 1")
    axes.set_ylabel("V(n): pass over n tokens / over one")
    axes.set_title(f"What a wider pass costs, context {curves[0].context:,g}", parse_math=False)
    axes.grid(alpha=0.25)
    axes.legend(loc="best", frameon=False)
    return figure


def _draw(axes: Axes, curve: Curve, color: str, marker: str, dash: Dash) -> None:
    inside = [(n, v) for n, v in zip(curve.tokens, curve.costs, strict=True) if not curve.beyond(n)]
    if curve.known is not None:
        axes.plot(curve.tokens, curve.costs, "--", color=color, linewidth=1.2, alpha=0.8)
    knee = ""
    if curve.knee is not None:
        knee = f", knee at {curve.knee[0]:.3g} (V = {curve.knee[1]:.2f})"
    label = f"{curve.name}{knee}"
    if inside:
        style: Dash = "-" if curve.known is not None else dash
        axes.plot(
            *zip(*inside, strict=True), linestyle=style, color=color, linewidth=1.8, label=label
        )
    else:
        axes.plot([], [], "--", color=color, linewidth=1.2, label=f"{label}, extrapolated")
    if curve.knee is not None:
        axes.plot(
            *curve.knee, "o", markersize=12, markerfacecolor="none", markeredgecolor=color,
            markeredgewidth=1.8,
        )  # fmt: skip
    if curve.measured:
        axes.plot(*zip(*curve.measured, strict=True), marker, color=color, markersize=5)

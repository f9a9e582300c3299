"""Figures for print and notebooks, drawn with matplotlib and without its global state."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from analysis.curve import over_gamma
from analysis.exact import round_law
from analysis.figure_axes import labelled_axes
from analysis.formulas import expected_tokens, speedup
from analysis.optimum import BestGamma, VerifyCost
from analysis.palette import BEST, EXACT, LINES, PLAIN, SIMULATED, YOURS
from simulator import AcceptanceTable, Strategy
from simulator.strategies import described

if TYPE_CHECKING:
    from IPython.display import Image
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAND = 0.1
"""Relative error up to which the band of `predicted_against_known` reaches."""
_SIZE = (7.0, 4.2)
_DASHES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D", "v")


def tokens_histogram(table: AcceptanceTable, strategy: Strategy) -> Figure:
    """Share of rounds by tokens emitted: bars as simulated, points as the exact pmf says."""
    figure, axes = _axes("Tokens per round", "Share of rounds")
    tokens = np.arange(1, table.depths + 2)
    shares = np.asarray(table.ended) / max(table.rounds, 1)
    axes.bar(tokens, shares, color=SIMULATED, label=f"simulated, {table.rounds:,} rounds")
    axes.plot(tokens, round_law(strategy).pmf, "o", color=EXACT, label="exact", zorder=3)
    axes.set_xticks(tokens)
    axes.legend(frameon=False)
    axes.set_title(f"{_described(strategy)}: {table.tokens_per_round} tokens per round")
    return figure


def speedup_over_gamma(
    p: float,
    gamma: int,
    cost_ratio: float,
    *,
    max_gamma: int = 16,
    verify_cost: VerifyCost = 1.0,
    overhead: float = 0.0,
) -> Figure:
    """Speedup against draft length, with the chosen gamma, the best one and the flat region."""
    figure, axes = _axes("Draft length γ [tokens]", "Speedup over plain decoding")
    last = max(max_gamma, gamma)
    curve = over_gamma(p, cost_ratio, max_gamma=last, verify_cost=verify_cost, overhead=overhead)
    best, values = curve.best, [point.speedup for point in curve.points]
    axes.axhline(1.0, color=PLAIN, linestyle="--", linewidth=1)
    axes.text(last, 1.0, "plain decoding", color=PLAIN, ha="right", va="bottom", fontsize=9)
    axes.plot(range(last + 1), values, color=EXACT)
    _mark_flat(axes, best)
    if best.gamma:
        axes.plot(
            best.gamma,
            best.speedup,
            "D",
            color=BEST,
            label=f"best: γ = {best.gamma}, {best.speedup:.2f}×",
        )
    axes.plot(gamma, values[gamma], "o", color=YOURS, label=f"γ = {gamma}, {values[gamma]:.2f}×")
    axes.set_ylim(bottom=0.0)
    axes.set_title(f"p = {p:g}, cost ratio {cost_ratio:g}")
    axes.legend(frameon=False)
    return figure


def tokens_over_p(gammas: Sequence[int] = (1, 2, 4, 8)) -> Figure:
    """Expected tokens per round against p, one line per draft length."""
    figure, axes = _axes("Acceptance p", "Expected tokens per round")
    p = np.linspace(0.0, 1.0, 201)
    for gamma, dash, color in zip(gammas, cycle(_DASHES), cycle(LINES), strict=False):
        tokens = np.asarray(expected_tokens(p, gamma))
        axes.plot(p, tokens, dash, color=color, label=f"γ = {gamma}")
    axes.legend(frameon=False)
    return figure


def speedup_over_p(cost_ratio: float, gammas: Sequence[int] = (1, 2, 4, 8)) -> Figure:
    """Speedup against p, one line per draft length: below 1 the draft costs more than it gives."""
    figure, axes = _axes("Acceptance p", "Speedup over plain decoding")
    p = np.linspace(0.0, 1.0, 201)
    axes.axhline(1.0, color=PLAIN, linestyle="--", linewidth=1)
    for gamma, dash, color in zip(gammas, cycle(_DASHES), cycle(LINES), strict=False):
        values = np.asarray(speedup(p, gamma, cost_ratio))
        axes.plot(p, values, dash, color=color, label=f"γ = {gamma}")
    axes.set_title(f"A draft step takes {cost_ratio:g} of a plain step")
    axes.legend(frameon=False)
    return figure


def rates_over_gamma(p: float, gammas: Sequence[int]) -> Figure:
    """One p, and accepted / drafted of the same rounds; then the tokens that each promises as p.

    accepted / drafted = (E[tokens] − 1) / γ: it falls with γ although nothing about the draft changed. Raises
    ValueError without a gamma and for one below 1.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 — see below

    lengths = np.array(sorted(set(gammas)))
    if not lengths.size or lengths[0] < 1:
        raise ValueError(f"gammas must hold one at least, each from 1 on; got {list(gammas)}.")
    tokens = np.asarray(expected_tokens(p, lengths))
    fraction = (tokens - 1.0) / lengths
    figure = Figure(figsize=(10.0, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(lengths, np.full(lengths.size, p), "-", color=EXACT, label="p = accepted / tested")
    left.plot(lengths, fraction, "--o", color=YOURS, label="accepted / drafted, as engines print")
    left.set_ylim(0.0, 1.0)
    left.set_ylabel("Share")
    right.plot(lengths, tokens, "-", color=EXACT, label="what the rounds give")
    promised = np.asarray(expected_tokens(fraction, lengths))
    right.plot(lengths, promised, "--o", color=YOURS, label="promised, if that rate is taken for p")
    right.set_ylim(bottom=0.0)
    right.set_ylabel("Tokens per round")
    for axes in (left, right):
        _plain_look(axes)
        axes.set_xlabel("Draft length γ [tokens]")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.legend(frameon=False)
    figure.suptitle(f"p = {p:g} at every depth")
    return figure


def predicted_against_known(
    groups: Mapping[str, Sequence[tuple[float, float]]], *, quantity: str = "Speedup"
) -> Figure:
    """Predicted values (y) against printed or measured ones (x), as (x, y) by group; the band is 10 % wide.

    Raises ValueError for no pair in a group and for more than five groups.
    """
    if not 1 <= len(groups) <= len(_MARKERS) or not all(groups.values()):
        raise ValueError(
            f"groups must be 1 to {len(_MARKERS)}, each with a pair at least; got "
            f"{ {name: len(pairs) for name, pairs in groups.items()} }."
        )
    figure, axes = _axes(f"{quantity}, printed or measured", f"{quantity}, predicted")
    figure.set_size_inches(5.6, 5.0)
    every = [value for pairs in groups.values() for pair in pairs for value in pair]
    ends = (0.93 * min(every), 1.05 * max(every))
    axes.fill_between(
        ends, [(1.0 - BAND) * x for x in ends], [(1.0 + BAND) * x for x in ends],
        color=PLAIN, alpha=0.18, linewidth=0, label="within 10 %",
    )  # fmt: skip
    axes.plot(ends, ends, color=PLAIN, linewidth=1)
    for (name, pairs), color, marker in zip(groups.items(), LINES, _MARKERS, strict=False):
        axes.plot(*zip(*pairs, strict=True), marker, color=color, markersize=6, label=name)
    axes.set_xlim(ends)
    axes.set_ylim(ends)
    axes.set_aspect("equal")
    axes.legend(frameon=False, loc="upper left", fontsize=9)
    return figure


def shown(figure: Figure, alt: str) -> Image:
    """The figure as a notebook shows it, as wide as it was drawn, with a text for who cannot see it.

    Needs IPython. Raises ValueError without such a text.

    >>> shown(speedup_over_p(0.1), "Speedup over p, a line per draft length").alt
    'Speedup over p, a line per draft length'
    """
    from IPython.display import Image  # noqa: PLC0415 — in notebooks only

    if not alt.strip():
        raise ValueError(f"alt must say what the figure shows; got {alt!r}.")
    width = round(96 * float(figure.get_size_inches()[0]))
    return Image(png(figure), format="png", width=width, alt=alt)  # type: ignore[no-untyped-call]


def png(figure: Figure) -> bytes:
    """The figure as PNG at 160 dots per inch."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=160)
    return buffer.getvalue()


def _described(strategy: Strategy) -> str:
    if strategy.is_tree:
        return f"{strategy.name}, {described(strategy)}"
    acceptance = strategy.conditional_acceptance
    same = len(set(acceptance)) == 1
    p = f"p = {acceptance[0]:g}" if same else "p by depth"
    return f"{p}, γ = {strategy.draft.gamma}"


def _axes(x_label: str, y_label: str) -> tuple[Figure, Axes]:
    return labelled_axes(x_label, y_label, _SIZE)


def _plain_look(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)


def _mark_flat(axes: Axes, best: BestGamma) -> None:
    if len(best.flat) > 1 and best.gamma:
        axes.axvspan(
            best.flat[0], best.flat[-1], color=BEST, alpha=0.12, label="within 1 % of best"
        )

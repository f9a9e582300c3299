"""The one empty figure that all figures for print begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def labelled_axes(x_label: str, y_label: str, size: tuple[float, float]) -> tuple[Figure, Axes]:
    """A figure of that size [inches] with one pair of labelled axes, without a frame above and right.

    >>> labelled_axes("Batch", "Speedup", (6.0, 4.0))[1].get_xlabel()
    'Batch'
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 — matplotlib costs a second at import

    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes

"""The charts of the failure modes for print: drawn when asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app_pages import downloads
from app_pages.deployment.results import Setup, deployment
from app_pages.where_it_breaks.results import MOST_BATCH, shown_gammas

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def over_batch(setup: Setup) -> bytes:
    """The speedup over batch, a line for each of some lengths."""
    from analysis.deployment import figures  # noqa: PLC0415 — only when asked for

    held = setup.choice.context
    return _png(
        lambda: figures.speedup_over_batch(
            deployment(setup), shown_gammas(setup), context=held, most=MOST_BATCH
        )
    )


def throughput(setup: Setup) -> bytes:
    """What a request sees against what the server gives."""
    from analysis.deployment import figures  # noqa: PLC0415 — only when asked for

    return _png(
        lambda: figures.throughput_frontier(
            deployment(setup), [setup.gamma], context=setup.choice.context
        )
    )


def _png(draw: Callable[[], Figure]) -> bytes:
    from analysis import figures  # noqa: PLC0415 — matplotlib costs a second at import

    with downloads.DRAWING:
        return figures.png(draw())


FIGURES = {
    "Batch": (over_batch, "The speedup over batch"),
    "Throughput": (throughput, "What a request sees against what the server gives"),
}

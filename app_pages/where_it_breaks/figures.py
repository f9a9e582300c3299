"""The charts of the failure modes for print: drawn when asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app_pages import downloads
from app_pages.deployment.results import Setup, deployment
from app_pages.where_it_breaks import results as break_results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simulator.serving import ServingComparison


def over_batch(setup: Setup) -> bytes:
    """The speedup over batch, a line for each of some lengths."""
    from analysis.deployment import figures  # noqa: PLC0415 — only when asked for

    held = setup.choice.context
    return _png(
        lambda: figures.speedup_over_batch(
            deployment(setup),
            break_results.shown_gammas(setup),
            context=held,
            most=break_results.MOST_BATCH,
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


def over_width(setup: Setup) -> bytes:
    """What a wider pass costs."""
    from analysis.deployment import figures  # noqa: PLC0415 — only when asked for

    return _png(
        lambda: figures.verify_cost_over_width(
            deployment(setup).target,
            batches=break_results.shown_widths(setup),
            context=setup.choice.context,
            most=break_results.WIDEST,
        )
    )


def over_context(setup: Setup) -> bytes:
    """The speedup over context, a line for each of some batches."""
    from analysis.deployment import figures  # noqa: PLC0415 — only when asked for

    return _png(
        lambda: figures.speedup_over_context(
            deployment(setup),
            setup.gamma,
            batches=break_results.shown_batches(setup),
            contexts=break_results.held_contexts(),
        )
    )


def over_rate(points: tuple[ServingComparison, ...]) -> bytes:
    """What requests wait for over the rate at which they arrive."""
    from analysis.serving import figures  # noqa: PLC0415 — only when asked for

    return _png(lambda: figures.times_over_load(points))


def _png(draw: Callable[[], Figure]) -> bytes:
    from analysis import figures  # noqa: PLC0415 — matplotlib costs a second at import

    with downloads.DRAWING:
        return figures.png(draw())


FIGURES = {
    "Batch": (over_batch, "The speedup over batch"),
    "Throughput": (throughput, "What a request sees against what the server gives"),
}

"""What a report or a figure of a pass is over."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.pass_cost import PassCost
from analysis.pass_fit.result import PassCostFit

_BATCHES = (1, 8, 64, 256)
_WIDTHS = (1, 2, 3, 5, 9, 17)
_MOST = 12  # batches or widths of a measured run that are shown unasked


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a report or a figure is over: batches, tokens per request, and one context."""

    batches: tuple[float, ...]
    widths: tuple[float, ...]
    context: float


def asked_of(
    shown: PassCost | PassCostFit,
    *,
    batches: Iterable[float] | None,
    widths: Iterable[float] | None,
    context: float | None,
) -> Asked:
    """What was asked, sorted; what was not, from the measured cells. ValueError for less than 1."""
    known_batches: Sequence[float] = _BATCHES
    known_widths: Sequence[float] = _WIDTHS
    known_context = 0.0
    if isinstance(shown, PassCostFit):
        passes = [cell for cell in shown.cells if cell.what != "drafting"]
        known_batches = _spread({cell.batch for cell in passes})
        known_widths = _spread({1.0, *(cell.tokens for cell in passes)})
        contexts = sorted(cell.context for cell in passes)
        known_context = contexts[len(contexts) // 2]
    found = Asked(
        batches=_sorted("batches", known_batches if batches is None else batches),
        widths=_sorted("widths", known_widths if widths is None else widths),
        context=known_context if context is None else context,
    )
    if not (found.context >= 0.0 and math.isfinite(found.context)):
        raise ValueError(f"context must be a finite number of at least 0; got {context!r}.")
    return found


def _spread(values: set[float]) -> tuple[float, ...]:
    """At most so many of the values, the least and the most among them."""
    ordered = sorted(values)
    if len(ordered) <= _MOST:
        return tuple(ordered)
    last = len(ordered) - 1
    return tuple(ordered[round(i * last / (_MOST - 1))] for i in range(_MOST))


def _sorted(name: str, values: Iterable[float]) -> tuple[float, ...]:
    found = tuple(sorted(set(values)))
    if not found or not found[0] >= 1.0 or math.isinf(found[-1]):
        raise ValueError(f"{name} must be numbers of at least 1; got {list(found)}.")
    return found

"""V(n) by batch as figures show it: lines within and beyond what was measured, knees, measured points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from analysis.pass_cost import PassCost
from analysis.pass_fit.asked import asked_of
from analysis.pass_fit.result import PassCostFit

_POINTS = 160
MOST_BATCHES = 5
"""As many as the palette tells apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """V over the tokens of each request at one batch and context.

    `known` are the ends of what was measured, None for a cost that was given. `knee` is (tokens, V),
    None where it lies outside of the axis. `measured` are (tokens, V): the curve times the median of
    measured / fitted over all contexts, so that times of another context lie where they would at this one.
    """

    batch: float
    context: float
    tokens: tuple[float, ...]
    costs: tuple[float, ...]
    known: tuple[float, float] | None
    knee: tuple[float, float] | None
    measured: tuple[tuple[float, float], ...]

    @property
    def name(self) -> str:
        """What the legend says."""
        return f"batch {self.batch:g}"

    def beyond(self, tokens: float) -> bool:
        """Whether V is extrapolated there."""
        return self.known is not None and not self.known[0] <= tokens <= self.known[1]


def curves_of(
    shown: PassCost | PassCostFit,
    *,
    batches: Iterable[float] | None,
    widths: Iterable[float] | None,
    context: float | None,
) -> tuple[Curve, ...]:
    """The curves of a figure; ValueError for more than five batches that were asked for."""
    asked = asked_of(shown, batches=batches, widths=widths, context=context)
    several = asked.batches
    if len(several) > MOST_BATCHES:
        if batches is not None:
            raise ValueError(
                f"batches must be at most {MOST_BATCHES} in one figure; got {len(several)}."
            )
        places = np.linspace(0, len(several) - 1, MOST_BATCHES).round().astype(int)
        several = tuple(several[place] for place in places)
    last = max(asked.widths[-1], 2.0)
    cost = shown.cost if isinstance(shown, PassCostFit) else shown
    fitted = shown if isinstance(shown, PassCostFit) else None
    return tuple(_curve(cost, fitted, batch, last, asked.context) for batch in several)


def _curve(
    cost: PassCost, fitted: PassCostFit | None, batch: float, last: float, context: float
) -> Curve:
    knee = cost.knee(batch, context)
    tokens = np.unique(
        np.append(np.linspace(1.0, last, _POINTS), np.arange(1.0, min(last, 64.0) + 1))
    )
    at_knee = None
    if 1.0 <= knee <= last:
        tokens = np.unique(np.append(tokens, knee))
        at_knee = (knee, float(cost.verify_cost(knee, batch, context)))
    known = None
    if fitted is not None:
        inside = not fitted.extrapolates(batch, fitted.ranges.tokens[0], context)
        known = fitted.ranges.tokens if inside else (np.inf, np.inf)
        tokens = np.unique(np.append(tokens, [end for end in known if 1.0 <= end <= last]))
    values = np.asarray(cost.verify_cost(tokens, batch, context))
    return Curve(
        batch=batch,
        context=context,
        tokens=tuple(map(float, tokens)),
        costs=tuple(map(float, values)),
        known=known,
        knee=at_knee,
        measured=() if fitted is None else _measured(fitted, batch, last, context),
    )


def _measured(
    fitted: PassCostFit, batch: float, last: float, context: float
) -> tuple[tuple[float, float], ...]:
    found: dict[float, list[float]] = {}
    for cell in fitted.cells:
        if cell.what == "pass" and cell.batch == batch and cell.tokens <= last:
            found.setdefault(cell.tokens, []).append(cell.measured_s / cell.fitted_s)
    return tuple(
        (tokens, float(fitted.cost.verify_cost(tokens, batch, context)) * float(np.median(ratios)))
        for tokens, ratios in sorted(found.items())
    )

"""Interactive charts of a server under arrivals as Vega-Lite, in the style of `analysis.charts`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.charts import step_above
from analysis.palette import ABOVE, BEST, EXACT, LINES, PLAIN, YOURS
from analysis.serving.rate_lines import (
    Look,
    each_said,
    ends_of,
    is_known,
    lines_with_bars,
    numbers,
    rate_axis,
)
from simulator.serving import Seen, ServingComparison

SEEN: dict[Seen, str] = {
    "e2e": "the whole request",
    "ttft": "the first token",
    "tpot": "a token behind it",
}
"""The times that requests see, each with its words."""
_SHORT: dict[Seen, str] = {"e2e": "whole request", "ttft": "first token", "tpot": "per token"}
_HEIGHT = 380
_WITHOUT, _WITH = "without a draft", "with drafts"
_ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.5, 10.0, 15.0)
_TOPS = (1.25, 1.5, 2, 3, 4, 6, 8, 12, 17, *(2**k for k in range(5, 13)))
_DASHES = {_WITHOUT: [6, 4], _WITH: [1, 0]}
_COLOURS = {_WITHOUT: PLAIN, _WITH: EXACT}
_SIDES = Look(
    names=tuple(_COLOURS), colours=tuple(_COLOURS.values()), dashes=tuple(_DASHES.values()),
    shapes=("circle", "diamond"),
)  # fmt: skip
_GAINS = Look(
    names=tuple(_SHORT.values()), colours=(EXACT, LINES[3], BEST), dashes=([1, 0], [2, 3], [7, 4]),
    shapes=("circle", "square", "triangle-up"),
)  # fmt: skip


def times_over_rate(
    points: Sequence[ServingComparison],
    *,
    of: Seen = "e2e",
    here: ServingComparison | None = None,
) -> alt.LayerChart:
    """Mean time that requests see over the rate at which they arrive, with and without drafts.

    Bars are 95 % intervals, rules the stable limit of each side; `here` is ringed. On the logarithmic
    axis the same gain is the same distance everywhere. Raises ValueError where no point has a side.
    """
    rows = [
        {"rate": point.rate_per_s, "series": name, **ends_of(side.mean_s(of))}
        for point in points
        for name, side in ((_WITHOUT, point.plain), (_WITH, point.speculative))
        if side is not None and is_known(side.mean_s(of))
    ]
    if not rows:
        raise ValueError("points must hold one rate at least that a server keeps up with.")
    frame, ringed = pd.DataFrame(rows), _here(here, of)
    limits = _limits(points[0])
    x = _steady(rate_axis(points, [limit for limit, _ in limits.values()]))
    shown = [*frame["mean"], *(ring["mean"] for ring in ringed)]
    lowest, highest = float(min(shown)), float(max(shown)) * 1.1
    y = alt.Y(
        "mean:Q",
        title=f"Mean time of {SEEN[of]} (s)",
        scale=alt.Scale(
            type="log", domain=[_below(lowest), step_above(highest, _decades(highest))], nice=False
        ),
        axis=alt.Axis(tickCount=5, format="~g"),
    )
    layers = [*_limit_rules(limits, x), *lines_with_bars(frame, x, y, _SIDES)]
    words = ""
    if ringed:
        layers.append(
            alt.Chart(pd.DataFrame(ringed))
            .mark_point(color=YOURS, filled=False, size=260, strokeWidth=3, opacity=1.0)
            .encode(x=x, y=y)
        )
        words = f" Ringed: yours, {ringed[0]['rate']:.3g} requests/s."
    return alt.LayerChart(layer=layers).properties(
        height=_HEIGHT,
        title=f"How long {SEEN[of]} takes",
        description=f"Mean time of {SEEN[of]} over requests per second that arrive. "
        f"{each_said(frame, _SIDES)}. Vertical rules: {_limits_said(limits)}.{words}",
    )


def gain_over_rate(
    points: Sequence[ServingComparison],
    *,
    turning_per_s: float | None = None,
    here: ServingComparison | None = None,
) -> alt.LayerChart:
    """Time without / with drafts over the rate of arrivals, for each time that requests see.

    Bars are 95 % intervals; below 1 it is a loss. `turning_per_s` is the rate at which the gain of the whole
    request turns, marked with a rule; `here` is the visitor's point. Raises ValueError where no point has
    both sides.
    """
    rows = [
        {"rate": point.rate_per_s, "series": words, **ends_of(gain)}
        for point in points
        for seen, words in _SHORT.items()
        if (gain := point.gain(seen)) is not None and is_known(gain)
    ]
    if not rows:
        raise ValueError("points must hold one rate at least that both servers keep up with.")
    frame = pd.DataFrame(rows)
    x = _steady(rate_axis(points, [limit for limit, _ in _limits(points[0]).values()]))
    yours = _gain_here(here)
    shown = [*frame["mean"], *(each["mean"] for each in yours)]
    top = step_above(max(1.1, float(max(shown)) * 1.05), _TOPS)
    y = alt.Y(
        "mean:Q",
        title="Time without / with drafts",
        scale=alt.Scale(domain=[0, top], nice=False),
    )
    layers: list[alt.Chart] = [
        alt.Chart(pd.DataFrame({"from": [0.0], "to": [1.0]}))
        .mark_rect(color=YOURS, opacity=0.10)
        .encode(y=alt.Y("from:Q", title="Time without / with drafts"), y2="to:Q"),
        alt.Chart(pd.DataFrame({"mean": [1.0]}))
        .mark_rule(color=PLAIN, strokeDash=[6, 4], strokeWidth=1.5)
        .encode(y="mean:Q"),
        *lines_with_bars(frame, x, y, _GAINS),
    ]
    words = ""
    if turning_per_s is not None:
        layers.append(
            alt.Chart(pd.DataFrame({"rate": [turning_per_s], "turns at": [turning_per_s]}))
            .mark_rule(color=YOURS, strokeDash=[2, 3], strokeWidth=2)
            .encode(x=x, tooltip=numbers("turns at"))
        )
        words = f" The gain of the whole request turns at {turning_per_s:.3g} requests/s."
    if yours:
        layers.append(
            alt.Chart(pd.DataFrame(yours))
            .mark_point(color=YOURS, filled=True, size=220, opacity=1.0, stroke=ABOVE)
            .encode(x=x, y=y, tooltip=numbers("rate", "mean"))
        )
        words += f" Yours: {yours[0]['mean']:.3f} at {yours[0]['rate']:.3g} requests/s."
    return alt.LayerChart(layer=layers).properties(
        height=_HEIGHT,
        title="What speculation gains",
        description="Time without over time with drafts, over requests per second that arrive. "
        f"{each_said(frame, _GAINS)}. Shaded below 1: a loss.{words}",
    )


def _here(point: ServingComparison | None, of: Seen) -> list[dict[str, float]]:
    if point is None or point.rate_per_s is None:
        return []
    means = [side.mean_s(of) for side in (point.plain, point.speculative) if side is not None]
    return [{"rate": point.rate_per_s, "mean": mean.value} for mean in means if is_known(mean)]


def _gain_here(point: ServingComparison | None) -> list[dict[str, float]]:
    if point is None or point.rate_per_s is None or point.gain_e2e is None:
        return []
    known = is_known(point.gain_e2e)
    return [{"rate": point.rate_per_s, "mean": point.gain_e2e.value}] if known else []


def _limits(point: ServingComparison) -> dict[str, tuple[float, str]]:
    """The stable limit of each side with its words."""
    known = ((_WITHOUT, point.plain_limit), (_WITH, point.limit))
    return {name: (limit.value, str(limit)) for name, limit in known if limit is not None}


def _limit_rules(limits: dict[str, tuple[float, str]], x: alt.X) -> list[alt.Chart]:
    return [
        alt.Chart(pd.DataFrame([{"rate": at, "stable limit": f"{name}: {said} requests/s"}]))
        .mark_rule(color=_COLOURS[name], strokeDash=_DASHES[name], strokeWidth=1.5, opacity=0.9)
        .encode(x=x, tooltip=["stable limit:N"])
        for name, (at, said) in limits.items()
    ]


def _limits_said(limits: dict[str, tuple[float, str]]) -> str:
    said = ", ".join(f"{at:.3g} {name}" for name, (at, _) in limits.items())
    return f"the stable limits in requests/s, {said}" if said else "none"


def _steady(x: alt.X) -> alt.X:
    """The axis with its end on a step."""
    most = float(x["scale"]["domain"][1])
    stepped: alt.X = x.scale(domain=[0, step_above(most, _decades(most))], nice=False)
    return stepped


def _decades(value: float) -> list[float]:
    """Ends of a logarithmic axis that do not jump while a slider moves."""
    power = 10.0 ** math.floor(math.log10(value))
    return [power * step for step in _ROUND]


def _below(value: float) -> float:
    power = 10.0 ** np.floor(np.log10(value))
    return float(max(power * step for step in _ROUND if power * step <= value))

"""The live charts as finished specifications: signals, a picture, and where asked its own sliders."""

from __future__ import annotations

from enum import StrEnum

import altair as alt

from analysis.live.curves import speedup_curve, tokens_curve, trap_curve
from analysis.live.paying_map import paying_map
from analysis.live.setting import LiveSetting
from analysis.live.signals import parameters
from analysis.live.words import TRAP_LINES, VERDICT_LINES
from analysis.palette import PLAIN

_HEIGHT = 320
_ABOVE_AND_BELOW = 110
"""Sentence, legend and axis, where a page counts them into the height."""


class Picture(StrEnum):
    """Which chart."""

    SPEEDUP = "speedup"
    TOKENS = "tokens"
    MAP = "map"
    TRAP = "trap"


_DRAWN = {
    Picture.SPEEDUP: (speedup_curve, _HEIGHT),
    Picture.TOKENS: (tokens_curve, _HEIGHT),
    Picture.MAP: (paying_map, _HEIGHT + 40),
    Picture.TRAP: (trap_curve, _HEIGHT),
}
_ALL = ("p", "gamma", "cost_ratio", "verify_cost", "overhead")
_SLIDERS = {
    Picture.SPEEDUP: _ALL,
    Picture.TOKENS: _ALL,
    Picture.MAP: _ALL,
    Picture.TRAP: ("p", "gamma"),
}
_LINES = {Picture.TRAP: TRAP_LINES}


def live_picture(picture: Picture, start: LiveSetting) -> dict[str, object]:
    """One chart without sliders, as wide as its place: for a page that sets the signals itself.

    >>> start = LiveSetting(p=0.7, gamma=4, cost_ratio=0.1)
    >>> [param["name"] for param in live_picture(Picture.TRAP, start)["params"]][:3]
    ['p', 'gamma', 'cost_ratio']
    """
    draw, height = _DRAWN[picture]
    chart = draw().properties(height=height, width="container").add_params(*parameters(start))
    return _specification(chart)


def with_sliders(picture: Picture, start: LiveSetting) -> dict[str, object]:
    """One chart with its sliders below and its sentence above, complete in itself.

    The picture of the speedup has both formulas with the numbers put in.
    """
    draw, height = _DRAWN[picture]
    chart = draw()
    sentence = alt.TitleParams(
        text=alt.expr(_LINES.get(picture, VERDICT_LINES)), anchor="start", fontSize=14, offset=10
    )
    if picture is Picture.MAP:
        sentence.subtitle = chart.title.subtitle
    if picture is Picture.SPEEDUP:
        chart = alt.LayerChart(layer=[chart, *_formulas()], description=chart.description)
    chart = chart.properties(title=sentence, height=height + _ABOVE_AND_BELOW)
    return _specification(chart.add_params(*parameters(start, sliders=_SLIDERS[picture])))


def _formulas() -> list[alt.Chart]:
    """Both formulas inside the plot, at its foot."""
    one = alt.Chart(alt.InlineData(values=[{}]))
    return [
        one.mark_text(align="left", fontSize=13, color=PLAIN)
        .transform_calculate(words=signal)
        .encode(x=alt.value(12), y=alt.value(alt.expr(f"height - {above}")), text="words:N")
        for signal, above in (("tokens_text", 34), ("speedup_text", 14))
    ]


def _specification(chart: alt.LayerChart) -> dict[str, object]:
    spec: dict[str, object] = chart.to_dict()
    spec.pop("$schema", None)  # an address that nobody needs to ask
    spec.pop("config", None)  # the page's own
    return spec

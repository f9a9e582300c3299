"""Where it pays: p against the cost of a draft step, at the draft length that is dragged."""

from __future__ import annotations

import altair as alt

from analysis.live.expressions import cost_ratio_at, tokens
from analysis.palette import ABOVE, EXACT, PLAIN, YOURS

_LEVELS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
"""Between which speedups a colour runs; the last has no end."""
_SHADES = (
    *((PLAIN, strength) for strength in (0.65, 0.3)),
    *((EXACT, strength) for strength in (0.2, 0.38, 0.56, 0.74, 0.92)),
)
"""Half transparent, so that they read on light and dark paper."""
_STEPS = 100
_FIFTHS = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1])
_BREAK_EVEN, _YOU = "break-even: speedup 1", "you"


def paying_map() -> alt.LayerChart:
    """Bands of equal speedup over p and c, the break-even line, and your point.

    The line of a speedup s is the closed form c = (E / s - V - o) / gamma, so the map is as fine as
    the screen.
    """
    names = [_band(index) for index in range(len(_LEVELS))]
    grid = alt.Chart(alt.sequence(0, _STEPS + 1, as_="step")).transform_calculate(
        p=f"datum.step / {_STEPS}", expected=tokens(f"(datum.step / {_STEPS})", "gamma")
    )
    x = alt.X("p:Q", title="Acceptance p", scale=alt.Scale(domain=[0, 1]), axis=_FIFTHS)
    y_scale = alt.Scale(domain=[0, 1], nice=False)
    ends = [
        f"clamp({cost_ratio_at(f'{level:g}', 'datum.expected')}, 0, 1)" for level in _LEVELS[1:]
    ]
    edges = f"[1, {', '.join(ends)}, 0]"
    bands = (
        grid.transform_calculate(index=f"sequence({len(_LEVELS)})", edges=edges)
        .transform_flatten(["index"])
        .transform_calculate(
            upper="datum.edges[datum.index]",
            lower="datum.edges[datum.index + 1]",
            speedup=f"{names}[datum.index]",
        )
        .mark_area(opacity=1.0)
        .encode(
            x=x,
            y=alt.Y("lower:Q", title="Cost of a draft step c", scale=y_scale, axis=_FIFTHS),
            y2="upper:Q",
            color=alt.Color(
                "speedup:N",
                scale=alt.Scale(domain=names, range=[_rgba(*shade) for shade in _SHADES]),
                legend=alt.Legend(title="speedup", orient="top", columns=3, symbolType="square"),
            ),
            tooltip=[alt.Tooltip("speedup:N", title="speedup")],
        )
    )
    marks = alt.Scale(domain=[_BREAK_EVEN, _YOU], range=[[6, 4], [1, 0]])
    line = (
        grid.transform_calculate(c=cost_ratio_at("1", "datum.expected"), mark=f"'{_BREAK_EVEN}'")
        .mark_line(clip=True, strokeWidth=2.5, color=YOURS)
        .encode(
            x=x,
            y=alt.Y("c:Q", scale=y_scale),
            strokeDash=alt.StrokeDash("mark:N", scale=marks, legend=None),
            tooltip=[
                alt.Tooltip("p:Q", format=".2f"),
                alt.Tooltip("c:Q", title="c at break-even", format=".3f"),
            ],
        )
    )
    you = (
        alt.Chart(alt.InlineData(values=[{}]))
        .transform_calculate(p="p", c="cost_ratio", speedup="speedups[gamma]")
        .mark_point(filled=True, size=170, color=YOURS, stroke=ABOVE, strokeWidth=2, opacity=1.0)
        .encode(
            x=x,
            y=alt.Y("c:Q", scale=y_scale),
            tooltip=[
                alt.Tooltip("p:Q", format=".3f"),
                alt.Tooltip("c:Q", format=".3f"),
                alt.Tooltip("speedup:Q", title="your speedup", format=".3f"),
            ],
        )
    )
    return alt.LayerChart(layer=[bands, line, you]).properties(
        title=alt.TitleParams(
            text=alt.expr("'Where γ = ' + gamma + ' pays'"),
            subtitle="Dashed: break-even. Dot: you.",
            anchor="start",
        ),
        description=(
            "Map of the speedup over acceptance p from 0 to 1 and the cost of a draft step c from 0 to 1, at "
            "your draft length. Grey bands lose, blue bands gain, the more the the stronger; a dashed line is "
            "the break-even; a dot is your p and c."
        ),
    )


def _band(index: int) -> str:
    low, high = _LEVELS[index], _LEVELS[index + 1 :][:1]
    if not high:
        return f"above {low:g}×"
    return f"{low:g} to {high[0]:g}×" if low else f"below {high[0]:g}×"


def _rgba(colour: str, strength: float) -> str:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {strength:g})"

"""The charts of one token as Vega-Lite specifications: words downwards, so that they can be read.

A bar's colour has its place or its outline as a second channel; every chart describes itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.charts import colours
from analysis.palette import ABOVE, ACCEPTED, DRAFT, LINES, PLAIN, SIMULATED, TARGET, YOURS
from app_pages.one_token.laws import Curves, Laws, Sample

_AROUND = 120
"""Of a chart's height: title, legend and axis, which the page counts in."""
_SAID = 3
"""Words that a description names."""
_OVERLAP = "both: min(P, Q)"
_TARGET, _DRAFT = "target P", "draft Q"
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 5])


def overlap_bars(laws: Laws) -> alt.LayerChart:
    """P above Q for every word; what both have is green, so all green of one kind sums to 1 - TV."""
    rows = []
    for position, word in enumerate(laws.words):
        both = min(laws.target[position], laws.draft[position])
        for name, value in ((_TARGET, laws.target[position]), (_DRAFT, laws.draft[position])):
            row = {"word": word, "who": name, "probability": value, "overlap": both}
            rows.append({**row, "part": _OVERLAP, "from": 0.0, "to": both})
            rows.append({**row, "part": name, "from": both, "to": value})
    frame = pd.DataFrame(rows)
    top = step_above(float(frame["probability"].max()))
    bars = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=_share_axis("from", top),
            x2="to:Q",
            y=_words(laws.words),
            yOffset=alt.YOffset("who:N", scale=alt.Scale(domain=[_TARGET, _DRAFT])),
            color=colours([_OVERLAP, _TARGET, _DRAFT], [ACCEPTED, TARGET, DRAFT], field="part"),
            tooltip=[
                "word:N",
                "who:N",
                alt.Tooltip("probability:Q", format=".4f"),
                alt.Tooltip("overlap:Q", format=".4f", title="min(P, Q)"),
            ],
        )
    )
    pairs = list(zip(laws.words, laws.target, laws.draft, strict=True))
    far = max(pairs, key=lambda pair: abs(pair[1] - pair[2]))
    return alt.LayerChart(layer=[bars]).properties(
        height=_AROUND + 36 * len(laws.words),
        title="P and Q, word by word",
        description=(
            f"Bars of the target's P and the draft's Q for {len(pairs)} words. "
            f"P is largest at “{max(pairs, key=lambda pair: pair[1])[0]}” ({max(laws.target):.3f}), "
            f"Q at “{max(pairs, key=lambda pair: pair[2])[0]}” ({max(laws.draft):.3f}); they differ "
            f"most at “{far[0]}”: {far[1]:.3f} and {far[2]:.3f}. "
            f"The overlap sums to {laws.overlap:.4f}."
        ),
    )


def replacement_bars(laws: Laws) -> alt.LayerChart:
    """Where the replacement of a rejected word comes from."""
    frame = pd.DataFrame({"word": laws.words, "probability": laws.decision.replacement})
    top = step_above(max(laws.decision.replacement))
    bars = (
        alt.Chart(frame)
        .mark_bar(color=TARGET)
        .encode(
            x=_share_axis("probability", top),
            y=_words(laws.words),
            tooltip=["word:N", alt.Tooltip("probability:Q", format=".4f")],
        )
    )
    known = [(v, w) for w, v in zip(laws.words, laws.decision.replacement, strict=True) if v]
    words = ", ".join(f"{word} {value:.3f}" for value, word in sorted(known, reverse=True)[:_SAID])
    return alt.LayerChart(layer=[bars]).properties(
        height=_AROUND - 20 + 23 * len(laws.words),
        title="Where replacements come from",
        description=(
            f"Probability of each word as the replacement of a rejected one; {len(known)} of "
            f"{len(laws.words)} can come, most likely: {words}."
        ),
    )


def emitted_bars(laws: Laws, sample: Sample) -> alt.LayerChart:
    """Shares of the words that came out, beside the target and, where it differs, the exact law."""
    drawn, target, exact = f"came out, {sample.rounds:,} times", _TARGET, "exact for this rule"
    lossy = laws.distance > 1e-9
    marks = [(drawn, sample.shares, SIMULATED, "square"), (target, laws.target, TARGET, "diamond")]
    if lossy:
        marks.append((exact, laws.emitted, LINES[3], "circle"))
    frame = pd.DataFrame(
        [
            {"word": word, "series": name, "share": float(value)}
            for name, values, _, _ in marks
            for word, value in zip(laws.words, values, strict=True)
        ]
    )
    top = step_above(float(frame["share"].max()))
    names = [name for name, *_ in marks]
    base = alt.Chart(frame).encode(
        x=_share_axis("share", top),
        y=_words(laws.words),
        color=colours(names, [colour for _, _, colour, _ in marks]),
        tooltip=["series:N", "word:N", alt.Tooltip("share:Q", format=".4f")],
    )
    shapes = alt.Shape("series:N", scale=alt.Scale(domain=names, range=[s for *_, s in marks]))
    layers = [base.transform_filter(alt.datum.series == drawn).mark_bar()]
    for name, size in ((target, 150), (exact, 60))[: len(marks) - 1]:
        points = base.transform_filter(alt.datum.series == name).encode(shape=shapes)
        layers.append(points.mark_point(filled=True, size=size, opacity=1.0))
    far, share, p = max(
        zip(laws.words, sample.shares, laws.target, strict=True),
        key=lambda row: abs(row[1] - row[2]),
    )
    often = int(np.argmax(sample.shares))
    return alt.LayerChart(layer=layers).properties(
        height=_AROUND + 28 * len(laws.words),
        title="What came out, beside P",
        description=(
            f"Shares of the emitted words in {sample.rounds} decisions beside the target's P. "
            f"“{laws.words[often]}” came most often, {sample.shares[often]:.3f}; farthest from P is "
            f"“{far}”: {share:.3f} for {p:.3f}. Exact distance from the target: "
            f"TV = {laws.distance:.4f}."
        ),
    )


def acceptance_lines(curves: Curves, *, temperature: float, here: float) -> alt.LayerChart:
    """Acceptance against temperature, a line per rule; the reader's rule, both ways, is thick."""
    frame = pd.DataFrame(
        [
            {"temperature": t, "p": p, "rule": curve.name, "yours": curve.yours}
            for curve in curves.lines
            for t, p in zip(curves.temperatures, curve.p, strict=True)
        ]
    )
    names = [curve.name for curve in curves.lines]
    palette = [*LINES, PLAIN][: len(names)]
    dashes = [*_DASHES, [4, 6]][: len(names)]
    y = alt.Y("p:Q", title="p: kept, of those tested", scale=alt.Scale(domain=[0.0, 1.0]))
    x = alt.X(
        "temperature:Q",
        title="Temperature of both models",
        axis=alt.Axis(tickCount=8),
        scale=alt.Scale(domain=[0.0, float(max(curves.temperatures))], nice=False),
    )
    lines, thick = (
        alt.Chart(frame)
        .transform_filter(alt.datum.yours == yours)
        .mark_line(strokeWidth=width)
        .encode(
            x=x,
            y=y,
            color=colours(names, palette, field="rule"),
            strokeDash=alt.StrokeDash("rule:N", scale=alt.Scale(domain=names, range=dashes)),
            tooltip=["rule:N", alt.Tooltip("temperature:Q"), alt.Tooltip("p:Q", format=".3f")],
        )
        for yours, width in ((False, 1.8), (True, 4.0))  # the reader's own above the others
    )
    marked = alt.Chart(pd.DataFrame({"temperature": [temperature], "p": [here]}))
    rule = marked.mark_rule(color=PLAIN, strokeDash=[4, 4]).encode(x=x)
    point = marked.mark_point(color=YOURS, filled=True, size=180, opacity=1.0, stroke=ABOVE).encode(
        x=x, y=y, tooltip=[alt.Tooltip("temperature:Q"), alt.Tooltip("p:Q", format=".4f")]
    )
    ends = "; ".join(
        f"{curve.name} {curve.p[0]:.3f} to {curve.p[-1]:.3f}" for curve in curves.lines
    )
    return alt.LayerChart(layer=[rule, lines, thick, point]).properties(
        height=440,
        title="Acceptance by rule",
        description=(
            f"Acceptance from temperature {curves.temperatures[0]:g} to "
            f"{curves.temperatures[-1]:g}: {ends}. Yours: {here:.4f} at {temperature:g}."
        ),
    )


def step_above(value: float) -> float:
    """The end of a probability axis: steps, so that it does not jump while a slider moves."""
    return next(step for step in (0.25, 0.5, 0.75, 1.0) if value <= step + 1e-9)


def _words(words: Sequence[str]) -> alt.Y:
    return alt.Y(
        "word:N",
        title=None,
        sort=None,
        scale=alt.Scale(domain=list(words)),
        axis=alt.Axis(
            ticks=False, labelLimit=90, labelFontSize=13, labelOverlap=False, labelFlush=False
        ),
    )


def _share_axis(name: str, top: float) -> alt.X:
    return alt.X(
        f"{name}:Q",
        title="Probability",
        axis=alt.Axis(format="%", tickCount=5),
        scale=alt.Scale(domain=[0.0, top], nice=False),
    )

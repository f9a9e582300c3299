"""A comparison: the sentence, the waterfall, acceptance by depth, what would decide."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from analysis.comparison.result import Part, RunComparison
from app_pages import chart, downloads
from app_pages.compare import charts as compare_charts
from app_pages.compare import results as compare_results
from app_pages.compare.sides import Run
from app_pages.plain_text import plain

_BOXES = {
    "faster": (st.success, ":material/trending_up:"),
    "slower": (st.error, ":material/trending_down:"),
}
_COLUMNS = {
    "factor": st.column_config.NumberColumn(format="%.3f", help="Times faster because of it."),
    "low": st.column_config.NumberColumn(format="%.3f"),
    "high": st.column_config.NumberColumn(format="%.3f"),
    "before": st.column_config.NumberColumn(format="%.4g"),
    "after": st.column_config.NumberColumn(format="%.4g"),
    "share": st.column_config.NumberColumn(
        format="percent", help="Of the log of the whole change."
    ),
}

_DEPTH_COLUMNS = {**_COLUMNS, "difference": st.column_config.NumberColumn(format="%+.3f")}


def show(
    result: RunComparison, before: Run, after: Run, gamma: int | None, regression: float | None
) -> None:
    """Draw a comparison."""
    draw, icon = _BOXES.get(result.whole.change, (st.info, ":material/trending_flat:"))
    sentence = f"{result.sentence[0].upper()}{result.sentence[1:]}"
    draw(f"**{plain(sentence)}**", icon=icon)
    if not result.timed:
        st.caption(
            "No clock on both sides: tokens per round are compared, and what a round takes is not."
        )
    _verdict(result)
    left, right = st.columns([3, 2], gap="large")
    with left:
        spec = compare_charts.waterfall(result).to_dict()
        chart.show(spec, key="compare_parts_chart", table=_parts(result), columns=_COLUMNS)
        st.caption(_drawn(result))
    with right:
        if result.depths:
            depths = compare_charts.acceptance_before_and_after(result).to_dict()
            chart.show(
                depths, key="compare_depths_chart", table=_depths(result), columns=_DEPTH_COLUMNS
            )
        else:
            st.caption("The two do not both say how many rounds kept each depth: no curve to draw.")
    _notes(result)
    _take_along(result, before, after, gamma, regression)


def _verdict(result: RunComparison) -> None:
    if result.verdict is None or result.regression is None:
        return
    size = f"slower by more than {100 * result.regression:g} %"
    draw, words, icon = {
        "regressed": (st.error, f"A regression: it is {size}.", ":material/block:"),
        "not regressed": (st.success, f"No regression: it is not {size}.", ":material/verified:"),
        "undecided": (st.warning, f"Undecided whether it is {size}.", ":material/help:"),
    }[result.verdict]
    draw(words, icon=icon)


def _drawn(result: RunComparison) -> str:
    first, second = result.units
    word = result.unit if first == second == 1 else f"{result.unit}s"
    drawn = f"{first:,} and {second:,} {word}"
    if first == second == 1:
        drawn = "sums only, their rounds taken as independent"
    paired = ", the same prompts together" if result.paired else ""
    bound = " They hold less than all of the uncertainty." if result.lower_bound else ""
    return f"Whiskers: {result.level:.0%}, from {drawn}{paired}.{bound}"


def _parts(result: RunComparison) -> pd.DataFrame:
    """The whole, its factors, and what else was compared."""
    return pd.DataFrame([_row(part) for part in (result.whole, *result.parts, *result.rest)])


def _depths(result: RunComparison) -> pd.DataFrame:
    """Acceptance of both sides, depth by depth."""
    return pd.DataFrame(
        [
            {
                "depth": each.depth + 1,
                "quantity": each.quantity.replace("_", " "),
                "before": each.before,
                "after": each.after,
                "difference": each.difference.value,
                "low": (each.difference.interval or (None, None))[0],
                "high": (each.difference.interval or (None, None))[1],
            }
            for each in result.depths
        ]
    )


def _row(part: Part) -> dict[str, object]:
    low, high = part.factor.interval or (None, None)
    return {
        "part": compare_charts.TITLES.get(part.name, part.name),
        "before": None if math.isnan(part.before) else part.before,
        "after": None if math.isnan(part.after) else part.after,
        "unit": part.unit,
        "factor": part.factor.value,
        "low": low,
        "high": high,
        "share": part.share,
        "change": part.change,
    }


def _notes(result: RunComparison) -> None:
    if result.caveats:
        lines = "\n".join(f"- {plain(caveat)}" for caveat in result.caveats)
        st.warning(f"Other things differ between the two, too:\n{lines}", icon=":material/warning:")
    if result.notes:
        st.caption("\n".join(f"- {plain(note)}" for note in result.notes))


def _take_along(
    result: RunComparison, before: Run, after: Run, gamma: int | None, regression: float | None
) -> None:
    downloads.button(
        "JSON",
        lambda: compare_results.report_json(result, gamma, regression),
        file_name="specdec_compare.json",
        words="What `specdec compare --format json` prints.",
    )
    with st.expander("The same on the command line", icon=":material/terminal:"):
        line = compare_results.command(before, after, gamma, regression)
        st.code(line, language="bash", wrap_lines=True)

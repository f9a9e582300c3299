"""What an engine's numbers mean: the ones that matter, how each is known, and the way to Explore."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from analysis import charts
from analysis.import_rows import log_rows, time_rows
from analysis.log_summary import LogSummary
from analysis.round_time import PassTime
from app_pages import chart, state, to_explore
from app_pages.plain_text import plain
from real_runs.engines import Reading

_COLUMNS = ["quantity", "value", "low", "high", "how it is known"]
_NO_CURVE = "The log does not say how many rounds kept each depth: no curve to draw."
_MS = 1e3


def show(reading: Reading, summary: LogSummary, times: PassTime | None, explore: st.Page) -> None:
    """Draw what the numbers of a reading mean, its times where a clock is known."""
    _metrics(summary, times)
    _sentence(summary)
    _to_explore(summary, explore)
    left, right = st.columns([2, 3], gap="large")
    with left:
        _chart(summary)
    with right:
        _table(reading, summary, times)
    notes(reading)


def _table(reading: Reading, summary: LogSummary, times: PassTime | None) -> None:
    rows = (*log_rows(reading.counts, summary, reading.printed), *time_rows(times))
    st.dataframe(
        pd.DataFrame([[_cell(cell) for cell in row] for row in rows], columns=_COLUMNS),
        hide_index=True,
        key="log_rows",
        height=400 if len(rows) > 10 else "content",
        column_config={
            "quantity": st.column_config.TextColumn(width=210),
            "how it is known": st.column_config.TextColumn(width=430),
        },
    )


def _metrics(summary: LogSummary, times: PassTime | None) -> None:
    with st.container(horizontal=True):
        sure = summary.p_interval
        _metric(
            "p",
            _span(summary.p_range),
            "kept, of those tested" if sure is None else f"95 %: {_span(sure)}",
            "Kept, of those tested: what the formula needs. The interval takes tokens as "
            "independent; those of one request are not, so it is rather too narrow.",
        )
        fraction = summary.accepted_fraction
        _metric(
            "accepted / drafted",
            "unknown" if math.isnan(fraction) else f"{fraction:.3f}",
            "not p",
            "What engines print as acceptance rate. It counts tokens that nobody tested.",
        )
        tokens = summary.tokens_per_round
        _metric(
            "Tokens per round",
            "unknown" if tokens is None else f"{tokens.value:.2f}",
            "counted" if summary.rounds else "as printed",
            "1 + accepted / rounds.",
        )
        formula = summary.formula_tokens
        _metric(
            "By the formula",
            "unknown" if formula is None else _span(formula, 2),
            "with this p and γ",
            "Far from the counted value: acceptance is not one p at all depths.",
        )
        gain = summary.speedup
        _metric(
            "Speedup",
            "unknown" if gain is None else f"{gain.value:.2f}×",
            f"at c = {state.current().cost_ratio:g}",
            "Counted tokens per round / cost of a round as set above. It needs the number of rounds.",
        )
        show_times(times)


def show_times(times: PassTime | None) -> None:
    """Metrics of the clock, as far as it says something."""
    if times is None:
        return
    if times.speedup is not None:
        _metric(
            "Speedup, by the clock",
            f"{times.speedup.number:.2f}×",
            "measured, not set",
            f"{times.speedup.how}. {times.clock[0].upper()}{times.clock[1:]}.",
        )
    if times.seconds_per_round is not None:
        _metric(
            "Time of a round",
            f"{times.seconds_per_round.number * _MS:.3g} ms",
            "target pass and draft",
            f"{times.seconds_per_round.how}. {times.clock[0].upper()}{times.clock[1:]}.",
        )
    if times.round_cost is not None:
        _metric(
            "Cost of a round",
            f"{times.round_cost.number:.2f}",
            "plain steps, by the clock",
            f"{times.round_cost.how}. The article takes 1 + γ c.",
        )


def _metric(label: str, value: str, below: str, words: str) -> None:
    known = None if value == "unknown" else below
    st.metric(label, value, known, delta_color="off", delta_arrow="off", help=words, border=True)


def _sentence(summary: LogSummary) -> None:
    if summary.naive_tokens is None or summary.formula_tokens is None:
        return
    st.markdown(
        f"Put **{summary.accepted_fraction:.3f}** into the formula as if it were p, and it promises "
        f"**{summary.naive_tokens:.2f}** tokens per round; with p from the counts it says "
        f"**{_span(summary.formula_tokens, 2)}**."
    )


def _to_explore(summary: LogSummary, explore: st.Page) -> None:
    low, high = summary.p_range
    if math.isnan(low):
        return
    same = round(low, 3) == round(high, 3)
    choices = [("this p", low)] if same else [("the lowest p", low), ("the highest p", high)]
    with st.container(horizontal=True, gap="small"):
        for name, p in choices:
            to_explore.button(p, summary.gamma, explore, key=f"log_{name}", name=name)


def _chart(summary: LogSummary) -> None:
    if summary.p_by_depth is not None:
        pooled = None if summary.p is None else summary.p.value
        drawn = charts.acceptance_by_depth(summary.p_by_depth, pooled=pooled)
    elif summary.p_by_depth_range is not None:
        drawn = charts.acceptance_ranges(summary.p_by_depth_range)
    else:
        st.caption(_NO_CURVE)
        return
    chart.show(drawn.to_dict(), key="log_chart")


def notes(reading: Reading) -> None:
    """What the engine's own rate is, and how the lines were read."""
    st.caption(plain(reading.definition))
    with st.expander("How the lines were read", icon=":material/fact_check:"):
        lines = [f"{reading.used} of {reading.lines:,} lines were used.", *reading.notes]
        lines += [f"Line {skip.line} skipped: {skip.reason}" for skip in reading.skipped]
        st.markdown("\n".join(f"- {plain(line)}" for line in lines))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _span(ends: tuple[float, float], digits: int = 3) -> str:
    low, high = (f"{end:.{digits}f}" for end in ends)
    if low == "nan":
        return "unknown"
    return low if low == high else f"{low} to {high}"

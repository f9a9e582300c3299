"""One engine's metrics: the numbers that matter, how each is known, and the way to Explore."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from analysis import charts
from analysis.import_rows import log_rows
from analysis.log_summary import LogSummary, summarize
from app_pages import state
from app_pages.plain_text import plain
from app_pages.state import MAX_GAMMA
from real_runs.engines import Reading

_COLUMNS = ["quantity", "value", "low", "high", "how it is known"]


def show(reading: Reading, *, gamma: int | None, explore: st.Page, key: str) -> None:
    """Draw a reading; `key` keeps its widgets apart from those of other readings."""
    st.subheader(reading.title)
    now = state.current()
    try:
        summary = summarize(
            reading.counts,
            printed=reading.printed,
            gamma=gamma,
            cost_ratio=now.cost_ratio,
            verify_cost=now.verify_cost,
            overhead=now.overhead,
        )
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    _metrics(summary)
    _sentence(summary)
    _to_explore(summary, explore, key)
    _chart(summary, key)
    _table(reading, summary, key)
    _notes(reading)


def _table(reading: Reading, summary: LogSummary, key: str) -> None:
    rows = pd.DataFrame(
        [
            [_cell(cell) for cell in row]
            for row in log_rows(reading.counts, summary, reading.printed)
        ],
        columns=_COLUMNS,
    )
    st.dataframe(
        rows,
        hide_index=True,
        key=f"{key}_rows",
        height="content",
        column_config={
            "quantity": st.column_config.TextColumn(width=260),
            "how it is known": st.column_config.TextColumn(width=430),
        },
    )


def _metrics(summary: LogSummary) -> None:
    with st.container(horizontal=True):
        sure = summary.p_interval
        _metric(
            "p",
            _span(summary.p_range),
            "kept, of those tested" if sure is None else f"95 %: {_span(sure)}",
            "Kept, of those tested: what the formula needs. The interval takes tokens as "
            "independent; those of one request are not, so it is rather too narrow.",
        )
        _metric(
            "accepted / drafted",
            f"{summary.accepted_fraction:.3f}",
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
            "Counted tokens per round / cost of a round. It needs the number of rounds.",
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


def _to_explore(summary: LogSummary, explore: st.Page, key: str) -> None:
    low, high = summary.p_range
    if math.isnan(low):
        return
    same = round(low, 3) == round(high, 3)
    choices = [("this p", low)] if same else [("the lowest p", low), ("the highest p", high)]
    with st.container(horizontal=True, gap="small"):
        for name, p in choices:
            if st.button(
                f"Use {name} ({p:.3f}) in Explore", icon=":material/tune:", key=f"{key}_{name}"
            ):
                state.put(p=p)
                if summary.gamma is not None and 1 <= summary.gamma <= MAX_GAMMA:
                    state.put(gamma=summary.gamma)
                state.remember()
                st.switch_page(explore)


def _chart(summary: LogSummary, key: str) -> None:
    if summary.p_by_depth is not None:
        pooled = None if summary.p is None else summary.p.value
        chart = charts.acceptance_by_depth(summary.p_by_depth, pooled=pooled)
    elif summary.p_by_depth_range is not None:
        chart = charts.acceptance_ranges(summary.p_by_depth_range)
    else:
        st.caption("The log does not say how many rounds kept each depth: no curve to draw.")
        return
    st.vega_lite_chart(chart.to_dict(), width="stretch", key=f"{key}_chart")


def _notes(reading: Reading) -> None:
    st.caption(plain(reading.definition))
    with st.expander("How the lines were read", icon=":material/fact_check:"):
        lines = [f"{reading.used} of {reading.lines:,} lines were used.", *reading.notes]
        lines += [f"Line {skip.line} skipped: {skip.reason}" for skip in reading.skipped]
        st.markdown("\n".join(f"- {plain(line)}" for line in lines))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _span(ends: tuple[float, float], digits: int = 3) -> str:
    low, high = (f"{end:.{digits}f}" for end in ends)
    if low == "nan":
        return "unknown"
    return low if low == high else f"{low} to {high}"

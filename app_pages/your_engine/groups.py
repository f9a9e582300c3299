"""Does acceptance differ between kinds of requests, or along the log?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from analysis.group_rows import GROUPS, group_rows, groups_sentence
from analysis.groups import Groups
from app_pages import chart
from app_pages.plain_text import plain
from app_pages.your_engine import results as engine_results
from app_pages.your_engine.charts import tokens_by_group
from app_pages.your_engine.sources import Facts, Given
from simulator import Observation

_COLUMNS = {
    name: st.column_config.NumberColumn(format="%.3f")
    for name in ("tokens per round", "low", "high", "accepted first", "accepted fraction")
}


def show(given: Given, place: int, facts: Facts, observed: Observation) -> str | None:
    """Draw acceptance by label or along the log; the label as the command line takes it."""
    if len(observed.units) < 2:
        return None
    st.header("By kind, and over time")
    labels = engine_results.labels_of(observed)
    word = "request" if observed.unit == "request" else "interval"
    along = f"{word}s in the order of the log"
    chosen = st.selectbox(
        "Compare by",
        [along, *labels],
        key="log_by",
        help="Labels that the log gives its units; numbers with many values are cut at quartiles.",
        width=340,
    )
    label = None if chosen == along or chosen not in labels else chosen
    buckets = None if label is None else labels[label]
    try:
        found = engine_results.groups(given, place, facts, label, buckets)
    except ValueError as error:
        st.info(plain(str(error)), icon=":material/info:")
        return None
    if len(found.groups) > 1:
        chart.show(
            tokens_by_group(found, what=f"{word}s" if label is None else label).to_dict(),
            key="log_groups_chart",
            table=_frame(found),
            columns=_COLUMNS,
        )
    said = plain(groups_sentence(found))
    st.markdown(f"**{said}**" if found.differ and len(found.groups) > 1 else said)
    return _for_the_command_line(label, buckets)


def _frame(found: Groups) -> pd.DataFrame:
    names = [name.replace("_", " ") for name in GROUPS]
    return pd.DataFrame(group_rows(found), columns=names)


def _for_the_command_line(label: str | None, buckets: tuple[float, ...] | None) -> str:
    if label is None:
        return engine_results.ALONG
    if buckets is None:
        return label
    return f"{label}:{','.join(f'{limit:g}' for limit in buckets)}"

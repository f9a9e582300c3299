"""The charts as specifications, kept while nothing they show changes: a slider redraws what it moves."""

from __future__ import annotations

import streamlit as st

from app_pages.systems import charts as system_charts
from app_pages.systems import results as system_results
from app_pages.systems import sizes as system_sizes
from app_pages.systems import tree_charts
from app_pages.systems.charts import Across
from app_pages.systems.choice import Choice


@st.cache_data(max_entries=128, show_spinner=False)
def axes_spec(choice: Choice, across: Across, focus: str) -> dict[str, object]:
    """Tokens per round over what the draft takes; of a `costless` choice."""
    rows = system_results.exact_rows(choice)
    line = system_sizes.line_of(choice, focus) if across == "verified" else ()
    return system_charts.tokens_over(rows, across, focus, line).to_dict(validate=False)


@st.cache_data(max_entries=128, show_spinner=False)
def bars_spec(choice: Choice, focus: str) -> dict[str, object]:
    """The speedups; of a `costly` choice."""
    return system_charts.speedup_bars(system_results.exact_rows(choice), focus).to_dict(
        validate=False
    )


@st.cache_data(max_entries=128, show_spinner=False)
def tree_spec(choice: Choice, focus: str, kind: int) -> dict[str, object]:
    """The tree of a kind of round; of a `costless` choice."""
    return tree_charts.tree_picture(system_results.pictures(choice, focus)[kind]).to_dict(
        validate=False
    )


@st.cache_data(max_entries=128, show_spinner=False)
def sizes_spec(choice: Choice, focus: str) -> dict[str, object]:
    """The speedup over sizes; of a `costly` choice."""
    row = next(each for each in system_results.exact_rows(choice) if each.system.name == focus)
    found = system_sizes.sizes_of(choice, focus)
    return tree_charts.speedup_over_sizes(found, row.nodes, row.speedup or 0.0, focus).to_dict(
        validate=False
    )

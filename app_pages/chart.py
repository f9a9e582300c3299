"""The one way in which pages draw a chart: its words, its colours for the page's theme, its numbers.

Every chart comes with an alternative text that says what is seen now, and with its numbers as a table:
below it, or, where they stand beside it anyway, named in that text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from analysis.palette import on_dark
from app_pages import downloads
from app_pages.chart_table import Spec, drawn

NUMBERS = "The numbers of this chart"
"""How the table of a chart is called, on every page."""
_DATA = ("data", "datasets", "description")

Table = pd.DataFrame | Callable[[], pd.DataFrame] | None


def show(
    spec: dict[str, Any],
    *,
    key: str,
    table: Table = None,
    beside: str | None = None,
    columns: Mapping[str, Any] | None = None,
    png: Callable[[], bytes] | None = None,
) -> None:
    """Draw a chart that describes itself, and its numbers.

    `table` holds the numbers, without it they are taken from the specification; `beside` says instead
    where on the page they stand already. `columns` are the table's, `png` makes a picture for print.
    Raises ValueError for a specification without a description.
    """
    shown = painted(spec, dark=st.context.theme.type == "dark")
    # As `alt=`, which is the same to a reader, Streamlit logs a warning at every drawing.
    shown = {**shown, "description": alternative(spec, beside)}
    st.vega_lite_chart(shown, width="stretch", key=key)
    if beside is None:
        _numbers(spec, key, table, columns, png)


def alternative(spec: Spec, beside: str | None = None) -> str:
    """What is seen, and where its numbers stand.

    >>> alternative({"description": "It rises."}), alternative({"description": "It falls."}, "a table")
    ('It rises. “The numbers of this chart” stand below.', 'It falls. Its numbers stand in a table.')
    """
    words = str(spec.get("description", "")).strip()
    if not words:
        raise ValueError("spec must have a description: it is what is said instead of the chart.")
    where = f"“{NUMBERS}” stand below" if beside is None else f"Its numbers stand in {beside}"
    return f"{words} {where}."


def painted(spec: dict[str, Any], *, dark: bool) -> dict[str, Any]:
    """The specification with the colours of a dark page, or as it is; its data stay untouched."""
    if not dark:
        return spec
    return {name: part if name in _DATA else _dark(part) for name, part in spec.items()}


def _dark(part: Any) -> Any:
    if isinstance(part, str):
        return on_dark(part)
    if isinstance(part, list):
        return [_dark(each) for each in part]
    if isinstance(part, dict):
        return {name: each if name in _DATA else _dark(each) for name, each in part.items()}
    return part


def _numbers(
    spec: dict[str, Any],
    key: str,
    table: Table,
    columns: Mapping[str, Any] | None,
    png: Callable[[], bytes] | None,
) -> None:
    frame = table() if callable(table) else drawn(spec) if table is None else table
    with st.expander(NUMBERS, icon=":material/table_chart:", key=f"{key}_numbers"):
        if frame.empty:
            st.caption("Nothing is drawn yet.")
            return
        st.dataframe(
            frame,
            hide_index=True,
            placeholder="",
            column_config=columns,
            key=f"{key}_table",
        )
        with st.container(horizontal=True, gap="small"):
            downloads.button(
                "This table, CSV",
                lambda: frame.to_csv(index=False).encode(),
                file_name=f"specdec_{key}.csv",
                words="The numbers with all of their digits.",
            )
            if png is not None:
                downloads.button(
                    "This chart, PNG",
                    png,
                    file_name=f"specdec_{key}.png",
                    words="The chart for print.",
                )

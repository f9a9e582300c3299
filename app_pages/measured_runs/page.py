"""The page of measured runs: what two actual models gained, and whether the formula knew it."""

from __future__ import annotations

import streamlit as st

from app_pages.measured_runs import view as run_view
from app_pages.measured_runs.files import MAX_MB, example, examples, uploaded
from app_pages.plain_text import plain
from real_runs.runs.reading import HEADER, REQUESTS


def page() -> None:
    """Draw the page."""
    st.title("Real runs")
    st.markdown(
        "The same loop on **actual models**: a target decodes some prompts plainly, then again with a "
        "draft at several draft lengths, and a clock runs along. Here is what it gained, and whether "
        "the formula knew. Times belong to the machine that they were taken on."
    )
    names = examples()
    left, right = st.columns(2, gap="medium")
    with left:
        chosen = st.selectbox(
            "A run that comes with the package",
            names,
            key="run_example",
            placeholder="none in this installation",
            disabled=not names,
        )
    with right:
        files = st.file_uploader(
            f"Or your own: {HEADER} and {REQUESTS} of a run folder",
            type=["json", "jsonl"],
            accept_multiple_files=True,
            max_upload_size=MAX_MB,
            key="run_files",
            help="`specdec measure` writes them. Your files go before the run on the left; nothing "
            "in them is executed, and nothing is kept.",
        )
    if not files and chosen is None:
        st.info(
            "No run to show yet. Measure one with `specdec measure` and drop its two files above."
        )
        return
    try:
        run = uploaded({file.name: file.getvalue() for file in files}) if files else example(chosen)
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    run_view.show(run)

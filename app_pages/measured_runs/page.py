"""The page of measured runs: what two actual models gained, and whether the formula knew it."""

from __future__ import annotations

import streamlit as st

from app_pages import sharing
from app_pages.measured_runs import view as run_view
from app_pages.measured_runs.files import MAX_MB, example, examples, uploaded
from app_pages.plain_text import plain
from app_pages.questions.asking import ask
from app_pages.questions.measured import REAL_RUNS
from app_pages.sharing import write_address
from real_runs.runs.reading import HEADER, REQUESTS

_RUN = "run"
"""The name in the address, which never changes."""


def page() -> None:
    """Draw the page."""
    st.title("Real runs")
    st.markdown(
        "The same loop on **actual models**: a target decodes some prompts plainly, then again with a "
        "draft at several draft lengths, and a clock runs along. Here is what it gained, and whether "
        "the formula knew. Times belong to the machine that they were taken on."
    )
    names = examples()
    _recall(names)
    left, right = st.columns(2, gap="medium")
    with left:
        chosen = st.selectbox(
            "A run that comes with the package",
            names,
            key="run_example",
            placeholder="none in this installation",
            disabled=not names,
            help="Measured with `specdec measure` and kept as it was written: what ran, on which machine "
            "and when stands at the foot of the page.",
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
    said = {_RUN: str(chosen)} if not files and names and chosen != names[0] else {}
    write_address((_RUN,), said)
    try:
        run = uploaded({file.name: file.getvalue() for file in files}) if files else example(chosen)
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    own = "Your files do not travel with it: they are never in an address." if files else ""
    run_view.show(run, sharing.link(said, shared=False), stays=own)
    ask("real_runs", REAL_RUNS, run.summary)


def _recall(names: tuple[str, ...]) -> None:
    """The run that a link names, the first time that the page is drawn in a session."""
    asked = st.query_params.get(_RUN)
    if asked is None or "run_example" in st.session_state:
        return
    if asked in names:
        st.session_state["run_example"] = asked
    else:
        problem = f"{_RUN} must be one of {', '.join(names)}; got {asked!r:.40}."
        st.warning(f"{plain(problem)} The link is read without it.", icon=":material/link_off:")

"""The third page: what an engine's own lines say about p, tokens per round and speedup."""

from __future__ import annotations

import io

import streamlit as st

from app_pages import reading_view
from app_pages.controls import show_problem, slider_with_number
from app_pages.plain_text import plain
from app_pages.state import COST, GAMMA
from real_runs.engines import MetricsFormatError, Reading, read_log

MAX_MB = 10
MAX_LENGTH = 10_000
_EXAMPLE = (
    "slot print_timing: id  0 | task 0 |\n"
    "draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length =  2.92, "
    "acceptance rate per position = (0.805, 0.632, 0.483)\n"
)


def page(explore: st.Page) -> None:
    """Draw the page; `explore` is where a p can be taken."""
    st.title("Read a log")
    st.markdown(
        "Engines print *accepted / drafted* and call it the acceptance rate. The formula needs p, the "
        "chance that a **tested** token is kept. Paste what vLLM or llama.cpp wrote, and the counts "
        "behind it say what p is, or between which bounds it lies."
    )
    show_problem()
    text, upload = _inputs()
    left, right, _ = st.columns(3, gap="medium")
    with left:
        slider_with_number(COST)
    with right:
        gamma = st.number_input(
            "Configured draft length, if the log does not show it",
            value=None,
            step=1.0,  # a float without limits: what cannot be a length comes here and gets its sentence
            format="%.10g",
            key="log_gamma",
            on_change=_take_length,
            placeholder="unknown",
            help=GAMMA.help,
        )
    if not text.strip() and upload is None:
        st.info("Nothing to read yet. Press **Show me an example** to see what comes out.")
        return
    try:
        readings = _read(text, upload)
    except MetricsFormatError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    for position, reading in enumerate(readings):
        reading_view.show(
            reading,
            gamma=None if gamma is None else int(gamma),
            explore=explore,
            key=f"reading{position}",
        )


def _take_length() -> None:
    length = st.session_state["log_gamma"]
    before = st.session_state.get("log_gamma_before")
    if length is None or (1 <= length <= MAX_LENGTH and length == int(length)):
        st.session_state["log_gamma_before"] = length
        return
    st.session_state["problem"] = (
        f"The draft length must be a whole number in [1, {MAX_LENGTH:,}]; got {length:.12g}. "
        f"It stays {'unknown' if before is None else f'at {before:g}'}."
    )
    st.session_state["log_gamma"] = before


def _inputs() -> tuple[str, io.BytesIO | None]:
    pasted, file = st.columns([3, 2], gap="medium")
    with pasted:
        text = st.text_area(
            "Paste the lines",
            key="log_text",
            height=160,
            max_chars=1_000_000,
            placeholder="SpecDecoding metrics: Mean acceptance length: …",
            help="Nothing leaves this server; nothing is kept.",
        )
        st.button(
            "Show me an example",
            icon=":material/description:",
            on_click=lambda: st.session_state.update(log_text=_EXAMPLE),
        )
    with file:
        upload = st.file_uploader(
            f"Or a whole log, up to {MAX_MB} MB",
            type=["log", "txt", "out"],
            max_upload_size=MAX_MB,
            key="log_file",
            help="A file goes before pasted lines.",
        )
    return text or "", upload


def _read(text: str, upload: io.BytesIO | None) -> tuple[Reading, ...]:
    if upload is None:
        return read_log(io.BytesIO(text.encode()), name="the pasted lines")
    upload.seek(0)
    return read_log(upload, name="the file")

"""The two runs that are compared: pasted, dropped, or from a public report."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from analysis.facts import with_facts
from app_pages.plain_text import plain
from app_pages.your_engine.inputs import FILE_TYPES
from app_pages.your_engine.sources import (
    MAX_MB,
    MAX_PASTED,
    Given,
    dropped,
    examples,
    pasted,
    readings,
    source_caption,
)
from real_runs.engines import Reading
from simulator import Observation

SIDES = ("before", "after")
_TITLES = {"before": "Before", "after": "After"}
_EXAMPLE = "vLLM: acceptance changed (club-3090 105)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One side: its log and the place of the reading that was chosen."""

    given: Given
    place: int


def reading_of(run: Run) -> Reading:
    """The chosen reading."""
    found = readings(run.given)
    assert not isinstance(found, str)  # noqa: S101 — `side` gives no run without a reading
    return found[run.place]


def observed(run: Run, name: str, gamma: int | None) -> Observation:
    """The side as the analysis takes it; ValueError if `gamma` contradicts its counts."""
    found = replace(reading_of(run).observation, name=name)
    if gamma is None or found.gamma is not None:
        return found
    return with_facts(found, gamma=gamma)


def example_texts() -> tuple[str, str]:
    """Two intervals of one server, chat and code, from a public report."""
    lines = (examples()[_EXAMPLE].log or "").splitlines(keepends=True)
    return "".join(lines[:2]), "".join(lines[2:])


def show_example() -> None:
    """Put the example into both fields."""
    for side, text in zip(SIDES, example_texts(), strict=True):
        st.session_state[f"compare_{side}_text"] = text
        st.session_state[f"compare_{side}_example"] = None


def example_caption() -> str | None:
    """Where the example comes from, while both fields hold it."""
    shown = tuple(st.session_state.get(f"compare_{side}_text") for side in SIDES)
    return source_caption(examples()[_EXAMPLE]) if shown == example_texts() else None


def side(name: str) -> Run | None:
    """Draw the inputs of a side; the run that they stand for, None while there is none."""
    st.header(_TITLES[name])
    text = st.text_area(
        f"Paste the lines of the run {name}",
        key=f"compare_{name}_text",
        height=130,
        max_chars=MAX_PASTED,
        placeholder="SpecDecoding metrics: Mean acceptance length: …",
        help="A log of any engine that is read here. Nothing is kept.",
        persist_state="session",
    )
    upload = st.file_uploader(
        f"Or the file of the run {name}, up to {MAX_MB} MB",
        type=FILE_TYPES,
        max_upload_size=MAX_MB,
        key=f"compare_{name}_file",
        help="A file goes before pasted lines.",
    )
    chosen = st.selectbox(
        f"Or a public report, as the run {name}",
        list(examples()),
        index=None,
        key=f"compare_{name}_example",
        on_change=_take_example,
        args=(name,),
        placeholder="choose one",
        help="The lines that somebody quoted.",
    )
    case = examples().get(chosen or "")
    if case is not None and case.log == text:
        st.markdown(source_caption(case))
    given = pasted(text or "") if upload is None else dropped(upload)
    return None if given is None else _read(given, name)


def _take_example(name: str) -> None:
    case = examples().get(st.session_state[f"compare_{name}_example"] or "")
    if case is not None:
        st.session_state[f"compare_{name}_text"] = case.log


def _read(given: Given, name: str) -> Run | None:
    found = readings(given)
    if isinstance(found, str):
        st.error(plain(found), icon=":material/error:")
        return None
    titles = [reading.title for reading in found]
    place = 0
    if len(titles) > 1:
        title = st.selectbox(
            f"The run {name} holds {len(found)} kinds of records",
            titles,
            key=f"compare_{name}_reading",
            help="The one that says most comes first.",
        )
        place = titles.index(title) if title in titles else 0
    else:
        st.caption(plain(titles[0]))
    return Run(given=given, place=place)

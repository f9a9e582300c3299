"""The plan's schedule in the words of each engine: to read, to copy, to download."""

from __future__ import annotations

import streamlit as st

from analysis.configuration.result import ENGINES, TITLES, Configuration, Engine
from app_pages import downloads
from app_pages.deployment.results import Setup
from app_pages.plain_text import plain
from app_pages.plan_page import results as plan_results

_LANGUAGES = {"shell": "bash", "json": "json", "yaml": "yaml"}


def show(setup: Setup, strategy: str) -> None:
    """Draw a tab per engine."""
    left, right = st.columns(2, gap="medium")
    with left:
        target = _name("target", "Target, as your engine is given it", "org/name or a path.")
    with right:
        draft = _name("draft", "Draft, as your engine is given it", "Nothing for prompt lookup.")
    for engine, tab in zip(ENGINES, st.tabs([TITLES[each] for each in ENGINES]), strict=True):
        with tab:
            _engine(setup, strategy, engine, (target, draft))


def _name(key: str, label: str, words: str) -> str:
    value = st.text_input(
        label, key=f"plan_{key}_name", max_chars=300, help=f"{words} Empty: a word to replace.",
        placeholder="to be replaced", persist_state="session",
    )  # fmt: skip
    return (value or "").strip()


def _engine(setup: Setup, strategy: str, engine: Engine, names: tuple[str, str]) -> None:
    found, said = _written(setup, strategy, engine, names)
    if said:
        st.caption(plain(said))
    if found is None:
        return
    for file in found.files:
        title = file.name if file.purpose == "serve" else f"{file.name}, for a load test only"
        st.markdown(f"**{plain(title)}**")
        st.code(file.text, language=_LANGUAGES[file.kind], wrap_lines=True)
        downloads.button(
            file.name,
            lambda text=file.text: text.encode(),  # type: ignore[misc]
            file_name=file.name,
            words="This file alone.",
        )
    if found.notes:
        with st.expander("What to know of it", icon=":material/info:"):
            st.markdown("\n".join(f"- {plain(note)}" for note in found.notes))
    if len(found.files) > 1:
        downloads.button(
            "All files, as one text for a shell",
            found.text.encode,
            file_name=f"specdec_{engine}.sh",
            words="Writes the files and starts nothing.",
        )


def _written(
    setup: Setup, strategy: str, engine: Engine, names: tuple[str, str]
) -> tuple[Configuration | None, str]:
    """The configuration, and what must be said of it; the schedule that falls where no other can be."""
    why = ""
    for falling in (False, True):
        try:
            found = plan_results.configuration(setup, strategy, engine, *names, falling=falling)
        except ValueError as error:
            why = str(error)
            continue
        return found, f"The nearest schedule that never rises with the batch: {why}" if why else ""
    return None, why

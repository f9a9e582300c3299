"""The inputs of the page that converts: drawn from what is remembered, written to the address."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from analysis.conversion.conversion import Conversion
from analysis.conversion.quantities import ASSUMPTIONS, QUANTITIES
from app_pages import state
from app_pages.convert import choice as convert_choice
from app_pages.convert.choice import KEYS, MOST_LENGTH, MOST_TEXT, OURS, Choice
from app_pages.plain_text import plain
from real_runs.engines.reading import written

_REMEMBERED = "convert_choice"
_VALUE_HELP = (
    "As it was printed: the digits carry their rounding. By depth: 0.805, 0.632, 0.483. A percent "
    "keeps its sign: 64.5%."
)


def controls() -> Choice:
    """Draw every input but the assumptions; the choice that they now stand for."""
    before = _recalled()
    first, second, third = st.columns([1, 2, 1], gap="medium")
    with first:
        engine = st.selectbox(
            "Whose word",
            convert_choice.engines(),
            format_func=lambda name: "this project's own" if name == OURS else written(name),
            key=_set("engine", before.engine),
            on_change=_first_word,
            help="The engine or tool that printed the number, or the papers.",
        )
    with second:
        word = st.selectbox(
            "Word",
            convert_choice.words(engine),
            key=_set("word", before.word),
            help="As the engine writes it; other spellings mean the same.",
        )
    with third:
        version = before.version
        if engine != OURS:
            version = st.text_input(
                "Version, where it matters",
                key=_set("version", before.version),
                max_chars=40,
                placeholder="0.9.1" if convert_choice.needs_version(engine, word) else "any",
                help="Some words changed their meaning. An error says between which versions.",
            )
    value_column, gamma_column, window_column = st.columns([2, 1, 1], gap="medium")
    with value_column:
        value = st.text_input(
            "Value", key=_set("value", before.value), max_chars=MOST_TEXT, help=_VALUE_HELP
        )
    with gamma_column:
        length = _length("length", "Draft length γ", before.length, 1, "Tokens drafted per round.")
    with window_column:
        words = (
            "Tokens that a target pass verifies, the root included: γ + 1 for a chain, the size of "
            "a tree. SGLang: `speculative_num_draft_tokens`."
        )
        window = _length("window", "Verified window", before.window, 2, words)
    choice = replace(
        before,
        engine=engine,
        word=word,
        version=version if engine != OURS else "",
        value=value or "",
        length=length,
        window=window,
    )
    _meaning(choice)
    st.session_state[_REMEMBERED] = choice
    return choice


def with_assumptions(choice: Choice, bare: Conversion) -> Choice:
    """Draw a box per assumption that something needs; the choice with those that are ticked."""
    needed = {name for derived in (bare.given, *bare.assumed) for name in derived.assumptions}
    needed |= {name for entry in bare.words for name in entry.assumptions}
    offered = [name for name in ASSUMPTIONS if name in needed]
    if not offered:
        choice = replace(choice, known=())
    else:
        st.markdown("**What else holds?** Ticked, it counts as known.")
        ticked = []
        columns = st.columns(max(3, min(len(offered), 4)), gap="medium")
        for place, name in enumerate(offered):
            with columns[place % len(columns)]:
                key = _set(f"known_{name}", name in choice.known)
                if st.checkbox(name.replace("_", " "), key=key, help=ASSUMPTIONS[name]):
                    ticked.append(name)
                st.caption(plain(ASSUMPTIONS[name]))
        choice = replace(choice, known=tuple(sorted(ticked)))
    st.session_state[_REMEMBERED] = choice
    return choice


def _length(key: str, label: str, before: int | None, least: int, words: str) -> int | None:
    name = _set(key, None if before is None else float(before))
    value = st.number_input(
        label,
        value=None,
        step=1.0,
        format="%.10g",
        key=name,
        placeholder="unknown",
        help=words,
    )
    if value is None:
        return None
    if least <= value <= MOST_LENGTH and value == int(value):
        return int(value)
    whole = f"a whole number in [{least}, {MOST_LENGTH:,}]"
    st.warning(f"{label} must be {whole}; got {value:.12g}. It counts as unknown.")
    return None


def _meaning(choice: Choice) -> None:
    if choice.engine == OURS:
        st.caption(plain(QUANTITIES[choice.word].meaning))
        return
    lines = []
    for name in convert_choice.meanings(choice.engine, choice.word):
        when = f"{name.versions}: " if name.versions else ""
        note = f"; {name.note}" if name.note else ""
        lines.append(f"{when}{QUANTITIES[name.quantity].meaning}{note} (source: {name.source})")
    st.caption("\n".join(f"- {plain(line)}" for line in lines))


def _first_word() -> None:
    """Another engine: its first word, and nothing that was known of the other's."""
    st.session_state["convert_word"] = convert_choice.words(st.session_state["convert_engine"])[0]
    st.session_state["convert_version"] = ""


def _recalled() -> Choice:
    """What the widgets showed last, or what the address says where it is the one to ask."""
    here = any(key in st.query_params for key in KEYS)
    if _REMEMBERED in st.session_state and not (state.went_back() and here):
        choice: Choice = st.session_state[_REMEMBERED]
        return choice
    choice, problems = convert_choice.read(st.query_params.to_dict())
    for problem in problems:
        st.warning(f"{plain(problem)} The link is read without it.", icon=":material/link_off:")
    for key in [key for key in st.session_state if str(key).startswith("convert_")]:
        del st.session_state[key]
    return choice


def _set(key: str, value: object) -> str:
    """The widget's key, its value set where it has none: written anew, it would undo a fast press."""
    name = f"convert_{key}"
    if name not in st.session_state:
        st.session_state[name] = value
    return name

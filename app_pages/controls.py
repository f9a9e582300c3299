"""The inputs: slider and number field share one state, the slider's, which lives in the address."""

from __future__ import annotations

import math
from typing import Literal

import streamlit as st

from analysis.presets import Preset, presets
from app_pages import state
from app_pages.state import COST, GAMMA, OVERHEAD, VERIFY, Field, P

OWN = "your own numbers"


def controls() -> None:
    """Presets, the three numbers of the formula, and what the article leaves out."""
    _show_problem()
    presets_above = st.container()  # filled last: the sliders must have read the address before
    for field, column in zip((P, GAMMA, COST), st.columns(3, gap="medium"), strict=True):
        with column:
            slider_with_number(field)
    _left_out()
    state.remember()  # now, not only at the end: a quick click on another page stops the run here
    with presets_above:
        _preset_row()


def number(field: Field, width: int | Literal["stretch"] = "stretch") -> None:
    """A number field of its own, bound to the address."""
    kind = int if field.whole else float
    st.number_input(
        field.label,
        min_value=kind(field.low),
        max_value=kind(field.high),
        value=kind(field.default),
        step=kind(field.step),
        format=None if field.whole else f"%.{field.decimals}f",
        key=field.key,
        bind="query-params",
        help=field.help,
        width=width,
    )


def slider_with_number(field: Field) -> None:
    """A slider and, for those who rather type, a number field beside it."""
    kind = int if field.whole else float
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.slider(
            field.label,
            kind(field.low),
            kind(field.high),
            kind(field.default),
            kind(field.step),
            format=None if field.whole else f"%.{field.decimals}f",
            key=field.key,
            bind="query-params",
            help=field.help,
        )
        typed = _typed(field)
        st.session_state[typed] = kind(st.session_state[field.key])
        # Without limits of its own: a value out of range comes here and gets its sentence.
        st.number_input(
            f"{field.label}, typed",
            step=kind(field.step),
            format=None if field.whole else f"%.{field.decimals + 1}f",
            key=typed,
            on_change=_take_typed,
            args=(field,),
            label_visibility="collapsed",
            width=120,
        )


def _typed(field: Field) -> str:
    return f"{field.key}_typed"


def _take_typed(field: Field) -> None:
    value = st.session_state[_typed(field)]
    problem = field.problem(value)
    if problem is None:
        st.session_state[field.key] = value
    else:
        st.session_state["problem"] = f"{problem} It stays at {st.session_state[field.key]:g}."


def _show_problem() -> None:
    problem = st.session_state.pop("problem", None)
    if problem:
        st.warning(problem, icon=":material/error:")


def _preset_row() -> None:
    names = {preset.name: preset for preset in presets()}
    here = next((preset.name for preset in names.values() if _matches(preset)), OWN)
    st.session_state["preset"] = here
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox(
            "Start from",
            [*names, OWN],
            key="preset",
            on_change=_apply_preset,
            help="Settings from print. Moving a slider afterwards makes them your own.",
            width=340,
        )
        st.button(
            "Reset",
            icon=":material/restart_alt:",
            on_click=state.reset,
            help="Back to the article's example, with the default rounds and seed.",
        )
    if here in names:
        preset = names[here]
        source = f"[{preset.source}]({preset.url})" if preset.url else preset.source
        st.caption(f"{preset.note} Source: {source}.")


def _matches(preset: Preset) -> bool:
    now = state.current()
    return (
        now.gamma == preset.gamma
        and math.isclose(now.p, preset.p, abs_tol=1e-9)
        and math.isclose(now.cost_ratio, preset.cost_ratio, abs_tol=1e-9)
        and now.at_article
    )


def _apply_preset() -> None:
    preset = next((item for item in presets() if item.name == st.session_state["preset"]), None)
    if preset is not None:
        state.put(p=preset.p, gamma=preset.gamma, c=preset.cost_ratio, v=1.0, overhead=0.0)


def _left_out() -> None:
    query = st.query_params
    opened = st.session_state.setdefault(
        "left_out", VERIFY.key in query or OVERHEAD.key in query or not state.current().at_article
    )
    with st.expander("What the article leaves out", expanded=opened, icon=":material/tune:"):
        first, second, words = st.columns([1, 1, 2], gap="medium")
        with first:
            number(VERIFY)
        with second:
            number(OVERHEAD)
        words.caption(
            "The article takes the checking pass as free beyond one plain step (V = 1) and a round "
            "as nothing but drafting and checking. Both hold for one request on a fast card, and "
            "fail first on a busy server."
        )

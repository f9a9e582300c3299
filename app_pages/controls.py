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
    show_problem()
    presets_above = st.container()  # filled last: the sliders must have read the address before
    for field, column in zip((P, GAMMA, COST), st.columns(3, gap="medium"), strict=True):
        with column:
            slider_with_number(field)
    _left_out()
    state.remember()  # now, not only at the end: a quick click on another page stops the run here
    with presets_above:
        _preset_row()


def number(field: Field, width: int | Literal["stretch"] = "stretch") -> None:
    """A number field of its own, bound to the address; an impossible number gets its sentence."""
    st.number_input(
        field.label,
        value=float(field.default),
        step=float(field.step),
        format="%.10g",
        key=field.key,
        bind="query-params",
        on_change=_take_own,
        args=(field,),
        help=field.help,
        width=width,
    )


def keep_what_can_be_meant(key: str, problem: str | None) -> None:
    """Remember the value of a field that may be empty; with a `problem` the old one stays, and it is said."""
    before = st.session_state.get(f"{key}_before")
    if problem is None:
        st.session_state[f"{key}_before"] = st.session_state[key]
        return
    stays = "unknown" if before is None else f"at {before:g}"
    st.session_state["problem"] = f"{problem} It stays {stays}."
    st.session_state[key] = before


def show_problem() -> None:
    """The sentence for what was typed last, once; above the fields or in the fragment that reruns."""
    problem = st.session_state.pop("problem", None)
    if problem:
        st.warning(problem, icon=":material/error:")


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
        # Without limits of its own: a value out of range comes here and gets its sentence. Cleared, it
        # falls back to `value`, so to the number in use. A float even for γ: 2.5 must arrive as 2.5.
        value = float(st.session_state[field.key])
        key = fresh_key(f"{field.key}_typed", value)
        st.number_input(
            f"{field.label}, typed",
            value=value,
            step=float(field.step),
            format="%.6g",
            key=key,
            on_change=_take_typed,
            args=(field, key),
            label_visibility="collapsed",
            width=120,
        )


def fresh_key(name: str, value: object) -> str:
    """The key of a widget that follows `value`: a new one whenever anything else changed the value.

    Were the new value written into the old widget, the browser could answer a fast key press with
    the widget's stale value, which looks like a choice and would undo the press.
    """
    if st.session_state.get(drawn_key(name)) != value:
        st.session_state[f"{name}_drawn"] = st.session_state.get(f"{name}_drawn", 0) + 1
    return drawn_key(name)


def drawn_key(name: str) -> str:
    """The key under which such a widget was drawn last."""
    return f"{name}{st.session_state.get(f'{name}_drawn', 0)}"


def _take_typed(field: Field, key: str) -> None:
    if key != drawn_key(f"{field.key}_typed"):
        return  # an answer from a field that is gone: the browser has not yet heard of the new one
    value = st.session_state[key]
    if not _refused(field, value, stays=st.session_state[field.key]):
        st.session_state[field.key] = int(value) if field.whole else value


def _take_own(field: Field) -> None:
    before = st.session_state.get("remembered", {}).get(field.key, field.default)
    if _refused(field, st.session_state[field.key], stays=before):
        st.session_state[field.key] = before


def _refused(field: Field, value: float, *, stays: float) -> bool:
    problem = field.problem(f"{value:.12g}")
    if problem is not None:
        st.session_state["problem"] = f"{problem} It stays at {stays:.10g}."
    return problem is not None


def _preset_row() -> None:
    names = {preset.name: preset for preset in presets()}
    here = next((preset.name for preset in names.values() if _matches(preset)), OWN)
    choices = [*names, OWN] if here == OWN else list(names)
    key = fresh_key("preset", here)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.selectbox(
            "Start from",
            choices,
            index=choices.index(here),
            key=key,
            on_change=_apply_preset,
            args=(key,),
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
        st.markdown(f":small[{preset.note} Source: {source}.]")  # a link in a caption is too faint


def _matches(preset: Preset) -> bool:
    now = state.current()
    return (
        now.gamma == preset.gamma
        and math.isclose(now.p, preset.p, abs_tol=1e-9)
        and math.isclose(now.cost_ratio, preset.cost_ratio, abs_tol=1e-9)
        and now.at_article
    )


def _apply_preset(key: str) -> None:
    if key != drawn_key("preset"):
        return  # see _take_typed
    preset = next((item for item in presets() if item.name == st.session_state[key]), None)
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

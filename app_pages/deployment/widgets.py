"""Widgets that show and change the one choice in the session. The choice is what counts, not they.

Each follows the choice with a key of its own (`fresh_key`), so that a button or another page can change a
value, and a fast key press is never undone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from app_pages import recalling, state
from app_pages.controls import drawn_key, fresh_key
from app_pages.deployment import address
from app_pages.deployment.choice import Choice
from app_pages.deployment.fields import NUMBERS, OPTIONAL
from app_pages.sharing import write_address
from app_pages.state import Field

_CHOICE = "deploy_choice"
_PROBLEM = "deploy_problem"


def recalled() -> Choice:
    """The choice of this session, or that of the address where a link or Back led here."""
    recalling.recall(_CHOICE, _PROBLEM, address.KEYS, address.read)
    return current()


def current() -> Choice:
    """The choice with the numbers that all pages share."""
    settings = state.current()
    choice: Choice = st.session_state.get(_CHOICE, address.EXAMPLE)
    return dataclasses.replace(
        choice, p=settings.p, gamma=settings.gamma, cost_ratio=settings.cost_ratio
    )


def change(**values: Any) -> None:
    """Change the choice; the widgets follow. For callbacks, before anything is drawn."""
    st.session_state[_CHOICE] = dataclasses.replace(current(), **values)


def show_problems() -> None:
    """What was wrong with the link or with what was typed last, once."""
    recalling.show(_PROBLEM)


def tell(*problems: str) -> None:
    """Say something above the fields in the next run."""
    st.session_state[_PROBLEM] = problems


def say_in_address(choice: Choice) -> None:
    """Write to the address what differs from the example."""
    write_address(address.KEYS, address.query(choice))


def select(
    name: str,
    label: str,
    options: Sequence[str] | Mapping[Any, str],
    words: str,
    *,
    shown: str | None = None,
    take: Callable[[str], None] | None = None,
) -> str:
    """A list to choose from; a mapping gives what is shown for each. Returns what is chosen."""
    value = str(getattr(current(), name)) if shown is None else shown
    names = list(options)
    if value not in names:
        names.append(value)
    key = fresh_key(f"deploy_{name}", value)
    st.selectbox(
        label,
        names,
        index=names.index(value),
        format_func=options.__getitem__ if isinstance(options, Mapping) else str,
        key=key,
        on_change=_take_selected,
        args=(name, key, take),
        help=words,
    )
    return value


def _take_selected(name: str, key: str, take: Callable[[str], None] | None) -> None:
    if key != drawn_key(f"deploy_{name}"):
        return  # an answer from a field that is gone
    value = st.session_state[key]
    if take is not None:
        take(value)
    else:
        change(**{name: value})


def number(name: str, *, label: str | None = None) -> None:
    """A number field; what cannot be used gets its sentence, and the old value stays."""
    field = _field(name)
    known = getattr(current(), name)
    value = None if known is None else float(known)
    key = fresh_key(f"deploy_{name}", value)
    if name in OPTIONAL and key not in st.session_state:
        st.session_state[key] = (
            value  # with a `value` of its own a cleared field would fall back to it
        )
    st.number_input(
        label or field.label,
        value=None if name in OPTIONAL else value,
        step=float(field.step),
        format="%.10g",
        placeholder="unknown",
        key=key,
        on_change=_take_number,
        args=(name, key, f"deploy_{name}"),
        help=field.help,
    )


def steps(name: str, values: Sequence[int], *, place: str = "", label: str = "") -> None:
    """A slider over rising steps and, for what lies between, a number field beside it.

    `place` tells several of the same number apart on one page, which all follow it; `label` too.
    """
    field = NUMBERS[name]
    label = label or field.label
    value = int(getattr(current(), name))
    drawn = f"deploy_{name}_slider{place}"
    known = st.session_state.get(f"{drawn}_steps", ())
    if st.session_state.get(drawn_key(drawn)) != value or value not in known:
        known = tuple(sorted({*values, value}))
        st.session_state[f"{drawn}_steps"] = known
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        key = fresh_key(drawn, value)
        st.select_slider(
            label,
            known,
            value=value,
            format_func=lambda step: f"{step:,}",
            key=key,
            on_change=_take_number,
            args=(name, key, drawn),
            help=field.help,
        )
        typed = f"deploy_{name}_typed{place}"
        key = fresh_key(typed, float(value))
        st.number_input(
            f"{label}, typed",
            value=float(value),
            step=float(max(field.step, 1)),
            format="%.10g",
            key=key,
            on_change=_take_number,
            args=(name, key, typed),
            label_visibility="collapsed",
            width=120,
        )


def _take_number(name: str, key: str, drawn: str) -> None:
    if key != drawn_key(drawn):
        return
    field = _field(name)
    value = st.session_state[key]
    before = getattr(current(), name)
    if value is None and name in OPTIONAL:
        change(**{name: None})
        return
    problem = "got nothing." if value is None else field.problem(f"{float(value):.12g}")
    if problem is not None:
        stays = "unknown" if before is None else f"at {before:.10g}"
        tell(f"{problem} It stays {stays}.")
        st.session_state[key] = None if before is None else float(before)
        return
    change(**{name: int(value) if field.whole else float(value)})


def _field(name: str) -> Field:
    return NUMBERS[name] if name in NUMBERS else OPTIONAL[name]


def text(
    name: str,
    label: str,
    words: str,
    *,
    shown: str,
    read: Callable[[str], Any],
    placeholder: str = "",
) -> None:
    """A line of text that `read` understands; what it refuses gets its sentence."""
    key = fresh_key(f"deploy_{name}", shown)
    st.text_input(
        label,
        value=shown,
        key=key,
        max_chars=1000,
        placeholder=placeholder,
        on_change=_take_text,
        args=(name, key, shown, read),
        help=words,
    )


def _take_text(name: str, key: str, shown: str, read: Callable[[str], Any]) -> None:
    if key != drawn_key(f"deploy_{name}"):
        return
    try:
        change(**{name: read(st.session_state[key])})
    except ValueError as error:
        tell(f"{error} It stays as it was.")
        st.session_state[key] = shown

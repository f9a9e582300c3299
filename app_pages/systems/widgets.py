"""Widgets of the page of systems: they show and change the one choice in the session, which is what counts.

As on the pages of a deployment each follows the choice with a key of its own, so that no fast press is undone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from app_pages import recalling, state
from app_pages.controls import drawn_key, fresh_key
from app_pages.deployment import widgets as deploy_widgets
from app_pages.sharing import write_address
from app_pages.state import Field
from app_pages.systems import choice as choices
from app_pages.systems.choice import Choice
from app_pages.systems.system_words import Word

_CHOICE = "systems_choice"
_PROBLEMS = "systems_problems"
Change = Callable[[Choice, Any], Choice]
"""How a value goes into the choice."""


def recalled() -> Choice:
    """The choice of this session, or that of the address where a link or Back led here."""
    deploy_widgets.recalled()
    recalling.recall(_CHOICE, _PROBLEMS, choices.address_keys(), choices.read)
    return current()


def current() -> Choice:
    """The choice with what all pages share: cost ratio, overhead, and what runs where."""
    settings = state.current()
    kept: Choice = st.session_state.get(_CHOICE, choices.EXAMPLE)
    return dataclasses.replace(
        kept,
        cost_ratio=settings.cost_ratio,
        overhead=settings.overhead,
        runs=choices.place_of(deploy_widgets.current()),
    )


def keep(choice: Choice) -> None:
    """Take over a changed choice; widgets and address follow. For callbacks, before anything is drawn."""
    st.session_state[_CHOICE] = choice


def show_problems() -> None:
    """What was wrong with the link or with what was typed last, once."""
    deploy_widgets.show_problems()
    recalling.show(_PROBLEMS)


def say_in_address(choice: Choice) -> None:
    """Write to the address what differs from the example."""
    deploy_widgets.say_in_address(deploy_widgets.current())
    write_address(choices.address_keys(), choices.query(choice))


def setter(name: str) -> Change:
    """The change of one field of the choice."""

    def change(choice: Choice, value: Any) -> Choice:
        return dataclasses.replace(choice, **{name: value})

    return change


def value_setter(key: str) -> Change:
    """The change of one number or word of a system."""

    def change(choice: Choice, value: Any) -> Choice:
        return choice.with_value(key, value)

    return change


def select(
    key: str,
    label: str,
    options: Sequence[str] | Mapping[str, str],
    value: str,
    words: str,
    change: Change,
) -> None:
    """A list to choose from; a mapping gives what is shown for each."""
    drawn = f"systems_{key}"
    names = list(options)
    widget = fresh_key(drawn, value)
    st.selectbox(
        label,
        names,
        index=names.index(value),
        format_func=options.__getitem__ if isinstance(options, Mapping) else str,
        key=widget,
        on_change=_take,
        args=(drawn, widget, change),
        help=words,
    )


def word(field: Word, choice: Choice) -> None:
    """The list of one word of a system."""
    select(
        field.key, field.label, field.options, choice.word(field.key), field.help,
        value_setter(field.key),
    )  # fmt: skip


def steps(
    key: str, label: str, values: Sequence[int], value: int, words: str, change: Change
) -> None:
    """A slider over some rising whole numbers; a link may bring one between them."""
    drawn = f"systems_{key}"
    widget = fresh_key(drawn, value)
    st.select_slider(
        label,
        sorted({*values, value}),
        value=value,
        format_func=lambda step: f"{step:,}",
        key=widget,
        on_change=_take,
        args=(drawn, widget, change),
        help=words,
    )


def segments(
    key: str, label: str, options: Mapping[int, str], value: int, words: str, change: Change
) -> None:
    """A row of options of which one is chosen."""
    drawn = f"systems_{key}"
    widget = fresh_key(drawn, value)
    st.segmented_control(
        label,
        list(options),
        default=value,
        required=True,
        format_func=options.__getitem__,
        key=widget,
        on_change=_take,
        args=(drawn, widget, change),
        help=words,
    )


def _take(drawn: str, key: str, change: Change) -> None:
    if key == drawn_key(drawn):  # else an answer from a field that is gone
        keep(change(current(), st.session_state[key]))


def number(field: Field, value: float, change: Change) -> None:
    """A slider and a number field beside it; what cannot be used gets its sentence, the old value stays."""
    kind = int if field.whole else float
    drawn = f"systems_{field.key}"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        key = fresh_key(drawn, value)
        st.slider(
            field.label,
            kind(field.low),
            kind(field.high),
            value=kind(value),
            step=kind(field.step),
            format=None if field.whole else f"%.{field.decimals}f",
            key=key,
            on_change=_take_number,
            args=(drawn, key, field, value, change),
            help=field.help,
        )
        typed = f"{drawn}_typed"
        key = fresh_key(typed, value)
        st.number_input(
            f"{field.label}, typed",
            value=float(value),
            step=float(field.step),
            format="%.6g",
            key=key,
            on_change=_take_number,
            args=(typed, key, field, value, change),
            label_visibility="collapsed",
            width=110,
        )


def _take_number(drawn: str, key: str, field: Field, before: float, change: Change) -> None:
    if key != drawn_key(drawn):
        return
    value = st.session_state[key]
    problem = field.problem(f"{float(value):.12g}")
    if problem is not None:
        st.session_state[_PROBLEMS] = (f"{problem} It stays at {before:.6g}.",)
        st.session_state[key] = float(before)
        return
    keep(change(current(), int(value) if field.whole else float(value)))


def optional(key: str, field: Field, label: str, value: float | None, change: Change) -> None:
    """A number field that may be empty."""
    drawn = f"systems_{key}"
    widget = fresh_key(drawn, value)
    if widget not in st.session_state:
        st.session_state[widget] = (
            value  # with a `value` of its own a cleared field would fall back
        )
    st.number_input(
        label,
        value=None,
        step=float(field.step),
        format="%.6g",
        placeholder="as all",
        key=widget,
        on_change=_take_optional,
        args=(drawn, widget, field, value, change),
        help=field.help,
    )


def _take_optional(
    drawn: str, key: str, field: Field, before: float | None, change: Change
) -> None:
    if key != drawn_key(drawn):
        return
    value = st.session_state[key]
    problem = None if value is None else field.problem(f"{float(value):.12g}")
    if problem is not None:
        stays = "that of all" if before is None else f"{before:.6g}"
        st.session_state[_PROBLEMS] = (f"{problem} It stays at {stays}.",)
        st.session_state[key] = before
        return
    keep(change(current(), value))


def reset(name: str, keys: Sequence[str]) -> None:
    """Back to the preset of one system."""
    choice = current().with_own(name, None)
    kept = tuple((key, value) for key, value in choice.changed if key not in keys)
    keep(dataclasses.replace(choice, changed=kept))

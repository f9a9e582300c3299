"""Widgets of the arrivals: they show and change the one load in the session, which is what counts.

Each follows the load with a key of its own, as those of a deployment do.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from analysis.serving.usual import USUAL_BUDGET
from app_pages import recalling
from app_pages.controls import drawn_key, fresh_key
from app_pages.sharing import write_address
from app_pages.state import Field
from app_pages.where_it_breaks import arrivals
from app_pages.where_it_breaks.arrivals import KINDS, NUMBERS, SHARE, SHARES, Load

_LOAD = "arrivals_load"
_PROBLEMS = "arrivals_problems"
_KIND_HELP = (
    "Mean lengths. Prompts of the first three are log-normal and cut at some times their mean; answers end "
    "at random, every token may be the last. The numbers are round, not measured: set your own under *What "
    "a whole request is* in section 2, or give any law to `specdec serving`."
)
_ALONE_HELP = (
    f"Off: parts of prompts fill each pass up to {USUAL_BUDGET:,} tokens, beside what others decode (chunked "
    "prefill), as engines mostly do. On: a prompt is read in a pass of its own as soon as its request is "
    "admitted, and who decodes waits meanwhile."
)
_RATE_HELP = "Requests per second that arrive; the slider beside it shows the same as a share."


def recalled() -> Load:
    """The load of this session, or that of the address where a link or Back led here."""
    recalling.recall(_LOAD, _PROBLEMS, arrivals.KEYS, arrivals.read)
    return current()


def current() -> Load:
    """The load of this session."""
    load: Load = st.session_state.get(_LOAD, arrivals.EXAMPLE)
    return load


def show_problems() -> None:
    """What was wrong with the link or with what was typed last, once."""
    recalling.show(_PROBLEMS)


def say_in_address() -> None:
    """Write to the address what arrives; nothing where nothing does."""
    write_address(arrivals.KEYS, arrivals.query(current()))


def switch() -> None:
    """The switch that lets requests arrive."""
    value = current().on
    key = fresh_key("arrivals_on", value)
    st.toggle(
        "Let requests arrive",
        value=value,
        key=key,
        on_change=_take,
        args=("arrivals_on", key, "on"),
        help="Simulates the server round by round, which takes a second or two for each setting.",
    )


def kind() -> None:
    """What is asked."""
    value = current().kind
    key = fresh_key("arrivals_kind", value)
    names = list(KINDS)
    st.selectbox(
        "What is asked",
        names,
        index=names.index(value),
        format_func=KINDS.__getitem__,
        key=key,
        on_change=_take,
        args=("arrivals_kind", key, "kind"),
        help=_KIND_HELP,
    )


def prompts() -> None:
    """How prompts are read."""
    value = current().alone
    key = fresh_key("arrivals_alone", value)
    st.toggle(
        "Read each prompt alone",
        value=value,
        key=key,
        on_change=_take,
        args=("arrivals_alone", key, "alone"),
        help=_ALONE_HELP,
    )


def rate(plain_limit: float) -> None:
    """A slider over shares of what the plain server takes and, beside it, the same in requests/s."""
    value = current().share
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        key = fresh_key("arrivals_share", value)
        st.select_slider(
            SHARE.label,
            sorted({*SHARES, value}),
            value=value,
            format_func=lambda share: f"{share:.4g} %",
            key=key,
            on_change=_take_number,
            args=("arrivals_share", key, "share", 1.0),
            help=SHARE.help,
        )
        absolute = float(f"{value / 100.0 * plain_limit:.4g}")
        key = fresh_key("arrivals_rate", absolute)
        st.number_input(
            "Requests per second",
            value=absolute,
            step=float(f"{plain_limit / 20.0:.1g}"),
            format="%.4g",
            key=key,
            on_change=_take_number,
            args=("arrivals_rate", key, "share", 100.0 / plain_limit),
            help=_RATE_HELP,
            width=170,
        )


def numbers(*names: str) -> None:
    """Number fields side by side; what cannot be used gets its sentence, and the old value stays."""
    for column, name in zip(st.columns(len(names), gap="medium"), names, strict=True):
        field, value = NUMBERS[name], float(getattr(current(), name))
        drawn = f"arrivals_{name}"
        key = fresh_key(drawn, value)
        column.number_input(
            field.label,
            value=value,
            step=float(field.step),
            format="%.10g",
            key=key,
            on_change=_take_number,
            args=(drawn, key, name, 1.0),
            help=field.help,
        )


def _change(**values: Any) -> None:
    st.session_state[_LOAD] = dataclasses.replace(current(), **values)


def _take(drawn: str, key: str, name: str) -> None:
    if key == drawn_key(drawn):  # else an answer from a field that is gone
        _change(**{name: st.session_state[key]})


def _as_typed(field: Field, factor: float) -> Field:
    """The field with its ends in what was typed, which is `factor` times smaller than what is kept."""
    if factor == 1.0:
        return field
    low, high = (float(f"{end / factor:.3g}") for end in (field.low, field.high))
    return dataclasses.replace(field, name="requests per second", low=low, high=high)


def _take_number(drawn: str, key: str, name: str, factor: float) -> None:
    if key != drawn_key(drawn):
        return
    field, before = NUMBERS[name], getattr(current(), name)
    value = float(f"{float(st.session_state[key]) * factor:.{10 if factor == 1.0 else 6}g}")
    if field.problem(value) is not None:
        kept = before if factor == 1.0 else float(f"{before / factor:.4g}")
        problem = _as_typed(field, factor).problem(f"{float(st.session_state[key]):.10g}")
        st.session_state[_PROBLEMS] = (f"{problem} It stays at {kept:.10g}.",)
        st.session_state[key] = float(f"{kept:.10g}")
        return
    _change(**{name: int(value) if field.whole else value})

"""What follows from a number, in three blocks; then the same in other engines' words."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from analysis.conversion.conversion import Conversion, Derived
from analysis.conversion.quantities import QUANTITIES
from app_pages import live_panel, state, to_explore
from app_pages.convert.choice import Choice
from app_pages.plain_text import plain
from app_pages.state import MAX_GAMMA
from real_runs.engines.reading import written

_COLUMNS = {
    "engine": st.column_config.TextColumn(width=110),
    "word": st.column_config.TextColumn(width=240),
    "value": st.column_config.TextColumn(width=150),
    "assuming": st.column_config.TextColumn(width=150),
}


def show(result: Conversion) -> None:
    """Draw a conversion."""
    for warning in result.warnings:
        said = warning.replace(result.given.quantity, _name(result.given))
        st.warning(plain(said), icon=":material/warning:")
    st.markdown(
        f"It is **{plain(_name(result.given))} = {plain(_value(result.given))}**: "
        f"{plain(result.meaning)}."
    )
    exact, assumed, impossible = st.columns(3, gap="medium")
    with exact.container(border=True, height="stretch"):
        st.markdown(":green-badge[:material/verified: follows exactly]")
        _list(result.exact, empty="Nothing, from this number alone.")
    with assumed.container(border=True, height="stretch"):
        st.markdown(":orange-badge[:material/help: follows if]")
        _list(result.assumed, empty="Nothing more.")
    with impossible.container(border=True, height="stretch"):
        st.markdown(":gray-badge[:material/block: does not follow]")
        lines = [
            f"- **{plain(entry.quantity.replace('_', ' '))}**: {plain(entry.reason)}"
            for entry in result.impossible
        ]
        st.markdown("\n".join(lines) or "Everything that is asked for follows.")


def _list(group: tuple[Derived, ...], *, empty: str) -> None:
    lines = []
    for derived in group:
        needs = ""
        if derived.assumptions:
            names = ", ".join(name.replace("_", " ") for name in derived.assumptions)
            needs = f" :orange[if {plain(names)}]"
        lines.append(
            f"- **{plain(_name(derived))} = {plain(_value(derived))}**{needs}  \n"
            f"  :gray[{plain(derived.how)}]"
        )
    st.markdown("\n".join(lines) or empty)


def trap(choice: Choice, result: Conversion, explore: st.Page) -> None:
    """What an engine prints at any p and γ, from the p of this number, or from that of the sliders."""
    st.header("p, and what engines print")
    found, now = result.get("p"), state.current()
    gamma = choice.length or (now.gamma if choice.window is None else choice.window - 1)
    if found is None or isinstance(found.value, tuple):
        p, whose = (
            now.p,
            "p does not follow from this number. The picture starts at that of *Explore*",
        )
    else:
        p, whose = round(found.value, 3), "The picture starts at the p of this number"
    st.markdown(
        f"{whose}, **{p:.3f}**, and γ = {min(gamma, MAX_GAMMA)}. Drag γ: p stays where it is, and what an "
        "engine prints falls."
    )
    live_panel.trap(p, min(gamma, MAX_GAMMA))
    if found is not None and not isinstance(found.value, tuple):
        to_explore.button(found.value, gamma, explore, key="convert_p")


def words(result: Conversion) -> None:
    """The same rounds in the words of every engine."""
    st.header("The same in other words")
    rows = [
        {
            "engine": written(entry.engine),
            "versions": entry.versions,
            "word": entry.word,
            "is": "prints" if entry.kind == "prints" else "is told",
            "value": entry.text,
            "assuming": ", ".join(name.replace("_", " ") for name in entry.assumptions),
            "note": entry.note,
        }
        for entry in result.words
    ]
    if not rows:
        st.caption("No engine has a word for what follows.")
        return
    st.caption(
        "What each engine would print for the same rounds, or what it must be told to act as if."
    )
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        column_config=_COLUMNS,
        key="convert_words_table",
        height=min(35 * len(rows) + 38, 460),
    )


def _name(derived: Derived) -> str:
    return derived.quantity.replace("_", " ")


def _value(derived: Derived) -> str:
    values = derived.value if isinstance(derived.value, tuple) else (derived.value,)
    whole = QUANTITIES[derived.quantity].whole
    return ", ".join(
        _number(value, ends, whole=whole)
        for value, ends in zip(values, derived.ranges, strict=True)
    )


def _number(value: float, ends: tuple[float, float], *, whole: bool) -> str:
    """A number with what rounding allows, if that shows in its digits."""
    if math.isnan(value):
        return "unknown"
    if whole:
        return f"{value:,.0f}"
    low, high = (f"{end:.4g}" for end in ends)
    return f"{value:.4g}" if low == high else f"{value:.4g} ({low} to {high})"

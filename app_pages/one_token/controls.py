"""The inputs of the page of one token: drawn from what is remembered, written to the address."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from app_pages import sharing, state
from app_pages.one_token import choice as token_choice
from app_pages.one_token import pairs as token_pairs
from app_pages.one_token.choice import (
    DELTA,
    DISAGREEMENT,
    EPSILON,
    KEYS,
    LENIENCE,
    MIX,
    PICKED_NAMES,
    RULE_NAMES,
    SHARPNESS,
    TEMPERATURE,
    TOP_K,
    TOP_P,
    Choice,
)
from app_pages.one_token.pairs import NAMES, OWN, RANDOM, weights_problem
from app_pages.plain_text import plain
from app_pages.state import Field

_REMEMBERED = "token_choice"
_PROBLEMS = "token_link_problems"
_EDITOR = "token_own"
_COLUMNS = {
    "word": st.column_config.TextColumn(disabled=True),
    "target": st.column_config.NumberColumn(help="Weight, at least 0.", format="%g"),
    "draft": st.column_config.NumberColumn(help="Weight, at least 0.", format="%g"),
}


def controls() -> Choice:
    """Draw every input; the choice that they now stand for."""
    before = _recalled()
    first, second, third = st.columns(3, gap="medium")
    with first:
        pair = _select("pair", "Two opinions", NAMES, before, _PAIR_HELP, on_change=_start_own)
        note = st.container()
    with second:
        rule = _select("rule", "Rule", RULE_NAMES, before, _RULE_HELP)
        extra = _parameters(rule, before)
    with third:
        picked = _radio(before)
        temperature = _slider(TEMPERATURE, before.temperature)
    choice = replace(before, pair=pair, rule=rule, picked=picked, temperature=temperature, **extra)
    if pair == RANDOM:
        choice = _mix(choice)
    elif pair == OWN:
        choice = _edit(choice)
    note.caption(choice.weights.note)
    choice = _filters(choice)
    st.session_state[_REMEMBERED] = choice
    sharing.write_address(KEYS, token_choice.query(choice))
    return choice


def arrived() -> bool:
    """Whether the address, not the widgets, says what to show: a link, or the browser's Back."""
    return _REMEMBERED not in st.session_state or (
        state.went_back() and any(key in st.query_params for key in KEYS)
    )


def _recalled() -> Choice:
    """What the widgets showed last, or what the address says where it is the one to ask."""
    if not arrived():
        if state.mended():
            _tell(st.session_state.pop(_PROBLEMS, ()))
        choice: Choice = st.session_state[_REMEMBERED]
        return choice
    choice, problems = token_choice.read(st.query_params.to_dict())
    _tell(problems)
    for key in [key for key in st.session_state if str(key).startswith("token_")]:
        del st.session_state[key]
    st.session_state[_PROBLEMS] = problems
    return choice


def _tell(problems: tuple[str, ...]) -> None:
    for problem in problems:
        st.warning(f"{plain(problem)} The link is read without it.", icon=":material/link_off:")


def _set(key: str, value: object) -> str:
    """The widget's key, its value set where it has none: written anew, it would undo a fast press."""
    name = f"token_{key}"
    if name not in st.session_state:
        st.session_state[name] = value
    return name


def _select(
    key: str, label: str, names: dict[Any, str], before: Choice, words: str, **more: Any
) -> Any:
    return st.selectbox(
        label,
        list(names),
        format_func=names.__getitem__,
        key=_set(key, getattr(before, key)),
        help=words,
        **more,
    )


def _radio(before: Choice) -> Any:
    return st.radio(
        "The draft's word is",
        list(PICKED_NAMES),
        format_func=PICKED_NAMES.__getitem__,
        key=_set("picked", before.picked),
        help=(
            "Drawn: the draft throws its own dice. Chosen: it always writes its favourite, as "
            "greedy drafts and looked-up text do."
        ),
    )


def _slider(field: Field, value: float) -> Any:
    kind = int if field.whole else float
    return st.slider(
        field.label,
        kind(field.low),
        kind(field.high),
        step=kind(field.step),
        format=None if field.whole else "%.2f",
        key=_set(field.key, kind(value)),
        help=field.help,
    )


def _parameters(rule: str, before: Choice) -> dict[str, float]:
    wanted = {
        "lenience": {"lenience": LENIENCE},
        "typical_acceptance": {"epsilon": EPSILON, "delta": DELTA},
    }.get(rule, {})
    return {name: _slider(field, getattr(before, name)) for name, field in wanted.items()}


def _mix(choice: Choice) -> Choice:
    columns = st.columns(3, gap="medium")
    values = {}
    for column, (name, field) in zip(
        columns,
        {"sharpness": SHARPNESS, "disagreement": DISAGREEMENT, "mix": MIX}.items(),
        strict=True,
    ):
        with column:
            values[name] = _slider(field, getattr(choice, name))
    return replace(choice, **values)


def _edit(choice: Choice) -> Choice:
    """The table to type into; what cannot be used gets its sentence and the last usable one stays."""
    if _EDITOR not in st.session_state:
        st.session_state["token_own_start"] = token_pairs.table(choice.weights)
    with st.expander("The weights", expanded=True, icon=":material/edit:"):
        st.caption("Type weights: counts, per cent, anything of at least 0. Only ratios matter.")
        edited: pd.DataFrame = st.data_editor(
            st.session_state["token_own_start"],
            hide_index=True,
            column_config=_COLUMNS,
            key=_EDITOR,
            height="content",
            width=560,
        )
    target, draft = edited["target"].tolist(), edited["draft"].tolist()
    for name, weights in (("Target", target), ("Draft", draft)):
        problem = weights_problem(name, weights)
        if problem is not None:
            st.warning(
                f"{plain(problem)} The last usable weights are shown.", icon=":material/error:"
            )
            return choice
    return replace(choice, target=tuple(map(float, target)), draft=tuple(map(float, draft)))


def _start_own() -> None:
    """A table of one's own begins with the weights that were on the screen."""
    before: Choice | None = st.session_state.get(_REMEMBERED)
    if before is None or st.session_state["token_pair"] != OWN or before.pair == OWN:
        return
    shown = before.weights
    st.session_state[_REMEMBERED] = replace(
        before, target=tuple(shown.target), draft=tuple(shown.draft)
    )
    st.session_state.pop(_EDITOR, None)


def _filters(choice: Choice) -> Choice:
    used = choice.top_k > 0 or choice.top_p < 1.0
    opened = st.session_state.setdefault("token_filters", used)
    with st.expander("Top-k and top-p, for both models", expanded=opened, icon=":material/tune:"):
        first, second = st.columns(2, gap="medium")
        with first:
            top_k = _slider(TOP_K, choice.top_k)
        with second:
            top_p = _slider(TOP_P, choice.top_p)
    return replace(choice, top_k=top_k, top_p=top_p)


_PAIR_HELP = (
    "What target and draft think of the next word. *Mixed by chance* has sliders; *Your own* is a table "
    "that begins with the weights on the screen."
)
_RULE_HELP = (
    "How the target decides about the draft's word. At a single word block verification is "
    "speculative sampling, and one-hot keeps as often as sample and match."
)

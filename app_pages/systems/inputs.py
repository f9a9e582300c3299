"""The inputs of the page of systems: what a round costs, and what the system that is looked at is made of."""

from __future__ import annotations

import streamlit as st

from analysis.systems.presets import preset_names
from app_pages.controls import number as shared_number
from app_pages.controls import slider_with_number
from app_pages.deployment import controls as deploy_controls
from app_pages.deployment import machine_inputs, model_inputs
from app_pages.state import COST, OVERHEAD
from app_pages.systems import system_numbers
from app_pages.systems import widgets as system_widgets
from app_pages.systems.building import is_preset
from app_pages.systems.choice import PASSES, Choice
from app_pages.systems.fields import system_keys, with_help
from app_pages.systems.system_numbers import numbers
from app_pages.systems.system_words import WORDS

_PASSES_HELP = (
    "What a target pass over n tokens takes, in passes over one: V(n). A machine's is predicted from its "
    "bandwidth and arithmetic; a straight line is for what you have measured."
)
_OWN_HELP = (
    "A layer on the target's features, a set of heads and a small model rarely cost the same. Empty: the c "
    "of all systems above."
)


def costs(choice: Choice) -> None:
    """What a draft step and a pass cost."""
    first, second, third = st.columns(3, gap="medium")
    with first:
        slider_with_number(COST)
        shared_number(OVERHEAD)
    with second:
        system_widgets.select(
            "passes", "V(n) comes from", PASSES, choice.passes, _PASSES_HELP,
            system_widgets.setter("passes"),
        )  # fmt: skip
        if choice.passes == "slope":
            system_widgets.number(
                system_numbers.SLOPE, choice.slope, system_widgets.setter("slope")
            )
    if choice.passes == "slope":
        return
    with second:
        model_inputs.target()
        st.caption("Most presets are of Vicuna 7B, which has the shape of Llama 2 7B.")
    with third:
        machine_inputs.machine()
    load, held = st.columns(2, gap="medium")
    with load:
        deploy_controls.batch()
    with held:
        deploy_controls.context()


def closer(choice: Choice) -> None:
    """Which system is looked at, and what it is made of."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        system_widgets.select(
            "system", "Look closer at", preset_names(), choice.focus,
            "Its numbers can be changed below; it changes in the charts above, too.",
            system_widgets.setter("focus"),
        )  # fmt: skip
        name = choice.focus
        changed = not is_preset(choice, name) or name in dict(choice.own)
        st.button(
            "Back to the preset",
            icon=":material/restart_alt:",
            disabled=not changed,
            on_click=system_widgets.reset,
            args=(name, system_keys(name)),
            help="The numbers of this system as they were published, or derived from what was.",
        )
    idle = _idle(choice)
    inputs = [
        *(lambda word=word: system_widgets.word(word, choice) for word in WORDS.get(name, ())),  # type: ignore[misc]
        *(
            lambda field=field: system_widgets.number(  # type: ignore[misc]
                field, choice.number(field.key), system_widgets.value_setter(field.key)
            )
            for field in numbers()[name]
            if field.key not in idle
        ),
    ]
    if name not in {"prompt-lookup", "lookahead"}:
        own = dict(choice.own).get(name)
        inputs.append(
            lambda: system_widgets.optional(
                f"own_{name}", _OWN_RATIO, _OWN_RATIO.label, own,
                lambda now, ratio: now.with_own(name, ratio),
            )
        )  # fmt: skip
    columns = st.columns(3, gap="medium")
    for place, draw in enumerate(inputs):
        with columns[place % 3]:
            draw()


def _idle(choice: Choice) -> set[str]:
    """Numbers that the chosen tree does not ask for."""
    idle = set()
    if choice.word("mtree") == "shipped":
        idle.add("mnodes")
    if choice.word("etree") == "shipped":
        idle.add("enodes")
    return idle


_OWN_RATIO = with_help(COST, "Its own draft step c", _OWN_HELP)

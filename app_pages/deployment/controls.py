"""The inputs of the three pages: what runs where, how it drafts, how often that is accepted."""

from __future__ import annotations

import streamlit as st

from app_pages import state
from app_pages.controls import slider_with_number
from app_pages.deployment import fields as numbers
from app_pages.deployment import log_offer, machine_inputs, model_inputs
from app_pages.deployment import results as deploy_results
from app_pages.deployment import widgets as deploy_widgets
from app_pages.deployment.address import depths
from app_pages.deployment.choice import ACCEPTS, DRAFTERS, Choice
from app_pages.deployment.log import last_log
from app_pages.deployment.results import Setup
from app_pages.plain_text import plain
from app_pages.state import COST, GAMMA, P

_DRAFTER_HELP = (
    "What writes ahead.\n\nvLLM: `method` in `--speculative-config`; SGLang: `--speculative-algorithm`; "
    "llama.cpp: `-md` is a draft model.\n\nHeads of EAGLE-3 choose among the words that are drafted most "
    "(`draft_vocab_size` of their config.json), which makes a step cheaper."
)
_ACCEPT_HELP = (
    "P(accepted, given that it is tested). Your engine prints another number: paste its log under "
    "*Import* and take the fit from there, with its intervals."
)
_DEPTHS_HELP = (
    "Kept, of those **tested** at each depth: 0.8, 0.7, 0.6. Engines print what survived from the start "
    "(0.8, 0.56, 0.34): divide each by the one before."
)


def begin() -> Choice:
    """First on every page: read the address, say what is wrong with it or with what was typed last."""
    choice = deploy_widgets.recalled()
    deploy_widgets.show_problems()
    return choice


def what_runs() -> None:
    """Target, machine and draft."""
    target, machine, draft = st.columns(3, gap="medium")
    with target:
        model_inputs.target()
    with machine:
        machine_inputs.machine()
    with draft:
        drafter = deploy_widgets.select("drafter", "What drafts", DRAFTERS, _DRAFTER_HELP)
        if drafter == "model":
            model_inputs.draft()
        elif drafter == "chain":
            slider_with_number(COST)
        elif drafter == "self":
            deploy_widgets.number("kept")
        elif drafter != "lookup":
            deploy_widgets.number("layers")
    if drafter != "chain":
        _keep(COST)


def acceptance() -> None:
    """How often a drafted token is kept: one p, one for each depth, or the log's fit."""
    choice = deploy_widgets.current()
    log = last_log()
    offered = {
        name: words
        for name, words in ACCEPTS.items()
        if name != "log" or log is not None or choice.accept == "log"
    }
    names = {name: words.replace("*", "") for name, words in offered.items()}
    accept = deploy_widgets.select(
        "accept", "Acceptance", names, _ACCEPT_HELP, take=log_offer.take_acceptance
    )
    if accept == "p":
        slider_with_number(P)
        return
    _keep(P)
    if accept == "depth":
        shown = ", ".join(f"{value:g}" for value in choice.depths)
        deploy_widgets.text("depths", "p by depth", _DEPTHS_HELP, shown=shown, read=depths)
    elif log is not None and log.fits and log.fitted is not None:
        units = f"{log.fitted.units:,} {log.fitted.unit}" if log.fitted.units else "one mean"
        st.caption(f"{plain(log.title)}: {plain(log.fitted.name)}, {units}.")


def draft_length() -> None:
    """γ, which all pages share."""
    slider_with_number(GAMMA)


def batch(place: str = "", label: str = "") -> None:
    """How many requests run together."""
    deploy_widgets.steps("batch", numbers.BATCHES, place=place, label=label)


def context(place: str = "") -> None:
    """How many tokens each of them holds."""
    deploy_widgets.steps("context", numbers.CONTEXTS, place=place)


def advanced() -> None:
    """Precision, what is reached of the machine, and what else a round takes."""
    choice = deploy_widgets.current()
    names = ("weight_bits", "kv_bits", *numbers.ADVANCED)
    changed = any(getattr(choice, name) != numbers.NUMBERS[name].default for name in names)
    opened = st.session_state.setdefault("deploy_advanced", changed)
    with st.expander("Advanced: precision, efficiency, overheads", expanded=opened):
        for first in range(0, len(names), 5):
            row = names[first : first + 5]
            for column, name in zip(st.columns(5, gap="medium"), row, strict=False):
                with column:
                    deploy_widgets.number(name)
        st.caption(
            "Efficiencies and overheads are assumed, not measured here: `specdec pass-cost --steps` fits "
            "them from your own step times."
        )


def requests() -> None:
    """What a whole request is, and what an hour costs."""
    columns = st.columns(3, gap="medium")
    for column, name in zip(columns, ("prompt", "output", "price"), strict=True):
        with column:
            deploy_widgets.number(name)


def setup(*, quiet: bool = False) -> Setup:
    """What everything below is computed from; also writes the address. After the widgets.

    `quiet`: neither γ nor the batch is on the page, so nothing is said of them.
    """
    choice = deploy_widgets.current()
    deploy_widgets.say_in_address(choice)
    state.remember()
    log = last_log() if choice.accept == "log" else None
    made = deploy_results.with_room(Setup(choice=choice, log=log))
    if choice.batch > made.batch and not quiet:
        st.warning(
            f"Only {made.batch:,} requests of {choice.context:,} tokens fit the memory beside the draft: "
            f"batch {made.batch:,} is shown, not {choice.batch:,}.",
            icon=":material/memory:",
        )
    if choice.gamma > made.gamma and not quiet:
        st.warning(
            f"The acceptance says nothing beyond {made.gamma} tokens: γ = {made.gamma} is shown, not "
            f"{choice.gamma}.",
            icon=":material/straighten:",
        )
    return made


def keep_gamma() -> None:
    """Where γ is not drawn: keep it all the same."""
    _keep(GAMMA)


def keep_p() -> None:
    """Where p is not drawn: keep it all the same."""
    _keep(P)


def _keep(field: state.Field) -> None:
    """A field of all pages that is not drawn here: else Streamlit would forget it."""
    state.put(**{field.key: state.value_of(field)})

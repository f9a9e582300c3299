"""Choosing a machine: a preset, or one of the visitor's own from a few numbers."""

from __future__ import annotations

import streamlit as st

from analysis.hardware import Accelerator
from app_pages.deployment import choice as choices
from app_pages.deployment import widgets as deploy_widgets
from app_pages.deployment.machine_fields import OWN_NUMBERS
from app_pages.plain_text import source_link

OWN = "your own numbers"
_HELP = (
    "Bandwidth, arithmetic and memory as its maker prints them; what programs reach of them is under "
    f"*Advanced*. `nvidia-smi` says which card you have. {OWN.capitalize()}: those of any other."
)


def machine() -> None:
    """Which machine runs it, and how many devices of it."""
    choice = deploy_widgets.current()
    own = choice.card == choices.OWN_CARD
    names = [*(card.name for card in choices.cards()), OWN]
    shown = OWN if own else choice.card
    deploy_widgets.select("card", "Machine", names, _HELP, shown=shown, take=_take)
    if not own:
        st.markdown(_printed(choice.accelerator))
    deploy_widgets.number("devices")
    if not own:
        return
    for pair in (("bandwidth", "tflops"), ("memory_gb", "link")):
        for column, name in zip(st.columns(2, gap="small"), pair, strict=True):
            with column:
                deploy_widgets.number(name)


def _printed(card: Accelerator) -> str:
    """What its maker prints of a machine, with where; small, but no caption, in which a link is too faint."""
    numbers = (
        f"{card.memory_bytes_per_s / 1e9:,.0f} GB/s, {card.operations_per_s / 1e12:,.0f} TFLOP/s, "
        f"{card.memory_bytes / 1e9:,.1f} GB"
    )
    return f":small[{numbers}. {source_link(card.source, card.url)}]"


def _take(taken: str) -> None:
    """A preset, or numbers that begin as those of the machine before."""
    if taken != OWN:
        deploy_widgets.change(card=taken)
        return
    before = deploy_widgets.current().accelerator
    known = (
        (before.memory_bytes_per_s, 1e9),
        (before.operations_per_s, 1e12),
        (before.memory_bytes, 1e9),
        (before.link_bytes_per_s, 1e9),
    )
    values = [float(f"{number / unit:.10g}") for number, unit in known]
    own = dict(zip(OWN_NUMBERS, values, strict=True))
    deploy_widgets.change(card=choices.OWN_CARD, **own)

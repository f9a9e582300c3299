"""What the plan is made of beside the deployment: batches, preference, other drafts, a schedule."""

from __future__ import annotations

from functools import partial

import streamlit as st

from app_pages.controls import drawn_key, fresh_key
from app_pages.deployment import address, model_inputs
from app_pages.deployment import widgets as deploy_widgets
from app_pages.deployment.choice import DRAFTERS, PREFERS, Drafter

_AGAINST_HELP = (
    "Other ways to draft for the same target on the same machine, each with a p of its own: what your logs "
    "of each of them say, not what this one's says."
)
_SHORT: dict[Drafter, str] = {
    "eagle3": "EAGLE-3",
    "eagle": "EAGLE",
    "mtp": "MTP",
    "model": "draft model",
    "block": "block drafter",
    "lookup": "prompt lookup",
    "self": "the target itself",
    "chain": "chain of cost c",
}
_USUAL: dict[Drafter, float] = {"lookup": 0.4}


def inputs() -> None:
    """Draw the inputs of the plan."""
    first, second, third = st.columns(3, gap="medium")
    choice = deploy_widgets.current()
    with first:
        deploy_widgets.text(
            "batches",
            "Batches to plan for",
            "Rising numbers separated by commas; empty: steps up to what fits the memory, at most 512.",
            shown=", ".join(map(str, choice.batches)),
            read=address.batches,
            placeholder="1, 2, 4, 8, 16, … as far as they fit",
        )
    with second:
        deploy_widgets.select(
            "prefer",
            "Prefer",
            PREFERS,
            "Largest gain: by the value. Surely: by the low end of the interval, so that nothing is drafted "
            "unless it is known to gain. Shortest: of all lengths within 1 % of the best.",
        )
    with third:
        _against()


def _against() -> None:
    choice = deploy_widgets.current()
    shown = tuple(drafter for drafter, _ in choice.against)
    key = fresh_key("deploy_against", list(shown))
    st.multiselect(
        "Compare with",
        list(DRAFTERS),
        default=list(shown),
        format_func=_SHORT.__getitem__,
        key=key,
        on_change=_take_against,
        args=(key,),
        placeholder="other drafts",
        help=_AGAINST_HELP,
    )
    with st.container(horizontal=True, gap="small"):
        for drafter, p in choice.against:
            name = f"deploy_against_{drafter}"
            key = fresh_key(name, p)
            st.number_input(
                f"p, {_SHORT[drafter]}",
                value=p,
                step=0.05,
                format="%.4g",
                key=key,
                on_change=partial(_take_p, drafter, name, key),
                help="P(accepted, given that it is tested) of this draft.",
                width=150,
            )
    if "model" in shown and choice.drafter != "model":
        model_inputs.draft()


def _take_against(key: str) -> None:
    if key != drawn_key("deploy_against"):
        return
    before = dict(deploy_widgets.current().against)
    usual = deploy_widgets.current().p
    taken = tuple(
        (drafter, before.get(drafter, _USUAL.get(drafter, usual)))
        for drafter in st.session_state[key]
    )
    deploy_widgets.change(against=taken)


def _take_p(drafter: Drafter, name: str, key: str) -> None:
    if key != drawn_key(name):
        return
    value = st.session_state[key]
    before = dict(deploy_widgets.current().against)
    if value is None or not 0.0 <= value <= 1.0:
        said = "nothing" if value is None else f"{value:g}"
        tell = f"p must be a number in [0, 1]; got {said}. It stays at {before[drafter]:g}."
        deploy_widgets.tell(tell)
        st.session_state[key] = before[drafter]
        return
    deploy_widgets.change(against=tuple((before | {drafter: float(value)}).items()))


def own_schedule() -> None:
    """A schedule of one's own, to be checked against the plan."""
    deploy_widgets.text(
        "schedule",
        "Your schedule",
        "Draft lengths by batch without gaps: 1-16:3, 17-64:1, 65-:0. vLLM: "
        "`num_speculative_tokens_per_batch_size`; TensorRT-LLM: `draft_len_schedule`.",
        shown=deploy_widgets.current().schedule,
        read=address.schedule,
        placeholder="1-16:3, 17-64:1, 65-:0",
    )

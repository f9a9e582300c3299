"""The second page: a few rounds step by step, with plain decoding on the same clock."""

from __future__ import annotations

import math
import time

import streamlit as st

from app_pages import chart, lanes, sharing, sheet, state, story
from app_pages.controls import controls, number, show_problem
from app_pages.questions.asking import ask
from app_pages.questions.formula import ONE_ROUND
from app_pages.safety_net import net
from app_pages.state import SEED, Settings
from app_pages.story import Step

_PACE_S = 0.9
_LONGEST_STEP = 4  # digits
_WIDE = 40  # target steps on the axis beyond which labels no longer fit


def page() -> None:
    """Draw the page."""
    st.title("One round, step by step")
    st.markdown(
        "The **student** scribbles γ words ahead, quickly. The **professor** reads all of them in one "
        "go, keeps them up to the first slip, and writes the next word. Below, the professor writes "
        "alone on the same clock."
    )
    with st.expander("Presets, p, γ and the costs", icon=":material/tune:"):
        controls()
    playing = st.session_state.get("playing", False)
    st.fragment(run_every=_PACE_S if playing else None)(_player)(ticking=playing)
    ask("one_round", ONE_ROUND, state.current())


def _summary(now: Settings) -> str:
    text = f"p = {now.p:.4g}, γ = {now.gamma}, c = {now.cost_ratio:.4g}"
    return text if now.at_article else f"{text}, V = {now.verify_cost:g}, overhead {now.overhead:g}"


@net()
def _player(*, ticking: bool) -> None:
    settings = state.current()
    bar = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    buttons = bar.container(
        horizontal=True, vertical_alignment="bottom", gap="small", width="content"
    )
    with bar:
        number(SEED, width=130)
        share = st.container(width="content")
    show_problem()
    lengths = story.draw_lengths(settings, int(state.value_of(SEED)))
    steps = story.tell(settings, lengths)
    last = len(steps) - 1
    step = st.session_state.get("step")
    if step is None or step > last:  # only then: written anew, it would undo a fast key press
        st.session_state["step"] = min(_step_in_address() if step is None else step, last)
    _advance(last, ticking=ticking)
    at = st.slider("Step", 0, last, key="step", help="Every step has its own address.")
    said = {"step": str(at)} if at else {}
    # Not bound to the slider: its end moves with the story, and a new end reads the old address.
    sharing.write_address(("step",), said)
    with share:
        sharing.popover(sharing.link(said))
    with buttons:
        _buttons(steps, at)
    _scene(settings, steps, steps[at])
    state.remember()


def _step_in_address() -> int:
    text = st.query_params.get("step", "")
    return int(text) if text.isdecimal() and len(text) <= _LONGEST_STEP else 0


def _advance(last: int, *, ticking: bool) -> None:
    """One step further per beat while playing; start and stop the clock when that changes."""
    playing = st.session_state.get("playing", False)
    step = st.session_state.get("step", 0)
    now = time.monotonic()
    if playing and now - st.session_state.get("beat", now) > 0.8 * _PACE_S:
        st.session_state["beat"] = now
        st.session_state["step"] = step = min(step + 1, last)
        st.session_state["playing"] = playing = step < last
    if playing != ticking:
        st.rerun()  # the whole page: only it can give the fragment another clock


def _buttons(steps: tuple[Step, ...], at: int) -> None:
    last = len(steps) - 1
    playing = st.session_state.get("playing", False)
    st.button(
        "Back",
        icon=":material/arrow_back:",
        disabled=at == 0,
        on_click=_go,
        args=(at - 1,),
        help="One step back.",
    )
    st.button(
        "Next",
        icon=":material/arrow_forward:",
        type="primary",
        disabled=at == last,
        on_click=_go,
        args=(at + 1,),
        help="The next word, or what the professor makes of it.",
    )
    st.button(
        "To the end of the round",
        icon=":material/skip_next:",
        disabled=at == last,
        on_click=_go,
        args=(_end_of_round(steps, at),),
        help="To what the professor made of it; from there, to the end of the next round.",
    )
    st.button(
        "Pause" if playing else "Play",
        icon=":material/pause:" if playing else ":material/play_arrow:",
        key="play",
        on_click=_toggle,
        args=(at, last),
        help="A step every second.",
    )
    st.button(
        "New rounds",
        icon=":material/casino:",
        on_click=_new_rounds,
        help="Other coin flips: the next seed, from a blank sheet.",
    )


def _toggle(at: int, last: int) -> None:
    st.session_state["playing"] = not st.session_state.get("playing", False)
    st.session_state["beat"] = time.monotonic()
    if at == last:
        st.session_state["step"] = 0


def _go(step: int) -> None:
    st.session_state["step"] = step
    st.session_state["playing"] = False


def _new_rounds() -> None:
    _go(0)
    state.put(seed=(int(state.value_of(SEED)) + 1) % int(SEED.high))


def _end_of_round(steps: tuple[Step, ...], at: int) -> int:
    return next(
        (i for i in range(at + 1, len(steps)) if steps[i].phase in {"reject", "bonus"}),
        len(steps) - 1,
    )


def _scene(settings: Settings, steps: tuple[Step, ...], step: Step) -> None:
    end = steps[-1]
    st.info(sheet.narration(settings, step), icon=":material/history_edu:")
    left, right = st.columns([3, 2], gap="medium")
    with left.container(border=True, height="stretch"):
        st.caption(f"Round {step.round + 1} of {end.round + 1}, {_summary(settings)}")
        st.markdown(sheet.student(settings, step))
        st.markdown(sheet.professor(step))
    with right.container(border=True, height="stretch"):
        st.caption("On the page so far")
        st.markdown(story.text(step.arrived) or "*nothing yet*")
    chart.show(
        lanes.round_timeline(
            story.blocks(settings, steps, step),
            end=float(math.ceil(end.now)),
            now=step.now,
            label_tokens=end.now <= _WIDE,
            overhead=settings.overhead > 0,
        ).to_dict(validate=False),
        key="timeline",
    )
    _totals(step)
    st.caption(
        "Lengths are real draws with this seed: each tested token is kept with probability p. The "
        "words are decoration. A slip here is a token whose coin fell the other way."
    )


def _totals(step: Step) -> None:
    clock, ours, plain = st.columns(3)
    clock.metric(
        "Clock",
        f"{step.now:.2f}",
        "plain target steps",
        delta_color="off",
        delta_arrow="off",
        border=True,
    )
    ours.metric(
        "Student + professor",
        _tokens(step.arrived),
        _lead(step),
        delta_color="off",
        delta_arrow="off",
        border=True,
    )
    plain.metric(
        "Professor alone",
        _tokens(step.plain_arrived),
        "one per step",
        delta_color="off",
        delta_arrow="off",
        border=True,
    )


def _tokens(count: int) -> str:
    return "1 token" if count == 1 else f"{count} tokens"


def _lead(step: Step) -> str:
    lead = step.arrived - step.plain_arrived
    if lead == 0:
        return "level"
    return f"{lead} ahead" if lead > 0 else f"{-lead} behind"

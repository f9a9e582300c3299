"""The inputs of the page: a log, what is known beside it, and the costs of a round."""

from __future__ import annotations

import streamlit as st

from app_pages.controls import keep_what_can_be_meant, number, slider_with_number
from app_pages.state import COST, GAMMA, OVERHEAD, VERIFY
from app_pages.your_engine.sources import (
    MAX_MB,
    MAX_PASTED,
    Facts,
    Given,
    dropped,
    examples,
    facts_of,
    pasted,
    source_caption,
)
from simulator import METHODS

MAX_LENGTH = 10_000
FILE_TYPES = ["log", "txt", "out", "json", "jsonl", "csv", "prom", "yaml", "yml", "md"]
_EXAMPLE = (
    "slot print_timing: id  0 | task 0 |\n"
    "draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length =  2.92, "
    "acceptance rate per position = (0.805, 0.632, 0.483)\n"
)
_NUMBERS = {
    "log_tps": (
        "Tokens per second with speculation",
        "Of all running requests together, where the log has none.",
    ),
    "log_plain": (
        "Tokens per second without it",
        "Of as many requests: together they give the real speedup, and what a round costs.",
    ),
    "log_running": (
        "Requests that run at a time",
        "They share each pass of the target. A log of vLLM says it, others do not.",
    ),
}


def inputs() -> tuple[Given | None, Facts]:
    """Draw every input; the log, if there is one, and what is known beside it."""
    given = _log()
    cost, verify, overhead, length = st.columns([2, 1.25, 1.15, 1.15], gap="medium")
    with cost:
        slider_with_number(COST)
    with verify:
        number(VERIFY)
    with overhead:
        number(OVERHEAD)
    with length:
        gamma = st.number_input(
            "Configured draft length",
            value=None,
            step=1.0,  # a float without limits: what cannot be a length comes here and gets its sentence
            format="%.10g",
            key="log_gamma",
            on_change=_take,
            args=("log_gamma",),
            placeholder="if the log is silent",
            help=GAMMA.help,
            persist_state="session",
        )
    method, numbers = _beside()
    facts = Facts(
        gamma=None if gamma is None else int(gamma),
        method=method,
        tokens_per_s=numbers["log_tps"],
        plain_tokens_per_s=numbers["log_plain"],
        running=numbers["log_running"],
    )
    return given, facts


def _log() -> Given | None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        text = st.text_area(
            "Paste the lines",
            key="log_text",
            height=170,
            max_chars=MAX_PASTED,
            placeholder="SpecDecoding metrics: Mean acceptance length: …",
            help="Nothing leaves this server; nothing is kept.",
            persist_state="session",
        )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            st.button(
                "Show me an example",
                icon=":material/description:",
                on_click=_show,
                args=(_EXAMPLE, Facts()),
            )
            name = st.selectbox(
                "Or a log from a public report",
                list(examples()),
                index=None,
                key="log_example",
                on_change=_show_report,
                placeholder="choose one",
                help="The lines that somebody quoted, with what else they said of their run.",
                width=380,
            )
        case = examples().get(name or "")
        if case is not None and case.log == text:
            st.caption(source_caption(case))
    with right:
        upload = st.file_uploader(
            f"Or a whole file, up to {MAX_MB} MB",
            type=FILE_TYPES,
            max_upload_size=MAX_MB,
            key="log_file",
            help="A log of any engine that is read here, JSON of requests or benchmarks, a page of "
            "Prometheus. A file goes before pasted lines.",
        )
        before = None
        if upload is not None:
            before = st.file_uploader(
                "Counters: an earlier snapshot of the same",
                type=FILE_TYPES,
                max_upload_size=MAX_MB,
                key="log_before",
                help="Prometheus counts since the server began. With an earlier page, only what "
                "came between the two counts.",
            )
    return pasted(text or "") if upload is None else dropped(upload, before)


def _beside() -> tuple[str | None, dict[str, float | None]]:
    with st.expander("What else you know of this run", icon=":material/add_notes:"):
        columns = st.columns(4, gap="medium")
        with columns[0]:
            method = st.selectbox(
                "How drafts come about",
                METHODS,
                index=None,
                key="log_method",
                format_func=lambda name: name.replace("_", " "),
                placeholder="unknown",
                help="What acceptance does with depth, and what a draft may cost, depends on it.",
                persist_state="session",
            )
        numbers: dict[str, float | None] = {}
        for column, (key, (label, words)) in zip(columns[1:], _NUMBERS.items(), strict=True):
            with column:
                numbers[key] = st.number_input(
                    label,
                    value=None,
                    step=1.0,
                    format="%.10g",
                    key=key,
                    on_change=_take,
                    args=(key,),
                    placeholder="unknown",
                    help=words,
                    persist_state="session",
                )
    return method, numbers


def _take(key: str) -> None:
    """Keep what can be meant; else the old value stays, and a sentence says so."""
    value = st.session_state[key]
    keep_what_can_be_meant(key, None if value is None else _problem(key, value))


def _problem(key: str, value: float) -> str | None:
    if key == "log_gamma":
        if 1 <= value <= MAX_LENGTH and value == int(value):
            return None
        whole = f"a whole number in [1, {MAX_LENGTH:,}]"
        return f"The draft length must be {whole}; got {value:.12g}."
    name = _NUMBERS[key][0]
    return None if 0.0 < value < 1e12 else f"{name} must be a number above 0; got {value:.12g}."


def _show_report() -> None:
    case = examples().get(st.session_state["log_example"] or "")
    if case is not None:
        _show(case.log or "", facts_of(case), name=st.session_state["log_example"])


def _show(text: str, facts: Facts, name: str | None = None) -> None:
    """Put an example into the fields, the facts that it does not have taken out."""
    values = {
        "log_gamma": None if facts.gamma is None else float(facts.gamma),
        "log_tps": facts.tokens_per_s,
        "log_plain": facts.plain_tokens_per_s,
        "log_running": facts.running,
    }
    for key, value in values.items():
        st.session_state[key] = value if value is None else float(value)
        st.session_state[f"{key}_before"] = st.session_state[key]
    st.session_state.update(log_text=text, log_method=facts.method, log_example=name)

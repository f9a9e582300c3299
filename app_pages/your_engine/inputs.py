"""The inputs of the page: a log, what is known beside it, and the costs of a round."""

from __future__ import annotations

import streamlit as st

from app_pages.controls import keep_what_can_be_meant, number, slider_with_number
from app_pages.deployment import widgets as deploy_widgets
from app_pages.sharing import write_address
from app_pages.state import COST, GAMMA, OVERHEAD, VERIFY
from app_pages.your_engine import address as log_address
from app_pages.your_engine.sources import (
    MAX_MB,
    MAX_PASTED,
    Facts,
    Given,
    dropped,
    examples,
    facts_of,
    pasted,
    short_names,
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
_RUNNING = "Requests that run at a time"


def inputs() -> tuple[Given | None, Facts]:
    """Draw every input; the log, if there is one, and what is known beside it."""
    _from_link()
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
    method, running = _beside()
    speeds = deploy_widgets.current()
    facts = Facts(
        gamma=None if gamma is None else int(gamma),
        method=method,
        tokens_per_s=speeds.speed,
        plain_tokens_per_s=speeds.plain_speed,
        running=running,
    )
    write_address(log_address.KEYS, log_address.query(report()))
    deploy_widgets.say_in_address(speeds)
    return given, facts


def report() -> str | None:
    """The public report in the field, by its name in the address; None for lines of one's own."""
    text = st.session_state.get("log_text")
    if text == _EXAMPLE:
        return log_address.EXAMPLE
    shown = st.session_state.get("log_example") or ""
    case = examples().get(shown)
    return short_names()[shown] if case is not None and case.log == text else None


def _from_link() -> None:
    """A report that a link names, with what the link knows beside it."""
    said = log_address.asked()
    name = said.get("report")
    if name == log_address.EXAMPLE:
        st.session_state["log_text"] = _EXAMPLE
    elif name is not None:
        try:
            shown = log_address.report_named(name)
        except ValueError as error:
            log_address.refuse(str(error))
        else:
            st.session_state.update(log_text=examples()[shown].log, log_example=shown)
    log_address.fill(said)


def _log() -> Given | None:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        text = st.text_area(
            "Paste the lines",
            key="log_text",
            height=170,
            max_chars=MAX_PASTED,
            placeholder="SpecDecoding metrics: Mean acceptance length: …",
            help="What the engine printed about speculation: vLLM's `SpecDecoding metrics`, llama.cpp's "
            "`draft acceptance`, SGLang's `accept len`. It stays on this server, is kept nowhere, and "
            "never goes into a link.",
            persist_state="session",
        )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            st.button(
                "Show me an example",
                icon=":material/description:",
                on_click=_show,
                args=(_EXAMPLE, Facts()),
                help="The two lines that a llama.cpp server printed for one request.",
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
            st.markdown(source_caption(case))
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


def _beside() -> tuple[str | None, float | None]:
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
        for column, name in zip(columns[1:3], ("speed", "plain_speed"), strict=True):
            with column:
                deploy_widgets.number(name)
        with columns[3]:
            running = st.number_input(
                _RUNNING,
                value=None,
                step=1.0,
                format="%.10g",
                key="log_running",
                on_change=_take,
                args=("log_running",),
                placeholder="unknown",
                help="They share each pass of the target. vLLM logs it as `Running: … reqs`, SGLang as "
                "`#running-req`; others do not say it.",
                persist_state="session",
            )
    return method, running


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
    return None if 0.0 < value < 1e12 else f"{_RUNNING} must be a number above 0; got {value:.12g}."


def _show_report() -> None:
    case = examples().get(st.session_state["log_example"] or "")
    if case is not None:
        _show(case.log or "", facts_of(case), name=st.session_state["log_example"])


def _show(text: str, facts: Facts, name: str | None = None) -> None:
    """Put an example into the fields, the facts that it does not have taken out."""
    values = {"log_gamma": facts.gamma, "log_running": facts.running}
    for key, value in values.items():
        st.session_state[key] = value if value is None else float(value)
        st.session_state[f"{key}_before"] = st.session_state[key]
    st.session_state.update(log_text=text, log_method=facts.method, log_example=name)
    deploy_widgets.change(speed=facts.tokens_per_s, plain_speed=facts.plain_tokens_per_s)

"""What the address says of the page of imports: a public report and what is known beside a log, never a log."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from app_pages.deployment.address import one_of
from app_pages.plain_text import plain
from app_pages.your_engine.sources import short_names
from simulator import METHODS

KEYS = ("report", "method", "configured", "running")
"""Names in the address, which never change; costs and speeds have theirs on every page."""
EXAMPLE = "example"
"""In the place of a report: the lines of the button."""
_FIELDS = {"configured": "log_gamma", "running": "log_running"}
_READ = "log_link_read"


def query(report: str | None) -> dict[str, str]:
    """The fields in the words of the address."""
    said = {} if report is None else {"report": report}
    if st.session_state.get("log_method"):
        said["method"] = st.session_state["log_method"]
    for key, field in _FIELDS.items():
        if st.session_state.get(field) is not None:
            said[key] = f"{st.session_state[field]:.10g}"
    return said


def asked() -> dict[str, str]:
    """What a link says, the first time that the page is drawn in a session; nothing later."""
    if st.session_state.get(_READ):
        return {}
    st.session_state[_READ] = True
    return {key: st.query_params[key] for key in KEYS if key in st.query_params}


def report_named(name: str) -> str:
    """The report of that short name, as the list shows it. Raises ValueError without one."""
    known = {name: shown for shown, name in short_names().items()}
    if name not in known:
        raise ValueError(f"report must be one of {', '.join(known)}; got {name!r:.40}.")
    return known[name]


def fill(said: Mapping[str, str]) -> None:
    """Put what a link knows beside the log into the fields; what cannot be used is said."""
    if "method" in said:
        try:
            st.session_state["log_method"] = one_of("method", said["method"], tuple(METHODS))
        except ValueError as error:
            refuse(str(error))
    for key, field in _FIELDS.items():
        if key not in said:
            continue
        value = _positive(said[key])
        if value is None or (key == "configured" and value != int(value)):
            kind = "a whole number from 1" if key == "configured" else "a number above 0"
            refuse(f"{key} must be {kind} on, below 10,000; got {said[key]!r:.40}.")
        else:
            st.session_state[field] = st.session_state[f"{field}_before"] = value


def refuse(problem: str) -> None:
    """Say what is wrong with the link."""
    st.warning(f"{plain(problem)} The link is read without it.", icon=":material/link_off:")


def _positive(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 < value < 10_000 else None

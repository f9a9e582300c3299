"""What the address says of a comparison: public reports and what is asked, never a log."""

from __future__ import annotations

import streamlit as st

from app_pages import sharing
from app_pages.compare import sides
from app_pages.sharing import write_address
from app_pages.your_engine import address as log_address
from app_pages.your_engine.sources import examples, short_names

_NUMBERS = {"configured": "compare_gamma", "slowdown": "compare_regression"}
KEYS = (*sides.SIDES, *_NUMBERS)
"""Names in the address, which never change."""
_READ = "compare_link_read"
_LIMITS = {"configured": (1.0, 10_000.0), "slowdown": (0.0, 99.999)}


def query() -> dict[str, str]:
    """The fields in the words of the address."""
    said = {}
    if sides.example_caption() is not None:
        said = dict.fromkeys(sides.SIDES, log_address.EXAMPLE)
    else:
        for side in sides.SIDES:
            shown = st.session_state.get(f"compare_{side}_example") or ""
            case = examples().get(shown)
            if case is not None and case.log == st.session_state.get(f"compare_{side}_text"):
                said[side] = short_names()[shown]
    for key, field in _NUMBERS.items():
        if st.session_state.get(field) is not None:
            said[key] = f"{st.session_state[field]:.10g}"
    return said


def recall() -> None:
    """Fill the fields from a link, the first time that the page is drawn in a session."""
    if st.session_state.get(_READ):
        return
    st.session_state[_READ] = True
    said = {key: st.query_params[key] for key in KEYS if key in st.query_params}
    if all(said.get(side) == log_address.EXAMPLE for side in sides.SIDES):
        sides.show_example()
    for side in sides.SIDES:
        name = said.get(side)
        if name is None or name == log_address.EXAMPLE:
            continue
        try:
            shown = log_address.report_named(name)
        except ValueError as error:
            log_address.refuse(str(error))
            continue
        st.session_state[f"compare_{side}_text"] = examples()[shown].log
        st.session_state[f"compare_{side}_example"] = shown
    for key, field in _NUMBERS.items():
        if key in said:
            _fill(key, field, said[key])


def _fill(key: str, field: str, text: str) -> None:
    low, high = _LIMITS[key]
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if low <= value <= high and (key != "configured" or value == int(value)):
        st.session_state[field] = st.session_state[f"{field}_before"] = value
    else:
        log_address.refuse(f"{key} must be a number in [{low:g}, {high:g}]; got {text!r:.40}.")


def share() -> None:
    """The link; also writes the address. After the widgets."""
    said = query()
    write_address(KEYS, said)
    own = "Lines and files of your own do not travel with it: they are never in an address."
    both = all(side in said for side in sides.SIDES)
    sharing.popover(sharing.link(said, shared=False), stays="" if both else own)

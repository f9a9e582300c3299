"""The address of a page: what it says of the settings, and the link that brings another browser to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st

from app_pages import state


def popover(address: str, *, stays: str = "") -> None:
    """A button that shows the link; `stays` says what does not travel with it."""
    with st.popover("Share", icon=":material/link:", help="A link to this page as it is set."):
        st.write("Opened in any browser, this address shows the same settings:")
        st.code(address, language=None, wrap_lines=True)
        if stays:
            st.caption(stays)


def link(said: Mapping[str, str] | None = None, *, shared: bool = True) -> str:
    """The address of this page with what it says, and the numbers of all pages unless not `shared`."""
    numbers = dict(parse_qsl(state.share_query().lstrip("?"))) if shared else {}
    query = urlencode({**numbers, **(said or {})})
    here = urlsplit(st.context.url or "")._replace(query="", fragment="")
    page = here._replace(path=here.path.rstrip("/") or "/").geturl() if here.netloc else ""
    return f"{page}?{query}" if query else page


def write_address(keys: Sequence[str], said: Mapping[str, str]) -> None:
    """Say in the address what differs from the defaults, and nothing else of these names."""
    for key in keys:
        if key in said and st.query_params.get(key) != said[key]:
            st.query_params[key] = said[key]
        elif key not in said and key in st.query_params:
            del st.query_params[key]

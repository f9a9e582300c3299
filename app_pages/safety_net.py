"""What a visitor sees when something fails: one sentence. What failed goes to the server's log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from app_pages.plain_text import plain

_LOG = logging.getLogger(__name__)
BROKEN = (
    "This part could not be drawn with these settings. That is a fault of the program, not yours: change a "
    "setting, or go on with another page."
)


@contextmanager
def net() -> Iterator[None]:
    """Around a page, and within each fragment, which runs on its own; also as a decorator."""
    try:
        yield
    except ValueError as error:  # a sentence of simulator or analysis; the visitor can go on
        st.error(plain(str(error)), icon=":material/error:")
    except Exception:  # noqa: BLE001 — whatever it is
        _LOG.exception("a part of the app failed")
        st.error(BROKEN, icon=":material/error:")

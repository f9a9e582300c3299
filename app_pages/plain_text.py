"""Text from outside, made harmless: shown as it is, not read as Markdown."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """The text with every character escaped that Streamlit's Markdown would act on."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!<>$:|~&])", r"\\\1", text)


def source_link(source: str, url: str) -> str:
    """Where a number is printed, as Markdown: a link if there is an address; nothing without a source."""
    if not source:
        return ""
    return f"Source: [{plain(source)}]({url})." if url else f"Source: {plain(source)}."

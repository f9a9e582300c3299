"""Text from outside, made harmless: shown as it is, not read as Markdown."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """The text with every character escaped that Streamlit's Markdown would act on."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!<>$:|~&])", r"\\\1", text)

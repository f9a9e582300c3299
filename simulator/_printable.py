"""Text from elsewhere that a terminal only shows: it must not move the cursor or turn lines around."""

from __future__ import annotations


def printable(text: str, *, keep: str = "") -> str:
    r"""A text with everything a terminal would obey, or break a line at, replaced; all but `keep`.

    >>> printable("a\x1b[31mb"), printable("a\nb\x07", keep="\n")
    ('a�[31mb', 'a\nb�')
    """
    return "".join(
        char if char.isprintable() or char in keep else "\N{REPLACEMENT CHARACTER}" for char in text
    )

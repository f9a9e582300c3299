"""Text that a terminal only shows: names in a log must not move the cursor, set titles or turn lines around."""

from __future__ import annotations

REPLACED = "\N{REPLACEMENT CHARACTER}"
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F))
_ISOLATES = range(0x2066, 0x206A)  # with the ones before: they change the direction of what follows
_TABLE = dict.fromkeys((*_CONTROLS, *_ISOLATES), REPLACED)
for _kept in "\n\t":
    del _TABLE[ord(_kept)]


def safe(text: str) -> str:
    r"""The text with control characters replaced, all but line ends and tabs.

    >>> safe("a\tb\x1b]0;title\x07")
    'a\tb�]0;title�'
    """
    return text.translate(_TABLE)

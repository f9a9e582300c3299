"""Docstrings of this project, which are plain text, as reStructuredText.

Plain text has paragraphs, lists with `-`, formulas set off by four spaces, `names` in backticks and
`>>>` examples. All else means itself: p^γ, a |b|, x_ or * need no escape where they are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

CODE = re.compile(r"`([^`]+)`")
AFTER, BEFORE = re.compile(r"(^|[\s'\"(\[{<\-/])\Z"), re.compile(r"\Z|[\s'\")\]}>\-/\\.,;:!?*|_]")
"""What may stand around marked words; next to anything else they need a mark that shows nothing."""
MARKUP = re.compile(r"([\\*|_:])")


def to_rst(text: str, *, link: Callable[[str], str | None] = lambda _: None) -> list[str]:
    """The lines of a docstring; `link` gives the full name of what a code word names, or None.

    >>> to_rst("One *p* of `x_`:\\n\\n    p^γ\\n\\n- a\\n  b")
    ['One \\\\*p\\\\* of ``x_``\\\\:', '', '::', '', '    p^γ', '', '- a', '  b', '']
    """
    lines: list[str] = []
    for block in _blocks(text.splitlines()):
        if block[0].startswith(">>>"):
            lines += block
        elif all(line.startswith("    ") for line in block):
            lines += ["::", "", *block]
        else:
            lines += _inline("\n".join(block), link).splitlines()
        lines.append("")
    return lines


def _blocks(lines: Iterable[str]) -> list[list[str]]:
    """Runs of lines between blank ones; a list that follows its sentence at once is a run of its own."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        block = blocks[-1]
        if not line.strip():
            blocks.append([])
        elif line.startswith("- ") and block and not block[0].startswith(("- ", ">>>")):
            blocks.append([line])
        else:
            block.append(line)
    return [block for block in blocks if block]


def _inline(text: str, link: Callable[[str], str | None]) -> str:
    """Words in backticks as code, a link where they are a public name; everything else escaped."""
    parts = CODE.split(text)
    for i, part in enumerate(parts):
        if i % 2 == 0:
            parts[i] = MARKUP.sub(r"\\\1", part)
            continue
        code = " ".join(part.split())
        full = link(code.removesuffix("()"))
        before = "" if AFTER.search(parts[i - 1]) else "\\ "
        behind = "" if BEFORE.match(parts[i + 1]) else "\\ "
        word = f":py:obj:`{code} <{full}>`" if full else f"``{code}``"
        parts[i] = f"{before}{word}{behind}"
    return "".join(parts)

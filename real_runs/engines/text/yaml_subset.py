"""The part of YAML in which benchmarks keep tables of lengths: nested mappings of scalars.

No anchors, tags, lists in block style or texts of several lines: what has them is no such table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from real_runs.engines.text.tables import as_scalar

MOST_NESTED = 32
LONGEST_FLOW = 1 << 16

_PLAIN = r"[^\s\"'#{}\[\],:&*!|>%@`-][^\"'#{}\[\],:\n]{0,199}"
_PAIR = re.compile(
    rf"( {{0,200}})(?:\"([^\"\n]{{1,200}})\"|'([^'\n]{{1,200}})'|({_PLAIN}))\s*+:(?:\s++(.*))?"
)
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_TOKEN = re.compile(
    r"\s*+(?:([{}\[\],:])|\"([^\"\n]{0,200})\"|'([^'\n]{0,200})'|([^{}\[\],:\s\"'][^{}\[\],:\"'\n]{0,199}))"
)
_NOT_PLAIN = ("&", "*", "!", "|", ">", "%", "@", "`", "- ")
_WORDS: dict[str, object] = {"null": None, "~": None, "true": True, "false": False}


def read_yaml(text: str) -> dict[str, object]:
    r"""The mapping in a text, names as text; ValueError if it is anything else.

    >>> read_yaml("m: # sampled\n  thinking_on: {1: 1.84, 2: 2.51}")
    {'m': {'thinking_on': {'1': 1.84, '2': 2.51}}}
    """
    whole: dict[str, object] = {}
    blocks: list[tuple[int, dict[str, object]]] = [(0, whole)]
    opened = False  # the last name has no value: a block may follow
    for indent, name, value in _pairs(text):
        if opened and indent > blocks[-1][0]:
            inner: dict[str, object] = {}
            outer = blocks[-1][1]
            outer[next(reversed(outer))] = inner
            blocks.append((indent, inner))
            if len(blocks) > MOST_NESTED:
                raise ValueError(f"nested more than {MOST_NESTED} deep")
        while indent < blocks[-1][0]:
            blocks.pop()
        block_indent, block = blocks[-1]
        if indent != block_indent or name in block:
            raise ValueError("a name stands at no block, or twice in it")
        opened = not value
        block[name] = _flow(value) if value else None
    return whole


def _pairs(text: str) -> Iterator[tuple[int, str, str]]:
    """Indent, name and value of every line; a value in brackets may go on in the next lines."""
    rows = iter(text.splitlines())
    for row in rows:
        bare = _COMMENT.sub("", row).rstrip()
        if not bare or bare == "---":
            continue
        pair = _PAIR.fullmatch(bare)
        if pair is None:
            raise ValueError("no pair of a name and a value")
        value = (pair[5] or "").strip()
        parts = [value]
        nested = _opened(value)
        size = len(value)
        while value.startswith(("{", "[")) and nested > 0 and size < LONGEST_FLOW:
            more = next(rows, None)
            if more is None:
                raise ValueError("a bracket is not closed")
            parts.append(_COMMENT.sub("", more))
            nested += _opened(parts[-1])
            size += len(parts[-1])
        yield len(pair[1]), (pair[2] or pair[3] or pair[4]).rstrip(), " ".join(parts)


def _opened(text: str) -> int:
    return text.count("{") + text.count("[") - text.count("}") - text.count("]")


def _flow(text: str) -> object:
    """A scalar, or what stands in brackets."""
    if text.startswith(_NOT_PLAIN):
        raise ValueError("an anchor, a tag or a text of several lines")
    if not text.startswith(("{", "[")):
        return _scalar(text)
    tokens = _tokens(text)
    value = _flow_value(next(tokens), tokens, 0)
    if next(tokens)[0] != "end":
        raise ValueError("something stands behind the last bracket")
    return value


def _tokens(text: str) -> Iterator[tuple[str, object]]:
    """Brackets, commas and colons as themselves; all else as ("", value)."""
    position = 0
    text = text.rstrip()
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            raise ValueError("no value")
        position = token.end()
        if token[1] is not None:
            yield token[1], None
        elif token[4] is not None:
            yield "", _scalar(token[4].rstrip())
        else:
            yield "", token[2] if token[2] is not None else token[3]
    yield "end", None


def _flow_value(
    token: tuple[str, object], tokens: Iterator[tuple[str, object]], depth: int
) -> object:
    kind, value = token
    if kind == "":
        return value
    if kind not in {"{", "["} or depth == MOST_NESTED:
        raise ValueError("no value")
    closing = "}" if kind == "{" else "]"
    pairs: dict[str, object] = {}
    items: list[object] = []
    token = next(tokens)
    while token[0] != closing:
        item = _flow_value(token, tokens, depth + 1)
        token = next(tokens)
        if kind == "{":
            if token[0] != ":" or isinstance(item, (dict, list)):
                raise ValueError("no pair of a name and a value")
            pairs[str(item)] = _flow_value(next(tokens), tokens, depth + 1)
            token = next(tokens)
        else:
            items.append(item)
        if token[0] == ",":
            token = next(tokens)
        elif token[0] != closing:
            raise ValueError("a bracket is not closed")
    return pairs if kind == "{" else items


def _scalar(text: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return as_scalar(text)

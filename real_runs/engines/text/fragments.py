"""JSON within lines of logs: whole objects, cut ones, and bare lists of pairs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from real_runs.engines.counts.skips import NoCounts

MOST_FAILURES = 32
"""Values of one line that may turn out to be no JSON; each attempt costs at most the whole line."""
DEEPEST_LITERAL = 64
"""How deep our own reader of Python's notation follows brackets."""

_NAME = re.compile(r"""(?:"([^"\\\n]{1,200})"|'([^'\\\n]{1,200})')\s*+:\s*+""")
_COMMA = re.compile(r"\s*+,\s*+")
_NUMBER = re.compile(r"-?\d{1,400}(?:\.\d{0,400})?(?:[eE][+-]?\d{1,9})?+(?![\w.])")
_WORDS = {
    "True": True,
    "False": False,
    "None": None,
    "true": True,
    "false": False,
    "null": None,
    "nan": float("nan"),
    "NaN": float("nan"),
}
_WORD = re.compile(r"[A-Za-z]{1,8}(?!\w)")
_QUOTED = re.compile(r"'((?:[^'\\\n]|\\.)*+)'|\"((?:[^\"\\\n]|\\.)*+)\"")
_ESCAPE = re.compile(r"\\(.)")
_OPENED_ROW = re.compile(r"[{\[][ \t]*+\r?\n")
_SPACE = re.compile(r"\s*+")
_NEAR = 32
"""Blanks between a brace and its first name, at most."""
_DECODER = json.JSONDecoder()


def fragments(text: str, *, bare: bool = True) -> Iterator[dict[str, object]]:
    """The pairs of names and values in a line, as one object for each run of pairs.

    A run is what stands in braces, or a bare list of pairs; values are JSON, or what Python prints of
    dicts, lists, tuples and numbers. Where a line was cut within a value, the pairs in the rest of it
    are found still. A single pair outside of braces is no run, unless it holds an object: it is a row of
    JSON in many rows, and says too little. Without `bare`, only what stands in braces is found. NoCounts
    if more than 32 values are neither.

    >>> list(fragments('x "spec_verify_ct":188,"spec_accept_token_num":11 y'))
    [{'spec_verify_ct': 188, 'spec_accept_token_num': 11}]
    >>> list(fragments("meta: {'ct': 3, 'cut': {'a': None, 'b': [1"))
    [{'ct': 3}, {'a': None}]
    """
    failures = 0
    pairs: dict[str, object] = {}
    name = _NAME.search(text)
    begin = 0 if name is None else name.start()
    while name is not None:
        try:
            pairs[name[1] or name[2]], end = _value(text, name.end())
        except (ValueError, RecursionError):
            failures += 1
            if failures > MOST_FAILURES:
                raise NoCounts(
                    f"more than {MOST_FAILURES} values in the line are no JSON"
                ) from None
            end = name.end()
            following = None
        else:
            comma = _COMMA.match(text, end)
            following = None if comma is None else _NAME.match(text, comma.end())
        if following is None:
            if _is_run(text, begin, end, pairs, bare=bare):
                yield pairs
            pairs = {}
            following = _NAME.search(text, end)
            begin = end if following is None else following.start()
        name = following


def _is_run(text: str, begin: int, end: int, pairs: dict[str, object], *, bare: bool) -> bool:
    """Whether pairs say enough to be an object: in braces, several of them, or one with an object."""
    opened = text[max(begin - _NEAR, 0) : begin].rstrip().endswith("{")
    if not bare:
        return bool(pairs) and opened and text[end : end + _NEAR].lstrip().startswith("}")
    holds_object = any(isinstance(value, dict) for value in pairs.values())
    return bool(pairs) and (opened or len(pairs) > 1 or holds_object)


def _value(text: str, start: int) -> tuple[object, int]:
    """The value at `start` and where it ends; ValueError if there is none."""
    try:
        return _DECODER.raw_decode(text, start)
    except ValueError:
        return _literal(text, start, 0)


def _literal(text: str, start: int, depth: int) -> tuple[object, int]:
    """A value in Python's notation: no names, no calls, nothing that is looked up."""
    opening = text[start : start + 1]
    if opening in {"{", "[", "("}:
        if depth == DEEPEST_LITERAL:
            raise ValueError("too deep")
        read = _dict if opening == "{" else _list
        return read(text, start + 1, depth + 1)
    quoted = _QUOTED.match(text, start)
    if quoted is not None:
        return _ESCAPE.sub(r"\1", quoted[1] if quoted[1] is not None else quoted[2]), quoted.end()
    number = _NUMBER.match(text, start)
    if number is not None:
        digits = number[0]
        return (int(digits) if digits.lstrip("-").isdigit() else float(digits)), number.end()
    word = _WORD.match(text, start)
    if word is not None and word[0] in _WORDS:
        return _WORDS[word[0]], word.end()
    raise ValueError("no value")


def _dict(text: str, start: int, depth: int) -> tuple[object, int]:
    found: dict[str, object] = {}
    position = _after_space(text, start)
    while text[position : position + 1] != "}":
        key, position = _literal(text, position, depth)
        colon = _after_space(text, position)
        if text[colon : colon + 1] != ":" or isinstance(key, (dict, list)):
            raise ValueError("no pair")
        value, position = _literal(text, _after_space(text, colon + 1), depth)
        found[str(key)] = value
        position = _next_item(text, position, "}")
    return found, position + 1


def _list(text: str, start: int, depth: int) -> tuple[object, int]:
    found: list[object] = []
    closing = "]" if text[start - 1] == "[" else ")"
    position = _after_space(text, start)
    while text[position : position + 1] != closing:
        value, position = _literal(text, position, depth)
        found.append(value)
        position = _next_item(text, position, closing)
    return found, position + 1


def _next_item(text: str, position: int, closing: str) -> int:
    """Where the next item begins, or the closing bracket stands."""
    position = _after_space(text, position)
    if text[position : position + 1] == ",":
        return _after_space(text, position + 1)
    if text[position : position + 1] != closing:
        raise ValueError("no end")
    return position


def _after_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return position if space is None else space.end()


def blocks(text: str) -> Iterator[tuple[int, int, object]]:
    r"""The JSON values of several rows within a text: where each begins and ends, and what it is.

    >>> list(blocks('$ curl\n{\n "a": 1\n}\nbye'))
    [(7, 18, {'a': 1})]
    """
    failures, at = 0, 0
    while failures <= MOST_FAILURES and (opening := _OPENED_ROW.search(text, at)):
        try:
            value, at = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            failures, at = failures + 1, opening.end()
        else:
            yield opening.start(), at, value

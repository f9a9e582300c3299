"""Lines of a log that stand as strings within JSON: what log collectors export."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from real_runs.engines.text.objects import DEEPEST, objects_in


def logged_lines(
    values: Sequence[object], *, keys: Collection[str], markers: Collection[str]
) -> bytes:
    r"""The strings in JSON values, one or more lines each, if they are those of a log; empty if not.

    They are where no object has one of the `keys`, so that nobody reads the objects themselves, and a
    string has one of the `markers`.

    >>> logged_lines([{"log": "accept len: 2.1\n", "stream": "stderr"}], keys=(), markers=["accept len"])
    b'accept len: 2.1\nstderr\n'
    >>> logged_lines([{"accept_length": 2.1}], keys={"accept_length"}, markers=["accept len"])
    b''
    """
    known = frozenset(keys)
    if any(not known.isdisjoint(found) for value in values for found, _ in objects_in(value)):
        return b""
    rows = [row.rstrip("\n") + "\n" for value in values for row in _strings_in(value)]
    text = "".join(rows)
    return text.encode("utf-8", "replace") if any(marker in text for marker in markers) else b""


def _strings_in(value: object) -> Iterator[str]:
    waiting = [(value, 0)]
    while waiting:
        found, depth = waiting.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, (dict, list)) and depth <= DEEPEST:
            inner = found.values() if isinstance(found, dict) else found
            waiting += [(each, depth + 1) for each in reversed(list(inner))]

"""A pool of n-grams by their first token, and their continuations merged into one tree."""

from __future__ import annotations

from collections.abc import Iterable

from simulator._checks import as_count

MOST_TOKENS = 1 << 14


class NgramPool:
    """The latest n-grams of each first token, `per_token` of them, for at most `tokens` first tokens.

    An n-gram that comes again counts as the latest; the oldest give way, and so does the first token
    that has had no n-gram for the longest time.

    >>> pool = NgramPool(per_token=2)
    >>> for rest in [(1, 2), (3, 4), (1, 2), (5, 6)]:
    ...     pool.add(7, rest)
    >>> pool.after(7), pool.after(8)
    ([(5, 6), (1, 2)], [])
    """

    def __init__(self, *, per_token: int, tokens: int = MOST_TOKENS) -> None:
        self.per_token = as_count("per_token", per_token, least=1)
        self.tokens = as_count("tokens", tokens, least=1)
        self._found: dict[int, dict[tuple[int, ...], None]] = {}

    def __len__(self) -> int:
        return sum(len(found) for found in self._found.values())

    def clear(self) -> None:
        """Forget all."""
        self._found = {}

    def add(self, first: int, rest: tuple[int, ...]) -> None:
        """Enter an n-gram as the latest of its first token."""
        found = self._found.pop(first, None)
        if found is None:
            found = {}
            if len(self._found) >= self.tokens:
                del self._found[next(iter(self._found))]
        self._found[first] = found
        found.pop(rest, None)
        found[rest] = None
        if len(found) > self.per_token:
            del found[next(iter(found))]

    def after(self, first: int) -> list[tuple[int, ...]]:
        """What followed this token, the latest first."""
        return list(reversed(self._found.get(first, {})))


def merged(candidates: Iterable[tuple[int, ...]], length: int) -> tuple[list[int], list[int]]:
    """Tokens and parents of the tree of all candidates, each cut after `length` tokens.

    What begins alike is one path: a rule that follows the first of two equal siblings would miss what
    comes behind the other.

    >>> merged([(1, 2, 3), (1, 4, 5), (1, 2, 6)], 2)
    ([1, 2, 4], [-1, 0, 0])
    """
    tokens: list[int] = []
    parents: list[int] = []
    nodes: dict[tuple[int, int], int] = {}
    for candidate in candidates:
        here = -1
        for token in candidate[:length]:
            node = nodes.setdefault((here, token), len(tokens))
            if node == len(tokens):
                tokens.append(token)
                parents.append(here)
            here = node
    return tokens, parents

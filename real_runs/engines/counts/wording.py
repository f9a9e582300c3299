"""Numbers in sentences: notes and reasons read the same for one and for many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

MOST_LISTED = 8


def counted(number: int, noun: str) -> str:
    """The number with its noun, in the singular for one.

    >>> counted(1, "round"), counted(87, "round")
    ('1 round', '87 rounds')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(numbers: Sequence[int]) -> str:
    """The numbers in a row; of more than 8 the first and the last.

    >>> listed([3, 5, 6]), listed(range(1, 21))
    ('3, 5 and 6', '1 to 20')
    """
    *others, last = numbers
    if not others:
        return str(last)
    if len(numbers) > MOST_LISTED:
        return f"{others[0]} to {last}"
    return f"{', '.join(map(str, others))} and {last}"


def told_apart(names: Sequence[str]) -> list[str]:
    """The names, a number behind those that came before.

    >>> told_apart(["run", "run", "other"])
    ['run', 'run (2)', 'other']
    """
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found

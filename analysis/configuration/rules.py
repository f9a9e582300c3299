"""Rules that engines share: what forced acceptance may be, and what a schedule of spans must be."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.configuration.reading import Command, as_number
from analysis.planning.schedule import Schedule, Span


def check_rates(name: str, values: object, gamma: int) -> None:
    """Unconditional rates: one per drafted token, in [0, 1], none above the one before.

    >>> check_rates("rates", [0.8, 0.9], 2)
    Traceback (most recent call last):
    ValueError: rates must not increase, for they are chances that all so far are kept; got 0.9 after 0.8.
    """
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != gamma:
        raise ValueError(
            f"{name} must be a list of {gamma}, one per drafted token; got {values!r:.60}."
        )
    before = 1.0
    for value in values:
        rate = as_number(name, value)
        if not 0.0 <= rate <= 1.0:
            raise ValueError(f"{name} must be in [0, 1]; got {value!r:.60}.")
        if rate > before:
            raise ValueError(
                f"{name} must not increase, for they are chances that all so far are kept; "
                f"got {rate:g} after {before:g}."
            )
        before = rate


def check_length(name: str, value: object, gamma: int) -> None:
    """Tokens per round with the bonus, in [1, gamma + 1].

    >>> check_length("length", 4.5, 3)
    Traceback (most recent call last):
    ValueError: length must be in [1, 4], tokens per round with the bonus; got 4.5.
    """
    length = as_number(name, value)
    if not 1.0 <= length <= gamma + 1:
        raise ValueError(
            f"{name} must be in [1, {gamma + 1}], tokens per round with the bonus; got {value!r:.60}."
        )


def check_parallel(command: Command, flag: str) -> None:
    """Devices that run each layer together: a whole number of at least 1, where it is said.

    >>> from analysis.configuration.reading import read_command
    >>> check_parallel(read_command("serve x --tp 0", words=2), "--tp")
    Traceback (most recent call last):
    ValueError: --tp must be a whole number of at least 1; got '0'.
    """
    if flag in command.options:
        value = command.options[flag]
        if command.count(flag) == 0:
            raise ValueError(f"{flag} must be a whole number of at least 1; got {value!r}.")


def schedule_of_starts(starts: Sequence[tuple[int, int]]) -> Schedule:
    """The schedule of (first batch, length) in rising order, the last one open."""
    spans = []
    for at, (first, gamma) in enumerate(starts):
        last = None if at == len(starts) - 1 else starts[at + 1][0] - 1
        spans.append(Span(first=first, last=last, gamma=gamma))
    return Schedule(spans=tuple(spans))


def constant(gamma: int) -> Schedule:
    """One length at every batch size."""
    return Schedule(spans=(Span(first=1, last=None, gamma=gamma),))

"""What the text of `specdec strategies --cost-ratio` and `--verify-cost` says."""

from __future__ import annotations

RATIO_FORM = "one number or NAME=C pairs"
POINT_FORM = "one number or N:V pairs"


def number_in(option: str, text: str, form: str) -> float:
    """A number; ValueError that names the option's form for another text.

    >>> number_in("--cost-ratio", "0.05", RATIO_FORM)
    0.05
    >>> number_in("--cost-ratio", "abc", RATIO_FORM)
    Traceback (most recent call last):
    ValueError: --cost-ratio must be one number or NAME=C pairs; got 'abc'.
    """
    return _number(option, text, text, form)


def ratio_pair(text: str) -> tuple[str, float]:
    """NAME=C; ValueError for a C that is no number.

    >>> ratio_pair("medusa=0.07")
    ('medusa', 0.07)
    """
    name, _, ratio = text.partition("=")
    return name.strip(), _number("--cost-ratio", ratio, text, RATIO_FORM)


def pass_point(text: str) -> tuple[int, float]:
    """N:V, the cost V of a pass over N tokens; ValueError for another text.

    >>> pass_point("8:1.05")
    (8, 1.05)
    """
    width, colon, cost = text.partition(":")
    if not colon or not width.strip().isdecimal():
        raise ValueError(f"--verify-cost must be {POINT_FORM}; got {text!r:.60}.")
    return int(width), _number("--verify-cost", cost, text, POINT_FORM)


def _number(option: str, number: str, text: str, form: str) -> float:
    try:
        return float(number)
    except ValueError:
        raise ValueError(f"{option} must be {form}; got {text!r:.60}.") from None

"""Arguments of pass times: bounded so that every product of them stays finite."""

from __future__ import annotations

from analysis._arrays import Numbers, nonnegatives
from simulator._checks import FloatArray, as_nonnegative

MOST, _LONGEST = 1e12, 1e9  # requests or tokens; seconds


def check_overlap(overlap: float) -> None:
    """Refuse what is no exponent of (memory^k + compute^k)^(1/k): at least 1, or infinite."""
    good = overlap is not None and not isinstance(overlap, (bool, str, bytes))
    try:
        good = good and float(overlap) >= 1.0
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise ValueError(f"overlap must be at least 1 (inf is the roofline); got {overlap!r}.")


def check_seconds(name: str, value: float) -> None:
    """Refuse what is no duration of at most 1e9 seconds."""
    if as_nonnegative(name, value) > _LONGEST:
        raise ValueError(f"{name} must be at most {_LONGEST:g} seconds; got {value!r}.")


def as_amount(name: str, value: float) -> float:
    """One number of requests or tokens in [0, 1e12]."""
    number = as_nonnegative(name, value)
    if number > MOST:
        raise ValueError(f"{name} must be at most {MOST:g}; got {value!r}.")
    return number


def amounts(
    batch: Numbers, tokens: Numbers, context: Numbers
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The three arguments of a pass as arrays, each in [0, 1e12]."""
    rows, wide, held = (
        nonnegatives(name, value)
        for name, value in (("batch", batch), ("tokens", tokens), ("context", context))
    )
    for name, array in (("batch", rows), ("tokens", wide), ("context", held)):
        if array.size and float(array.max()) > MOST:
            raise ValueError(f"{name} must be at most {MOST:g}; got {float(array.max()):g}.")
    return rows, wide, held

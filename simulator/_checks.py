"""Argument checks shared by all layers: one sentence with the parameter, what is allowed, and what came."""

from __future__ import annotations

import math
import operator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Rng: TypeAlias = int | np.random.Generator


def as_probability(name: str, value: float | None) -> float:
    """`value` as a float in [0, 1]; NaN, infinities and everything outside are refused."""
    number = _as_float(name, value, "a number in [0, 1]")
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} must be a number in [0, 1]; got {value!r}.")
    return number


def as_nonnegative(name: str, value: float | None) -> float:
    """`value` as a finite float of at least 0."""
    number = _as_float(name, value, "a finite number of at least 0")
    if not (number >= 0.0 and math.isfinite(number)):
        raise ValueError(f"{name} must be a finite number of at least 0; got {value!r}.")
    return number


def as_count(name: str, value: int, *, least: int = 0, most: int | None = None) -> int:
    """`value` as a whole number in [least, most]; fractions are refused, never rounded."""
    allowed = (
        f"a whole number of at least {least}"
        if most is None
        else f"a whole number in [{least}, {most}]"
    )
    if isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be {allowed}; got {value!r}.")
    try:
        count = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be {allowed}; got {value!r}.") from None
    if count < least or (most is not None and count > most):
        raise ValueError(f"{name} must be {allowed}; got {count}.")
    return count


def as_generator(rng: Rng) -> np.random.Generator:
    """A generator from a seed or a generator; None is refused, so that every run can be repeated."""
    if isinstance(rng, np.random.Generator):
        return rng
    try:
        return np.random.default_rng(as_count("rng", rng))
    except ValueError:
        raise ValueError(
            f"rng must be a seed (a whole number of at least 0) or a numpy Generator; got {rng!r}."
        ) from None


def as_array(name: str, values: npt.ArrayLike, allowed: str) -> npt.NDArray[Any]:
    """`values` as NumPy reads them; masks would be lost, and ragged lists and some tensors are unreadable."""
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"{name} must be {allowed}; got a masked array, whose mask would be lost.")
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:  # the latter from tensors of torch
        why = str(error).split(". ")[0].rstrip(".")
        raise ValueError(
            f"{name} must be {allowed}; got {type(values).__name__} that NumPy cannot read ({why})."
        ) from None


def _as_float(name: str, value: float | None, allowed: str) -> float:
    if value is None or isinstance(value, (bool, str, bytes)):
        raise ValueError(f"{name} must be {allowed}; got {value!r}.")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {allowed}; got {value!r}.") from None

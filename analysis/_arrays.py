"""Array arguments of the closed forms: checked element by element, refused with the first bad one."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from simulator._checks import FloatArray

Numbers: TypeAlias = npt.ArrayLike
"""A number, a sequence of numbers or an array; functions broadcast over it."""


def probabilities(name: str, value: Numbers) -> FloatArray:
    array = _numbers(name, value, "in [0, 1]")
    _refuse(name, array, (array >= 0.0) & (array <= 1.0), "in [0, 1]")
    return array


def nonnegatives(name: str, value: Numbers) -> FloatArray:
    array = _numbers(name, value, "finite and at least 0")
    _refuse(name, array, (array >= 0.0) & np.isfinite(array), "finite and at least 0")
    return array


def lengths(name: str, value: Numbers) -> FloatArray:
    """Whole numbers of at least 0, as floats: they only enter exponents and products."""
    array = _numbers(name, value, "whole and at least 0")
    good = (array >= 0.0) & np.isfinite(array)
    _refuse(
        name, array, good & (np.floor(np.where(good, array, 0.0)) == array), "whole and at least 0"
    )
    return array


def plain(array: FloatArray) -> FloatArray | float:
    """A float for scalars, the array otherwise."""
    return float(array) if array.ndim == 0 else array


def _numbers(name: str, value: Numbers, allowed: str) -> FloatArray:
    raw = np.asarray(value)
    if raw.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be numbers, {allowed}; got {value!r}.")
    return raw.astype(np.float64)


def _refuse(name: str, array: FloatArray, good: npt.NDArray[np.bool_], allowed: str) -> None:
    if bool(np.all(good)):
        return
    if array.ndim == 0:
        raise ValueError(f"{name} must be {allowed}; got {float(array):g}.")
    index = tuple(int(i) for i in np.argwhere(~good)[0])
    where = index[0] if len(index) == 1 else index
    raise ValueError(f"{name} must be {allowed}; got {float(array[index]):g} at index {where}.")

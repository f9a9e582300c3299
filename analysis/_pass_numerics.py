"""The arithmetic behind the time of a pass: two times with overlap, and widths at which one is reached."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from analysis._pass_checks import MOST
from simulator._checks import FloatArray

_ROUNDING = 1e-12  # of a time: 220 tokens must not become 219.99


def root(gap: Callable[[float], float]) -> float:
    """The least tokens ≥ 0 at which a growing gap is no longer below 0; infinite if it stays there."""
    low, high = 0.0, 1.0
    while gap(high) < 0.0:
        low, high = high, 2.0 * high
        if high > MOST:
            return math.inf
    from scipy.optimize import brentq  # noqa: PLC0415 — `import analysis` loads numpy only

    return float(brentq(gap, low, high, xtol=1e-9)) if gap(low) < 0.0 else low


def last_within(time: Callable[[float], float], most: float) -> float:
    """The most tokens ≥ 1 of which a growing time is at most `most`; infinite if all are.

    Halves the interval until no number lies between its ends: a time may be flat, and may jump.
    """
    limit = most * (1.0 + _ROUNDING)
    low, high = 1.0, 2.0
    while time(high) <= limit:
        low, high = high, 2.0 * high
        if high > MOST:
            return math.inf
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if time(middle) <= limit else (low, middle)
    return low


def combined(memory: FloatArray, compute: FloatArray, k: float) -> FloatArray:
    """(memory^k + compute^k)^(1/k) by the longer of the two, so that no power under- or overflows."""
    longer, shorter = np.maximum(memory, compute), np.minimum(memory, compute)
    if math.isinf(k):
        return longer
    if k == 1.0:
        return np.asarray(longer + shorter)
    ratio = np.divide(shorter, longer, out=np.zeros_like(longer), where=longer > 0.0)
    return np.asarray(longer * np.exp(np.log1p(ratio**k) / k))

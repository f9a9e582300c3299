"""What rounds and passes take, for numba: the steps of `round_times` in the same order, without its rows.

Import it only where numba is there and chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

from simulator.serving.compiled_arrays import Times

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function) -> _Function:
    """Compile what Python calls, and keep it on disk where there is a place for it."""
    try:
        return _made(function, nogil=True, cache=True)
    except RuntimeError:  # numba finds no folder that it may write to
        return _made(function, nogil=True)


def inlined(function: _Function) -> _Function:
    """Compile what compiled code alone calls, as a part of it."""
    return _made(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


def _made(function: _Function, **options: bool) -> _Function:
    # Nothing here makes an array. Without numba's count of who holds one, `_nrt`, a step takes a tenth.
    njit: Any = numba.njit  # its types know neither `_nrt` nor `no_…_wrapper`
    found: _Function = njit(error_model="numpy", _nrt=False, **options)(function)
    return found


@inlined
def _of_batch(times: Times, requests: int, token: int, context: int) -> float:
    """A pass over so many requests at marks of the tokens and of the context."""
    low = times.lower[requests]
    up = min(low + 1, times.passes.shape[0] - 1)
    share = times.share[requests]
    return float(
        (1.0 - share) * times.passes[low, token, context] + share * times.passes[up, token, context]
    )


@inlined
def _pass_at(times: Times, requests: int, width: float, context: int) -> float:
    marks = times.tokens
    if marks.size == 1:
        return _of_batch(times, requests, 0, context)
    upper = min(max(int(np.searchsorted(marks, width)), 1), marks.size - 1)
    low = _of_batch(times, requests, upper - 1, context)
    high = _of_batch(times, requests, upper, context)
    share = (width - marks[upper - 1]) / (marks[upper] - marks[upper - 1])
    return float((1.0 - share) * low + share * high)


@inlined
def _round_at(times: Times, requests: int, width: float, context: int) -> float:
    verify = _pass_at(times, requests, width, context)
    if times.gamma[requests] == 0:
        return verify
    return float(verify + (times.drafting[requests, context] + times.beside[0]))


@inlined
def _context(times: Times, context: float) -> tuple[int, float]:
    upper = min(
        max(int(np.searchsorted(times.contexts, context, side="right")), 1), times.contexts.size - 1
    )
    below = times.contexts[upper - 1]
    return upper, float((context - below) / (times.contexts[upper] - below))


@inlined
def mixed_s(times: Times, requests: int, tokens: int, context: float, decoding: int) -> float:
    """A pass that also reads prompts, and the drafting of those who decode [s]."""
    width = tokens / requests
    upper, share = 0, 0.0
    if times.contexts.size > 1:
        upper, share = _context(times, context)
    low = max(upper - 1, 0)
    passed = _pass_at(times, requests, width, low)
    if upper:
        passed = passed + share * (_pass_at(times, requests, width, upper) - passed)
    if decoding == 0 or times.gamma[decoding] == 0:
        return passed
    drafting = float(times.drafting[decoding, low])
    if upper:
        drafting = drafting + share * (times.drafting[decoding, upper] - drafting)
    hidden = times.beside[1] * min(drafting, passed)
    return float(passed + drafting + times.beside[0] - hidden)


@inlined
def tokens_of(times: Times, batch: int, drafted: int) -> int:
    """Tokens in a pass over so many decoding requests, of which `drafted` have a draft."""
    along = 1 + times.riders[batch]
    return int(batch * along + drafted * (times.width[batch] - along))


@inlined
def round_s(times: Times, batch: int, drafted: int, context: float) -> float:
    """A round of so many requests, of which `drafted` have a draft [s]."""
    tokens = tokens_of(times, batch, drafted)
    if times.beside[1] > 0.0:
        return mixed_s(times, batch, tokens, context, batch)
    width = tokens / batch
    if times.contexts.size == 1:
        return _round_at(times, batch, width, 0)
    upper, share = _context(times, context)
    low = _round_at(times, batch, width, upper - 1)
    return low + share * (_round_at(times, batch, width, upper) - low)

"""Where a table needs its marks, so that straight lines between them say what a function says."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from simulator._checks import FloatArray

MOST_MARKS = 4096
NARROWEST = 1e-3
_PASSES = 30


def refined(
    of: Callable[[FloatArray], FloatArray],
    marks: Sequence[float],
    *,
    miss: float,
    whole: bool = False,
) -> FloatArray:
    """`marks` and as many between them as it takes, until the middles lie on the lines.

    `of` gives values along its first axis, shape [marks, ...], above 0; a middle is added where the
    straight line misses it by more than the share `miss` in any of the others. A kink is missed by twice
    that at most. `whole` marks are whole numbers: between neighbours nothing is missed. Spans below
    NARROWEST of the whole are left alone, and so is everything once there are MOST_MARKS.

    >>> refined(lambda x: np.maximum(x, 40.0), [0.0, 100.0], miss=0.01, whole=True)
    array([  0.,  25.,  37.,  40.,  43.,  50., 100.])
    """
    found = np.unique(np.asarray(marks, dtype=np.float64))
    values = np.asarray(of(found))
    least = 1.0 if whole else NARROWEST * float(found[-1] - found[0])
    settled = np.zeros(found.size - 1, dtype=np.bool_)  # spans whose middle lay on the line
    for _ in range(_PASSES):
        low, high = found[:-1], found[1:]
        middle = (low + high) / 2.0
        middle = np.floor(middle) if whole else middle
        tried = np.flatnonzero(~settled & (high - low > least) & (middle > low))
        if not tried.size or found.size + tried.size > MOST_MARKS:
            return found
        at = middle[tried]
        there = np.asarray(of(at))
        share = ((at - low[tried]) / (high - low)[tried]).reshape(-1, *[1] * (there.ndim - 1))
        line = (1.0 - share) * values[tried] + share * values[tried + 1]
        off = (np.abs(line - there) / there).reshape(tried.size, -1).max(axis=1)
        settled[tried[off <= miss]] = True
        bad = off > miss
        if not bad.any():
            return found
        found = np.insert(found, tried[bad] + 1, at[bad])
        values = np.insert(values, tried[bad] + 1, there[bad], axis=0)
        settled = np.insert(settled, tried[bad] + 1, False)
    return found

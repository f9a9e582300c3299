"""One mean only: the p that would explain it, and how far that p is known to miss."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from analysis.converting import equivalent_p
from analysis.fitting.families import extrapolation_errors, slope_range
from analysis.fitting.result import Fit
from analysis.fitting.spread import Spread
from analysis.formulas import expected_tokens
from simulator import METHODS, ConstantAcceptance, Estimate, Method
from simulator._checks import FloatArray, as_count, as_nonnegative

_GRID = 9


def fit_mean(
    *,
    gamma: int,
    tokens_per_round: float | None = None,
    accepted_fraction: float | None = None,
    half_width: float = 0.0,
    method: Method | None = None,
) -> Fit:
    """The equivalent p of one printed mean, and predictions with the known error of the method.

    `half_width` is that of the mean's rounding. At `gamma` itself the prediction is the mean; at
    another length, one p is wrong in a direction that the method has: acceptance mostly falls with depth
    for EAGLE and MTP, so that longer drafts gain less than promised, and rises for n-gram. The interval
    spans what one p would have missed on the published curves of that method
    (`extrapolation_errors`), the value stays that of one p. Its `level` is NaN: it is a range seen, not a
    probability. Without a method, or where no curve of it is known, only the rounding is in it.

    Raises ValueError for an impossible mean, both or neither given, and an unknown method.

    >>> found = fit_mean(tokens_per_round=2.83, gamma=3, half_width=0.005, method="eagle")
    >>> round(found.parameters["p"].value, 3), found.how
    (0.772, 'method')
    >>> low, high = found.tokens_per_round(8).interval
    >>> low < 3.74 < high
    True
    """
    gamma = as_count("gamma", gamma, least=1, most=1000)
    half_width = as_nonnegative("half_width", half_width)
    if method is not None and method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
    p = equivalent_p(
        gamma=gamma, tokens_per_round=tokens_per_round, accepted_fraction=accepted_fraction
    )
    mean = float(expected_tokens(p, gamma))
    half = half_width if tokens_per_round is not None else half_width * gamma
    ends = [min(max(mean + sign * half, 1.0), gamma + 1.0) for sign in (-1.0, 1.0)]
    low, high = (equivalent_p(gamma=gamma, tokens_per_round=end) for end in ends)
    grid = np.unique([low, p, high])

    def curve(gammas: Sequence[int]) -> Spread:
        values = np.asarray([float(expected_tokens(p, g)) for g in gammas])
        columns = [_seen(grid, gamma, asked, method) for asked in gammas]
        return Spread(
            values=values, draws=np.stack(columns, axis=1), range_only=True, level=math.nan
        )

    return Fit(
        name="constant p",
        process=ConstantAcceptance(p=p),
        parameters={"p": Estimate(value=p, interval=(min(low, p), max(high, p)), level=math.nan)},
        notes=_notes(method),
        how="method",
        unit="rounds",
        measured=gamma,
        level=math.nan,
        curve=curve,
    )


def _seen(grid: FloatArray, known: int, asked: int, method: Method | None) -> FloatArray:
    """Tokens per round at `asked` for each p and each slope of the method, [grid × slopes]."""
    slopes = (
        None if method is None or asked == known else slope_range(method, known=known, asked=asked)
    )
    tried = np.linspace(*slopes, _GRID) if slopes is not None else np.zeros(_GRID)
    tokens = np.asarray(expected_tokens(grid, asked))[:, np.newaxis]
    moved = tokens * ((asked + 1) / (known + 1)) ** -tried
    return np.clip(moved, 1.0, asked + 1.0).ravel()


def _notes(method: Method | None) -> tuple[str, ...]:
    one = "There is one mean only: one p explains it by construction and says little of other lengths."
    if method is None:
        return (one, "Without a method, how far one p misses elsewhere is not in the intervals.")
    errors = [e for e in extrapolation_errors(method) if e.asked > e.known]
    if not errors:
        return (one, f"No published curve of {method} is known; the intervals hold rounding only.")
    least, most = min(e.error for e in errors), max(e.error for e in errors)
    curves = len({e.curve for e in errors})
    known = (
        f"On {curves} published curve{'s' if curves > 1 else ''} of {method}, one p promised "
        f"{least:+.0%} to {most:+.0%} for longer drafts; the intervals span that, not a probability."
    )
    return one, known

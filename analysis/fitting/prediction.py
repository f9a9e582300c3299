"""What a fit predicts: tokens per round over draft length, with the error that all lengths share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.fitting.laws import odds
from analysis.fitting.maximise import Peak
from analysis.fitting.parameters import all_or_none
from analysis.fitting.replay import Replay
from analysis.fitting.result import Curve
from analysis.fitting.rounding import Rounding
from analysis.fitting.rows import Rows
from analysis.fitting.spread import Resampled, Spread, deletions, sandwich, token_gradient


def curve_of(
    peaks: tuple[Peak, ...],
    rows: Rows,
    drawn: Resampled | None,
    *,
    replay: Replay | None,
    rounding: Rounding | None = None,
    coverage: float,
    level: float,
) -> Curve:
    """Tokens per round over gamma with their common error.

    From draws where there are some, otherwise from what each unit does to the chosen process. With a
    `replay` nothing is predicted up to its longest draft: it counts the rounds of the texts themselves.
    Rounded counts (which have no texts) add what `rounding` may hide.
    """
    best = peaks[0]
    if replay is None and best.pinned and best.law.name == "constant p":
        return _all_or_none_curve(best, rows, coverage, level)
    moved = deletions(best, rows)

    def curve(gammas: Sequence[int]) -> Spread:
        values, gradient = token_gradient(best, gammas, coverage)
        hidden = None if rounding is None else rounding.of_tokens(best, rows, gammas, coverage)
        told = [i for i, g in enumerate(gammas) if replay is not None and g <= replay.gamma]
        for i in told:
            assert replay is not None  # noqa: S101 — `told` is empty without
            values[i] = replay.tokens(gammas[i])
        if drawn is None:
            by_unit = moved @ gradient.T
            for i in told:
                assert replay is not None  # noqa: S101
                by_unit[:, i] = replay.deletions(gammas[i])
            covariance = sandwich(by_unit, rows)
            return Spread(
                values=values, covariance=covariance, units=rows.units, level=level, hidden=hidden
            )
        draws = np.empty((len(drawn.coverage), len(gammas)))
        for beyond in (False, True):
            at = [i for i, g in enumerate(gammas) if (g > rows.depths) == beyond]
            if at:
                draws[:, at] = drawn.tokens(peaks, [gammas[i] for i in at], beyond=beyond)
        for i in told:
            assert replay is not None  # noqa: S101
            draws[:, i] = replay.draws(gammas[i], drawn.weights)
        return Spread(values=values, draws=draws, units=rows.units, level=level, hidden=hidden)

    return curve


def _all_or_none_curve(best: Peak, rows: Rows, coverage: float, level: float) -> Curve:
    """Predictions over Wilson's interval, for resampling shows nothing where all were kept, or none."""
    ends = all_or_none(0, best, rows, level).interval
    assert ends is not None  # noqa: S101 — it has just been made
    thetas = odds(np.linspace(*ends, 33))[:, np.newaxis]

    def curve(gammas: Sequence[int]) -> Spread:
        tokens = 1.0 + coverage * (best.law.tokens(np.vstack([best.theta, thetas]), gammas) - 1.0)
        return Spread(values=tokens[0], draws=tokens, level=level, range_only=True)

    return curve

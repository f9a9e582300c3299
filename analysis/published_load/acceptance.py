"""Acceptance from printed tokens per round."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from analysis.fitting.result import Fit
from simulator import AcceptanceByDepth
from simulator._checks import as_count


def acceptance_of_tokens(tokens_per_round: Mapping[int, float]) -> Fit:
    """The acceptance by depth that gives these tokens per round at these draft lengths, exactly.

    Tokens per round are 1 + Σ survival over the depths, so that neighbouring lengths say the survival
    between them; where a length is missing, tokens are interpolated on a straight line. Raises
    ValueError for tokens below 1 and for survival that rises with depth.

    >>> fit = acceptance_of_tokens({1: 1.65, 2: 2.05, 4: 2.45})
    >>> [round(fit.tokens_per_round(g).value, 3) for g in (1, 2, 3, 4)]
    [1.65, 2.05, 2.25, 2.45]
    """
    known = {0: 1.0, **{as_count("gamma", g, least=1): t for g, t in tokens_per_round.items()}}
    lengths = sorted(known)
    tokens = np.interp(range(lengths[-1] + 1), lengths, [known[g] for g in lengths])
    survival = np.concatenate([[1.0], np.diff(tokens)])
    if survival[-1] < 0.0 or np.any(np.diff(survival) > 1e-9):
        raise ValueError(
            "tokens_per_round must rise by less and less with gamma, by at most 1; "
            f"got {dict(tokens_per_round)}."
        )
    kept = np.divide(
        survival[1:], survival[:-1], out=np.zeros(len(survival) - 1), where=survival[:-1] > 0.0
    )
    return Fit.of_process(
        AcceptanceByDepth(by_depth=tuple(map(float, np.minimum(kept, 1.0)))), name="printed"
    )

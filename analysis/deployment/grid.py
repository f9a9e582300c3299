"""The decoding speedup over many batches, draft lengths and contexts at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.deployment.deployment import Deployment
from simulator._checks import FloatArray, as_count


def speedups(
    deployment: Deployment, gammas: Sequence[int], batches: Sequence[int], context: float = 0
) -> FloatArray:
    """Speedup of a request against plain decoding at the same batch, [batches, gammas].

    NaN where a batch does not fit beside what the draft takes. The same number as
    `Deployment.parts(...).speedup`. Raises ValueError for a batch below 1 and a gamma beyond what the
    acceptance says.

    >>> from analysis.deployment.drafting import Drafting
    >>> from analysis.fitting import Fit
    >>> from analysis.pass_cost import PassCost
    >>> from simulator import ConstantAcceptance
    >>> free = Deployment(name="lookup", target=PassCost(weights_s=0.01, compute_s=0.001),
    ...     drafting=Drafting(shape="lookup"), acceptance=Fit.of_process(ConstantAcceptance(p=0.5)))
    >>> speedups(free, [0, 1], [1, 8])
    array([[1.   , 1.5  ],
           [1.   , 0.9375]])
    """
    lengths = [as_count("gammas", gamma) for gamma in gammas]
    rows = np.asarray([as_count("batches", batch, least=1) for batch in batches], dtype=np.float64)
    fits = np.asarray([deployment.most_requests(context, drafting=gamma > 0) for gamma in lengths])
    tokens = deployment.acceptance.spread(lengths).values
    plain = np.asarray(deployment.target.seconds(rows, 1, context))[:, np.newaxis]
    taken = deployment.round_s(np.asarray(lengths), rows[:, np.newaxis], context)
    found = np.where(np.asarray(lengths) > 0, tokens * plain / taken, 1.0)
    return np.asarray(np.where(rows[:, np.newaxis] <= fits, found, np.nan))


def batches_up_to(most: int, *, per_doubling: int = 4) -> tuple[int, ...]:
    """Batch sizes from 1 to `most` for a line over a logarithmic axis.

    >>> batches_up_to(12, per_doubling=2)
    (1, 2, 3, 4, 6, 8, 11, 12)
    """
    as_count("most", most, least=1)
    steps = int(np.ceil(per_doubling * np.log2(most))) if most > 1 else 0
    points = np.rint(2.0 ** (np.arange(steps + 1) / per_doubling)).astype(int)
    return tuple(sorted({*(int(b) for b in points if b < most), most}))

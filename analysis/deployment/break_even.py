"""The batch at which speculation stops paying."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.deployment.deployment import Deployment
from simulator._checks import FloatArray, as_count, as_nonnegative

_MOST = 4096
_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEvenBatch:
    """The first batch at which drafts of `gamma` tokens are no faster than plain decoding.

    `batch` is None if they are faster at every batch up to `tried`, and 1 if already a single request
    loses. `again` is the first batch beyond it at which they are faster after all, None if there is none:
    a mixture of experts or a long context can lose first and gain later. `limited` says that larger
    batches do not fit the memory.
    """

    gamma: int
    context: float
    batch: int | None
    again: int | None
    tried: int
    limited: bool

    @property
    def monotone(self) -> bool:
        """True if drafts that stopped paying never pay again, as far as tried."""
        return self.again is None

    @property
    def sentence(self) -> str:
        """The answer in a sentence or two."""
        held = f"γ = {self.gamma} at {self.context:,.0f} tokens of context"
        end = "the most that fit" if self.limited else "the most tried"
        if self.batch is None:
            return f"{held} pays at every batch up to {self.tried:,}, {end}."
        if self.batch > 1:
            said = f"{held} pays below batch {self.batch:,} and no longer there"
        else:
            said = f"{held} does not pay at batch 1"
        if self.again is None:
            return f"{said}, nor beyond (up to {self.tried:,}, {end})."
        return f"{said}, but again from batch {self.again:,} on: the gain does not fall steadily."


def break_even_batch(
    deployment: Deployment, gamma: int, *, context: float = 0, most: int | None = None
) -> BreakEvenBatch:
    """The first batch at which drafts of `gamma` tokens stop paying; every batch up to `most` is tried.

    Without `most` it is what fits the memory, at most 4,096. Raises ValueError for gamma 0, a `most`
    outside [1, 1,000,000], and a deployment in which not one request fits.

    >>> from analysis.deployment.drafting import Drafting
    >>> from analysis.fitting import Fit
    >>> from analysis.pass_cost import PassCost
    >>> from simulator import ConstantAcceptance
    >>> free = Deployment(name="lookup", target=PassCost(weights_s=0.01, compute_s=0.001),
    ...     drafting=Drafting(shape="lookup"), acceptance=Fit.of_process(ConstantAcceptance(p=0.5)))
    >>> break_even_batch(free, 1).batch  # 2 · 8 ms of arithmetic for 1.5 tokens, 10 ms for 1
    8
    """
    gamma = as_count("gamma", gamma, least=1)
    context = as_nonnegative("context", context)
    asked = as_count("most", _MOST if most is None else most, least=1, most=_LARGEST)
    deployment.check_batch(1, context, drafting=True)
    fits = deployment.most_requests(context)
    tried = int(min(asked, fits))
    pays = _gains(deployment, gamma, np.arange(1.0, tried + 1.0), context) > 1.0
    batch = _first(~pays, 0)
    again = None if batch is None else _first(pays, batch)
    return BreakEvenBatch(
        gamma=gamma, context=context, batch=batch, again=again, tried=tried, limited=fits < asked
    )


def _gains(deployment: Deployment, gamma: int, batches: FloatArray, context: float) -> FloatArray:
    tokens = deployment.acceptance.tokens_per_round(gamma).value
    plain = np.asarray(deployment.target.seconds(batches, 1, context))
    return np.asarray(tokens * plain / deployment.round_s(gamma, batches, context))


def _first(wanted: np.ndarray, beyond: int) -> int | None:
    """The first batch above `beyond` for which `wanted` [batches from 1] holds."""
    found = np.flatnonzero(wanted[beyond:])
    return int(found[0]) + beyond + 1 if found.size else None

"""What a round takes and gives at every batch, draft length and context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.deployment.drafting import Drafting
from analysis.deployment.memory import Memory
from analysis.deployment.round_parts import RoundParts
from analysis.fitting.costs import RoundCosts
from analysis.fitting.result import Fit
from analysis.pass_cost import PassCost
from simulator import Estimate, Method
from simulator._checks import FloatArray, as_count, as_nonnegative, as_probability


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One way to serve a target: how it drafts, how often that is accepted, on which machine.

    A round of gamma tokens for each of b requests takes

        drafting + T(b, gamma + 1) + overhead_s − draft_overlap · min(drafting, T(b, gamma + 1))

    where T is the target's pass. `draft_overlap` 0 is one after the other; 1 hides the shorter of the two
    altogether, as PEARL and DSI aim at (Liu et al. 2024, Timor et al. 2024), acceptance unchanged. `overhead_s`
    is what else a speculative round takes. Rounds without a draft (gamma 0) are plain decoding and pay
    neither. Where `memory` is given, batches that do not fit are refused. `method` is the family of drafts
    that a configuration names.

    >>> from analysis.fitting import Fit
    >>> from simulator import ConstantAcceptance
    >>> step = PassCost(weights_s=0.01, compute_s=0.0)
    >>> pair = Deployment(name="article", target=step, acceptance=Fit.of_process(ConstantAcceptance(p=0.7)),
    ...     drafting=Drafting(shape="chain", step=PassCost(weights_s=0.001, compute_s=0.0)))
    >>> round(pair.parts(4).speedup.value, 4)
    1.9808
    """

    name: str
    target: PassCost
    drafting: Drafting
    acceptance: Fit
    overhead_s: float = 0.0
    draft_overlap: float = 0.0
    memory: Memory | None = None
    method: Method = "draft_model"

    def __post_init__(self) -> None:
        as_nonnegative("overhead_s", self.overhead_s)
        as_probability("draft_overlap", self.draft_overlap)

    def parts(self, gamma: int, batch: float = 1, context: float = 0) -> RoundParts:
        """The parts of one round [s], and what it gives.

        Raises ValueError for a batch below 1 or one that does not fit, and a gamma beyond what the
        acceptance says.
        """
        gamma = as_count("gamma", gamma)
        self.check_batch(batch, context, drafting=gamma > 0)
        plain = float(self.target.seconds(batch, 1, context))
        tokens = self.acceptance.tokens_per_round(gamma) if gamma else Estimate(value=1.0)
        if gamma == 0:
            return RoundParts(gamma=0, batch=batch, tokens_per_round=tokens, plain_s=plain)
        verify = float(self.target.seconds(batch, gamma + 1, context))
        drafting = float(self.drafting.seconds(gamma, batch, context))
        return RoundParts(
            gamma=gamma,
            batch=batch,
            tokens_per_round=tokens,
            plain_s=plain,
            drafting_s=drafting,
            wider_s=verify - plain,
            overhead_s=self.overhead_s,
            hidden_s=self.draft_overlap * min(drafting, verify),
        )

    def round_s(self, gammas: Sequence[int], batch: float = 1, context: float = 0) -> FloatArray:
        """Time of a round at each draft length [s], shape [gammas]; the sum that `parts` itemises."""
        length = np.asarray(gammas, dtype=np.float64)
        verify = np.asarray(self.target.seconds(batch, length + 1.0, context))
        drafting = np.asarray(self.drafting.seconds(length, batch, context))
        hidden = self.draft_overlap * np.minimum(drafting, verify)
        return np.asarray(verify + drafting - hidden + np.where(length > 0.0, self.overhead_s, 0.0))

    def round_costs(self, most: int, batch: float = 1, context: float = 0) -> RoundCosts:
        """The same in plain steps for gamma 0 to `most`, as fits take it.

        What is hidden counts as drafting that does not happen.
        """
        gammas = range(most + 1)
        plain = float(self.target.seconds(batch, 1, context))
        verify = np.asarray(self.target.seconds(batch, np.arange(most + 1) + 1.0, context))
        rest = self.round_s(gammas, batch, context) - verify
        rest[1:] -= self.overhead_s
        return RoundCosts(
            cost_ratio=0.0,
            drafting=tuple(map(float, np.maximum(rest, 0.0) / plain)),
            verify_cost=tuple(map(float, verify / plain)),
            overhead=self.overhead_s / plain,
        )

    def check_batch(self, batch: float, context: float, *, drafting: bool) -> None:
        """ValueError unless the batch is at least 1 and fits the memory."""
        batch, context = as_nonnegative("batch", batch), as_nonnegative("context", context)
        if batch < 1.0:
            raise ValueError(f"batch must be at least 1; got {batch:g}.")
        if self.memory is None:
            return
        most = self.memory.most_requests(context, drafting=drafting)
        if batch > most:
            beside = " beside the draft" if drafting and self.memory.draft_bytes else ""
            raise ValueError(
                f"batch must be at most {most:,.0f} for {self.name}: no more requests of {context:,.0f} "
                f"tokens fit the memory{beside}; got {batch:g}."
            )

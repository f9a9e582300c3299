"""What a round takes and gives at every batch, draft length and context."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from analysis._arrays import Numbers, lengths
from analysis.deployment.drafting import Drafting
from analysis.deployment.memory import Memory, gigabytes
from analysis.deployment.round_parts import RoundParts
from analysis.deployment.undrafted import drafted_share, verify_s
from analysis.fitting.costs import RoundCosts
from analysis.fitting.result import Fit
from analysis.pass_cost import PassCost
from simulator import Estimate, Method
from simulator._checks import FloatArray, as_count, as_nonnegative, as_probability

_NUMBERS = (int, float, np.integer, np.floating)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One way to serve a target: how it drafts, how often that is accepted, on which machine.

    A round of gamma tokens for each of b requests takes

        drafting + T(b, gamma + 1) + overhead_s − draft_overlap · min(drafting, T(b, gamma + 1))

    where T is the target's pass. `draft_overlap` 0 is one after the other; 1 hides the shorter of the two
    altogether, as PEARL and DSI aim at (Liu et al. 2024, Timor et al. 2024), acceptance unchanged. That
    is a bound: it takes hardware of its own for the draft, and drafts begun before the verdict that are
    never thrown away. What is drafted ahead survives only a verdict that it foresaw, so that DSI's own
    account lies between 0 and 1. `overhead_s` is what else a speculative round takes. Rounds without a
    draft (gamma 0) are plain decoding and pay neither. Where the acceptance knows of rounds in which no
    draft is found, T is that of a batch in which only such a share of the requests has one (`verify_s`);
    drafting is paid in every round, for one has to look. Where `memory` is given, batches that do not fit
    are refused. `method` is the family of drafts that a configuration names.

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

    def parts(
        self, gamma: int, batch: float = 1, context: float = 0, *, tokens: Estimate | None = None
    ) -> RoundParts:
        """The parts of one round [s], and what it gives.

        `tokens` are the tokens per round where they are known already: a fit may take a while to say.
        Raises ValueError for a batch below 1 or one that does not fit, and a gamma beyond what the
        acceptance says.
        """
        gamma = as_count("gamma", gamma)
        self.check_batch(batch, context, drafting=gamma > 0)
        plain = float(self.target.seconds(batch, 1, context))
        if gamma == 0:
            alone = Estimate(value=1.0)
            return RoundParts(gamma=0, batch=batch, tokens_per_round=alone, plain_s=plain)
        tokens = tokens or self.acceptance.tokens_per_round(gamma)
        verify = float(self._verify_s(gamma, batch, context))
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

    def round_s(self, gammas: Numbers, batch: Numbers = 1, context: Numbers = 0) -> FloatArray:
        """Time of a round at each draft length [s]; the sum that `parts` itemises.

        Arguments broadcast: batches of shape [..., 1] give [..., gammas]. Memory is not looked at.
        """
        length = lengths("gammas", gammas)
        verify = self._verify_s(length, batch, context)
        overhead = np.where(length > 0.0, self.overhead_s, 0.0)
        return np.asarray(verify + self._drafting_left(length, verify, batch, context) + overhead)

    def round_costs(self, most: int, batch: float = 1, context: float = 0) -> RoundCosts:
        """The same in plain steps for gamma 0 to `most`, as fits take it.

        What is hidden counts as drafting that does not happen.
        """
        gammas = np.arange(as_count("most", most) + 1)
        plain = float(self.target.seconds(batch, 1, context))
        verify = self._verify_s(gammas, batch, context)
        drafting = self._drafting_left(gammas, verify, batch, context)
        return RoundCosts(
            cost_ratio=0.0,
            drafting=tuple(map(float, drafting / plain)),
            verify_cost=tuple(map(float, verify / plain)),
            overhead=self.overhead_s / plain,
        )

    def most_requests(self, context: float, *, drafting: bool = True) -> float:
        """Requests of `context` tokens that run at once; infinite where no memory is given."""
        if self.memory is None:
            return math.inf
        return self.memory.most_requests(context, drafting=drafting)

    def check_batch(self, batch: float, context: float, *, drafting: bool) -> None:
        """ValueError unless the batch is at least 1 and fits the memory."""
        context = as_nonnegative("context", context)
        if not isinstance(batch, _NUMBERS) or not 1.0 <= batch < math.inf:
            raise ValueError(f"batch must be at least 1; got {batch!r}.")
        most = self.most_requests(context, drafting=drafting)
        if self.memory is None or batch <= most:
            return
        takes = self.memory.draft_bytes > 0.0 or self.memory.draft_kv_bytes > 0.0
        beside = " beside the draft" if drafting and takes else ""
        if most < 1.0:
            raise ValueError(
                f"a request of {context:,.0f} tokens must fit the memory{beside} for {self.name}; "
                f"it takes {gigabytes(self.memory.request_bytes(context, drafting=drafting))} and "
                f"{gigabytes(self.memory.free_bytes(drafting=drafting))} are free."
            )
        raise ValueError(
            f"batch must be at most {most:,.0f} for {self.name}: no more requests of {context:,.0f} "
            f"tokens fit the memory{beside}; got {batch:g}."
        )

    def _verify_s(self, gammas: Numbers, batch: Numbers, context: Numbers) -> FloatArray:
        return verify_s(self.target, gammas, batch, context, share=drafted_share(self.acceptance))

    def _drafting_left(
        self, length: Numbers, verify: FloatArray, batch: Numbers, context: Numbers
    ) -> FloatArray:
        """What of the drafting does not run beside the pass [s]."""
        drafting = np.asarray(self.drafting.seconds(length, batch, context))
        return np.asarray(drafting - self.draft_overlap * np.minimum(drafting, verify))

"""What a schedule loses against the best draft length of every batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.deployment.deployment import Deployment
from analysis.fitting.best import FLAT
from analysis.fitting.result import GAMMAS
from analysis.planning.pricing import judged, picked, priced, rising
from analysis.planning.schedule import Schedule
from simulator import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleLoss:
    """One batch: what the schedule's draft length gives, what the best does, and the difference.

    `lost` is the best speedup less the schedule's, with the error that both share.
    """

    batch: int
    gamma: int
    speedup: Estimate
    best_gamma: int
    best_speedup: Estimate
    lost: Estimate

    @property
    def share(self) -> float:
        """The part of the best speedup that is lost."""
        return self.lost.value / self.best_speedup.value

    @property
    def slower_than_plain(self) -> bool:
        """True if plain decoding would be faster than what the schedule does."""
        return self.speedup.value < 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleLosses:
    """What a schedule loses at every batch that was asked for; `mean_share` counts each batch once.

    `left_out` are batches at which the schedule drafts and the draft does not fit the memory.
    """

    strategy: str
    schedule: Schedule
    rows: tuple[ScheduleLoss, ...]
    left_out: tuple[int, ...] = ()

    @property
    def worst(self) -> ScheduleLoss:
        """The batch at which the largest part is lost, the first of equal ones."""
        return max(self.rows, key=lambda row: row.share)

    @property
    def mean_share(self) -> float:
        """The part that is lost, on average over the batches."""
        return math.fsum(row.share for row in self.rows) / len(self.rows)

    @property
    def sentence(self) -> str:
        """The loss in one or two sentences."""
        worst = self.worst
        if worst.share <= 1.0 - FLAT:
            return (
                f"The schedule loses at most {worst.share:.1%} at any of these batches.{self._rest}"
            )
        said = (
            f"The schedule loses {self.mean_share:.1%} on average and {worst.share:.1%} at batch "
            f"{worst.batch:,}, where {_called(worst.gamma)} gives {worst.speedup.value:.2f}× and "
            f"{_called(worst.best_gamma)} {worst.best_speedup.value:.2f}×."
        )
        slow = [row.batch for row in self.rows if row.slower_than_plain]
        if slow:
            said += f" Plain decoding is faster at {len(slow)} of {len(self.rows)} batches."
        return said + self._rest

    @property
    def _rest(self) -> str:
        if not self.left_out:
            return ""
        return f" From batch {self.left_out[0]:,} on its draft does not fit the memory."


def schedule_losses(
    deployment: Deployment,
    schedule: Schedule,
    batches: Sequence[int],
    *,
    context: float = 0,
    gammas: Sequence[int] = GAMMAS,
) -> ScheduleLosses:
    """What a schedule loses at each batch against the best of `gammas` and of its own lengths.

    Batches at which the draft does not fit are left out. Raises ValueError as `plan` does, for a batch
    beyond a closed schedule, a draft longer than the acceptance says anything about, and where no
    batch is left.

    >>> from analysis.deployment.drafting import Drafting
    >>> from analysis.fitting import Fit
    >>> from analysis.pass_cost import PassCost
    >>> from simulator import ConstantAcceptance
    >>> pair = Deployment(name="pair", acceptance=Fit.of_process(ConstantAcceptance(p=0.7)),
    ...     target=PassCost(weights_s=0.01, compute_s=0.0001),
    ...     drafting=Drafting(shape="chain", step=PassCost(weights_s=0.001, compute_s=0.00001)))
    >>> found = schedule_losses(pair, Schedule.read("1-:4"), (1, 16, 256))
    >>> [(row.batch, row.best_gamma, round(row.share, 3)) for row in found.rows]
    [(1, 4, 0.0), (16, 4, 0.0), (256, 0, 0.486)]
    """
    asked = rising(batches)
    deployment.check_batch(asked[-1], context, drafting=False)
    most = deployment.most_requests(context)
    batches = [batch for batch in asked if batch <= most or schedule.gamma(batch) == 0]
    if not batches:
        deployment.check_batch(asked[0], context, drafting=True)
    lengths = [schedule.gamma(batch) for batch in batches]
    deployment.acceptance.spread([max(lengths)])  # refuses what it says nothing about
    ready = priced(deployment, (*gammas, *lengths), context)
    counts = np.asarray(batches, dtype=np.float64)
    price = ready.prices(counts)
    values, lows, _ = ready.speedups(counts)
    best = picked(judged(values, lows, prefer="gain", require_gain=0.0))
    rows = []
    for row, (batch, gamma) in enumerate(zip(batches, lengths, strict=True)):
        mine, other = ready.gammas.index(gamma), int(best[row])
        contrast = np.zeros(len(ready.gammas))
        contrast[other] += price[row, other]
        contrast[mine] -= price[row, mine]
        rows.append(
            ScheduleLoss(
                batch=batch,
                gamma=gamma,
                speedup=ready.tokens[mine].scaled(float(price[row, mine])),
                best_gamma=ready.gammas[other],
                best_speedup=ready.tokens[other].scaled(float(price[row, other])),
                lost=ready.spread.estimate(contrast, bounds=(-math.inf, math.inf)),
            )
        )
    return ScheduleLosses(
        strategy=deployment.name,
        schedule=schedule,
        rows=tuple(rows),
        left_out=tuple(batch for batch in asked if batch not in batches),
    )


def _called(gamma: int) -> str:
    return f"γ = {gamma}" if gamma else "no draft"

"""What rounds whose draft may end early cost, and each stopping rule against the best fixed length."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from analysis.optimum import VerifyCost, verify_costs
from analysis.stopping import stopped_law
from simulator import (
    AcceptanceProcess,
    Chain,
    ConfidenceThreshold,
    ConfidentAcceptance,
    FixedLength,
    Heuristic,
    Oracle,
    Stop,
    Strategy,
)
from simulator._checks import as_count, as_nonnegative


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingRow:
    """One stopping rule at its best: its longest draft, what a round drafts and emits, how fast it is.

    `drafted` counts tokens that the target verifies, `draft_steps` those that were paid for. `gain` is
    the speedup over that of the best fixed length, 1 for the same.
    """

    stop: Stop
    gamma: int
    drafted: float
    draft_steps: float
    tokens_per_round: float
    speedup: float
    gain: float


def stopping_speedup(
    strategy: Strategy,
    *,
    cost_ratio: float,
    verify_cost: VerifyCost = 1.0,
    overhead: float = 0.0,
    rounds: int | None = None,
) -> float:
    """Decoding speedup under a stopping rule: tokens per round / cost of a round, both on average.

    E[tokens] / (cost_ratio · E[draft steps] + E[V(drafted + 1)] + overhead): the ratio of means is what
    a long text has, by the law of large numbers. `verify_cost` as in `best_gamma`; a round without
    a drafted token verifies 1 token, V(1) = 1, and a chain of 0 tokens is plain decoding, speedup 1.
    An oracle's wasted steps are none: it pays for accepted tokens only. `rounds` as in
    `stopped_law`. Raises ValueError for values out of range and for rounds that cost nothing.

    >>> from simulator import draft_model
    >>> round(stopping_speedup(draft_model(p=0.7, gamma=4), cost_ratio=0.1), 4)
    1.9808
    >>> round(stopping_speedup(draft_model(p=0.7, gamma=64, stop=Oracle()), cost_ratio=0.1), 4)
    2.7027
    """
    cost_ratio = as_nonnegative("cost_ratio", cost_ratio)
    overhead = as_nonnegative("overhead", overhead)
    costs = verify_costs(verify_cost, strategy.draft.gamma).tolist()
    if strategy.draft.gamma == 0:
        return 1.0
    law = stopped_law(strategy, rounds=rounds)
    verifying = math.fsum(weight * (costs[n] if n else 1.0) for n, weight in enumerate(law.lengths))
    return law.tokens_per_round / (cost_ratio * law.draft_steps + verifying + overhead)


def compare_stopping(
    acceptance: AcceptanceProcess,
    *,
    cost_ratio: float,
    max_gamma: int = 32,
    verify_cost: VerifyCost = 1.0,
    overhead: float = 0.0,
    heuristic: Heuristic | None = None,
) -> tuple[StoppingRow, ...]:
    """Each stopping rule beside the best fixed length, under one law of acceptance and one cost.

    Rows: the best fixed gamma in [0, max_gamma] (0: plain decoding is faster than all); the heuristic
    (transformers' unless given) in the long run; under `ConfidentAcceptance` the confidence threshold
    with the best pair of threshold (of the levels) and gamma, once with the last token kept and once
    with it thrown away; the oracle. Heuristic and oracle may draft up to max_gamma. Of equal choices
    the shortest draft and the lowest threshold count. Raises ValueError for values out of range.

    Where acceptance does not depend on what was accepted before, as in every process here, a
    schedule mixes fixed lengths and cannot gain. The best rule of all wastes nothing and is the
    oracle as long as V is 1 and a draft step costs less than a target step.

    >>> from simulator import calibrated_acceptance
    >>> law = calibrated_acceptance(p=0.7, concentration=2.0)
    >>> for row in compare_stopping(law, cost_ratio=0.1):
    ...     print(type(row.stop).__name__, row.gamma, f"{row.tokens_per_round:.2f} {row.gain:.3f}")
    FixedLength 4 2.77 1.000
    Heuristic 32 2.58 0.955
    ConfidenceThreshold 6 2.83 1.045
    ConfidenceThreshold 5 2.84 1.016
    Oracle 32 3.33 1.364
    """
    max_gamma = as_count("max_gamma", max_gamma, least=1)

    def row(stop: Stop, gamma: int) -> StoppingRow:
        strategy = Strategy(
            name="draft_model", draft=Chain(gamma=gamma, stop=stop), acceptance=acceptance
        )
        law = stopped_law(strategy)
        speed = stopping_speedup(
            strategy, cost_ratio=cost_ratio, verify_cost=verify_cost, overhead=overhead
        )
        return StoppingRow(
            stop=stop,
            gamma=gamma,
            drafted=law.drafted,
            draft_steps=law.draft_steps,
            tokens_per_round=law.tokens_per_round,
            speedup=speed,
            gain=math.nan,
        )

    gammas = range(1, max_gamma + 1)
    rows = [_best(row(FixedLength(), gamma) for gamma in (0, *gammas))]
    rows.append(row(Heuristic() if heuristic is None else heuristic, max_gamma))
    if isinstance(acceptance, ConfidentAcceptance):
        for drops_last in (False, True):
            stops = [
                ConfidenceThreshold(threshold=level, drops_last=drops_last)
                for level in sorted(set(acceptance.levels))
            ]
            rows.append(_best(row(stop, gamma) for stop in stops for gamma in gammas))
    rows.append(row(Oracle(), max_gamma))
    return tuple(_with_gain(each, rows[0].speedup) for each in rows)


def _best(rows: Iterable[StoppingRow]) -> StoppingRow:
    """The fastest row; of equal ones the first."""
    return max(rows, key=lambda row: row.speedup)


def _with_gain(row: StoppingRow, fixed: float) -> StoppingRow:
    return replace(row, gain=row.speedup / fixed)

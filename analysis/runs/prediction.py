"""Predicted against measured: closure and prediction, two numbers kept apart.

*Closure* puts a run's own counts and costs into the formula and compares with the same run's clock:
is the account of a round complete? *Prediction* knows the acceptance at the largest gamma only: can
other draft lengths be foreseen? Neither is true by construction. The draft's cost and the overhead
are pooled over all draft lengths, so that a cost which grows with gamma shows as an error.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from analysis.runs.resampling import over_prompts
from analysis.runs.statistics import PREDICTED, of_weights
from analysis.runs.sums import RunSums, sums_of
from simulator import AcceptanceTable, Estimate
from simulator._checks import FloatArray, Rng
from simulator.costs import MeasuredRequest

FEWEST_PROMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class GammaMeasured:
    """What was measured at one draft length, with intervals over prompts.

    `speedup` is of decoding, per emitted token; `whole_request` the same with prefill, per token of
    the whole text. `round_cost` is the clock's, in plain steps. The three shares are parts of
    decoding time. `drafting_cost`, `wider_cost` and `outside_cost` are what a round takes beyond a
    plain step [plain steps]: drafting, a target pass over more tokens, and time outside of model calls.
    """

    gamma: int
    table: AcceptanceTable
    speedup: Estimate
    whole_request: Estimate
    tokens_per_round: Estimate
    emitted_per_round: Estimate
    accepted_fraction: Estimate
    discarded_per_round: Estimate
    round_cost: Estimate
    verify_cost: Estimate
    draft_share: Estimate
    verify_share: Estimate
    rest_share: Estimate
    drafting_cost: Estimate
    wider_cost: Estimate
    outside_cost: Estimate
    acceptance: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """The formula with a run's own counts and costs at one gamma; `error` = predicted / measured - 1."""

    gamma: int
    speedup: Estimate
    error: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """One way to predict a gamma; `emitted` is tokens per round less the discarded ones."""

    tokens: Estimate
    emitted: Estimate
    speedup: Estimate
    error: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A draft length predicted from the acceptance at the largest one, `source`.

    `constant` takes one p for all depths, `by_depth` the acceptance of the first gamma depths, both
    for the source's drafts cut to gamma tokens, with the run's V, c and overhead. `article` is
    Theorem 3.8 of Leviathan et al. 2023 with the same p and c: V = 1, no overhead, nothing
    discarded. At the source itself nothing is foreseen.
    """

    gamma: int
    source: int
    constant: Forecast
    by_depth: Forecast
    article: Forecast

    @property
    def foreseen(self) -> bool:
        """False at the gamma whose acceptance was used."""
        return self.gamma != self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A measured run: what it gained, what it cost, and how well that was predicted.

    `best` is the gamma with the highest measured speedup; `as_good` are those that the prompts
    cannot tell from it. `refusal` says why nothing is predicted, if so.
    """

    prompts: int
    requests: int
    left_out: int
    plain_step_s: Estimate
    cost_ratio: Estimate
    overhead: Estimate
    p: Estimate
    verify_costs: tuple[tuple[int, Estimate], ...]
    measured: tuple[GammaMeasured, ...]
    closures: tuple[Closure, ...]
    predictions: tuple[Prediction, ...]
    refusal: str
    best: int
    as_good: tuple[int, ...]

    @property
    def closure_error(self) -> float:
        """Median over gamma of the closure's error, without its sign."""
        return statistics.median(abs(closure.error.value) for closure in self.closures)

    def at(self, gamma: int) -> GammaMeasured:
        """What was measured at a draft length. Raises ValueError if it was not."""
        found = next((entry for entry in self.measured if entry.gamma == gamma), None)
        if found is None:
            measured = ", ".join(str(entry.gamma) for entry in self.measured)
            raise ValueError(f"gamma must be one of the run's ({measured}); got {gamma}.")
        return found


def summarize_run(
    requests: Iterable[MeasuredRequest],
    *,
    rng: Rng = 0,
    resamples: int = 2000,
    level: float = 0.95,
) -> RunSummary:
    """Everything a report says of a run, over the prompts measured with every gamma.

    speedup(γ) = plain decoding time per emitted token / the same at γ. Closure: emitted per round /
    (drafted per round · c + mean V of the passes + overhead), which for full drafts is
    emitted / (γ c + V(γ + 1) + overhead). Predicted emitted per round is Σ n / Σ R(n) over the
    lengths n of the plain texts, R from `expected_rounds`: a text's last round overshoots, and what
    it throws away is part of the price.

    `rng` seeds the resampling of prompts. Raises ValueError as `sums_of` and `over_prompts` do.
    """
    run = sums_of(requests)
    source = max(run.gammas)
    unusable, refusal = _refusal(run, source)
    observed = of_weights(run, np.ones((1, len(run.prompts))))
    best = max(run.gammas, key=lambda gamma: float(observed[f"speedup {gamma}"][0]))
    names = (*observed, *(f"lead {gamma}" for gamma in run.gammas))

    def values(weights: FloatArray) -> FloatArray:
        found = of_weights(run, weights)
        leads = [found[f"speedup {best}"] / found[f"speedup {g}"] - 1.0 for g in run.gammas]
        return np.stack([*found.values(), *leads], axis=1)

    estimates = over_prompts(values, len(run.prompts), rng=rng, resamples=resamples, level=level)
    found = dict(zip(names, estimates, strict=True))
    return RunSummary(
        prompts=len(run.prompts),
        requests=int(sum(sums.requests.sum() for sums in run.by_gamma.values())),
        left_out=run.left_out,
        plain_step_s=found["plain_step_s"],
        cost_ratio=found["cost_ratio"],
        overhead=found["overhead"],
        p=found["p"],
        verify_costs=tuple((width, found[f"V {width}"]) for width in run.widths),
        measured=tuple(_measured(run, found, gamma) for gamma in run.gammas),
        closures=tuple(
            Closure(gamma=g, speedup=found[f"closure {g}"], error=found[f"closure_error {g}"])
            for g in run.gammas
        ),
        predictions=() if unusable else tuple(_prediction(found, g, source) for g in run.gammas),
        refusal=refusal,
        best=best,
        as_good=tuple(g for g in run.gammas if g != best and _as_good(found[f"lead {g}"])),
    )


def _refusal(run: RunSums, source: int) -> tuple[bool, str]:
    """Whether the counts forbid every prediction, and the sentence that says why none is made."""
    rule = run.tables[source].length_rule
    if rule in {"confidence", "unknown"}:
        decided = "by the draft's confidence" if rule == "confidence" else "by an unknown rule"
        return True, (
            f"No other draft length is predicted: at γ = {source} drafts were ended {decided}, so that "
            "the counts describe the tokens that were offered and nothing else."
        )
    if len(run.gammas) == 1:
        only = f"γ = {source} is the only one that was measured."
        return False, f"No other draft length is predicted: {only}"
    return False, ""


def _measured(run: RunSums, found: dict[str, Estimate], gamma: int) -> GammaMeasured:
    depths = run.tables[gamma].depths
    return GammaMeasured(
        gamma=gamma,
        table=run.tables[gamma],
        speedup=found[f"speedup {gamma}"],
        whole_request=found[f"whole_request {gamma}"],
        tokens_per_round=found[f"tokens {gamma}"],
        emitted_per_round=found[f"emitted {gamma}"],
        accepted_fraction=found[f"fraction {gamma}"],
        discarded_per_round=found[f"discarded {gamma}"],
        round_cost=found[f"round_cost {gamma}"],
        verify_cost=found.get(f"V {gamma + 1}", Estimate(value=float("nan"))),
        draft_share=found[f"draft_share {gamma}"],
        verify_share=found[f"verify_share {gamma}"],
        rest_share=found[f"rest_share {gamma}"],
        drafting_cost=found[f"drafting {gamma}"],
        wider_cost=found[f"wider {gamma}"],
        outside_cost=found[f"outside {gamma}"],
        acceptance=tuple(found[f"acceptance {gamma} {depth}"] for depth in range(depths)),
    )


def _prediction(found: dict[str, Estimate], gamma: int, source: int) -> Prediction:
    constant, by_depth, article = (
        Forecast(
            **{
                name: found[f"{how} {name} {gamma}"]
                for name in ("tokens", "emitted", "speedup", "error")
            }
        )
        for how in PREDICTED
    )
    return Prediction(
        gamma=gamma, source=source, constant=constant, by_depth=by_depth, article=article
    )


def _as_good(lead: Estimate) -> bool:
    """The best one's speedup / this one's, less 1: as good if the interval holds 0 or is unknown."""
    return lead.interval is None or lead.interval[0] <= 0.0

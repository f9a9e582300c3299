"""Predicted against measured: closure and prediction, two numbers kept apart.

*Closure* puts a run's own counts and costs into the formula and compares with the same run's clock:
is the account of a round complete? *Prediction* knows the acceptance at the largest gamma only: can
other draft lengths be foreseen? Neither is true by construction. The draft's cost and the overhead
are pooled over all draft lengths, so that a cost which grows with gamma shows as an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from analysis.runs.resampling import over_prompts
from analysis.runs.statistics import PREDICTED, of_weights
from analysis.runs.summary import (
    FEWEST_PROMPTS,
    Closure,
    Forecast,
    Foretold,
    GammaMeasured,
    Prediction,
    RunSummary,
)
from analysis.runs.sums import RunSums, sums_of
from simulator import Estimate
from simulator._checks import FloatArray, Rng
from simulator.costs import MeasuredRequest

__all__ = [
    "FEWEST_PROMPTS",
    "Closure",
    "Forecast",
    "Foretold",
    "GammaMeasured",
    "Prediction",
    "RunSummary",
    "summarize_run",
]


def summarize_run(
    requests: Iterable[MeasuredRequest],
    *,
    rng: Rng = 0,
    resamples: int = 2000,
    level: float = 0.95,
    from_heads: Mapping[int, Sequence[float]] | None = None,
    grows: bool = False,
) -> RunSummary:
    """Everything a report says of a run, over the prompts measured with every gamma.

    speedup(γ) = plain decoding time per emitted token / the same at γ. Closure: emitted per round /
    (drafted per round · c + mean V of the passes + overhead), which for full drafts is
    emitted / (γ c + V(γ + 1) + overhead). Predicted emitted per round is Σ n / Σ R(n) over the
    lengths n of the plain texts, R from `expected_rounds`: a text's last round overshoots, and what
    it throws away is part of the price.

    `from_heads` gives for each draft length P(a round keeps a token) by depth, [gamma], as heads
    foretold it. `grows` says that every round grows a tree of its own, whose nodes would be others at
    another depth. `rng` seeds the resampling of prompts. Raises ValueError as `sums_of` and
    `over_prompts` do, and for a foretold length that was not measured, or of other depths.
    """
    run = sums_of(requests)
    source = max(run.gammas)
    unusable, refusal = _refusal(run, source, grows=grows)
    foretold = _checked(from_heads or {}, run.gammas)
    observed = of_weights(run, np.ones((1, len(run.prompts))), foretold)
    best = max(run.gammas, key=lambda gamma: float(observed[f"speedup {gamma}"][0]))
    names = (*observed, *(f"lead {gamma}" for gamma in run.gammas))

    def values(weights: FloatArray) -> FloatArray:
        found = of_weights(run, weights, foretold)
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
        branches=run.branches,
        by_step=run.by_step,
        foretold=tuple(Foretold(gamma=g, forecast=_forecast(found, "heads", g)) for g in foretold),
    )


def _checked(
    from_heads: Mapping[int, Sequence[float]], gammas: tuple[int, ...]
) -> Mapping[int, Sequence[float]]:
    for gamma, survival in from_heads.items():
        if gamma not in gammas or len(survival) != gamma:
            raise ValueError(
                "from_heads must give gamma numbers for draft lengths that were measured "
                f"({', '.join(map(str, gammas))}); got {len(survival)} for {gamma}."
            )
    return from_heads


def _refusal(run: RunSums, source: int, *, grows: bool) -> tuple[bool, str]:
    """Whether the counts forbid every prediction, and the sentence that says why none is made."""
    if grows and len(run.gammas) > 1:
        return True, (
            "No depth is predicted from another: every round grows a tree of its own, which spends its "
            "nodes otherwise at another depth."
        )
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
        verify_cost=found[f"pass_cost {gamma}"]
        if run.branches
        else found.get(f"V {gamma + 1}", Estimate(value=float("nan"))),
        draft_share=found[f"draft_share {gamma}"],
        verify_share=found[f"verify_share {gamma}"],
        rest_share=found[f"rest_share {gamma}"],
        drafting_cost=found[f"drafting {gamma}"],
        wider_cost=found[f"wider {gamma}"],
        outside_cost=found[f"outside {gamma}"],
        acceptance=tuple(found[f"acceptance {gamma} {depth}"] for depth in range(depths)),
        width=found[f"width {gamma}"].value,
        nodes=found[f"drafted {gamma}"].value,
        draft_steps=found[f"steps {gamma}"],
    )


def _prediction(found: dict[str, Estimate], gamma: int, source: int) -> Prediction:
    constant, by_depth, article = (_forecast(found, how, gamma) for how in PREDICTED)
    return Prediction(
        gamma=gamma, source=source, constant=constant, by_depth=by_depth, article=article
    )


def _forecast(found: dict[str, Estimate], how: str, gamma: int) -> Forecast:
    names = ("tokens", "emitted", "speedup", "error")
    return Forecast(**{name: found[f"{how} {name} {gamma}"] for name in names})


def _as_good(lead: Estimate) -> bool:
    """The best one's speedup / this one's, less 1: as good if the interval holds 0 or is unknown."""
    return lead.interval is None or lead.interval[0] <= 0.0

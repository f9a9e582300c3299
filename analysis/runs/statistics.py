"""Every number of a measured run as a function of how often each prompt counts, for all draws at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add

import numpy as np

from analysis.runs.first_passage import expected_rounds, survival_of_constant, survival_of_counts
from analysis.runs.sums import GammaSums, RunSums
from simulator._checks import FloatArray

PREDICTED = ("constant", "by_depth", "article")
"""The ways to predict a draft length, as `analysis.runs.prediction.Prediction` explains them."""

Values = dict[str, FloatArray]


def of_weights(
    run: RunSums, weights: FloatArray, from_heads: Mapping[int, Sequence[float]] | None = None
) -> Values:
    """All statistics by name, shape [draws] each, of weights [draws, prompts].

    `from_heads` gives for draft lengths P(a round keeps a token at each depth) as heads foretold it.

    A statistic of one gamma has it behind its name: "speedup 4". Unknown values are NaN.
    """
    with np.errstate(invalid="ignore", divide="ignore"):  # x / 0 is unknown, and NaN says so
        sums = run.weighted(weights)
        values = _costs(run, sums)
        for gamma in run.gammas:
            values |= _measured(run, sums, values, gamma)
        of_length = weights @ run.of_length
        values |= _predicted(run, sums, values, of_length)
        for gamma, survival in (from_heads or {}).items():
            values |= _foretold(run, sums, values, of_length, gamma, survival)
    return {name: np.where(np.isfinite(value), value, np.nan) for name, value in values.items()}


def _costs(run: RunSums, sums: dict[int, GammaSums]) -> Values:
    """The run's costs in plain steps, pooled over draft lengths as in `StepTimes.of`; and p."""
    plain, drafting = sums[0], reduce(add, (sums[gamma] for gamma in run.gammas))
    every, source = plain + drafting, sums[max(run.gammas)]
    step = plain.decode_s / plain.emitted
    by_width = every.passes_s / every.passes / step[:, np.newaxis]
    return {
        "plain_step_s": step,
        "cost_ratio": drafting.draft_s / np.maximum(_priced(run, drafting), 1.0) / step,
        "overhead": drafting.rest_s / drafting.rounds / step,
        "p": source.accepted.sum(axis=1) / source.tested.sum(axis=1),
        **{f"V {width}": by_width[:, i] for i, width in enumerate(run.widths)},
    }


def _measured(run: RunSums, sums: dict[int, GammaSums], costs: Values, gamma: int) -> Values:
    plain, here = sums[0], sums[gamma]
    rounds, accepted = here.rounds, here.accepted.sum(axis=1)
    speedup = costs["plain_step_s"] * here.emitted / here.decode_s
    by_width = np.stack([costs[f"V {width}"] for width in run.widths], axis=1)
    passes = np.where(here.passes > 0.0, here.passes * by_width, 0.0).sum(axis=1)
    cost = _priced(run, here) * costs["cost_ratio"] + passes + rounds * costs["overhead"]
    closure = here.emitted / cost
    by_depth = here.accepted / here.tested
    values = {
        "speedup": speedup,
        "whole_request": _whole(plain) / _whole(here),
        "tokens": 1.0 + accepted / rounds,
        "emitted": here.emitted / rounds,
        "fraction": accepted / here.drafted,
        "discarded": here.discarded / rounds,
        "steps": here.draft_steps / rounds,
        "drafted": here.drafted / rounds,
        "width": here.passes @ np.asarray(run.widths, dtype=np.float64) / rounds,
        "pass_cost": here.verify_s / rounds / costs["plain_step_s"],
        "explained_cost": cost / rounds,
        "round_cost": here.decode_s / rounds / costs["plain_step_s"],
        **_added(plain, here, costs["plain_step_s"]),
        "draft_share": here.draft_s / here.decode_s,
        "verify_share": here.verify_s / here.decode_s,
        "rest_share": here.rest_s / here.decode_s,
        "closure": closure,
        "closure_error": closure / speedup - 1.0,
    }
    named = {f"{name} {gamma}": value for name, value in values.items()}
    depths = run.tables[gamma].depths
    return named | {f"acceptance {gamma} {depth}": by_depth[:, depth] for depth in range(depths)}


def _added(plain: GammaSums, here: GammaSums, step: FloatArray) -> Values:
    """What a round takes beyond a plain step, in plain steps; 1 and the three are the round's cost.

    A plain step has a target pass and time outside of it too: only what is more than these counts.
    """

    def more(ours: FloatArray, theirs: FloatArray) -> FloatArray:
        return np.asarray((ours / here.rounds - theirs / plain.emitted) / step)

    return {
        "drafting": more(here.draft_s, plain.draft_s),
        "wider": more(here.verify_s, plain.verify_s),
        "outside": more(here.rest_s, plain.rest_s),
    }


def _whole(sums: GammaSums) -> FloatArray:
    """Time of whole requests per token, the one that prefill emits included."""
    return np.asarray((sums.prefill_s + sums.decode_s) / (sums.emitted + sums.requests))


def _predicted(
    run: RunSums, sums: dict[int, GammaSums], values: Values, of_length: FloatArray
) -> Values:
    """Every draft length from the acceptance at the largest one, by each of the PREDICTED ways."""
    source, p = sums[max(run.gammas)], values["p"]
    found: Values = {}
    for gamma in run.gammas:
        full = survival_of_constant(p, gamma)
        offered, cost = _drafts_cut_to(run, source, values, gamma)
        constant = np.where(offered > 0.0, offered * full, 0.0)
        if source.tested.shape[1] >= gamma and run.branches:
            # A path may end at a leaf and is not tested further: it does not go on, and is not unknown.
            by_depth = source.accepted[:, :gamma] / source.rounds[:, np.newaxis]
        elif source.tested.shape[1] >= gamma:
            by_depth = survival_of_counts(source.rounds, source.tested, source.accepted, gamma)
            by_depth = np.where(offered > 0.0, offered * by_depth, 0.0)
        else:
            by_depth = np.full_like(constant, np.nan)
        for how, survival in zip(PREDICTED, (constant, by_depth, full), strict=True):
            tokens = 1.0 + survival.sum(axis=1)
            if how == "article":
                steps = values[f"steps {gamma}"] if run.by_step else gamma
                emitted, speedup = tokens, tokens / (steps * values["cost_ratio"] + 1.0)
            else:
                emitted = _emitted_per_round(run, survival, of_length, sums[0].emitted)
                speedup = emitted / cost
            found[f"{how} tokens {gamma}"] = tokens
            found[f"{how} emitted {gamma}"] = emitted
            found[f"{how} speedup {gamma}"] = speedup
            found[f"{how} error {gamma}"] = speedup / values[f"speedup {gamma}"] - 1.0
    return found


def _foretold(
    run: RunSums,
    sums: dict[int, GammaSums],
    values: Values,
    of_length: FloatArray,
    gamma: int,
    survival: Sequence[float],
) -> Values:
    """A draft length from what heads foretold of acceptance and what a round cost here."""
    cost = values[f"explained_cost {gamma}"]
    law = np.tile(np.asarray(survival, dtype=np.float64), (len(cost), 1))
    emitted = _emitted_per_round(run, law, of_length, sums[0].emitted)
    found = {
        "tokens": 1.0 + law.sum(axis=1),
        "emitted": emitted,
        "speedup": emitted / cost,
        "error": emitted / cost / values[f"speedup {gamma}"] - 1.0,
    }
    return {f"heads {name} {gamma}": value for name, value in found.items()}


def _priced(run: RunSums, sums: GammaSums) -> FloatArray:
    """What the draft's cost is counted by: forwards where one gives several tokens, else tokens."""
    return sums.draft_steps if run.by_step else sums.drafted


def _drafts_cut_to(
    run: RunSums, source: GammaSums, values: Values, gamma: int
) -> tuple[FloatArray, FloatArray]:
    """P(a draft has i tokens or more), shape [draws, gamma], and the cost of a round, [draws].

    The drafts of the source, each cut to `gamma` tokens: mostly that is gamma c + V(gamma + 1) +
    overhead, but a prompt lookup without a match drafts nothing, and a text's end shortens drafts.
    A target pass is as wide as its draft and one token more. Trees, and drafts that come in one
    step, do not grow with gamma like that: they cost what they took at this gamma, by the pooled
    costs, and all that are not empty have gamma tokens one after the other.
    """
    if run.branches or run.by_step:
        there = (source.tested[:, :1] / source.rounds[:, np.newaxis]).repeat(gamma, axis=1)
        return there, values[f"explained_cost {gamma}"]
    shares = source.passes / source.passes.sum(axis=1, keepdims=True)  # [draws, widths]
    drafted = np.minimum(np.asarray(run.widths) - 1, gamma)  # [widths]
    costs = np.stack(
        [values.get(f"V {length + 1}", np.full_like(values["p"], np.nan)) for length in drafted],
        axis=1,
    )
    passes = np.where(shares > 0.0, shares * costs, 0.0 * shares).sum(axis=1)
    cost = shares @ drafted * values["cost_ratio"] + passes + values["overhead"]
    return shares @ (drafted[:, np.newaxis] >= np.arange(1, gamma + 1)).astype(float), cost


def _emitted_per_round(
    run: RunSums, survival: FloatArray, of_length: FloatArray, emitted: FloatArray
) -> FloatArray:
    """Tokens that arrive per round in texts of the run's lengths, shape [draws].

    Lengths above LONGEST_KEPT stand in `of_length` [draws, lengths] with that length; what `emitted`
    has beyond it takes rounds at the rate of a long text, where the last round no longer matters.
    """
    needed = expected_rounds(survival, run.lengths[-1])[:, list(run.lengths)]
    beyond = emitted - of_length @ np.asarray(run.lengths, dtype=np.float64)
    rounds = (of_length * needed).sum(axis=1) + beyond / (1.0 + survival.sum(axis=1))
    return np.asarray(emitted / rounds)

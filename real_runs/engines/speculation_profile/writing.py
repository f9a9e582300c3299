"""`speculation_profile.json`, schema 1.0 of Model-Optimizer: what a run measured, for others to read.

The schema names both conventions: conditional rates (kept given tested) and marginal ones (all up to
here kept), lengths with the bonus token, and means by round and by request (Model-Optimizer pull
requests 2247, 2313, 2315 and 2316). `speculation_profile_reading` reads it back, count for count.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from real_runs.engines.speculation_profile.rates import checks
from simulator import AcceptanceTable, AcceptanceTotals, CountedUnit, Observation

Data: TypeAlias = AcceptanceTable | AcceptanceTotals | Observation

SCHEMA = "1.0"
OWN_COUNTS = "specdec_counts"
"""The field with our counts: what the schema has no word for, so that a round trip is exact."""
ACCEPT_LENGTH_MODELS = ("chain_analytic", "measured_per_k")
VERIFICATION_METHODS = ("longest_prefix", "block")

_CHAINS = ("draft_model", "eagle", "mtp")


def speculation_profile(
    data: Data,
    *,
    num_speculative_tokens: int | None = None,
    method: str | None = None,
    draft_checkpoint: str | None = None,
    target_model: str | None = None,
    block_size: int | None = None,
    max_supported_k: int | None = None,
    verification_method: str = "longest_prefix",
    accept_length_model: str | None = None,
    accept_length_by_k: Mapping[int, float] | None = None,
    category: str | None = None,
    measurement_conditions: Mapping[str, object] | None = None,
) -> dict[str, object]:
    """What a run measured, in the words of `speculation_profile.json`.

    marginal[i] = rounds that kept i + 1 tokens / rounds, conditional[i] = marginal[i] / marginal[i - 1],
    mean_accept_length = 1 + the sum of the marginals (weighted by rounds), and the same by request,
    each counted alike, where `data` is an Observation whose units are requests. The vectors are
    withheld, with the reason, where drafts had different lengths or were verified as a block.
    `category` names a label of the units for `per_category`; `accept_length_by_k` is taken as given,
    a fit or a measurement of other draft lengths [tokens per round].

    Raises ValueError without rounds, for a draft length below what was kept, and for an unknown
    verification method or length model.

    >>> table = AcceptanceTable(rounds=100, drafted=300, tested=(100, 60, 30), accepted=(60, 30, 0))
    >>> profile = speculation_profile(table, method="eagle")
    >>> profile["marginal_accept_rates"], profile["conditional_accept_rates"]
    ([0.6, 0.3, 0.0], [0.6, 0.5, 0.0])
    >>> profile["mean_accept_length"], profile["acceptance_length_histogram"]
    (1.9, {'1': 40, '2': 30, '3': 30})
    """
    observation = data if isinstance(data, Observation) else None
    counts = observation.counts if observation is not None else data
    if counts is None or isinstance(counts, Observation):
        raise ValueError("data must have counts of rounds; got an observation of ratios alone.")
    if not counts.rounds:
        raise ValueError(f"data must have counted rounds; got {counts.rounds}.")
    if verification_method not in VERIFICATION_METHODS:
        raise ValueError(
            f"verification_method must be one of {', '.join(VERIFICATION_METHODS)}; "
            f"got {verification_method!r}."
        )
    method = method or (observation.method if observation is not None else None)
    model = accept_length_model or ("chain_analytic" if method in _CHAINS else "measured_per_k")
    if model not in ACCEPT_LENGTH_MODELS:
        raise ValueError(
            f"accept_length_model must be one of {', '.join(ACCEPT_LENGTH_MODELS)}; got {model!r}."
        )
    kept = _kept(counts)
    gamma = _gamma(counts, observation, kept, num_speculative_tokens)
    reason = _withheld(counts, kept, gamma, verification_method)
    mean = counts.tokens_per_round.value
    marginal = conditional = None
    if kept is not None and gamma is not None and reason is None:
        alive = (counts.rounds, *kept)
        marginal = [accepted / counts.rounds for accepted in kept]
        conditional = [after / before if before else 0.0 for before, after in pairwise(alive)]
    units = () if observation is None or observation.unit != "request" else observation.units
    profile: dict[str, object] = {
        "schema_version": SCHEMA,
        "measured": True,
        "producer": "specdec",
        "method": method,
        "draft_checkpoint": draft_checkpoint,
        "target_model": target_model or (observation.target if observation is not None else None),
        "num_speculative_tokens": gamma,
        "block_size": block_size,
        "max_supported_k": max_supported_k,
        "verification_method": verification_method,
        "conditional_accept_rates": conditional,
        "marginal_accept_rates": marginal,
        "mean_accept_length": mean,
        "mean_accept_length_per_request": _mean_by_request(units),
        "accept_length_model": model,
        "accept_length_by_k": {
            str(k): float(length) for k, length in sorted((accept_length_by_k or {}).items())
        },
        "acceptance_length_histogram": histogram(counts.rounds, kept),
        "per_category": _by_category(units, category),
        "measurement_conditions": dict(measurement_conditions or {}),
        "validation": checks(mean=mean, marginal=marginal, conditional=conditional),
        OWN_COUNTS: _own(counts),
    }
    if reason is not None:
        profile["vectors_unavailable_reason"] = reason
    return profile


def write_speculation_profile(path: str | os.PathLike[str], data: Data, **options: object) -> Path:
    """Write `speculation_profile(data, ...)` to a file as JSON and return its path.

    Takes the options of `speculation_profile` and raises what it does; OSError if the file cannot
    be written.
    """
    target = Path(path)
    profile = speculation_profile(data, **options)  # type: ignore[arg-type]
    target.write_text(
        json.dumps(profile, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8"
    )
    return target


def histogram(rounds: int, kept: Sequence[int] | None) -> dict[str, int] | None:
    """Rounds by emitted tokens (bonus included), lengths without rounds left out."""
    if kept is None:
        return None
    alive = (rounds, *kept, 0)
    ended = [before - after for before, after in pairwise(alive)]
    return {str(length): number for length, number in enumerate(ended, start=1) if number}


def _kept(counts: AcceptanceTable | AcceptanceTotals) -> tuple[int, ...] | None:
    return counts.accepted if isinstance(counts, AcceptanceTable) else counts.accepted_by_depth


def _gamma(
    counts: AcceptanceTable | AcceptanceTotals,
    observation: Observation | None,
    kept: tuple[int, ...] | None,
    given: int | None,
) -> int | None:
    gamma = given
    if gamma is None and observation is not None:
        gamma = observation.gamma
    if gamma is None:
        gamma = counts.depths if isinstance(counts, AcceptanceTable) else counts.longest_draft
    deepest = len([accepted for accepted in kept or () if accepted])
    if gamma is not None and gamma < deepest:
        raise ValueError(
            f"num_speculative_tokens must be at least what a round kept ({deepest}); got {gamma}."
        )
    return gamma


def _withheld(
    counts: AcceptanceTable | AcceptanceTotals,
    kept: tuple[int, ...] | None,
    gamma: int | None,
    verification_method: str,
) -> str | None:
    """Why the vectors would mislead; None where they describe full drafts."""
    if verification_method == "block":
        return "a block is verified as a whole: its lengths are no longest-prefix distribution"
    if kept is None:
        return "the source does not count accepted tokens by position"
    if gamma is None or counts.drafted != (counts.rounds or 0) * gamma or len(kept) != gamma:
        return (
            "drafts did not all have num_speculative_tokens tokens: rounds that tested a position "
            "are fewer than rounds"
        )
    return None


def _mean_by_request(units: Sequence[CountedUnit]) -> float | None:
    means = [unit.counts.tokens_per_round.value for unit in units if unit.counts.rounds]
    return math.fsum(means) / len(means) if means and len(means) == len(units) else None


def _by_category(units: Sequence[CountedUnit], label: str | None) -> dict[str, object] | None:
    if label is None:
        return None
    sums: dict[str, list[int]] = {}
    for unit in units:
        value = unit.label(label)
        if value is None or not unit.counts.rounds:
            continue
        accepted = unit.counts.accepted
        kept = sum(accepted) if isinstance(accepted, tuple) else accepted
        entry = sums.setdefault(value, [0, 0, 0])
        entry[0] += 1
        entry[1] += unit.counts.rounds
        entry[2] += kept
    return {
        value: {
            "mean_accept_length": 1.0 + kept / rounds,
            "num_requests": requests,
            "num_steps": rounds,
        }
        for value, (requests, rounds, kept) in sorted(sums.items())
    }


def _own(counts: AcceptanceTable | AcceptanceTotals) -> dict[str, object]:
    if isinstance(counts, AcceptanceTable):
        return {
            "rounds": counts.rounds,
            "drafted": counts.drafted,
            "tested": list(counts.tested),
            "accepted": list(counts.accepted),
            "discarded": counts.discarded,
            "length_rule": counts.length_rule,
        }
    bounds = counts.accepted_by_depth_bounds
    return {
        "rounds": counts.rounds,
        "drafted": counts.drafted,
        "accepted": counts.accepted,
        "emitted": counts.emitted,
        "accepted_by_depth": None
        if counts.accepted_by_depth is None
        else list(counts.accepted_by_depth),
        "accepted_by_depth_bounds": None if bounds is None else [list(pair) for pair in bounds],
        "longest_draft": counts.longest_draft,
        "length_rule": counts.length_rule,
    }

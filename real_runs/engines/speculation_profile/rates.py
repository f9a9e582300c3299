"""The rates of a `speculation_profile.json`, checked against each other and against its counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from real_runs.engines.counts.printed import MOST_DEPTHS, Printed
from real_runs.engines.counts.skips import NoCounts
from real_runs.engines.text.fields import as_decimal, at_finest, count_at, decimal_at
from real_runs.engines.text.objects import JsonObject
from simulator import AcceptanceTable, Counts, ReportedRatio

_ROUNDING = 1e-9


def _rates(value: JsonObject, name: str) -> tuple[Printed, ...]:
    rates = value.get(name)
    if rates is None:
        return ()
    if not isinstance(rates, list) or len(rates) > MOST_DEPTHS:
        raise NoCounts(f"{name} is no list of at most {MOST_DEPTHS} rates")
    found = tuple(as_decimal(f"{name}[{depth}]", rate) for depth, rate in enumerate(rates))
    for depth, rate in enumerate(found):
        if rate.value > 1.0 + _ROUNDING:
            raise NoCounts(f"{name}[{depth}] is above 1 ({rate.value:g})", finding="unit_error")
    return found


def printed_rates(value: JsonObject) -> tuple[ReportedRatio, ...]:
    """The rates and the mean by our names; NoCounts where they contradict each other."""
    marginal = _rates(value, "marginal_accept_rates")
    conditional = _rates(value, "conditional_accept_rates")
    mean = decimal_at(value, "mean_accept_length")
    finest = at_finest([*marginal, *conditional, *([] if mean is None else [mean])])
    marginal, conditional = (
        finest[: len(marginal)],
        finest[len(marginal) : len(marginal) + len(conditional)],
    )
    mean = None if mean is None else finest[-1]
    if any(after.value > before.value for before, after in pairwise(marginal)):
        # Rounding keeps the order, so no rounding makes them rise.
        raise NoCounts("marginal_accept_rates rise with the position")
    product, slack = 1.0, 0.0
    for depth, (joint, rate) in enumerate(zip(marginal, conditional, strict=False)):
        slack = slack * rate.value + product * rate.half_width + slack * rate.half_width
        product *= rate.value
        if abs(product - joint.value) > slack + joint.half_width + _ROUNDING:
            raise NoCounts(
                f"marginal_accept_rates[{depth}] ({joint.value:g}) is not the product of the conditional "
                f"ones ({product:g})"
            )
    if mean is not None and marginal and len(marginal) == count_at(value, "num_speculative_tokens"):
        implied = 1.0 + sum(rate.value for rate in marginal)
        slack = mean.half_width + sum(rate.half_width for rate in marginal)
        if abs(implied - mean.value) > slack + _ROUNDING:
            raise NoCounts(
                f"mean_accept_length ({mean.value:g}) is not 1 + the sum of the marginal rates "
                f"({implied:g})"
            )
    ratios = [as_ratio("tokens_per_round", mean)] if mean is not None else []
    ratios += [as_ratio("survival", rate, depth) for depth, rate in enumerate(marginal)]
    ratios += [
        as_ratio("conditional_acceptance", rate, depth) for depth, rate in enumerate(conditional)
    ]
    return tuple(ratios)


def check_agreement(
    counts: Counts | None, ended: tuple[int, ...] | None, printed: tuple[ReportedRatio, ...]
) -> None:
    """NoCounts if rates or rounds of the profile are not those of its counts."""
    if counts is None or not counts.rounds:
        return
    kept = counts.accepted if isinstance(counts, AcceptanceTable) else counts.accepted_by_depth
    if ended and kept is not None:
        alive = [counts.rounds, *(number for number in kept if number), 0]
        if [a - b for a, b in pairwise(alive)] != list(ended):
            raise NoCounts("acceptance_length_histogram contradicts the counts beside it")
    true: dict[tuple[str, int | None], float] = {
        ("tokens_per_round", None): counts.tokens_per_round.value
    }
    for depth, number in enumerate(kept or ()):
        true["survival", depth] = number / counts.rounds
    for ratio in printed:
        expected = true.get((ratio.quantity, ratio.depth))
        if expected is not None and abs(ratio.value - expected) > ratio.half_width + _ROUNDING:
            where = "" if ratio.depth is None else f" at position {ratio.depth}"
            raise NoCounts(
                f"{ratio.quantity.replace('_', ' ')}{where} ({ratio.value:g}) contradicts the rounds "
                f"({expected:g})"
            )


def as_ratio(quantity: str, printed: Printed, depth: int | None = None) -> ReportedRatio:
    """The printed number under one of our names, averaged over rounds."""
    return ReportedRatio(
        quantity=quantity,
        value=printed.value,
        half_width=printed.half_width,
        averaged_over="rounds",
        depth=depth,
    )


def checks(
    *,
    mean: float,
    marginal: Sequence[float] | None,
    conditional: Sequence[float] | None,
) -> dict[str, object]:
    """The identities that hold between the numbers of a profile, each with what was found.

    mean = 1 + the sum of the marginals, marginals do not rise, and each marginal is the product of
    the conditionals up to it.
    """
    if marginal is None or conditional is None:
        return {}
    implied = 1.0 + math.fsum(marginal)
    products = [math.prod(conditional[: depth + 1]) for depth in range(len(conditional))]
    gap = max((abs(a - b) for a, b in zip(products, marginal, strict=True)), default=0.0)
    return {
        "mean_consistency": {
            "passed": abs(implied - mean) <= _ROUNDING * mean,
            "implied_mean_accept_length": implied,
            "reported_mean_accept_length": mean,
        },
        "marginal_monotonicity": {"passed": all(a >= b for a, b in pairwise(marginal))},
        "conditional_product": {"passed": gap <= _ROUNDING, "largest_gap": gap},
    }

"""From reported numbers to consistent counts and tokens per round, each only as far as it follows."""

from __future__ import annotations

import math

from analysis.diagnosis.derived import Derived
from analysis.diagnosis.vocabulary import MISSING_DRAFTS
from simulator import (
    AcceptanceTable,
    AcceptanceTotals,
    CountedUnit,
    Counts,
    Estimate,
    Observation,
    ReportedRatio,
)
from simulator._counting import standard_error

FEWEST_UNITS = 5
"""Requests from which on their spread says more than taking rounds as independent."""


def counts_of(observation: Observation) -> Counts | None:
    """The consistent counts of an observation: its own, or those that its numbers imply.

    Where no count of rounds is reported it follows, in this order, from drafted tokens and γ (fixed
    drafts), from accepted tokens and a printed length, or from llama.cpp's predicted tokens (the
    first belongs to no round). vLLM V0 counts matches behind a rejection as accepted, so emitted
    tokens take their place. None where the numbers contradict each other or say too little.

    >>> counts = counts_of(Observation(gamma=3, length_rule="fixed", drafted=60, accepted=20))
    >>> counts.rounds, counts.tokens_per_round.value
    (20, 2.0)
    """
    if observation.counts is not None:
        return observation.counts
    drafted, accepted = observation.drafted, observation.accepted
    if drafted is None or accepted is None:
        return None
    rounds = rounds_of(observation)
    if counts_after_rejection(observation):
        if rounds is None or observation.emitted is None:
            return None
        accepted = observation.emitted - rounds
    if not 0 <= accepted <= drafted or (rounds == 0 and drafted):
        return None
    gamma = observation.gamma
    if gamma is not None and rounds is not None and not drafted <= rounds * gamma:
        return None
    bounds = _depth_bounds(observation.printed, rounds, accepted, gamma)
    known = bounds is not None and all(low == high for low, high in bounds)
    totals = AcceptanceTotals(
        drafted=drafted,
        accepted=accepted,
        rounds=rounds,
        accepted_by_depth=tuple(low for low, _ in bounds) if known and bounds else None,
        accepted_by_depth_bounds=None if known else bounds,
        longest_draft=gamma or None,
        length_rule=observation.length_rule,
    )
    return totals.to_table() or totals


def counts_after_rejection(observation: Observation) -> bool:
    """True for vLLM V0, whose accepted tokens include matches behind a rejection."""
    engine, version = observation.engine or "", (observation.version or "").upper()
    return engine.startswith("vllm") and version.startswith("V0")


def rounds_of(observation: Observation) -> int | None:
    """The rounds with a draft: reported, or the one number that the other counts leave."""
    drafted, accepted, gamma = observation.drafted, observation.accepted, observation.gamma
    if observation.rounds is not None:
        return observation.rounds
    if gamma and drafted and observation.length_rule == "fixed" and drafted % gamma == 0:
        return drafted // gamma
    length = printed_ratio(observation, "tokens_per_round")
    if length is not None and accepted and length.bounds[0] > 1.0:
        low, high = (accepted / (end - 1.0) for end in reversed(length.bounds))
        least, most = math.ceil(low - 1e-9), math.floor(high + 1e-9)
        if least == most:
            return least
    emitted = observation.emitted
    if "llama" in (observation.engine or "") and emitted is not None and accepted is not None:
        rounds = emitted - accepted - 1
        return rounds if rounds > 0 else None
    return None


def tokens_of(observation: Observation) -> Derived | None:
    """Tokens per round over all rounds, those without a draft included where they are counted.

    From counts, else from a printed length or what it can be computed from. From accepted / drafted
    only for fixed drafts: 1 + γ · fraction. None where nothing follows.

    >>> tokens_of(Observation(gamma=2, length_rule="fixed", printed=(
    ...     ReportedRatio(quantity="accepted_fraction", value=0.75, half_width=0.005,
    ...                   averaged_over="run"),))).number
    2.5
    """
    counts = counts_of(observation)
    if counts is not None and counts.rounds:
        undrafted = observation.undrafted_rounds or 0
        return _from_counts(counts, undrafted, clustered_se(observation.units))
    if observation.rounds and observation.emitted is not None and observation.accepted is None:
        return _arrived(observation.emitted, observation.rounds, observation.gamma)
    return _from_ratios(observation)


def clustered_se(units: tuple[CountedUnit, ...]) -> float | None:
    """The standard error of tokens per round when whole requests are drawn, not rounds.

    Of the ratio Σ accepted / Σ rounds, sqrt(n / (n - 1) Σ (accepted_i - m rounds_i)²) / Σ rounds
    (Cochran 1977, section 6.3). None with fewer than FEWEST_UNITS of known rounds.

    >>> units = [AcceptanceTotals(rounds=10, drafted=40, accepted=kept) for kept in (10, 30) * 4]
    >>> round(clustered_se(tuple(CountedUnit(counts=counts) for counts in units)), 4)
    0.378
    """
    known = [(unit.counts.rounds, accepted_in(unit.counts)) for unit in units if unit.counts.rounds]
    if len(known) < FEWEST_UNITS:
        return None
    rounds = sum(each for each, _ in known)
    mean = sum(kept for _, kept in known) / rounds
    squares = math.fsum((kept - mean * each) ** 2 for each, kept in known)
    return math.sqrt(squares * len(known) / (len(known) - 1)) / rounds


def accepted_in(counts: Counts) -> int:
    """Accepted tokens over all depths."""
    return sum(counts.accepted) if isinstance(counts, AcceptanceTable) else counts.accepted


def printed_ratio(observation: Observation, quantity: str) -> ReportedRatio | None:
    """The first printed ratio of that name."""
    return next((each for each in observation.printed if each.quantity == quantity), None)


def survival_of(observation: Observation) -> tuple[ReportedRatio, ...]:
    """The printed survival, first depth first."""
    ratios = [each for each in observation.printed if each.quantity == "survival"]
    return tuple(sorted(ratios, key=lambda each: each.depth or 0))


def _from_counts(counts: Counts, undrafted: int, clustered: float | None) -> Derived:
    assert counts.rounds is not None  # noqa: S101 — the caller looked
    rounds = counts.rounds + undrafted
    by_depth = counts.accepted if isinstance(counts, AcceptanceTable) else counts.accepted_by_depth
    value = 1.0 + accepted_in(counts) / rounds
    se = None if by_depth is None else standard_error(by_depth, rounds)
    most = se
    if clustered is not None:
        se = most = max(se or 0.0, clustered * counts.rounds / rounds)
    longest = counts.depths if isinstance(counts, AcceptanceTable) else counts.longest_draft
    how = "1 + accepted / rounds"
    return Derived(
        value=Estimate(value=value, se=se),
        range=(value, value),
        how=f"{how}, rounds without a draft included" if undrafted else how,
        se_most=_most(value, longest, rounds) if most is None else most,
    )


def _arrived(emitted: int, rounds: int, gamma: int | None) -> Derived:
    value = emitted / rounds
    return Derived(
        value=Estimate(value=value),
        range=(value, value),
        how="emitted / rounds",
        se_most=_most(value, gamma, rounds),
    )


def _most(tokens: float, longest: int | None, rounds: int) -> float | None:
    """The largest standard error of a mean in [1, longest + 1] (Bhatia and Davis 2000)."""
    if longest is None or not 1.0 <= tokens <= longest + 1.0:
        return None
    return math.sqrt((tokens - 1.0) * (longest + 1.0 - tokens) / rounds)


def _from_ratios(observation: Observation) -> Derived | None:
    gamma, fixed = observation.gamma, observation.length_rule == "fixed"
    ways: list[tuple[str, float, float, str]] = [
        ("tokens_per_round", 1.0, 0.0, "as printed"),
        ("accepted_per_round", 1.0, 1.0, "1 + printed accepted tokens per round"),
    ]
    if gamma is not None:
        window = gamma + 1.0
        ways += [
            ("efficiency", window, 0.0, "printed efficiency × (γ + 1)"),
            ("fraction_with_bonus", window, 0.0, "printed rate with the bonus token × (γ + 1)"),
        ]
        if fixed or (gamma == 1 and observation.method not in MISSING_DRAFTS):
            how = "1 + γ × accepted / drafted, for every draft has γ tokens"
            ways.append(("accepted_fraction", float(gamma), 1.0, how))
    for quantity, factor, more, how in ways:
        ratio = printed_ratio(observation, quantity)
        if ratio is not None:
            low, high = ratio.bounds
            value = more + factor * ratio.value
            return Derived(
                value=Estimate(value=value),
                range=(more + factor * low, more + factor * high),
                how=how,
                se_most=_most(value, gamma, observation.rounds) if observation.rounds else None,
            )
    survival = survival_of(observation)
    if gamma is not None and len(survival) == gamma:
        value = 1.0 + math.fsum(each.value for each in survival)
        spread = math.fsum(each.half_width for each in survival)
        how = "1 + the sum of the printed survival"
        return Derived(value=Estimate(value=value), range=(value - spread, value + spread), how=how)
    return None


def _depth_bounds(
    printed: tuple[ReportedRatio, ...], rounds: int | None, accepted: int, gamma: int | None
) -> tuple[tuple[int, int], ...] | None:
    """Counts by depth that print as the survival and sum to `accepted`; None if there are none."""
    survival = sorted(
        (each for each in printed if each.quantity == "survival"), key=lambda each: each.depth or 0
    )
    if not survival or rounds is None or (gamma is not None and len(survival) != gamma):
        return None
    lows = [max(math.ceil(each.bounds[0] * rounds - 1e-9), 0) for each in survival]
    highs = [min(math.floor(each.bounds[1] * rounds + 1e-9), rounds) for each in survival]
    total_low, total_high = sum(lows), sum(highs)
    if not total_low <= accepted <= total_high or any(a > b for a, b in zip(lows, highs)):  # noqa: B905
        return None
    tight = [
        (max(low, accepted - (total_high - high)), min(high, accepted - (total_low - low)))
        for low, high in zip(lows, highs, strict=True)
    ]
    for depth in range(1, len(tight)):
        if tight[depth][0] > tight[depth - 1][1]:  # survival cannot rise
            return None
        if tight[depth][1] > tight[depth - 1][1]:
            tight[depth] = (tight[depth][0], tight[depth - 1][1])
    return tuple(tight)

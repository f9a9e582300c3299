"""What the numbers mean: which ratio is which, and what is missing from them."""

from __future__ import annotations

import math
from collections.abc import Iterator

from analysis.diagnosis.counts import (
    accepted_in,
    counts_after_rejection,
    printed_ratio,
    survival_of,
)
from analysis.diagnosis.finding import Finding
from analysis.diagnosis.known import WELL_BELOW, Known
from analysis.diagnosis.vocabulary import MISSING_DRAFTS
from analysis.formulas import expected_tokens

_MOST_UNCOUNTED = 0.05  # of the rounds: the first token of a request belongs to none
_ROUNDING = 1e-9


def meaning(known: Known) -> Iterator[Finding]:
    """Findings about what a printed number is, and about counts that leave something out."""
    yield from _rates(known)
    yield from _with_bonus(known)
    yield from _without_bonus(known)
    yield from _after_rejection(known)
    yield from _undrafted(known)
    yield from _short(known)
    yield from _truncated(known)
    yield from _windows(known)


def _rates(known: Known) -> Iterator[Finding]:
    fraction, gamma, tokens = known.fraction, known.observation.gamma, known.tokens
    p = known.p_sure or known.p
    if fraction is None or p is None or known.p is None or (known.draft_length or 1.0) <= 1.0:
        return
    if known.counts is None and printed_ratio(known.observation, "accepted_fraction") is None:
        return  # nobody read a rate
    if not 0.0 < fraction[1] <= 1.0:
        return
    misleads = fraction[1] < p[0] - _ROUNDING
    if gamma and tokens is not None and not misleads:  # p is not known, what was promised is
        misleads = float(expected_tokens(fraction[1], gamma)) < tokens.bounds(2.0)[0] - _ROUNDING
        misleads &= tokens.se_most is not None
    if not misleads:
        return
    low, high = known.p
    p_text = f"{low:.3f}" if high - low < 5e-4 else f"{low:.3f} to {high:.3f}"
    naive = ""
    if gamma and tokens is not None and not known.observation.undrafted_rounds:
        promised = float(expected_tokens(sum(fraction) / 2.0, gamma))
        naive = (
            f" Put into the formula in place of p it would promise {promised:.2f} tokens per round; "
            f"there were {tokens.number:.2f}."
        )
    yield Finding(
        code="rate_is_accepted_over_drafted",
        evidence=f"{known.prefix}accepted / drafted is {sum(fraction) / 2.0:.3f}, p is {p_text}.",
        reason="The fraction also divides by drafted tokens behind a rejection, which were never "
        f"tested, so it falls with γ by construction.{naive}",
        advice="Compare runs by p or by tokens per round."
        if not known.cut_short
        else "Compare runs by tokens per round; p is that of the tokens offered.",
        where=known.where,
    )


def _with_bonus(known: Known) -> Iterator[Finding]:
    """A rate that is length / (γ + 1): SGLang's log up to 0.5.10."""
    gamma = known.observation.gamma
    length = printed_ratio(known.observation, "tokens_per_round")
    stated = printed_ratio(known.observation, "fraction_with_bonus")
    rate = stated or printed_ratio(known.observation, "accepted_fraction")
    if rate is None or not gamma or length is None:
        return
    with_bonus = [end / (gamma + 1.0) for end in length.bounds]
    without = [(end - 1.0) / gamma for end in length.bounds]
    low, high = rate.bounds
    agrees = with_bonus[0] <= high and low <= with_bonus[1]
    contradicts = without[0] > high or low > without[1]
    if agrees and contradicts:
        yield Finding(
            code="sglang_rate_with_bonus",
            evidence=f"{known.prefix}a rate of {rate.value:g} at {length.value:g} tokens per round "
            f"and γ = {gamma} is {length.value:g} / {gamma + 1}, not "
            f"({length.value:g} − 1) / {gamma} = {(length.value - 1.0) / gamma:.2f}.",
            reason="The bonus token is counted as accepted, over a window of γ + 1: SGLang's log does "
            "so up to 0.5.10.",
            advice=f"Take accepted / drafted = {(length.value - 1.0) / gamma:.3f}.",
            where=known.where,
        )


def _without_bonus(known: Known) -> Iterator[Finding]:
    length, counts = printed_ratio(known.observation, "tokens_per_round"), known.counts
    if length is None or counts is None or not counts.rounds:
        return
    kept, (low, high) = accepted_in(counts) / counts.rounds, length.bounds
    if low <= kept <= high and not low <= kept + 1.0 <= high:
        yield Finding(
            code="length_without_bonus",
            evidence=f"{known.prefix}the printed length {length.value:g} is accepted / rounds = "
            f"{kept:.3f}.",
            reason="It leaves out the token that the target adds to every round.",
            advice=f"Tokens per round are {kept + 1.0:.3f}.",
            where=known.where,
        )


def _after_rejection(known: Known) -> Iterator[Finding]:
    seen = known.observation
    if not counts_after_rejection(seen):
        return
    kept = None if known.counts is None else accepted_in(known.counts)
    counted = ""
    if seen.accepted is not None and seen.accepted != kept:
        counted = f" ({seen.accepted:,} here)"
    real = "unknown without the emitted tokens"
    if known.tokens is not None:
        real = f"{known.tokens.number:.3f}, from the emitted tokens"
    yield Finding(
        code="vllm_v0_counts",
        evidence=f"{known.prefix}accepted tokens{counted} are those of vLLM V0; tokens per round are "
        f"{real}.",
        reason="V0 also counts matches behind the first rejection, which are thrown away.",
        advice="Use emitted / rounds, never accepted / rounds; V1 counts what is kept.",
        where=known.where,
    )
    yield Finding(
        code="cumulative_counters",
        evidence=f"{known.prefix}the counters of a V0 line run since the start of the engine.",
        reason="Each line holds all the earlier ones.",
        advice="Read the last line, or the difference of two.",
        where=known.where,
    )


def _undrafted(known: Known) -> Iterator[Finding]:
    seen, counts = known.observation, known.counts
    if counts is None or not counts.rounds:
        return
    missing, how = seen.undrafted_rounds, "counted"
    kept = accepted_in(counts)
    if missing is None and seen.emitted is not None:
        requests = len(seen.units) if seen.unit == "request" else 0
        left = seen.emitted - kept - counts.rounds - requests
        missing = left if left > _MOST_UNCOUNTED * counts.rounds else None
        how = "emitted − accepted − rounds"
    if not missing:
        return
    rounds = counts.rounds + missing
    lookup = seen.method in MISSING_DRAFTS
    yield Finding(
        code="undrafted_rounds",
        evidence=f"{known.prefix}{missing:,} of {rounds:,} rounds had no draft ({how}): "
        f"{1.0 + kept / rounds:.3f} tokens per round over all of them, "
        f"{1.0 + kept / counts.rounds:.3f} over those with a draft.",
        reason="The lookup found nothing to propose there."
        if lookup
        else "Drafting was off for some rounds, or not all tokens come from these rounds.",
        advice="Compare methods by tokens per round over all rounds.",
        where=known.where,
    )


def _short(known: Known) -> Iterator[Finding]:
    seen, drafted = known.observation, known.drafted_per_round
    gated = seen.length_rule in {"confidence", "scheduled"}
    limit = f"γ = {seen.gamma} is" if seen.gamma else "the configured length is"
    if drafted is not None and seen.gamma and drafted[1] < WELL_BELOW * seen.gamma:
        came = f"{sum(drafted) / 2.0:.2f} tokens drafted per round, at most {seen.gamma} allowed."
    elif gated and drafted is not None:
        came = (
            f"{sum(drafted) / 2.0:.2f} tokens drafted per round; {limit} a limit, not the length."
        )
    elif gated:
        came = f"drafts end early by a rule, and their number is not known; {limit} a limit only."
    elif known.cut_short and drafted is not None:
        came = f"{sum(drafted) / 2.0:.2f} tokens drafted per round: drafts of several lengths."
    else:
        return
    reason = {
        "confidence": "A confidence gate ends drafts: it raises acceptance and shortens drafts.",
        "scheduled": "A lookup proposes no more than the passage that it found."
        if seen.method in MISSING_DRAFTS
        else "A schedule, a limit or a stop token ends drafts.",
    }.get(seen.length_rule, "A gate, a moving length, a grammar or stop tokens end drafts early.")
    yield Finding(
        code="short_drafts",
        evidence=f"{known.prefix}{came}",
        reason=reason,
        advice="Use drafted / rounds as the length, judge by tokens per second, and predict "
        + (
            "other γ by depth only, as far as positions were tested."
            if seen.length_rule == "scheduled"
            else "no other γ from these counts."
        ),
        where=known.where,
    )


def _truncated(known: Known) -> Iterator[Finding]:
    survival, gamma = survival_of(known.observation), known.observation.gamma
    if not survival or any((each.depth or 0) != i for i, each in enumerate(survival)):
        return
    length = printed_ratio(known.observation, "tokens_per_round")
    low = length.bounds[0] if length is not None else None
    if (
        low is None
        and known.counts is not None
        and known.counts.rounds
        and known.tokens is not None
    ):
        low = known.tokens.number
    kept = math.fsum(each.value for each in survival)
    most = math.fsum(each.bounds[1] for each in survival)
    if low is not None and low - 1.0 > most + _ROUNDING:
        came = (
            f"the {len(survival)} printed positions sum to {kept:.2f} accepted tokens per round, "
        )
        came += f"the length says {low - 1.0:.2f} or more."
    elif low is None and gamma is not None and len(survival) < gamma:
        came = f"{len(survival)} of {gamma} positions are printed."
    else:
        return
    yield Finding(
        code="truncated_positions",
        evidence=f"{known.prefix}{came}",
        reason="The list was cut: deeper positions kept tokens too.",
        advice="Take the whole list, or only what the length says.",
        where=known.where,
    )


def _windows(known: Known) -> Iterator[Finding]:
    seen = known.observation
    if seen.unit != "interval" or not seen.clock.tokens_per_s or not seen.units:
        return
    yield Finding(
        code="window_counters",
        evidence=f"{known.prefix}{seen.clock.tokens_per_s:g} tokens per second over a window of a log.",
        reason="Idle time and prefill count in the window, so a round takes at most the time that "
        "follows.",
        advice="Sum the counts of the windows, never average their percentages; time requests alone.",
        where=known.where,
    )

"""Numbers that cannot be: nothing else is worth reading before they are explained."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.diagnosis.counts import counts_after_rejection, printed_ratio
from analysis.diagnosis.finding import Finding
from analysis.diagnosis.known import Known

_SHARES = (
    "accepted_fraction",
    "survival",
    "conditional_acceptance",
    "efficiency",
    "fraction_with_bonus",
    "head_accuracy",
)
_SIGMAS = 3.0
_CLOCKS = 0.03  # two clocks that are read one after the other differ by a few per cent


def impossible(known: Known) -> Iterator[Finding]:
    """Findings that no engine can have produced by decoding."""
    yield from _counts(known)
    yield from _units(known)
    yield from _length(known)
    yield from _speed(known)


def _counts(known: Known) -> Iterator[Finding]:
    seen = known.observation
    drafted, accepted, emitted = seen.drafted, seen.accepted, seen.emitted
    if accepted is None:
        return
    if drafted is not None and accepted > drafted:
        came = f"{accepted:,} accepted tokens of {drafted:,} drafted."
        reason = (
            "A token that was never drafted cannot be accepted: two lines or two runs are mixed."
        )
        if drafted == 0:
            reason = (
                "Nothing was drafted: the counter of drafted tokens was reset, or is another run's."
            )
    elif emitted is not None and accepted > emitted and not counts_after_rejection(seen):
        came = f"{accepted:,} accepted tokens, though only {emitted:,} were emitted."
        reason = "Every accepted token is emitted: the counters belong to different spans of time."
    else:
        return
    yield Finding(
        code="accepted_without_drafted",
        evidence=f"{known.prefix}{came}",
        reason=reason,
        advice="Take both counters from one line, or the difference of two snapshots.",
        where=known.where,
    )


def _units(known: Known) -> Iterator[Finding]:
    for ratio in known.observation.printed:
        if ratio.quantity in _SHARES and ratio.bounds[0] > 1.0:
            share = ratio.value / 100.0
            yield _unit(known, f"{ratio.quantity} is {ratio.value:g}, above 1.", share)
            return
    printed = printed_ratio(known.observation, "accepted_fraction")
    drafted, accepted = known.observation.drafted, known.observation.accepted
    if printed is None or not drafted or accepted is None or accepted > drafted:
        return
    counted, (low, high) = accepted / drafted, printed.bounds
    for factor in (100.0, 0.01):
        if counted and low <= counted * factor <= high and not low <= counted <= high:
            yield _unit(
                known, f"a rate of {printed.value:g} where the counts give {counted:.4g}.", counted
            )


def _unit(known: Known, came: str, share: float) -> Finding:
    return Finding(
        code="unit_error",
        evidence=f"{known.prefix}{came}",
        reason="A percentage stands where a fraction is expected.",
        advice=f"Read it as {share:.4g}.",
        where=known.where,
    )


def _length(known: Known) -> Iterator[Finding]:
    seen, tokens = known.observation, known.tokens
    printed = printed_ratio(seen, "tokens_per_round")
    low, high = printed.bounds if printed is not None else (tokens.range if tokens else (1.0, 1.0))
    most = None if seen.gamma is None else seen.gamma + 1.0
    if seen.rounds and seen.drafted and seen.gamma and seen.drafted > seen.rounds * seen.gamma:
        yield Finding(
            code="length_outside_range",
            evidence=f"{known.prefix}{seen.drafted:,} tokens drafted in {seen.rounds:,} rounds: "
            f"{seen.drafted / seen.rounds:.2f} a round, above γ = {seen.gamma}.",
            reason="γ is not the longest draft of this run, drafts are trees, or rounds are missing.",
            advice="Give the draft length that the engine was started with.",
            where=known.where,
        )
    elif high < 1.0 or (most is not None and low > most):
        value = printed.value if printed is not None else (low + high) / 2.0
        allowed = "[1, γ + 1]" if most is None else f"[1, {most:g}]"
        yield Finding(
            code="length_outside_range",
            evidence=f"{known.prefix}{value:g} tokens per round, outside {allowed}.",
            reason="Below 1 the length leaves out the correction or bonus token, or averages over "
            "something else than rounds."
            if high < 1.0
            else "A round emits at most its draft and one token more: γ is another, or tokens of "
            "several requests are divided by shared passes.",
            advice="Check what the length is averaged over, and γ.",
            where=known.where,
        )


def _speed(known: Known) -> Iterator[Finding]:
    time = known.time
    if time is None or time.speedup is None or known.tokens is None:
        return
    most = known.tokens.bounds(_SIGMAS)[1]
    speedup = time.speedup.number
    if speedup > most * (1.0 + _CLOCKS):
        yield Finding(
            code="speedup_above_tokens_per_round",
            evidence=f"{known.prefix}a speedup of {speedup:.2f} with "
            f"{known.tokens.number:.2f} tokens per round.",
            reason="A round cannot take less than a plain step: one speed is of one request and the other "
            "of all together, the plain run was slower for another reason or ran other requests, or "
            "rounds are missing from the count.",
            advice="Measure both on the same requests, settings and machine, one after the other.",
            where=known.where,
        )

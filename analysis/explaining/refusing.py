"""Why an engine's numbers cannot be taken apart, what is known all the same, and what to give."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.diagnosis.finding import Finding
from analysis.diagnosis.known import Known

_SPEED = "speedup_above_tokens_per_round"
_LEAST = 0.2  # times plain decoding: speculation is rarely slower


def refusal(known: Known, found: Sequence[Finding]) -> str:
    """Why nothing can be itemised, with what is known all the same; "" if it can.

    >>> from analysis.diagnosis.known import know
    >>> from simulator import Clock, Observation
    >>> refusal(know(Observation(gamma=1, drafted=652, accepted=630, length_rule="fixed",
    ...                          clock=Clock(tokens_per_s=128.3))), ())
    'Whether it pays is not known: the speed without speculation is missing. A round gives 1.97 tokens and \
takes 15.33 ms.'
    """
    wrong = next((each for each in found if each.kind == "impossible"), None)
    if wrong is not None:
        asked = _of_one_request(known) if wrong.code == _SPEED else ""
        return f"Not explained, for these numbers cannot be: {wrong.evidence}{asked}"
    time = known.time
    unpaid = time is None or time.speedup is None
    if known.tokens is None:
        said = "Not explained: tokens per round are not known (give the rounds, or a mean length)"
        if unpaid:
            return f"{said}, nor is {_speeds(known)}."
        assert time is not None and time.speedup is not None  # noqa: PT018, S101
        return f"{said}. The speedup is {time.speedup.number:.2f}."
    if unpaid:
        fine = any(each.code == "healthy" for each in found)
        said = "Acceptance is fine; whether it pays" if fine else "Whether it pays"
        said += f" is not known: {_speeds(known)} is missing."
    elif time is not None and time.round_cost is not None:
        return ""
    else:
        said = "Not explained: what a round costs does not follow."
    said += f" A round gives {known.tokens.number:.2f} tokens"
    if time is not None and time.seconds_per_round is not None:
        said += f" and takes {time.seconds_per_round.number * 1e3:.4g} ms"
        if time.draft_share is not None:
            said += f", {time.draft_share.number:.0%} of it drafting"
    return f"{said}."


def _speeds(known: Known) -> str:
    """Which of the two speeds, or both, is not known."""
    clock, time = known.observation.clock, known.time
    if time is not None and time.seconds_per_round is not None:
        return "the speed without speculation"
    if clock.tokens_per_s is not None or clock.s_per_token is not None:
        return "the speed without speculation"
    if clock.plain_tokens_per_s is not None or clock.plain_s_per_token is not None:
        return "the speed with speculation"
    return "the speed with and without speculation"


def _of_one_request(known: Known) -> str:
    """A question, where a plain speed that cannot be of all requests would be likely of each of them."""
    clock, tokens = known.observation.clock, known.tokens
    running = clock.running or known.observation.batch or 1.0
    fast, plain = clock.tokens_per_s, clock.plain_tokens_per_s
    if tokens is None or fast is None or plain is None or running <= 1.0:
        return ""
    together = plain * running
    if not _LEAST * together <= fast <= tokens.range[1] * together:
        return ""
    return (
        f" Is {plain:g} tokens per second the plain speed of one request? That of all {running:g} together is "
        f"wanted, then about {together:,.0f}."
    )

"""What a round takes: in seconds, and in plain target steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

from analysis.diagnosis.counts import counts_of, tokens_of
from analysis.diagnosis.derived import Derived
from simulator import Clock, Estimate, Observation


@dataclass(frozen=True, slots=True, kw_only=True)
class PassTime:
    """The time of a round, as far as it follows; None where a source says too little.

    `seconds_per_round` is one target pass with its drafting, for the requests that ran together;
    `rounds_per_s` its inverse. `round_cost` is the same in plain target steps. `draft_share` is the
    part of a round that drafting takes. `clock` says in words what the times run over.
    """

    tokens_per_round: Derived | None
    seconds_per_round: Derived | None
    rounds_per_s: Derived | None
    speedup: Derived | None
    round_cost: Derived | None
    draft_share: Derived | None
    clock: str


def pass_time(observation: Observation) -> PassTime | None:
    """Seconds per round, its cost in plain steps, and the speedup: what follows from the clock.

    A round lasts s = running · tokens per round / (tokens per second), or what the source says
    directly. speedup = plain time per token / speculative time per token, as printed where only that
    is known, and

        cost of a round = tokens per round / speedup   [plain target steps].

    Requests that run together share a pass: `clock.running`, else `batch`, else one is taken. The
    rounding of the tokens stays in every range. Their sampling error is one of the speedup, as other
    requests would have it, and not of the time of these rounds. None if nothing follows.

    >>> from simulator import ReportedRatio
    >>> time = pass_time(Observation(
    ...     clock=Clock(s_per_token=0.00429, plain_s_per_token=0.00707),
    ...     printed=(ReportedRatio(quantity="tokens_per_round", value=2.29, half_width=0.005,
    ...                            averaged_over="run"),)))
    >>> round(time.seconds_per_round.number, 6), round(time.round_cost.number, 2)
    (0.009824, 1.39)
    >>> pass_time(Observation(drafted=9, accepted=3)) is None
    True
    """
    observation = with_sound_clock(observation)
    clock, tokens = observation.clock, tokens_of(observation)
    if tokens is not None and tokens.number <= 0.0:
        tokens = None
    running = clock.running or observation.batch or 1.0
    seconds = _seconds(observation, tokens, running)
    speedup = _speedup(clock, running, tokens)
    plain = plain_step(clock, running)
    cost = None
    if tokens is not None and speedup is not None:
        cost = tokens.of_these_rounds(
            1.0 / speedup.number, f"tokens per round / speedup ({speedup.how})"
        )
    elif seconds is not None and plain is not None:
        cost = seconds.of_these_rounds(1.0 / plain, "seconds per round / time of a plain step")
        if tokens is not None:
            ratio, how = tokens.number / cost.number, "tokens per round / cost of a round"
            speedup = _of_other_requests(ratio, how, tokens)
    if seconds is None and speedup is None:
        return None
    return PassTime(
        tokens_per_round=tokens,
        seconds_per_round=seconds,
        rounds_per_s=None if seconds is None else _inverse(seconds),
        speedup=speedup,
        round_cost=cost,
        draft_share=_draft_share(observation, seconds),
        clock=_words(observation),
    )


def with_sound_clock(observation: Observation) -> Observation:
    """Without times, speeds and a batch that no clock can have shown: they count as not measured."""
    values = {each.name: getattr(observation.clock, each.name) for each in fields(Clock)}
    sound = {name: value for name, value in values.items() if _measurable(value)}
    batch = observation.batch if _measurable(observation.batch) else None
    return replace(observation, clock=Clock(**sound), batch=batch)


def _measurable(value: float | None) -> bool:
    return value is not None and 1e-12 <= value <= 1e12  # False for NaN


def _seconds(observation: Observation, tokens: Derived | None, running: float) -> Derived | None:
    clock = observation.clock
    if clock.s_per_round:
        return Derived.exactly(clock.s_per_round, "as printed")
    rounds = _all_rounds(observation)
    if clock.decode_s and rounds:
        return Derived.exactly(clock.decode_s / rounds, "decoding time / rounds")
    if tokens is None:
        return None
    if clock.s_per_token:
        return tokens.of_these_rounds(
            clock.s_per_token, "tokens per round × time per token of one request"
        )
    if clock.tokens_per_s:
        how = "tokens per round / tokens per second"
        if running != 1.0:
            how = f"{running:g} running requests × {how}"
        elif clock.running is None and observation.batch is None:
            how = f"{how}, if one request ran at a time"
        return tokens.of_these_rounds(running / clock.tokens_per_s, how)
    return None


def _all_rounds(observation: Observation) -> int | None:
    counts = counts_of(observation)
    rounds = observation.rounds if counts is None else counts.rounds
    return None if not rounds else rounds + (observation.undrafted_rounds or 0)


def _speedup(clock: Clock, running: float, tokens: Derived | None) -> Derived | None:
    """From two times; the printed one only where they are missing."""
    spec = clock.s_per_token or (running / clock.tokens_per_s if clock.tokens_per_s else None)
    plain = plain_step(clock, running)
    if spec and plain:
        how = "plain time per token / speculative time per token"
        return _of_other_requests(plain / spec, how, tokens)
    if clock.speedup:
        return _of_other_requests(clock.speedup, "as printed", tokens)
    return None


def _of_other_requests(speedup: float, how: str, tokens: Derived | None) -> Derived:
    """A measured speedup with the sampling error that tokens per round give it."""
    se = most = None
    if tokens is not None and tokens.number > 0.0:
        se = None if tokens.value.se is None else speedup * tokens.value.se / tokens.number
        most = None if tokens.se_most is None else speedup * tokens.se_most / tokens.number
    return Derived(
        value=Estimate(value=speedup, se=se), range=(speedup, speedup), how=how, se_most=most
    )


def plain_step(clock: Clock, running: float) -> float | None:
    """Time of a plain step of the requests that run together."""
    if clock.plain_s_per_token:
        return clock.plain_s_per_token
    return running / clock.plain_tokens_per_s if clock.plain_tokens_per_s else None


def _inverse(seconds: Derived) -> Derived:
    low, high = seconds.range
    return Derived(
        value=Estimate(value=1.0 / seconds.number),
        range=(1.0 / high, 1.0 / low if low > 0.0 else math.inf),
        how="1 / seconds per round",
    )


def _draft_share(observation: Observation, seconds: Derived | None) -> Derived | None:
    clock, rounds = observation.clock, _all_rounds(observation)
    if clock.draft_s is None:
        return None
    if clock.decode_s:  # of the same rounds, however many requests shared a pass
        return Derived.exactly(clock.draft_s / clock.decode_s, "drafting time / decoding time")
    if seconds is None or not rounds or seconds.number <= 0.0:
        return None
    running = clock.running or observation.batch or 1.0
    share = clock.draft_s * running / rounds / seconds.number
    return Derived.exactly(share, "drafting time / time of the rounds")


def _words(observation: Observation) -> str:
    clock = observation.clock
    if clock.s_per_round or clock.decode_s or clock.s_per_token:
        return "decoding alone: prefill and waiting are left out"
    if clock.tokens_per_s and observation.unit == "interval" and observation.units:
        return "throughput of a window, in which prefill and idle time count: a round takes at most this"
    if clock.tokens_per_s:
        return (
            "tokens per second as printed: a round takes less if prefill or idle time count in them"
        )
    return "no time of its own: the printed speedup says whether it is of decoding or of whole requests"

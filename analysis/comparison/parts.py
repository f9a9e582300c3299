"""The factors of a comparison with the quantities behind them."""

from __future__ import annotations

import math

from analysis.comparison.result import Change, Part
from analysis.comparison.sides import Side
from simulator import Estimate, Observation

_UNITS = {
    "speed": "tokens/s per request",
    "tokens per round": "tokens",
    "acceptance": "tokens per round",
    "kept": "tokens that arrived / tokens",
    "pass_time": "s per round",
    "plain_step": "s per plain step",
    "round_cost": "plain steps per round",
}
_MARGIN = 1e-12


def part(name: str, log: Estimate, whole: Estimate | None, before: Side, after: Side) -> Part:
    """A factor by name, from its log; its share of the log of the whole."""
    share = None
    if whole is not None and abs(whole.value) > _MARGIN:
        share = log.value / whole.value
    return _part(name, log, share, _value(name, before), _value(name, after))


def plain_parts(
    before: Observation, after: Observation, first: Side, second: Side
) -> tuple[Part, ...]:
    """Pass time split in two: the machine's own step, and the cost of a round in such steps.

    Their log factors add up to that of pass time. Empty unless both sides know plain decoding.
    """
    steps = _plain_step(before), _plain_step(after)
    seconds = first.seconds_per_round, second.seconds_per_round
    if steps[0] is None or steps[1] is None or seconds[0] is None or seconds[1] is None:
        return ()
    costs = seconds[0] / steps[0], seconds[1] / steps[1]
    return tuple(
        _part(name, Estimate(value=math.log(old / new)), None, old, new)
        for name, (old, new) in (("plain_step", (steps[0], steps[1])), ("round_cost", costs))
    )


def _part(name: str, log: Estimate, share: float | None, before: float, after: float) -> Part:
    return Part(
        name=name,
        unit=_UNITS[name],
        before=before,
        after=after,
        factor=_exponential(log),
        log_factor=log.value,
        share=share,
        change=_change(log),
    )


def _value(name: str, side: Side) -> float:
    seconds = math.nan if side.seconds_per_round is None else side.seconds_per_round
    kept = 1.0 if side.kept_share is None else side.kept_share
    match name:
        case "speed":
            return side.tokens_per_round * kept / seconds
        case "kept":
            return kept
        case "pass_time":
            return seconds
    return side.tokens_per_round


def _exponential(log: Estimate) -> Estimate:
    value = math.exp(log.value)
    interval = None
    if log.interval is not None:
        interval = (_exp(log.interval[0]), _exp(log.interval[1]))
    return Estimate(
        value=value,
        se=None if log.se is None else value * log.se,
        interval=interval,
        level=log.level,
    )


def _exp(value: float) -> float:
    return math.exp(value) if value < 700.0 else math.inf


def _change(log: Estimate) -> Change:
    if log.interval is None:
        return "unknown"
    if log.interval[0] > 0.0:
        return "faster"
    return "slower" if log.interval[1] < 0.0 else "within noise"


def _plain_step(observation: Observation) -> float | None:
    clock = observation.clock
    if clock.plain_s_per_token:
        return clock.plain_s_per_token
    return 1.0 / clock.plain_tokens_per_s if clock.plain_tokens_per_s else None

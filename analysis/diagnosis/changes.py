"""Two runs of one pair: which part of a change is acceptance, which is the time of a round."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator, Sequence

from analysis.diagnosis.comparing import (
    SIGMAS,
    differ,
    grouped,
    label,
    pair,
    ranges_differ,
    seconds_of,
    widest,
)
from analysis.diagnosis.counts import printed_ratio, tokens_of
from analysis.diagnosis.finding import Finding
from analysis.diagnosis.known import Known
from analysis.diagnosis.vocabulary import is_mixture_of_experts
from analysis.uncertainty import Range
from simulator import Observation

_LONGER = 1.10
_SWITCH = re.compile(r"graph|eager|compile|launch", re.IGNORECASE)


def changes(knowns: Sequence[Known]) -> Iterator[Finding]:
    """Findings from observations of the same pair of models and draft length."""
    for _, group in grouped(knowns, _settings):
        yield from _acceptance(group)
        yield from _pass_time(group)


def _settings(known: Known) -> Hashable:
    seen = known.observation
    return pair(known), seen.gamma, seen.batch, seen.length_rule == "confidence"


def _acceptance(group: Sequence[Known]) -> Iterator[Finding]:
    found = widest(group, lambda known: known.tokens)
    if found is not None:
        low, high = found
        assert low.tokens is not None  # noqa: S101 — widest looked
        assert high.tokens is not None  # noqa: S101
        part = _pass_part(low, high)
        yield _changed(
            f"{low.tokens.number:.2f} tokens per round ({label(low, group)}) and "
            f"{high.tokens.number:.2f} ({label(high, group)}).{part}",
            (*low.where, *high.where),
        )
        return
    if sum(known.tokens is not None for known in group) > 1:
        return
    if any(known.observation.length_rule == "confidence" for known in group):
        return  # a gate decides what is offered, so the fraction is also its own
    for quantity in ("accepted_fraction", "rate"):
        shares = [(known, _share(known, quantity)) for known in group]
        having = [(known, share) for known, share in shares if share is not None]
        if len(having) < 2:
            continue
        (low, least), (high, most) = (
            min(having, key=lambda each: sum(each[1])),
            max(having, key=lambda each: sum(each[1])),
        )
        if ranges_differ(least, most):
            word = (
                "accepted / drafted" if quantity != "rate" else "an acceptance rate of unknown kind"
            )
            yield _changed(
                f"{word} is {sum(least) / 2.0:.3f} ({label(low, group)}) and {sum(most) / 2.0:.3f} "
                f"({label(high, group)}).",
                (*low.where, *high.where),
            )
            return


def between_intervals(known: Known) -> Iterator[Finding]:
    """Intervals of one log whose acceptance differs: ordinary under mixed traffic, and no illness."""
    if known.observation.unit != "interval":
        return
    having = [
        (tokens, unit)
        for unit in known.observation.units
        if (tokens := tokens_of(Observation(counts=unit.counts))) is not None and tokens.se_most
    ]
    if len(having) < 2:
        return
    (low, _), (high, _) = (pick(having, key=lambda each: each[0].number) for pick in (min, max))
    assert low.se_most is not None  # noqa: S101 — they were chosen by it
    assert high.se_most is not None  # noqa: S101
    pairs = len(having) * (len(having) - 1) / 2.0
    limit = math.sqrt(SIGMAS**2 + 2.0 * math.log(pairs))  # the farthest of so many pairs
    if high.number - low.number > limit * math.hypot(low.se_most, high.se_most):
        yield _changed(
            f"{known.prefix}tokens per round of {len(having):,} intervals go from {low.number:.2f} to "
            f"{high.number:.2f}, further than chance explains.",
            known.where,
        )


def _share(known: Known, quantity: str) -> Range | None:
    """A printed share, or a counted one with what sampling could make of it (at most)."""
    if quantity == "accepted_fraction":
        drafted = known.observation.drafted
        if known.fraction is None or not drafted:
            return known.fraction
        gamma = known.observation.gamma or 1
        share = sum(known.fraction) / 2.0
        spread = (
            3.0 * (share * (1.0 - share) * gamma / drafted) ** 0.5
        )  # rounds of gamma tokens each
        return share - spread, share + spread
    ratio = printed_ratio(known.observation, quantity)
    return None if ratio is None else ratio.bounds


def _changed(came: str, where: tuple[str, ...]) -> Finding:
    return Finding(
        code="acceptance_changed",
        evidence=came,
        reason="Another text, context, template, temperature or build makes another acceptance with "
        "the same pair.",
        advice="Compare on the same requests, with errors by request; predict each kind of text by itself.",
        where=where,
    )


def _pass_part(low: Known, high: Known) -> str:
    first, second = seconds_of(low), seconds_of(high)
    if first is None or second is None:
        return ""
    if differ(first, second) and max(first.number, second.number) > _LONGER * min(
        first.number, second.number
    ):
        return f" A round takes {first.number:.4g} and {second.number:.4g} s: its time differs too."
    return (
        f" A round takes {first.number:.4g} and {second.number:.4g} s: its time is not the cause."
    )


def _pass_time(group: Sequence[Known]) -> Iterator[Finding]:
    found = widest(group, seconds_of)
    if found is None:
        return
    fast, slow = found
    short, long = seconds_of(fast), seconds_of(slow)
    assert short is not None  # noqa: S101 — widest looked
    assert long is not None  # noqa: S101
    if long.number < _LONGER * short.number:
        return
    came = (
        f"a round takes {short.number:.4g} s ({label(fast, group)}) and {long.number:.4g} s "
        f"({label(slow, group)})."
    )
    where = (*fast.where, *slow.where)
    yield Finding(
        code="pass_time_changed",
        evidence=came,
        reason="The engine, its settings, the context or the text changed the work of a round.",
        advice="Divide any change of tokens per second by this before blaming acceptance.",
        where=where,
    )
    yield from _switch(group)
    tokens = fast.tokens, slow.tokens
    if not is_mixture_of_experts(slow.observation) or tokens[0] is None or tokens[1] is None:
        return
    if tokens[1].number < tokens[0].number and fast.observation.context == slow.observation.context:
        yield Finding(
            code="moe_verify_cost",
            evidence=f"{came} Tokens per round are {tokens[0].number:.2f} and {tokens[1].number:.2f}.",
            reason="The target is a mixture of experts: where drafts diverge from the text, the tokens "
            "of a pass call more different experts, and the pass reads more weights.",
            advice="Measure the time of a round on each kind of text, most of all with experts on the CPU.",
            where=where,
        )


def _switch(group: Sequence[Known]) -> Iterator[Finding]:
    """The same acceptance with graphs on and off: the difference is launching."""
    for first in group:
        for second in group:
            short, long = seconds_of(first), seconds_of(second)
            if short is None or long is None or long.number < _LONGER * short.number:
                continue
            if first.tokens is None or second.tokens is None or differ(first.tokens, second.tokens):
                continue
            if not all(_SWITCH.search(each.observation.name) for each in (first, second)):
                continue
            yield Finding(
                code="fixed_overhead_dominates",
                evidence=f"{label(first, group)}: {short.number:.4g} s a round; {label(second, group)}: "
                f"{long.number:.4g} s at the same {second.tokens.number:.2f} tokens per round.",
                reason="What the switch removes is launching and waiting, not arithmetic.",
                advice="Leave it on, and look at time per round, for tokens per round cannot show it.",
                where=(*first.where, *second.where),
            )
            return

"""One run that does not fit the others: a broken back end, a pinned length, noise."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise

from analysis.diagnosis.acceptance import at_chance_level, sure_above_chance
from analysis.diagnosis.comparing import grouped, label, pair
from analysis.diagnosis.finding import Finding
from analysis.diagnosis.known import Known

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_DISAGREE = 0.02
_BOUND = 1e-9


def odd_runs(knowns: Sequence[Known]) -> Iterator[Finding]:
    """Findings from one observation that contradicts others of the same pair."""
    for _, group in grouped(knowns, pair):
        yield from _pinned(group)
        yield from _one_backend(group)
    yield from _reversal(knowns)


def _pinned(group: Sequence[Known]) -> Iterator[Finding]:
    """A length of exactly 1 or γ + 1 in one run of a pair, something between in another."""
    having = [known for known in group if known.tokens is not None]
    at_bound = [known for known in having if _is_pinned(known)]
    between = [known for known in having if not _is_pinned(known)]
    if not at_bound or not between:
        return
    one, other = at_bound[0], between[0]
    assert one.tokens is not None  # noqa: S101 — they were chosen by it
    assert other.tokens is not None  # noqa: S101
    came = (
        f"exactly {one.tokens.number:g} tokens per round in one run ({label(one, group)}) and "
        f"{other.tokens.number:.2f} in another ({label(other, group)}) of the same pair."
    )
    where = tuple(name for known in at_bound for name in known.where)
    yield Finding(
        code="suspicious_round_value",
        evidence=came,
        reason="All or nothing is what broken logits give, not a draft.",
        advice="Look at the text that the run wrote.",
        where=where,
    )
    yield Finding(
        code="numeric_backend_bug",
        evidence=came,
        reason="The same pair accepts normally elsewhere: NaN logits, a wrong kernel or a wrong "
        "precision pins the length at its bound.",
        advice="Compare logits of both runs on one prompt; distrust the output, not only the speed.",
        where=where,
    )


def _is_pinned(known: Known) -> bool:
    if known.tokens is None:
        return False
    value, gamma = known.tokens.number, known.observation.gamma
    if abs(value - 1.0) < _BOUND and known.observation.drafted != 0:
        return True
    return gamma is not None and gamma > 1 and abs(value - (gamma + 1.0)) < _BOUND


def _one_backend(group: Sequence[Known]) -> Iterator[Finding]:
    broken = [known for known in group if at_chance_level(known)]
    sound = [known for known in group if sure_above_chance(known)]
    if not broken or not sound:
        return
    one, other = broken[0], sound[0]
    shares = [
        f"{sum(each.fraction) / 2.0:.3f}" if each.fraction else "unknown" for each in (one, other)
    ]
    yield Finding(
        code="numeric_backend_bug",
        evidence=f"accepted / drafted is {shares[0]} ({label(one, group)}) and {shares[1]} "
        f"({label(other, group)}) with the same pair.",
        reason="Chance level in one place only is no property of the models: a kernel, precision or "
        "driver there computes something else.",
        advice="Compare logits of both on one prompt, and report the back end.",
        where=tuple(name for known in broken for name in known.where),
    )


def two_speedups(knowns: Sequence[Known]) -> Iterator[Finding]:
    """A printed speedup that the times beside it contradict."""
    for known in knowns:
        clock = known.observation.clock
        time = known.time
        if clock.speedup is None or time is None or time.speedup is None:
            continue
        own = time.speedup.number
        if abs(clock.speedup / own - 1.0) > _DISAGREE:
            yield Finding(
                code="noise_or_outlier",
                evidence=f"{known.prefix}the printed speedup is {clock.speedup:.3f}, the times give "
                f"{own:.3f}.",
                reason="They come from different runs, or one of them is wrong.",
                advice="Use the times.",
                where=known.where,
            )
            return


def _reversal(knowns: Sequence[Known]) -> Iterator[Finding]:
    """A sweep over a number in the names that turns back against its own direction."""
    for _, group in grouped(knowns, lambda known: (pair(known), _nameless(known))):
        points = [
            (float(found[0]), known.tokens)
            for known in group
            if (found := _DIGITS.search(known.observation.name)) and known.tokens is not None
        ]
        if len(points) < 4 or any(tokens.se_most is not None for _, tokens in points):
            continue
        points.sort(key=lambda each: each[0])
        values = [tokens for _, tokens in points]
        whole = values[-1].number - values[0].number
        for (at, before), (_, after) in pairwise(points):
            step = after.number - before.number
            apart = after.range[0] > before.range[1] or before.range[0] > after.range[1]
            if apart and step * whole < 0.0 and abs(whole) > 2.0 * abs(step):
                yield Finding(
                    code="noise_or_outlier",
                    evidence=f"tokens per round go from {values[0].number:.2f} to "
                    f"{values[-1].number:.2f} over the sweep, but by {step:+.2f} after {at:g}.",
                    reason="A step against the trend is about the noise of a single run.",
                    advice="Repeat each point, and believe no difference smaller than this.",
                )
                return


def _nameless(known: Known) -> Hashable:
    name = known.observation.name
    return _DIGITS.sub("#", name, count=1) if _DIGITS.search(name) else id(known)

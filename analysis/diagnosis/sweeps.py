"""One thing varied: the draft length, the context, the batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from analysis.diagnosis.comparing import differ, grouped, pair, round_cost_of, seconds_of
from analysis.diagnosis.finding import Finding
from analysis.diagnosis.known import Known

_CLEARLY = 0.02  # two single runs of the same settings differ by up to about this much
_COSTLIER = 1.10
_JUMP = 2.0
_DIGITS = re.compile(r"\d+(?:\.\d+)?")


def sweeps(knowns: Sequence[Known]) -> Iterator[Finding]:
    """Findings from observations that differ in γ, context or batch."""
    yield from _over_gamma(knowns)
    yield from _falling_equivalent(knowns)
    yield from _over_context(knowns)
    yield from _over_batch(knowns)


def _over_gamma(knowns: Sequence[Known]) -> Iterator[Finding]:
    fixed = [
        known
        for known in knowns
        if known.observation.gamma
        and known.observation.length_rule not in {"confidence", "scheduled"}
    ]
    for group in _sweeps_over_gamma(fixed):
        measure = _speed_of(group)
        if measure is None:
            continue
        name, speed = measure
        best_of: dict[int, float] = {}
        for known in group:
            gamma, value = known.observation.gamma or 0, speed(known)
            best_of[gamma] = max(value or 0.0, best_of.get(gamma, 0.0))
        if len(best_of) < 2:
            continue
        best = max(best_of, key=lambda gamma: (best_of[gamma], -gamma))
        shown = ", ".join(f"γ = {gamma}: {best_of[gamma]:.4g}" for gamma in sorted(best_of))
        slower = [g for g in best_of if g > best and best_of[g] < best_of[best] * (1.0 - _CLEARLY)]
        where = tuple(
            known.observation.name
            for known in group
            if known.observation.gamma in slower and known.observation.name
        )
        if slower:
            yield Finding(
                code="gamma_too_long",
                evidence=f"{name}: {shown}. The best measured draft length is γ = {best}; "
                f"γ = {min(slower)} is {1.0 - best_of[min(slower)] / best_of[best]:.1%} slower.",
                reason="The tokens that longer drafts add do not pay for drafting and judging them.",
                advice=f"Use γ = {best}.",
                where=where,
            )
        lesser = max(g for g in best_of if g != best)
        if best == max(best_of) and best_of[best] > best_of[lesser] * (1.0 + _CLEARLY):
            yield Finding(
                code="gamma_could_be_longer",
                evidence=f"{name}: {shown}. The longest measured draft, γ = {best}, is the fastest.",
                reason="The optimum lies at or behind the end of the sweep.",
                advice=f"Measure γ above {best} too.",
            )


def _sweeps_over_gamma(knowns: Sequence[Known]) -> list[list[Known]]:
    """Groups that differ in γ: by the words of their names, else all that kept more at longer γ.

    Names that differ in numbers only are settings of one run; other words can be other texts, whose
    tokens per round need not grow with γ.
    """

    def worded(known: Known) -> tuple[object, ...]:
        return *_but_gamma(known), _DIGITS.sub("#", known.observation.name)

    def several(group: Sequence[Known]) -> bool:
        return len({known.observation.gamma for known in group}) > 1

    by_words = [group for _, group in grouped(knowns, worded) if several(group)]
    if by_words:
        return by_words
    return [g for _, g in grouped(knowns, _but_gamma) if several(g) and _keeps_more(g)]


def _keeps_more(group: Sequence[Known]) -> bool:
    ordered = sorted(group, key=lambda known: known.observation.gamma or 0)
    tokens = [known.tokens.number for known in ordered if known.tokens is not None]
    return len(tokens) == len(ordered) and tokens == sorted(tokens)


def _but_gamma(known: Known) -> tuple[object, ...]:
    """Everything that must be equal in a sweep over γ."""
    seen = known.observation
    plain = seen.clock.plain_tokens_per_s or seen.clock.plain_s_per_token
    return (*_as_tuple(pair(known)), seen.batch, seen.context, plain)


def _same_but_gamma(known: Known) -> tuple[object, ...]:
    """The same with the name, in which only γ may differ: other numbers can be a tree's."""
    own = re.compile(rf"(?<![\d.]){known.observation.gamma}(?![\d.])")
    return *_but_gamma(known), own.sub("#", known.observation.name, count=1)


def _as_tuple(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _speed_of(group: Sequence[Known]) -> tuple[str, Callable[[Known], float | None]] | None:
    """The first measure of speed that all of them have."""
    ways: tuple[tuple[str, Callable[[Known], float | None]], ...] = (
        ("tokens per second", lambda known: known.observation.clock.tokens_per_s),
        (
            "tokens per second of one request",
            lambda known: (
                1.0 / known.observation.clock.s_per_token
                if known.observation.clock.s_per_token
                else None
            ),
        ),
        ("speedup", lambda known: known.observation.clock.speedup),
        ("speedup from the times", _speedup_of),
    )
    return next((way for way in ways if all(way[1](known) for known in group)), None)


def _speedup_of(known: Known) -> float | None:
    """From the times, where no speed is printed: a measured run knows its decoding time alone."""
    time = known.time
    return None if time is None or time.speedup is None else time.speedup.number


def _falling_equivalent(knowns: Sequence[Known]) -> Iterator[Finding]:
    """Tokens per round at several γ: one p for all depths would fit every one of them."""
    fixed = [
        known
        for known in knowns
        if known.observation.gamma
        and known.p is not None
        and not known.depth_tests
        and known.tokens is not None
        and known.observation.length_rule not in {"confidence", "scheduled"}
    ]
    for _, group in grouped(fixed, _same_but_gamma):
        ordered = sorted(group, key=lambda known: known.observation.gamma or 0)
        short, long = ordered[0], ordered[-1]
        if short.p is None or long.p is None or short.observation.gamma == long.observation.gamma:
            continue
        sure = [known.p_sure or known.p or (0.0, 1.0) for known in (short, long)]
        rises = sure[1][0] > sure[0][1] + _CLEARLY
        if not rises and not sure[1][1] < sure[0][0] - _CLEARLY:
            continue
        low, high = sum(short.p) / 2.0, sum(long.p) / 2.0
        yield Finding(
            code=f"acceptance_{'rises' if rises else 'falls'}_with_depth",
            evidence=f"the p that explains the tokens per round is {low:.3f} at γ = "
            f"{short.observation.gamma} and {high:.3f} at γ = {long.observation.gamma}.",
            reason="One p for all depths would be the same at both.",
            advice="Predict other γ by depth, or between the measured ones only.",
        )


def _over_context(knowns: Sequence[Known]) -> Iterator[Finding]:
    with_context = [known for known in knowns if known.observation.context]
    for _, group in grouped(with_context, lambda known: (pair(known), known.observation.batch)):
        ordered = sorted(group, key=lambda known: known.observation.context or 0)
        yield from _spill(ordered, "context", lambda known: float(known.observation.context or 0))
        for value_of, unit in ((seconds_of, " s"), (round_cost_of, " plain steps")):
            first, last = value_of(ordered[0]), value_of(ordered[-1])
            if first is None or last is None or not differ(first, last):
                continue
            if last.number < _COSTLIER * first.number:
                continue
            acceptance = ""
            if ordered[0].tokens is not None and ordered[-1].tokens is not None:
                acceptance = (
                    f" Tokens per round go from {ordered[0].tokens.number:.2f} to "
                    f"{ordered[-1].tokens.number:.2f}."
                )
            yield Finding(
                code="context_cost",
                evidence=f"a round takes {first.number:.4g}{unit} at {ordered[0].observation.context:,} "
                f"tokens of context and {last.number:.4g}{unit} at "
                f"{ordered[-1].observation.context:,}.{acceptance}",
                reason="Attention reads the whole context for every token of a pass.",
                advice="Predict and choose γ by length of context; a benchmark of short prompts "
                "overstates the gain.",
            )
            break


def _over_batch(knowns: Sequence[Known]) -> Iterator[Finding]:
    with_batch = [known for known in knowns if known.observation.batch]
    groups = grouped(
        with_batch,
        lambda known: (pair(known), known.observation.gamma, known.observation.context),
    )
    for _, group in groups:
        ordered = sorted(group, key=lambda known: known.observation.batch or 0.0)
        small, large = ordered[0], ordered[-1]
        if small.observation.batch == large.observation.batch:
            continue
        yield from _spill(ordered, "batch", lambda known: known.observation.batch or 0.0)
        ends = f"batch {small.observation.batch:g} and {large.observation.batch:g}"
        few, many = small.tokens, large.tokens
        if few is not None and many is not None and not differ(few, many):
            yield Finding(
                code="acceptance_independent_of_batch",
                evidence=f"{few.number:.2f} and {many.number:.2f} tokens per round at {ends}.",
                reason="Acceptance is a matter of the two models and the text.",
                advice="What changes with the batch is the time of a round.",
            )
        first, last = round_cost_of(small), round_cost_of(large)
        if first is None or last is None or not differ(first, last):
            continue
        if last.number > _COSTLIER * first.number:
            yield Finding(
                code="batch_saturation",
                evidence=f"a round takes {first.number:.2f} and {last.number:.2f} plain steps at {ends}.",
                reason="A large batch keeps the arithmetic busy, so further tokens of a pass are no "
                "longer free.",
                advice="Draft less, or not at all, from the batch on where a round takes more steps "
                "than it gives tokens.",
            )


def _spill(
    ordered: Sequence[Known], what: str, size: Callable[[Known], float]
) -> Iterator[Finding]:
    """A step cannot slow down more than in proportion to its context or batch; memory can."""
    for before, after in pairwise(ordered):
        first, second = seconds_of(before), seconds_of(after)
        if first is None or second is None or before.observation.gamma != after.observation.gamma:
            continue
        growth, larger = second.range[0] / first.range[1], size(after) / size(before)
        if growth > _JUMP and growth > larger * (1.0 + _CLEARLY) and larger > 1.0:
            yield Finding(
                code="memory_spill",
                evidence=f"between {what} {size(before):g} and {size(after):g} a round goes from "
                f"{first.number:.4g} to {second.number:.4g} s, {growth:.1f} times as long.",
                reason=f"Work grows at most in proportion to the {what}, {larger:.1f} times here: memory "
                "ran out, and weights, draft or cache are read from somewhere slower.",
                advice="Make room (shorter context, smaller cache or draft), or switch speculation off.",
            )
            return

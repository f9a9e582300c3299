"""What could be attacked, what that would give, and which comes first."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from analysis.diagnosis.derived import Derived
from analysis.diagnosis.finding import Finding
from analysis.explaining.changed import cost_with
from analysis.explaining.explanation import Attack, Lever, LeverKind
from analysis.explaining.parts import Part, PartKind, spoken
from analysis.formulas import expected_tokens
from analysis.uncertainty import Range
from simulator import Estimate

LITTLE = 1.1
"""Tokens per round below which even rounds that cost nothing more would gain less than a tenth."""
_VISIBLE = 1.01  # times the speedup: what another part must be worth to be named
ACCEPTANCE: dict[str, str] = {
    "numeric_backend_bug": "the same pair accepts normally elsewhere",
    "chance_level_first_position": "the first drafted token is kept no more often than by chance",
    "dead_after_first": "nothing behind the first drafted token is kept",
    "suspicious_round_value": "acceptance is too even to be true",
}
"""Findings whose cause is acceptance, in words."""
COSTS: dict[str, tuple[PartKind, ...]] = {
    "fixed_overhead_dominates": ("overhead",),
    "draft_cost_dominates": ("drafting",),
    "moe_verify_cost": ("wider",),
    "verify_cost_dominates": ("wider",),
    "batch_saturation": ("wider",),
    "gamma_too_long": ("drafting", "wider"),
    "memory_spill": ("drafting", "wider", "overhead"),
}
"""Findings whose cause is the time of a round, with the parts that they speak of."""
_INFERRED = "verify_cost_dominates"
"""A finding that infers from the family of the draft what only a clock could tell."""
UNTRIED = ("draft_cost_dominates", "verify_cost_dominates")
"""Findings that advise another draft length without knowing what it gives."""


def levers(
    tokens: Derived, cost: Derived, parts: Sequence[Part], p: Derived | None, gamma: int | None
) -> tuple[Lever, ...]:
    """Every part and, where p is known, acceptance with half its rejections; the most gain first.

    Without a part the speedup is tokens / cost of the rest.
    """
    found = [
        Lever(kind=part.kind, name=part.name, without=_without(tokens, cost, parts, part))
        for part in parts
        if part.kind not in {"plain", "hidden"} and part.cost.number > 0.0
    ]
    better = None
    if p is not None and gamma:
        halved = float(expected_tokens((1.0 + p.number) / 2.0, gamma))
        better = Derived.exactly(
            halved / cost.number, f"p = {(1.0 + p.number) / 2.0:.3f} at the same cost"
        )
    found.append(Lever(kind="tokens", name="acceptance, half as many rejections", without=better))
    return tuple(sorted(found, key=_gain, reverse=True))


def choose(
    tokens: Derived,
    cost: Derived,
    parts: Sequence[Part],
    levers: Sequence[Lever],
    findings: Sequence[Finding],
    advise: Callable[[LeverKind], str],
) -> Attack:
    """What to attack first; `advise` says what to do about it where no finding does.

    The part whose removal gains most, unless acceptance is the cause: a finding says so, a round gives so
    few tokens that nothing else could help (below LITTLE), nothing else costs, or half as many rejections
    gain more than the whole of that part. Where a finding names the cause in the time of a round, it
    is a part.
    """
    acceptance = next(lever for lever in levers if lever.kind == "tokens")
    largest = next((lever for lever in levers if lever.kind != "tokens"), None)
    finding = next((each for each in findings if each.code in (*ACCEPTANCE, *COSTS)), None)
    named, net = None if finding is None else finding.code, tokens.number / cost.number
    if finding is not None and named is not None and named in ACCEPTANCE:
        return _tokens(acceptance, f"The findings say so: {ACCEPTANCE[named]}.", finding.advice)
    if largest is None:
        return _tokens(acceptance, "A round costs no more than a plain pass.", advise("tokens"))
    if named is None and tokens.number < LITTLE:
        return _tokens(
            acceptance,
            f"Even rounds that cost nothing more than a plain pass would run at {tokens.number:.2f}×.",
            advise("tokens"),
        )
    if named is None and _gain(acceptance) > _gain(largest):
        assert acceptance.without is not None  # noqa: S101 — its gain is known
        return _tokens(
            acceptance,
            f"Half as many rejections would give {acceptance.without.number:.2f}×; a round without its "
            f"largest part, {spoken(largest.name)[0]}, {_gain(largest):.2f}×.",
            advise("tokens"),
        )
    if named is None and acceptance.without is None and _gain(largest) <= _VISIBLE * net:
        return _tokens(
            acceptance, "Nothing else costs a hundredth of the speedup.", advise("tokens")
        )
    allowed = kinds_of(named or "", parts)
    chosen = _part(tokens, cost, parts, largest, levers, allowed)
    about = finding is not None and chosen.kind in {*allowed, "together"}  # else parts know better
    return replace(chosen, advice=finding.advice if finding and about else advise(chosen.kind))


def kinds_of(code: str, parts: Sequence[Part]) -> tuple[PartKind, ...]:
    """The parts that a finding on costs speaks of: two where it infers which, and neither is known apart."""
    untold = any(each.kind == "drafting" for part in parts for each in part.members)
    return ("drafting", "wider") if code == _INFERRED and untold else COSTS.get(code, ())


def _part(
    tokens: Derived,
    cost: Derived,
    parts: Sequence[Part],
    largest: Lever,
    levers: Sequence[Lever],
    allowed: tuple[PartKind, ...],
) -> Attack:
    part = next(each for each in parts if each.kind == largest.kind)
    sure = _surely_largest(part, parts)
    if sure is not None and (not allowed or sure in allowed):
        member = next(each for each in part.members if each.kind == sure)
        low, high = member.range
        return Attack(
            kind=sure,
            name=member.name,
            without=_without_member(tokens, cost, member.range),
            sentence=f"It is {low:.2f} to {high:.2f} plain steps, more than all else that a round adds.",
            advice="",
        )
    likely = next((each.kind for each in part.members if each.kind in allowed), None)
    gained = "" if largest.without is None else f"{largest.without.number:.2f}×"
    it = "all of them" if part.members else "it"
    sentence = (
        f"Without {it} the speedup would be {gained}, not {tokens.number / cost.number:.2f}×."
    )
    others = [each for each in levers if each.kind not in {"tokens", largest.kind}]
    if others and _gain(others[0]) > _VISIBLE * tokens.number / cost.number:
        sentence += (
            f" Without {spoken(others[0].name)[0]} alone it would be {_gain(others[0]):.2f}×."
        )
    return Attack(
        kind=largest.kind,
        name=largest.name,
        without=largest.without,
        sentence=sentence,
        advice="",
        likely=likely if len(allowed) == 1 else None,
    )


def _tokens(lever: Lever, sentence: str, advice: str) -> Attack:
    return Attack(
        kind="tokens",
        name="acceptance",
        without=lever.without,
        sentence=sentence,
        advice=advice,
    )


def _surely_largest(lump: Part, parts: Sequence[Part]) -> PartKind | None:
    """The member that is at least what all others together can be, and as large as any other part."""
    known = [part.cost.range[1] for part in parts if part.kind not in {"plain", "together"}]
    for member in lump.members:
        others = lump.cost.range[1] - member.range[0]
        if member.range[0] > max([others, *known]):
            return member.kind
    return None


def _without_member(tokens: Derived, cost: Derived, removed: Range) -> Derived:
    """The speedup without a part of which only a range is known; the value is that of its middle."""
    low, high = (tokens.number / (cost.number - each) for each in removed)
    middle = tokens.number / (cost.number - sum(removed) / 2.0)
    return Derived(value=Estimate(value=middle), range=(low, high), how="for the part's range")


def _without(tokens: Derived, cost: Derived, parts: Sequence[Part], part: Part) -> Derived | None:
    rest = cost_with(parts, part.kind, 0.0)
    if rest <= 0.0:
        return None
    removed = cost.number - rest  # less than the part where some of it is hidden
    spare = [end - part.cost.number for end in part.cost.range]
    low, high = (cost.range[0] - removed - spare[1], cost.range[1] - removed - spare[0])
    sure = cost.value.se is None and cost.value.interval is None
    return Derived(
        value=tokens.value.scaled(1.0 / rest) if sure else Estimate(value=tokens.number / rest),
        range=(
            tokens.range[0] / high if high > 0.0 else 0.0,
            tokens.range[1] / low if low > 0.0 else math.inf,
        ),
        how="tokens per round / the cost of all other parts",
    )


def _gain(lever: Lever) -> float:
    return -math.inf if lever.without is None else lever.without.number

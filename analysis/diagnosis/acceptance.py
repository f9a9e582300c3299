"""What acceptance says: broken, dead after the first, falling or rising with depth, too few rounds."""

from __future__ import annotations

import math
from collections.abc import Iterator

from analysis.diagnosis.counts import survival_of
from analysis.diagnosis.finding import Finding
from analysis.diagnosis.known import Known, wilson
from analysis.diagnosis.vocabulary import depth_reason
from analysis.ratio_summary import ratio_bounds

CHANCE = 0.10
"""Below this the first drafted token is not a guess about the target's text but chance."""
_TREND = 3.3  # standard errors: a chance of 1e-3 if one p ruled all depths
_VISIBLE = 0.05  # a change with depth that no rounding and no single run makes
_NOTICED = 0.02  # millions of rounds show less, which changes no prediction that anybody uses
_WIDE = 0.10
_NEARLY_ALL = 0.95
_PINNED_ROUNDS = 50


def acceptance(known: Known) -> Iterator[Finding]:
    """Findings about acceptance itself."""
    broken = [*_chance_level(known)] or [*_dead_after_first(known)]
    yield from broken
    yield from _saturated(known)
    if not broken:
        yield from _by_depth(known)
    yield from _small(known)


def at_chance_level(known: Known) -> bool:
    """True if the first drafted token is surely kept less often than CHANCE."""
    first = known.first_sure or known.first
    return first is not None and first[1] < CHANCE


def _chance_level(known: Known) -> Iterator[Finding]:
    first = known.first
    if first is None or not at_chance_level(known):
        return
    surely = ""
    if known.first_sure is not None:
        surely = f", surely in less than {max(known.first_sure[1], first[1]):.1%}"
    drafted, kept = known.observation.drafted, known.observation.accepted
    wasted = f" {drafted / kept:,.0f} tokens are drafted for one kept." if drafted and kept else ""
    yield Finding(
        code="chance_level_first_position",
        evidence=f"{known.prefix}the first drafted token is kept in {first[1]:.1%} of rounds"
        f"{surely}.{wasted}",
        reason="No working draft is that bad on any text: the wrong checkpoint or heads, another "
        "tokenizer or template, a quantised target with the draft of another, or a bug."
        if known.observation.method not in {"ngram", "lookahead"}
        else "The text does not repeat itself: a lookup has nothing right to propose.",
        advice="Turn speculation off until the pair is checked; γ and sampling settings cannot mend it.",
        where=known.where,
    )


def _dead_after_first(known: Known) -> Iterator[Finding]:
    if len(known.depth_tests) >= 2:
        _, most, low, _ = known.depth_tests[0]
        deeper_fewest, deeper_most, deeper_low, deeper_high = known.depth_tests[1]
        first = wilson(low, most)[0]
        second = wilson(min(deeper_high, deeper_fewest), deeper_fewest)[1]
        shown = low / most if most else 0.0, deeper_low / deeper_most if deeper_most else 0.0
    else:
        survival = survival_of(known.observation)
        if len(survival) < 2 or survival[0].bounds[0] <= 0.0:
            return
        first = survival[0].bounds[0]
        second = survival[1].bounds[1] / survival[0].bounds[0]
        shown = survival[0].value, survival[1].value / survival[0].value
    if second < CHANCE and second < first:
        yield Finding(
            code="dead_after_first",
            evidence=f"{known.prefix}{shown[0]:.1%} of the first drafted tokens are kept and "
            f"{shown[1]:.1%} of the second that are tested.",
            reason="Only the first step works: the draft's own states or cache are wrong from the "
            "second on, or it was built for one token.",
            advice="Use γ = 1, or mend the draft's second step.",
            where=known.where,
        )


def _saturated(known: Known) -> Iterator[Finding]:
    fraction = known.fraction
    if fraction is None or not fraction[0] >= _NEARLY_ALL or fraction[1] > 1.0 + _WIDE:
        return
    gamma = known.observation.gamma
    rounds = known.rounds
    if gamma != 1 or fraction[0] >= 1.0:
        yield Finding(
            code="saturated_acceptance",
            evidence=f"{known.prefix}{fraction[0]:.1%} of the drafted tokens are kept.",
            reason="Drafts end before the target disagrees: acceptance no longer limits the gain."
            if not known.cut_short
            else "A rule ends drafts before the target disagrees; if it is the draft's own confidence, "
            "only tokens that were nearly sure were offered.",
            advice="Draft longer, if the time of a round allows it."
            if not known.cut_short
            else "Loosen the rule (p_min, the limit) and compare tokens per second; what longer drafts "
            "would keep does not follow from these counts.",
            where=known.where,
        )
    if fraction[0] >= 1.0 and rounds is not None and rounds >= _PINNED_ROUNDS:
        yield Finding(
            code="suspicious_round_value",
            evidence=f"{known.prefix}every one of {known.observation.drafted or 0:,} drafted tokens in "
            f"{rounds:,} rounds is kept.",
            reason="A text that repeats itself without end, broken logits, or a draft that is the "
            "target.",
            advice="Look at the text before believing the length.",
            where=known.where,
        )


def trend(tests: tuple[tuple[int, int, int, int], ...]) -> float:
    """Cochran–Armitage z of conditional acceptance against depth, 0 if the counts leave its sign open.

    Given what was tested, tests are independent binomials, so under one p for all depths z is
    normal (Armitage 1955). Where rounding hides counts, the smallest |z| of both extremes.

    >>> round(trend(((43, 43, 4, 4), (4, 4, 3, 3), (3, 3, 3, 3))), 2)
    4.68
    """
    falling = [
        (most, low) if depth else (most, high) for depth, (_, most, low, high) in enumerate(tests)
    ]
    rising = [
        (fewest, min(high, fewest)) if depth else (fewest, min(low, fewest))
        for depth, (fewest, _, low, high) in enumerate(tests)
    ]
    ends = sorted((_armitage(falling), _armitage(rising)))
    if ends[0] <= 0.0 <= ends[1]:
        return 0.0
    return min(ends, key=abs)


def _armitage(depths: list[tuple[int, int]]) -> float:
    tested, kept = sum(n for n, _ in depths), sum(a for _, a in depths)
    if not 0 < kept < tested:
        return 0.0
    p = kept / tested
    score = math.fsum(i * (a - n * p) for i, (n, a) in enumerate(depths))
    first = math.fsum(i * n for i, (n, _) in enumerate(depths))
    spread = math.fsum(i * i * n for i, (n, _) in enumerate(depths)) - first**2 / tested
    variance = p * (1.0 - p) * spread
    return score / math.sqrt(variance) if variance > 0.0 else 0.0


def _by_depth(known: Known) -> Iterator[Finding]:
    if len(known.depth_tests) >= 2:
        z = trend(known.depth_tests)
        p = [low / most for _, most, low, _ in known.depth_tests if most]
        if abs(z) >= _TREND and max(p) - min(p) >= _NOTICED:
            shares = ", ".join(f"{each:.2f}" for each in p[:8])
            came = f"p by depth is {shares} ({abs(z):.1f} standard errors from one p, rounds taken "
            yield _depth_finding(known, f"{came}as independent).", rises=z > 0)
        return
    heads = [each for each in known.observation.printed if each.quantity == "head_accuracy"]
    if len(heads) >= 2 and heads[-1].bounds[1] < heads[0].bounds[0] - _VISIBLE:
        shares = ", ".join(f"{each.value:.2f}" for each in heads)
        yield _depth_finding(known, f"accuracy by head is {shares}.", rises=False)
    if len(survival_of(known.observation)) >= 2:
        ranges = ratio_bounds(survival_of(known.observation)).p_by_depth
        (first_low, first_high), (last_low, last_high) = ranges[0], ranges[-1]
        shares = ", ".join(f"{(low + high) / 2.0:.2f}" for low, high in ranges[:8])
        came = f"p by depth is {shares}, from printed ratios without a sampling error."
        if last_low > first_high + _VISIBLE:
            yield _depth_finding(known, came, rises=True)
        elif last_high < first_low - _VISIBLE:
            yield _depth_finding(known, came, rises=False)


def _depth_finding(known: Known, came: str, *, rises: bool) -> Finding:
    reason = depth_reason(known.observation.method, rises=rises)
    too = "too low for long drafts" if rises else "too high for long drafts"
    advice = f"Predict other γ by depth: one p fitted to short drafts is {too}."
    if known.cut_short:
        advice = "Deep positions were offered in some rounds only: predict no other γ from them."
    return Finding(
        code=f"acceptance_{'rises' if rises else 'falls'}_with_depth",
        evidence=f"{known.prefix}{came}",
        reason=f"{reason[0].upper()}{reason[1:]}.",
        advice=advice,
        where=known.where,
    )


def _small(known: Known) -> Iterator[Finding]:
    tokens, rounds = known.tokens, known.rounds
    if tokens is None or tokens.number <= 0.0 or not rounds:
        return
    half = None if known.p_sure is None else (known.p_sure[1] - known.p_sure[0]) / 2.0
    wide_p = (
        half is not None and known.p is not None and half - (known.p[1] - known.p[0]) / 2.0 > _WIDE
    )
    kept = max(tokens.number - 1.0, 0.0)
    geometric = math.sqrt(kept * (1.0 + kept) / rounds)  # drafts without a known end
    se = geometric if tokens.se_most is None else tokens.se_most
    spread = 1.96 * se / tokens.number
    if not wide_p and spread <= _WIDE:
        return
    bound = tokens.value.se is None and tokens.se_most is not None  # the most that it can be
    about = f"± {spread:.0%} at worst" if bound else f"about ± {spread:.0%}"
    rough = f", known to {about}" if spread else ""
    rate = (
        ""
        if known.p_sure is None
        else f", p between {known.p_sure[0]:.2f} and {known.p_sure[1]:.2f}"
    )
    yield Finding(
        code="small_sample",
        evidence=f"{known.prefix}{rounds:,} rounds: {tokens.number:.2f} tokens per round{rough}{rate}.",
        reason="A gain of ten per cent cannot be told from none with so few rounds.",
        advice="Measure more requests: their number counts, rounds of one request resemble each other.",
        where=known.where,
    )


def sure_above_chance(known: Known) -> bool:
    """True if the numbers exclude chance level: the least that the first token, or p, can be."""
    first = known.first_sure or known.first
    counted = known.p_sure or known.p
    order = (first, counted) if known.depth_tests or counted is None else (counted, first)
    for sure in (*order, known.fraction):
        if sure is not None:
            return sure[0] >= CHANCE
    return False

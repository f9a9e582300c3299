"""Where the time of a round goes: drafting, verification, or neither of them."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.converting import equivalent_p
from analysis.diagnosis.counts import survival_of
from analysis.diagnosis.finding import Finding
from analysis.diagnosis.known import Known
from analysis.diagnosis.printed_cost import printed_overhead, printed_passes
from analysis.diagnosis.vocabulary import CHEAP_DRAFTS, MISSING_DRAFTS, is_mixture_of_experts

DEAR = 1.0 / 3.0
"""Plain steps per drafted token from which on no draft length reaches 1.5× even at p = 0.8."""
_LOSES = 0.98  # below this speculation is slower than plain decoding, not only as slow
_MARGIN = 2.0  # one token more or less must change the speed clearly, for its price is an average


def cost(known: Known) -> Iterator[Finding]:
    """Findings about the cost of a round in plain steps."""
    overhead = [*_overhead(known)] or [*printed_overhead(known)]
    yield from overhead or [*_dear(known)] or printed_passes(known, dear=DEAR, loses=_LOSES)


def price(known: Known) -> float | None:
    """Plain steps that a drafted token adds to a round, at least: (cost − 1) / drafted per round."""
    length = known.draft_length
    if known.time is None or known.time.round_cost is None or not length:
        return None
    return (known.time.round_cost.range[0] - 1.0) / length


def _overhead(known: Known) -> Iterator[Finding]:
    length = known.draft_length
    if known.time is None or known.time.round_cost is None or not length:
        return
    most, took = 1.0 + 2.0 * length, known.time.round_cost
    drafted = f"{length:.3g} drafted {'token' if length == 1.0 else 'tokens'}"
    if took.range[0] <= most:
        return
    yield Finding(
        code="fixed_overhead_dominates",
        evidence=f"{known.prefix}a round takes {took.number:.2f} plain steps with {drafted}. Judging "
        f"each as slowly as decoding it, after a draft as slow as the target, would take {most:.3g}.",
        reason="The rest is time that no model needs: launches without CUDA graphs, synchronisation, "
        "the host, pipeline stages that wait, or two runs that differ in more than speculation.",
        advice="Profile one round; compare with graphs on; acceptance cannot mend this.",
        where=known.where,
    )


def _dear(known: Known) -> Iterator[Finding]:
    each, time = price(known), known.time
    if each is None or time is None or time.round_cost is None:
        return
    loses = time.speedup is not None and time.speedup.number < _LOSES
    if each < DEAR and not loses:
        return
    took, method = time.round_cost.number, known.observation.method
    came = (
        f"{known.prefix}a round takes {took:.2f} plain steps and gives "
        f"{took * (1.0 if time.speedup is None else time.speedup.number):.2f} tokens: "
        f"{each:.2f} steps for each drafted token."
    )
    drafting = None if time.draft_share is None else time.draft_share.number * took
    if drafting is not None and drafting > (took - 1.0) / 2.0:
        yield Finding(
            code="draft_cost_dominates",
            evidence=f"{came} Drafting takes {drafting:.2f} of them.",
            reason="The draft is too slow for this target.",
            advice="Use a smaller or a faster draft, or fewer tokens per round.",
            where=known.where,
        )
        return
    if drafting is not None:
        why = f" Drafting takes {drafting:.2f} of them."
    elif method in CHEAP_DRAFTS:
        why = " Drafting was not timed; drafts of this family are cheap as a rule."
    else:
        why = " How much of it is drafting is not known."
    yield Finding(
        code="verify_cost_dominates",
        evidence=f"{came}{why}",
        reason=_why_dear(each, timed=drafting is not None),
        advice=_mend(known.draft_length or 0.0, timed=drafting is not None),
        where=known.where,
    )
    if each >= DEAR and is_mixture_of_experts(known.observation):
        yield Finding(
            code="moe_verify_cost",
            evidence=came,
            reason="The target is a mixture of experts: every token of a pass can call other experts, "
            "so a wider pass reads more weights.",
            advice="Draft one or two tokens, or decode plainly; larger batches hide the effect.",
            where=known.where,
        )


def _why_dear(each: float, *, timed: bool) -> str:
    """Without a clock on drafting, verification is what is left to suspect, not what is shown."""
    if each < DEAR:
        return "Each token is cheap, but acceptance gives less than even that."
    passes = "a pass over several tokens costs this machine almost as much as passes over one"
    why = "(compute-bound: CPU, small GPU, large batch; or a kernel that is slow for few rows)"
    if timed:
        return f"{passes.capitalize()} {why}."
    return f"Probably {passes} {why}; drafting that is slow itself would look the same."


def _mend(length: float, *, timed: bool) -> str:
    if length <= 1.0:
        return "Measure a longer draft too: what a round costs besides its tokens, one token alone has to pay."
    if timed:
        return "Draft fewer tokens per round; look for a back end that verifies a few tokens fast."
    return "Draft fewer tokens per round; time the drafting to learn whether it or verification is slow."


def other_gamma(known: Known) -> Iterator[Finding]:
    """One token less or more, at the average price: said only where it changes the speed clearly.

    For a single γ: a sweep has measured what this can only estimate.
    """
    seen, time = known.observation, known.time
    gamma, tokens = seen.gamma, known.tokens
    if not gamma or tokens is None or time is None or time.round_cost is None:
        return
    if seen.length_rule in {"confidence", "scheduled"} or seen.method in MISSING_DRAFTS:
        return
    length = known.draft_length or float(gamma)
    took = time.round_cost.number
    each = (took - 1.0) / length
    last, p_last, how = _last(known)
    if last is None or p_last is None or length < 0.95 * gamma or each <= 0.0:
        return
    gain, paid = last / tokens.number, each / took
    came = f"{each:.2f} plain steps per drafted token on average{how}"
    if gamma > 1 and gain * _MARGIN < paid:
        yield Finding(
            code="gamma_too_long",
            evidence=f"{known.prefix}token {gamma} of a draft adds {gain:.1%} to the tokens of a round "
            f"and {paid:.1%} to its time ({came}).",
            reason="Few drafts get that far, all of them pay for it.",
            advice=f"Try shorter drafts than γ = {gamma} and compare the times.",
            where=known.where,
        )
    more = last * p_last / tokens.number
    if more > _MARGIN * paid:
        yield Finding(
            code="gamma_could_be_longer",
            evidence=f"{known.prefix}one more token would add about {more:.1%} to the tokens of a round "
            f"and {paid:.1%} to its time ({came}).",
            reason="Most drafts are still alive at their end.",
            advice=f"Try γ = {gamma + 1} to {2 * gamma} and compare the times.",
            where=known.where,
        )


def _last(known: Known) -> tuple[float | None, float | None, str]:
    """Survival and p at the last depth: counted, printed, or those of the equivalent p."""
    gamma, tests = known.observation.gamma, known.depth_tests
    if len(tests) == gamma and known.rounds:
        _, tested, low, high = tests[-1]
        kept = (low + high) / 2.0
        return kept / known.rounds, (kept / tested if tested else 0.0), ""
    survival = survival_of(known.observation)
    if gamma and len(survival) == gamma:
        before = survival[-2].value if gamma > 1 else 1.0
        return survival[-1].value, survival[-1].value / before if before else 0.0, ""
    if known.p is not None and gamma and known.counts is None:
        p = sum(known.p) / 2.0
        return p**gamma, p, "; acceptance by depth from one equivalent p"
    if known.tokens is not None and gamma and 1.0 <= known.tokens.number <= gamma + 1.0:
        p = equivalent_p(gamma=gamma, tokens_per_round=known.tokens.number)
        return p**gamma, p, "; acceptance by depth from one equivalent p"
    return None, None, ""

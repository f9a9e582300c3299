"""The article's claims about single tokens: when one is kept, and whether the output is the target's."""

from __future__ import annotations

from fractions import Fraction

from analysis.judgement import Judgement
from analysis.tokens._verdicts import Row, Tokens
from analysis.tokens.acceptance import acceptance_probability
from analysis.tokens.emitted_law import emitted_law, target_law
from simulator.rules import (
    Picked,
    Rule,
    block_verification,
    lenience,
    one_hot,
    sample_and_match,
    speculative_sampling,
    typical_acceptance,
)


def agree_or_disagree() -> Judgement:
    """Whether a token is kept when the models agree: a matter of chance, and of the whole of P and Q."""
    draft = (0.6, 0.3, 0.1)
    rule = speculative_sampling()
    same, near = (
        float(acceptance_probability(target, draft, rule=rule))
        for target in (draft, (0.4, 0.35, 0.25))
    )
    match = float(acceptance_probability(draft, draft, rule=sample_and_match()))
    return Judgement(
        claim="agree or disagree",
        says="tokens are accepted when draft and target agree, otherwise resampled",
        verdict="holds if",
        finding=f"literally at temperature 0 only. Else token x is kept with chance min(1, P(x) / Q(x)), "
        f"in all Σ min(P, Q): {near:.2f} for P = (.4, .35, .25) and Q = (.6, .3, .1) though both "
        f"prefer the same token, {same:g} for P = Q = (.6, .3, .1), whose own draws would agree "
        f"with chance {match:.2f} only.",
    )


def no_quality_loss() -> Judgement:
    """Whether the output is the target's: the joint law of three tokens, by enumeration."""
    ratio = speculative_sampling()
    exact = max(
        *(_off_target(rule) for rule in (ratio, block_verification())),
        *(_off_target(rule, "chosen") for rule in (sample_and_match(), one_hot())),
    )
    typical, lenient = _off_target(typical_acceptance()), _off_target(lenience(0.5))
    dropped, chosen = _off_target(ratio, "dropped", drop_below=0.3), _off_target(ratio, "chosen")
    return Judgement(
        claim="no quality loss",
        says="no quality loss, because the target's distribution is what is sampled",
        verdict="holds if",
        finding=f"if the rule fits how the draft was picked: all 27 texts of 3 tokens of a small "
        f"Markov chain then have the target's probability (total variation {exact:g}). "
        f"Typical acceptance is off by {typical:.2f}, lenience 0.5 by {lenient:.2f}, min(1, P / Q) on "
        f"a draft that throws unlikely tokens away by {dropped:.2f}, on the draft's favourite tokens "
        f"by {chosen:.2f}.",
    )


def _off_target(rule: Rule, picked: Picked = "drawn", *, drop_below: float = 0.0) -> float:
    """Total variation between emitted and target law of three tokens, in exact fractions."""
    third = Fraction(1, 3)
    targets = ((5, 3, 2), (1, 3, 6), (0, 3, 7))  # tenths, by the token before

    def target(tokens: Tokens) -> Row:
        return [Fraction(tenths, 10) for tenths in targets[tokens[-1] if tokens else 0]]

    def draft(tokens: Tokens) -> Row:
        """The target mixed half and half with a coin of three sides."""
        return [(p + third) / 2 for p in target(tokens)]

    law = emitted_law(
        target, draft, rule=rule, gamma=2, length=3, picked=picked, drop_below=drop_below
    )
    return float(law.distance(target_law(target, length=3)))

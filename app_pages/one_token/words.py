"""What the page of one token says about its numbers, in sentences."""

from __future__ import annotations

from typing import Literal, TypeAlias

from app_pages.one_token.choice import RULE_NAMES, Choice
from app_pages.one_token.laws import Laws
from app_pages.one_token.story import share

Kind: TypeAlias = Literal["lossless", "lossy", "neither"]
SAME = 1e-9
"""A total variation below it is rounding: the distance is computed from float probabilities."""
_TV = "the total variation (TV)"


def losslessness(choice: Choice, laws: Laws) -> tuple[Kind, str]:
    """Whether what comes out follows the target, and by how much it does not."""
    rule, picked = choice.verification, choice.picked
    name = rule_name(choice)
    if rule.name == "greedy" and laws.distance > SAME:
        return "neither", (
            f"**{name}** gives the target's greedy output, always its most likely word, and is "
            f"lossless for that. From sampling it differs: {_TV} from P is **{share(laws.distance)}**."
        )
    if rule.is_lossless(picked):
        how = "either way of picking" if len(rule.lossless_for) > 1 else f"{picked} drafts"
        return "lossless", (
            f"**Lossless for {how}.** Kept or replaced, the word that comes out has the target's "
            f"distribution: summed over every draft and verdict, {_TV} from P is 0."
        )
    why = "in general" if not rule.lossless_for else f"for drafts that are {picked}"
    if laws.distance <= SAME:
        return "neither", (
            f"**{name}** is lossy {why}, but not between these two: here {_TV} of what comes out "
            "from P is 0."
        )
    return "lossy", (
        f"**Lossy here.** What comes out is not distributed as P: {_TV} is "
        f"**{share(laws.distance)}**, so much of the probability lies on other words. {name} is "
        f"lossy {why}."
    )


def rule_name(choice: Choice) -> str:
    """The rule's name without the engines in brackets."""
    return RULE_NAMES[choice.rule].partition(" (")[0]


def acceptance(choice: Choice, laws: Laws) -> str:
    """How p comes about under this rule, and what the overlap has to do with it."""
    overlap = f"**{share(laws.overlap)}**"
    green = f"The green parts of either model sum to {overlap} = Σ min(P, Q) = 1 − TV(P, Q)."
    formula = _formula(choice, laws)
    if choice.picked == "drawn" and choice.rule in {"speculative_sampling", "block_verification"}:
        once = "" if choice.rule == "speculative_sampling" else " A block of one word is judged so."
        return f"{green} That sum **is** p: a drawn word is kept with just this chance.{once}"
    return (
        f"{green} Speculative sampling would keep that share of drawn words. {rule_name(choice)} "
        f"with {choice.picked} words keeps **{share(laws.acceptance)}**: {formula}."
    )


def _formula(choice: Choice, laws: Laws) -> str:
    drawn = choice.picked == "drawn"
    factor = f"{choice.lenience:g} "
    threshold = share(laws.decision.threshold or 0.0)
    at_favourite = "at the draft's favourite"
    formulas = {
        "speculative_sampling": ("Σ min(P, Q)", f"min(1, P / Q) {at_favourite}"),
        "block_verification": ("Σ min(P, Q)", f"min(1, P / Q) {at_favourite}"),
        "lenience": (f"Σ min(P / {factor.strip()}, Q)", f"min(1, P / ({factor}Q)) {at_favourite}"),
        "greedy": ("Q of the target's favourite", "1 if both have one favourite, else 0"),
        "sample_and_match": ("Σ P × Q", f"P {at_favourite}"),
        "one_hot": ("Σ P × Q", f"P {at_favourite}"),
        "typical_acceptance": (
            f"Σ Q over the words with P above {threshold}",
            f"1 if P is above {threshold} {at_favourite}, else 0",
        ),
    }
    return formulas[choice.rule][0 if drawn else 1]


def replacement(choice: Choice) -> str:
    """How the rule replaces a rejected word."""
    residual = (
        "norm(max(P − Q, 0)): the target's blue parts, scaled to 1. Where the draft wrote too much, "
        "nothing is added."
    )
    return {
        "speculative_sampling": residual,
        "block_verification": residual,
        "lenience": residual,
        "greedy": "Always the target's most likely word.",
        "typical_acceptance": "Always the target's most likely word.",
        "sample_and_match": "The word that the target drew itself: P without the rejected word.",
        "one_hot": "Drawn from P without the rejected word, scaled to 1.",
    }[choice.rule]

"""One decision in plain words: who wrote what, what the rule asked, what came out."""

from __future__ import annotations

from app_pages.one_token.choice import Choice
from app_pages.one_token.laws import Decision, Laws

_HOW = {"drawn": "drawn from Q", "chosen": "its most likely word"}


def tell(choice: Choice, laws: Laws, decision: Decision) -> tuple[str, ...]:
    """The steps of one decision, each a line of Markdown."""
    return (_draft(choice, laws, decision), _question(choice, laws, decision), _end(laws, decision))


def _draft(choice: Choice, laws: Laws, decision: Decision) -> str:
    x = decision.drafted
    return (
        f"**Draft** writes :orange-badge[{laws.words[x]}], {_HOW[choice.picked]}. "
        f"Q = {share(laws.draft[x])}, P = {share(laws.target[x])}."
    )


def _question(choice: Choice, laws: Laws, decision: Decision) -> str:
    x = decision.drafted
    word, p, q, keep = laws.words[x], laws.target[x], laws.draft[x], share(laws.decision.keep[x])
    questions = {
        "speculative_sampling": (
            f"Keep “{word}” with probability min(1, P / Q) = min(1, {_ratio(p, q)}) = **{keep}**."
        ),
        "block_verification": (
            "A block of one word: as speculative sampling, min(1, P / Q) = "
            f"min(1, {_ratio(p, q)}) = **{keep}**."
        ),
        "lenience": (
            f"Keep “{word}” with probability min(1, P / ({choice.lenience:g} Q)) = "
            f"min(1, {_ratio(p, choice.lenience * q)}) = **{keep}**."
        ),
        "greedy": (
            f"The target's most likely word is “{laws.favourite}”. Is it the draft's? "
            f"The chance of keeping is **{keep}**: nothing is drawn."
        ),
        "sample_and_match": (
            "The target draws its own word from P, as it would without a draft, and gets "
            f"“{laws.words[decision.emitted]}”. The chance that this is “{word}” was P = **{keep}**."
        ),
        "one_hot": (
            f"Keep “{word}” with probability P = **{keep}**, as if the draft had been sure of it."
        ),
    }
    if choice.rule == "typical_acceptance":
        above = "above" if laws.decision.keep[x] else "not above"
        return (
            f"**Rule** P = {share(p)} is {above} the threshold min(ε, δ exp(−H)) = "
            f"{share(laws.decision.threshold or 0.0)}. The chance of keeping is **{keep}**: nothing is drawn."
        )
    return f"**Rule** {questions[choice.rule]}"


def _end(laws: Laws, decision: Decision) -> str:
    word = laws.words[decision.emitted]
    if decision.kept:
        return f"**Result** :green-badge[✓ {word}] :gray[kept]"
    chance = laws.decision.corrections[decision.drafted][decision.emitted]
    return (
        f"**Result** :red[~~{laws.words[decision.drafted]}~~] :blue-badge[✎ {word}] :gray[the "
        f"replacement; chance of this word after this rejection: {share(chance)}]"
    )


def share(value: float) -> str:
    """A probability as a reader reads it: three digits, and never 1 or 0 for what is neither."""
    if value in {0.0, 1.0}:
        return f"{value:g}"
    if 0.9995 <= value < 1.0:
        return f"1 − {1.0 - value:.1e}"
    return f"{value:.3f}" if value >= 0.0005 else f"{value:.1e}"


def _ratio(p: float, q: float) -> str:
    return f"{p / q:.3g}"

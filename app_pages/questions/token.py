"""Questions about one decision: the page One token."""

from __future__ import annotations

from dataclasses import replace

from app_pages.one_token import results as token_results
from app_pages.one_token.choice import RULE_NAMES, Choice
from app_pages.one_token.story import share
from app_pages.one_token.words import SAME
from app_pages.questions.asking import Question

_HALF = 0.5


def _p(choice: Choice) -> float:
    return token_results.laws(choice).acceptance


def _off(choice: Choice) -> str:
    distance = token_results.laws(choice).distance
    return "as the target" if distance <= SAME else f"TV {share(distance)} off the target"


def every_rule(choice: Choice) -> str:
    """All rules on these two opinions, the most generous first."""
    found = {name: replace(choice, rule=name) for name in RULE_NAMES}
    lines = [
        f"- {RULE_NAMES[name]}: p = **{share(_p(each))}**, {_off(each)}"
        for name, each in sorted(found.items(), key=lambda item: -_p(item[1]))
    ]
    return "\n".join(lines)


def other_picking(choice: Choice) -> str:
    """The same rule for words that are picked the other way."""
    parts = [
        f"{picked}: p = **{share(_p(each))}**, {_off(each)}"
        for picked, each in (
            ("drawn", replace(choice, picked="drawn")),
            ("chosen", replace(choice, picked="chosen")),
        )
    ]
    said = f"{RULE_NAMES[choice.rule]}, {'; '.join(parts)}."
    return f"{said} A rule is lossless for drafts that came about as it assumes."


def cold(choice: Choice) -> str:
    """All rules at temperature 0."""
    values = {share(_p(replace(choice, rule=name, temperature=0.0))) for name in RULE_NAMES}
    said = " or ".join(sorted(values))
    return (
        f"They meet at p = **{said}**. Each model then knows one word, and it is the same one or it is "
        "not: 1 or 0. Rules that look at a threshold may still let another word pass."
    )


def lenient(choice: Choice) -> str:
    """What lenience buys."""
    strict = replace(choice, rule="lenience", lenience=1.0)
    loose = replace(strict, lenience=_HALF)
    if share(_p(strict)) == share(_p(loose)):
        return f"Nothing here: p stays **{share(_p(strict))}**, and what comes out stays {_off(loose)}."
    return (
        f"From factor 1 to {_HALF:g} p goes from **{share(_p(strict))}** to **{share(_p(loose))}**; what "
        f"comes out goes from {_off(strict)} to **{_off(loose)}**."
    )


def overlap(choice: Choice) -> str:
    """The bound on p of a rule that changes nothing."""
    laws = token_results.laws(choice)
    return (
        f"No lossless rule keeps more drawn words than the overlap of P and Q, **{share(laws.overlap)}**; "
        f"this one keeps {share(laws.acceptance)}. Only a better draft moves the overlap."
    )


ONE_TOKEN: tuple[Question[Choice], ...] = (
    Question(
        text="Go through the **rules**. Which keeps most, and which of them leave the target's distribution "
        "alone?",
        answer=every_rule,
    ),
    Question(text="How much could the best lossless rule keep?", answer=overlap),
    Question(
        text="Set the draft's word to *chosen*, then to *drawn*. The rule is the same: why does the badge "
        "turn?",
        answer=other_picking,
    ),
    Question(
        text="Take *Lenience* and pull its factor from 1 down. What is bought, and with what?",
        answer=lenient,
    ),
    Question(text="Pull the temperature to 0. Where do the rules meet?", answer=cold),
)

"""Why a quantity does not follow: a sentence each, for a result that stays empty must say so."""

from __future__ import annotations

from collections.abc import Collection

_NOT_ABOUT_ACCEPTANCE = frozenset({"draft_share", "cost_ratio", "speedup", "latency"})
_SETTINGS = frozenset({"gamma", "window"})
_BY_DEPTH = frozenset({"survival", "conditional_acceptance"})
_NEVER = frozenset(
    {"histogram", "head_accuracy", "v0_accepted", "v0_accepted_fraction", "speedup", "latency"}
)
"""Nothing else leads to these, and nobody asks for them."""

ASKED = (
    "tokens_per_round",
    "accepted_per_round",
    "emitted_per_round",
    "accepted_fraction",
    "efficiency",
    "fraction_with_bonus",
    "survival",
    "conditional_acceptance",
    "p",
)
"""What a conversion always answers: with a value, or with why there is none."""


def why_not(given: str, target: str, known: Collection[str]) -> str:
    """Why `target` does not follow from `given` and what is `known` beside it."""
    if given in {"v0_accepted", "v0_accepted_fraction"}:
        return (
            "vLLM V0 counts accepted tokens behind a rejection too, which never arrive; take its "
            "system efficiency, or emitted tokens / rounds."
        )
    if given == "head_accuracy":
        return (
            "a head alone is right on the target's own text; a token is accepted only if all before "
            "it were, after the draft's own tokens, and by the engine's rule."
        )
    if given in _NOT_ABOUT_ACCEPTANCE:
        return (
            "a time says nothing about acceptance unless tokens per round and the cost of a round are "
            "told apart."
        )
    if given in _SETTINGS:
        return "a draft length says nothing about how much of it is accepted."
    if given == "tokens_per_target_pass":
        return "rounds without a draft are in it, and how many there were is a number of its own."
    if target in _BY_DEPTH and given not in _BY_DEPTH | {"histogram", "p"}:
        return "one mean does not say how acceptance changes with depth."
    if "gamma" not in known:
        return "the draft length is missing: give gamma."
    return "a depth is missing: the list is shorter than γ, and what it lacks was accepted or not."

"""What names say: is a target a mixture of experts, and what is known of a family of drafts."""

from __future__ import annotations

import re

from simulator import Method, Observation

_EXPERTS = re.compile(
    r"(?:\b|-)\d+(?:\.\d+)?B-A\d+(?:\.\d+)?B\b|\b\d+x\d+(?:\.\d+)?B\b|mixtral|\bmoe\b|-moe|gpt-oss"
    r"|deepseek-(?:v[234]|r1)\b|llama-4-(?:scout|maverick)",
    re.IGNORECASE,
)
CHEAP_DRAFTS: frozenset[Method] = frozenset({"eagle", "mtp", "medusa", "ngram", "lookahead"})
"""Families whose drafting reads a layer, a head or a table, never a model of its own."""
MISSING_DRAFTS: frozenset[Method] = frozenset({"ngram", "lookahead"})
"""Families that find no draft at all in some rounds."""


def is_mixture_of_experts(observation: Observation) -> bool:
    """True if the observation says so, or the name of its target does (30B-A3B, 8x7B, Mixtral).

    >>> is_mixture_of_experts(Observation(target="Qwen3-30B-A3B bf16"))
    True
    >>> is_mixture_of_experts(Observation(target="Llama-3.1-8B-Instruct"))
    False
    """
    if observation.mixture_of_experts is not None:
        return observation.mixture_of_experts
    return bool(observation.target and _EXPERTS.search(observation.target))


def depth_reason(method: Method | None, *, rises: bool) -> str:
    """Why conditional acceptance changes with depth, as far as the family explains it."""
    if rises:
        if method == "ngram":
            return "a lookup that is right once copies a passage, so each kept token makes the next likelier"
        return (
            "rounds that get far are easy stretches of text, which deeper positions then consist of"
        )
    if method in {"eagle", "mtp"}:
        return "the draft goes on from its own states, further from the target's at every step"
    if method == "medusa":
        return "each head guesses one token further without seeing those between"
    return "the draft drifts away from the target behind its own tokens"

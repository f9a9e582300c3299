"""Lengths of prompts and answers in words: a number, a range, or a law with its mean."""

from __future__ import annotations

import math

from simulator._checks import as_count
from simulator.serving import (
    EmpiricalTokens,
    FixedTokens,
    GeometricTokens,
    LogNormalTokens,
    TokenLengths,
    UniformTokens,
)
from simulator.serving.lengths import MOST_TOKENS

FORMS = (
    "512, 100-900, geometric:256, lognormal:512,1.2 (mean and spread), the last two with ,most=4096"
)
CUT = 20
"""A geometric or log-normal law is cut at so many times its mean unless it says where."""


def token_lengths(option: str, text: str) -> TokenLengths:
    """The law in a text such as those of FORMS; ValueError naming the option for any other.

    >>> token_lengths("--output-tokens", "geometric:256")
    GeometricTokens(mean=256.0, most=5120)
    >>> token_lengths("--output-tokens", "100-900")
    UniformTokens(least=100, most=900)
    """
    name, colon, rest = text.strip().lower().partition(":")
    try:
        if not colon:
            least, dash, most = name.partition("-")
            if not dash:
                return FixedTokens(tokens=int(least))
            return UniformTokens(least=int(least), most=int(most))
        *values, last = rest.split(",")
        cut = None
        if last.strip().startswith("most="):
            cut = int(last.strip().removeprefix("most="))
        else:
            values.append(last)
        numbers = [float(value) for value in values]
    except ValueError as error:
        if str(error).startswith(("tokens", "least", "most")):  # said by the law itself
            raise ValueError(f"{option}: {error}") from None
        raise ValueError(f"{option} must be such as {FORMS}; got {text!r:.60}.") from None
    wanted = {"geometric": 1, "lognormal": 2}.get(name)
    if wanted != len(numbers):
        raise ValueError(f"{option} must be such as {FORMS}; got {text!r:.60}.")
    try:
        ends = _cut_of(numbers[0]) if cut is None else cut
        if name == "geometric":
            return GeometricTokens(mean=numbers[0], most=ends)
        return LogNormalTokens(mean=numbers[0], spread=numbers[1], most=ends)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None


def _cut_of(mean: float) -> int:
    """Where a law without a cut of its own ends; the law itself refuses a mean out of range."""
    if not 1.0 <= mean <= MOST_TOKENS:
        return MOST_TOKENS
    return min(math.ceil(CUT * mean), MOST_TOKENS)


def in_words(law: TokenLengths) -> str:
    """The law as a text that `token_lengths` takes, in short; empirical lengths in words.

    >>> in_words(LogNormalTokens(mean=512, spread=1.2, most=4096))
    'lognormal:512,1.2,most=4096'
    """
    match law:
        case FixedTokens():
            return str(law.tokens)
        case UniformTokens():
            return f"{law.least}-{law.most}"
        case GeometricTokens():
            return f"geometric:{law.mean:g},most={law.most}"
        case LogNormalTokens():
            return f"lognormal:{law.mean:g},{law.spread:g},most={law.most}"
        case EmpiricalTokens():
            return f"{as_count('values', len(law.values)):,} recorded lengths"

"""What the records of counts share: length rules, sums by depth, standard errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal, TypeAlias

from simulator.estimate import Estimate

LengthRule: TypeAlias = Literal["fixed", "scheduled", "confidence", "unknown"]
"""What decided how long a draft was; each says less about other lengths than the one before it."""
LENGTH_RULES: tuple[LengthRule, ...] = ("fixed", "scheduled", "confidence", "unknown")


def check_length_rule(rule: str) -> None:
    if rule not in LENGTH_RULES:
        raise ValueError(f"length_rule must be one of {', '.join(LENGTH_RULES)}; got {rule!r}.")


def proportion(successes: int, trials: int) -> Estimate:
    if trials == 0:
        return Estimate(value=math.nan)
    share = successes / trials
    return Estimate(value=share, se=math.sqrt(share * (1.0 - share) / trials))


def standard_error(accepted: Sequence[int], rounds: int) -> float | None:
    """Standard error of accepted tokens per round, in whole numbers up to the root."""
    if rounds < 2:
        return None
    rounds, counts = int(rounds), [int(count) for count in accepted]  # NumPy's would overflow
    # counts[i] rounds kept at least i + 1 tokens, and n² is the sum of 2 i + 1 over i < n.
    squares = sum((2 * i + 1) * count for i, count in enumerate(counts))
    spread = rounds * squares - sum(counts) ** 2
    return math.sqrt(spread / (rounds**2 * (rounds - 1)))


def add_by_depth(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    """Sum by depth; the shorter one has no counts at the depths it lacks."""
    return tuple(a + b for a, b in zip_longest(first, second, fillvalue=0))


def add_known(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def pooled_rule(
    first: LengthRule, first_longest: int | None, second: LengthRule, second_longest: int | None
) -> LengthRule:
    """Fixed drafts of two lengths make a schedule; otherwise the rule that says less stays."""
    if first == second == "fixed" and first_longest != second_longest:
        return "scheduled"
    return max(first, second, key=LENGTH_RULES.index)

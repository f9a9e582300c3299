"""The arithmetic of the rules: from known values, with their ranges, to the values that follow.

Every step is monotone in each of its inputs, so that ends go to ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import accumulate
from operator import mul
from typing import TypeAlias

from analysis.conversion.values import Known
from analysis.formulas import expected_tokens
from analysis.optimum import p_from_tokens

Inputs: TypeAlias = tuple[Known, ...]
Step: TypeAlias = Callable[[Inputs], "Known | None"]
"""None where the quantity does not follow after all."""


def plus(amount: float) -> Step:
    """A fixed amount more."""
    return lambda inputs: inputs[0].through(lambda value: value + amount)


def times(inputs: Inputs, amount: Callable[[float], float]) -> Known:
    """The first input times a number made of the second."""
    factor = amount(inputs[1].values[0])
    return inputs[0].through(lambda value: value * factor)


def over(inputs: Inputs, amount: Callable[[float], float]) -> Known:
    """The first input divided by a number made of the second."""
    divisor = amount(inputs[1].values[0])
    return inputs[0].through(lambda value: value / divisor)


def same(inputs: Inputs) -> Known:
    """The same number under another name."""
    return inputs[0]


def undiscarded(inputs: Inputs) -> Known | None:
    """Fewer tokens than rounds can arrive only if some were thrown away."""
    return inputs[0] if inputs[0].lows[0] >= 1.0 else None


def total(inputs: Inputs) -> Known | None:
    """The sum over depths; None where the list is shorter than the draft."""
    survival, gamma = inputs
    if len(survival.values) != gamma.values[0]:
        return None  # a depth is missing
    return Known(
        values=(math.fsum(survival.values),),
        lows=(math.fsum(survival.lows),),
        highs=(math.fsum(survival.highs),),
    )


def alone(inputs: Inputs) -> Known | None:
    """A mean of drafts of one token is the survival of that token; None for longer drafts."""
    return inputs[0] if inputs[1].values[0] == 1 else None


def products(inputs: Inputs) -> Known:
    """Running products over depths."""
    return Known(
        values=tuple(accumulate(inputs[0].values, mul)),
        lows=tuple(accumulate(inputs[0].lows, mul)),
        highs=tuple(accumulate(inputs[0].highs, mul)),
    )


def ratios(inputs: Inputs) -> Known:
    """Each depth over the one before it; unknown (NaN, in [0, 1]) behind a survival of 0."""
    survival = inputs[0]
    values, lows, highs = [survival.values[0]], [survival.lows[0]], [survival.highs[0]]
    for depth in range(1, len(survival.values)):
        before = depth - 1
        alive, least, most = survival.values[before], survival.lows[before], survival.highs[before]
        values.append(min(survival.values[depth] / alive, 1.0) if alive > 0.0 else math.nan)
        lows.append(survival.lows[depth] / most if most > 0.0 else 0.0)
        highs.append(min(survival.highs[depth] / least, 1.0) if least > 0.0 else 1.0)
    return Known(values=tuple(values), lows=tuple(lows), highs=tuple(highs))


def survivors(inputs: Inputs) -> Known | None:
    """The share of rounds that kept at least i tokens, from how many kept exactly i."""
    counts = inputs[0].values
    rounds = math.fsum(counts)
    if rounds == 0.0:
        return None
    reached = list(accumulate(reversed(counts)))[::-1]  # rounds that kept at least i tokens
    return Known.exact([count / rounds for count in reached[1:]])


def mean_of_histogram(inputs: Inputs) -> Known | None:
    """Accepted tokens per round, from how many rounds kept exactly i."""
    counts = inputs[0].values
    rounds = math.fsum(counts)
    if rounds == 0.0:
        return None
    return Known.exact([math.fsum(n * count for n, count in enumerate(counts)) / rounds])


def solved(inputs: Inputs) -> Known:
    """The p that gives these tokens per round."""
    gamma = int(inputs[1].values[0])
    return inputs[0].through(lambda tokens: p_from_tokens(tokens, gamma))


def expected(inputs: Inputs) -> Known:
    """Tokens per round at one p."""
    gamma = int(inputs[1].values[0])
    return inputs[0].through(lambda p: float(expected_tokens(p, gamma)))


def powers(inputs: Inputs) -> Known:
    """p to the power of each depth, counted from 1."""
    p, depths = inputs[0], range(1, int(inputs[1].values[0]) + 1)
    return Known(
        values=tuple(p.values[0] ** i for i in depths),
        lows=tuple(p.lows[0] ** i for i in depths),
        highs=tuple(p.highs[0] ** i for i in depths),
    )


def repeated(inputs: Inputs) -> Known:
    """The same p at every depth."""
    p, gamma = inputs[0], int(inputs[1].values[0])
    return Known(values=p.values * gamma, lows=p.lows * gamma, highs=p.highs * gamma)


def cost_of_share(inputs: Inputs) -> Known | None:
    """c from the share of a round that drafting takes, beside one plain step; None for all of it."""
    share, gamma = inputs[0], inputs[1].values[0]
    if share.highs[0] >= 1.0:
        return None  # all of the round is drafting: no finite cost
    return share.through(lambda value: value / ((1.0 - value) * gamma))


def share_of_cost(inputs: Inputs) -> Known:
    """The share of a round that drafting takes beside one plain step."""
    gamma = inputs[1].values[0]
    return inputs[0].through(lambda cost: gamma * cost / (gamma * cost + 1.0))

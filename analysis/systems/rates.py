"""From published figures to acceptance by depth and rank, and what has to be solved for on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analysis.systems.facts import system_facts
from analysis.trees.bounds import lookahead_tokens
from simulator._checks import as_count, as_probability

Rates = tuple[tuple[float, ...], ...]
"""P(the child of rank r is the accepted one | its parent is), shape [depth][rank]; a row sums to 1 at most."""


def medusa_rates() -> Rates:
    """How often each head's k-th guess, and no other, is the model's own token, shape [5 heads][5 ranks].

    Differences of the published shares of the best one to five (Medusa's training log, Vicuna 7B). What
    lies behind the fifth guess is not published and counts as never right.

    >>> medusa_rates()[0][:2]
    (0.56, 0.112)
    """
    best: dict[int, dict[int, float]] = {}
    for fact in system_facts("top_accuracy", "Medusa"):
        if fact.depth is not None and fact.rank is not None:
            best.setdefault(fact.depth, {})[fact.rank] = fact.value
    return tuple(
        tuple(
            round(shares[rank] - shares.get(rank - 1, 0.0), 12)  # printed with three decimals
            for rank in sorted(shares)
        )
        for _, shares in sorted(best.items())
    )


def at_most(rates: Rates, ranks: int) -> Rates:
    """The same rates with the most that guesses behind the last published one can add, up to `ranks`.

    A later guess is right no more often than the one before it, and all together leave nothing over.

    >>> [round(rate, 3) for rate in at_most(((0.6, 0.1),), 5)[0]]
    [0.6, 0.1, 0.1, 0.1, 0.1]
    >>> [round(rate, 3) for rate in at_most(((0.6, 0.3),), 4)[0]]
    [0.6, 0.3, 0.05, 0.05]
    """
    return tuple(_filled(row, as_count("ranks", ranks, least=len(row))) for row in rates)


def _filled(row: tuple[float, ...], ranks: int) -> tuple[float, ...]:
    more = ranks - len(row)
    if not more:
        return row
    each = min(row[-1], max(1.0 - math.fsum(row), 0.0) / more)
    return (*row, *(each,) * more)


def n_alpha(target: str = "Vicuna 7B", temperature: str = "0") -> tuple[float, ...]:
    """P(accepted | tested) by depth of EAGLE's chains on MT-Bench, shape [5].

    >>> n_alpha()
    (0.79, 0.74, 0.72, 0.73, 0.67)
    """
    facts = system_facts("n_alpha", "EAGLE", target=target, temperature=temperature)
    return tuple(fact.value for fact in facts)


def sibling_rates(first: Sequence[float], share: float, ranks: int) -> Rates:
    """Rates of further candidates where only the first one's is known: each takes `share` of what is left.

    Rank 0 of depth d has first[d]; rank r the share of 1 − first[d] − (ranks 1 to r − 1). An assumption of
    this project's, with one number to solve for.

    >>> [round(rate, 4) for rate in sibling_rates((0.8,), 0.5, 3)[0]]
    [0.8, 0.1, 0.05]
    """
    share = as_probability("share", share)
    ranks = as_count("ranks", ranks, least=1)
    return tuple(
        (
            as_probability("first", value),
            *((1.0 - value) * share * (1.0 - share) ** place for place in range(ranks - 1)),
        )
        for value in first
    )


def positional_vector() -> tuple[float, ...]:
    """Sequoia's published acceptance by rank, the same at every depth, shape [32].

    >>> positional_vector()[:3]
    (0.6342, 0.1079, 0.057)
    """
    return tuple(fact.value for fact in system_facts("positional_acceptance", "Sequoia"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFit:
    """A pool of n-grams that has something in `hit` of the rounds, kept token by token with p."""

    p: float
    hit: float


def fit_pool(one: float, many: float, ngram: int, candidates: int) -> PoolFit:
    """The p and the hit rate that give `one` tokens per round with a single candidate and `many` with several.

    (many − 1) / (one − 1) falls in p and does not depend on the hit rate (`lookahead_tokens`), so that both
    follow. Raises ValueError where no such pair exists.

    >>> fit = fit_pool(1.79, 1.96, 5, 15)
    >>> lookahead_tokens(fit.p, 5, [1, 15], hit=fit.hit).round(6)
    array([1.79, 1.96])
    """

    def gain(p: float, count: int) -> float:
        return float(lookahead_tokens(p, ngram, count)) - 1.0

    wanted = (many - 1.0) / (one - 1.0)
    p = solved(lambda value: -gain(value, candidates) / gain(value, 1), -wanted, low=1e-6)
    return PoolFit(p=p, hit=as_probability("hit", (one - 1.0) / gain(p, 1)))


def solved(
    rising: Callable[[float], float], wanted: float, *, low: float = 0.0, high: float = 1.0
) -> float:
    """Where a function that rises from `low` to `high` takes the wanted value.

    Raises ValueError if it does not reach it.

    >>> round(solved(lambda x: x * x, 0.25), 12)
    0.5
    """
    if not rising(low) <= wanted <= rising(high):
        raise ValueError(
            f"wanted must be between {rising(low):g} and {rising(high):g} here; got {wanted:g}."
        )
    from scipy.optimize import brentq  # noqa: PLC0415 — `import analysis` loads numpy only

    return float(brentq(lambda value: rising(value) - wanted, low, high, xtol=1e-13))

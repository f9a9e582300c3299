"""Is a sampled table what the exact law says? Quantity by quantity, with error rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from analysis.exact import RoundLaw, round_law
from simulator import AcceptanceTable, Strategy
from simulator._counting import LengthRule

FALSE_ALARM_RATE = 1e-8
"""Chance that one comparison rejects a right engine."""
_RARE = 10_000.0  # fewer expected successes or failures than this are not normal at 5.7 sd
_FEWEST_EXPECTED = 25.0  # chi-square cells below this are merged with their neighbour
_LEAST_CHI_SQUARE_P = 1e-11  # with such cells the real chance of a nominal 1e-8 is up to 4e-7


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One quantity: exact value, simulated value, the exact standard error, z = difference / se.

    `tail_z` is what is judged: z, or where accepting or rejecting is so rare that the normal law
    fails, the z of a normal law with the same tail (0 where that is not in the tail at all).
    """

    quantity: str
    exact: float
    simulated: float
    se: float
    z: float
    tail_z: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """All comparisons of a table with its exact law.

    `chi_square_p` is the p-value of Pearson's test of the whole distribution of accepted lengths
    (NaN where one cell is left); `support_ok` is False if an outcome of probability 0 occurred.
    """

    comparisons: tuple[Comparison, ...]
    chi_square_p: float
    support_ok: bool
    z_limit: float

    @property
    def passed(self) -> bool:
        """True if no comparison is beyond its limit; each alone is wrong with chance 1e-8."""
        within = all(abs(row.tail_z) <= self.z_limit for row in self.comparisons)
        fits = math.isnan(self.chi_square_p) or self.chi_square_p >= _LEAST_CHI_SQUARE_P
        return within and fits and self.support_ok


def check(strategy: Strategy, table: AcceptanceTable) -> Check:
    """Compare a simulated table with the exact law of the strategy.

    Tokens per round, accepted fraction, and per depth conditional acceptance and survival, each by
    z; the distribution of lengths by chi-square; impossible outcomes by name. Each catches an error
    that another misses. Standard errors come from the exact law, not from the sample. Trees are
    compared in how often a round tests a depth, too; what a table by depth cannot show, such as two
    leaves of one parent that swapped their rates, `check_nodes` does. Raises ValueError if the table has
    other depths than the strategy drafts, or for drafts whose length was not fixed, in the table or in
    the strategy.

    >>> from simulator import draft_model, simulate
    >>> strategy = draft_model(p=0.7, gamma=4)
    >>> result = check(strategy, simulate(strategy, rounds=200_000, rng=0))
    >>> result.passed, result.comparisons[0].quantity, round(result.comparisons[0].exact, 4)
    (True, 'tokens_per_round', 2.7731)
    """
    law = round_law(strategy)
    if table.depths != len(law.survival) or table.rounds == 0:
        raise ValueError(
            f"the table must hold rounds of {len(law.survival)} depths; "
            f"got {table.rounds} rounds of {table.depths}."
        )
    if table.length_rule != strategy.draft.length_rule:
        raise ValueError(
            f"the table must hold drafts {_ruled(strategy.draft.length_rule)}; got length_rule "
            f"{table.length_rule!r}."
        )
    chi_square_p, support_ok = distribution(law.pmf, table.ended, table.rounds)
    return Check(
        comparisons=(*_overall(law, table), *_by_depth(law, table)),
        chi_square_p=chi_square_p,
        support_ok=support_ok,
        z_limit=z_limit(),
    )


def z_limit(false_alarm_rate: float = FALSE_ALARM_RATE) -> float:
    """The |z| that a standard normal exceeds with the given chance, both sides.

    >>> round(z_limit(), 2)
    5.73
    """
    from scipy.special import ndtri  # noqa: PLC0415 — keeps `import analysis` light

    return float(-ndtri(false_alarm_rate / 2.0))


def _overall(law: RoundLaw, table: AcceptanceTable) -> list[Comparison]:
    se = math.sqrt(law.variance / table.rounds)
    tokens = _compare("tokens_per_round", law.tokens_per_round, table.tokens_per_round.value, se)
    rows = [_bounded_tail(tokens, law, table.rounds)]
    if law.drafted and table.drafted:
        fraction = table.accepted_fraction.value
        spread = math.sqrt(law.fraction_variance * table.rounds)
        row = _compare("accepted_fraction", law.accepted_fraction, fraction, spread / table.drafted)
        rows.append(_bounded_tail(row, law, table.rounds))
    return rows


def _bounded_tail(row: Comparison, law: RoundLaw, rounds: int) -> Comparison:
    """The mean's z; where accepting or rejecting is rare, the z of Bernstein's bound of its tail.

    P(sum of n deviations beyond t) <= exp(-t² / (2 (n σ² + d t / 3))), d the largest deviation.
    """
    events = rounds * min(law.survival[0], 1.0 - law.survival[-1]) if law.survival else 0.0
    if row.z == 0.0 or not 0.0 < events < _RARE:
        return row
    farthest = max(law.tokens_per_round - 1.0, len(law.survival) + 1.0 - law.tokens_per_round)
    spread = math.sqrt(law.variance * rounds)
    exponent = row.z**2 / (2.0 * (1.0 + farthest * abs(row.z) / (3.0 * spread)))
    return _with_tail(row, math.exp(-exponent))


def _with_tail(row: Comparison, tail: float) -> Comparison:
    """The row judged by the z that a normal law gives this tail, never farther out than its own."""
    from scipy.special import ndtri  # noqa: PLC0415 — keeps `import analysis` light

    size = min(max(-float(ndtri(tail)), 0.0), abs(row.z))
    return replace(row, tail_z=math.copysign(size, row.z))


def _by_depth(law: RoundLaw, table: AcceptanceTable) -> list[Comparison]:
    rows: list[Comparison] = []
    reached = (1.0, *law.survival)
    for depth, (p, tested, accepted) in enumerate(
        zip(law.conditional, table.tested, table.accepted, strict=True)
    ):
        if law.tested[depth] != reached[depth]:  # a chain tests all that it reaches, a leaf nothing
            rows.append(proportion(f"tested[{depth}]", law.tested[depth], tested, table.rounds))
        if tested:
            rows.append(proportion(f"conditional_acceptance[{depth}]", p, accepted, tested))
        alive = law.survival[depth]
        rows.append(proportion(f"survival[{depth}]", alive, accepted, table.rounds))
    return rows


def _ruled(rule: LengthRule) -> str:
    return "of fixed length" if rule == "fixed" else f"of length_rule {rule!r}"


def proportion(quantity: str, p: float, successes: int, trials: int) -> Comparison:
    """z by the normal law, or where successes or failures are rare by the exact binomial tail."""
    row = _compare(quantity, p, successes / trials, math.sqrt(p * (1.0 - p) / trials))
    if row.z == 0.0 or not 0.0 < trials * min(p, 1.0 - p) < _RARE:
        return row
    from scipy.special import betainc  # noqa: PLC0415 — keeps `import analysis` light

    tail = (
        betainc(successes, trials - successes + 1, p)  # P(as many or more)
        if row.z > 0.0
        else betainc(trials - successes, successes + 1, 1.0 - p)  # P(as few or fewer)
    )
    return _with_tail(row, float(tail))


def _compare(quantity: str, exact: float, simulated: float, se: float) -> Comparison:
    difference = simulated - exact
    if abs(difference) <= 1e-12 * abs(exact):  # equal but for rounding, also where se is 0
        z = 0.0
    else:
        z = difference / se if se > 0.0 else math.copysign(math.inf, difference)
    return Comparison(quantity=quantity, exact=exact, simulated=simulated, se=se, z=z, tail_z=z)


def distribution(pmf: Sequence[float], ended: Sequence[int], rounds: int) -> tuple[float, bool]:
    """p-value of Pearson's chi-square on merged cells, and whether only possible outcomes occurred."""
    from scipy.special import chdtrc  # noqa: PLC0415 — scipy.stats would cost a second at import

    support_ok = all(count == 0 or weight > 0.0 for count, weight in zip(ended, pmf, strict=True))
    cells = _merged([weight * rounds for weight in pmf], list(ended))
    if len(cells) < 2:
        return math.nan, support_ok
    statistic = math.fsum((seen - expected) ** 2 / expected for expected, seen in cells)
    return float(chdtrc(len(cells) - 1, statistic)), support_ok


def _merged(expected: list[float], seen: list[int]) -> list[tuple[float, int]]:
    """Cells from the deepest on, merged until each expects enough rounds; the rest joins the last."""
    cells: list[tuple[float, int]] = []
    weight, count = 0.0, 0
    for cell_weight, cell_count in zip(reversed(expected), reversed(seen), strict=True):
        weight, count = weight + cell_weight, count + cell_count
        if weight >= _FEWEST_EXPECTED:
            cells.append((weight, count))
            weight, count = 0.0, 0
    if (weight or count) and cells:
        cells[-1] = (cells[-1][0] + weight, cells[-1][1] + count)
    return cells

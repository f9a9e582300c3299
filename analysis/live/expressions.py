"""The closed forms as Vega expressions, each stated once; the same formulas as `analysis.formulas`.

Names in them are signals of the charts: p, gamma, cost_ratio, verify_cost, overhead. A test computes
the expressions in Vega and compares them with the closed forms.
"""

from __future__ import annotations

from collections.abc import Iterable

from analysis.live.setting import MAX_GAMMA

CLOSE = 1e-12
"""Relative; what differs by less is rounding, and of equally good draft lengths the shortest counts."""
_LONGEST = 10_000


def tokens(p: str, gamma: str | int) -> str:
    """E[tokens] = 1 + p + p² + … + p^gamma, by Horner; no quotient, so sound at and near p = 1.

    A gamma that is a name may be anything from 0 to MAX_GAMMA.

    >>> tokens("p", 2)
    '(1 + p * (1 + p * (1)))'
    """
    longest = gamma if isinstance(gamma, int) else MAX_GAMMA
    inner = "1"
    for depth in range(longest, 0, -1):
        kept = p if isinstance(gamma, int) else f"({gamma} >= {depth}) * {p}"
        inner = f"1 + {kept} * ({inner})"
    return f"({inner})"


def round_cost(gamma: str | int) -> str:
    """Cost of a round with a draft, in plain target steps.

    >>> round_cost("gamma")
    '(gamma * cost_ratio + verify_cost + overhead)'
    """
    return f"({gamma} * cost_ratio + verify_cost + overhead)"


def cost_ratio_at(speedup: str, tokens_per_round: str) -> str:
    """The cost ratio at which a draft of gamma tokens gives this speedup; below 0 where none does.

    >>> cost_ratio_at("2", "tokens[gamma]")
    '((tokens[gamma] / (2) - verify_cost - overhead) / gamma)'
    """
    return f"(({tokens_per_round} / ({speedup}) - verify_cost - overhead) / gamma)"


def by_gamma(first: str, others: Iterable[str]) -> str:
    """An array of `first`, the value at gamma = 0, and one for each gamma after it.

    >>> by_gamma("1", ["p", "p * p"])
    '[1, p, p * p]'
    """
    return f"[{', '.join((first, *others))}]"


def step_gains(gamma: int) -> str:
    """Whether gamma + 1 beats gamma: (V + o + c gamma) p^(gamma + 1) > c E(gamma).

    Once it fails it fails for every longer draft (Leviathan et al. 2023, section 3.4, derived).
    """
    return (
        f"({round_cost(gamma)} * pow(p, {gamma + 1}) > "
        f"cost_ratio * tokens[{gamma}] * (1 + {CLOSE}))"
    )


def longer_pays() -> str:
    """Whether some draft longer than MAX_GAMMA beats plain decoding: E(n) > V + o + c n.

    E(n) - c n rises while p^n > c, so its largest n decides; the quotient serves as n is long.
    """
    length = (
        f"clamp(cost_ratio > 0 && p < 1 ? floor(log(cost_ratio) / log(p)) : {_LONGEST}, "
        f"{MAX_GAMMA}, {_LONGEST})"
    )
    expected = f"(p < 1 ? (1 - pow(p, {length} + 1)) / (1 - p) : {length} + 1)"
    return f"({expected} > {round_cost(length)} * (1 + {CLOSE}))"


def steps_above(value: str, *steps: float) -> str:
    """The end of an axis: the first of the rising steps that holds the value, else the value itself.

    >>> steps_above("top", 2, 3)
    '(top <= 2 ? 2 : top <= 3 ? 3 : top)'
    """
    choices = "".join(f"{value} <= {step:g} ? {step:g} : " for step in steps)
    return f"({choices}{value})"

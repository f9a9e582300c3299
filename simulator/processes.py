"""How acceptance arises: the law that decides whether a tested token is kept.

A process is data. `conditional(gamma)` gives P(accepted | tested) per depth; the engine flips by it
and `analysis.exact` multiplies by it, each on its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from simulator._checks import as_count, as_nonnegative, as_probability


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantAcceptance:
    """Every tested token is kept with the same probability p (Leviathan et al. 2023, i.i.d. β).

    >>> ConstantAcceptance(p=0.7).conditional(3)
    (0.7, 0.7, 0.7)
    """

    p: float

    def __post_init__(self) -> None:
        as_probability("p", self.p)

    def conditional(self, gamma: int) -> tuple[float, ...]:
        """P(accepted | tested) at each of `gamma` depths."""
        return (float(self.p),) * gamma


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceByDepth:
    """The i-th drafted token is kept with probability by_depth[i], given that it is tested.

    The n-α of EAGLE, the conditional rates of Dynamo and Model-Optimizer.

    >>> AcceptanceByDepth(by_depth=(0.8, 0.6)).conditional(1)
    (0.8,)
    """

    by_depth: tuple[float, ...]

    def __post_init__(self) -> None:
        for depth, value in enumerate(self.by_depth):
            as_probability(f"by_depth[{depth}]", value)

    def conditional(self, gamma: int) -> tuple[float, ...]:
        """P(accepted | tested) at each of `gamma` depths; ValueError beyond the known ones."""
        if gamma > len(self.by_depth):
            raise ValueError(
                f"gamma must be at most the {len(self.by_depth)} depths of by_depth; got {gamma}."
            )
        return self.by_depth[:gamma]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidentAcceptance:
    """Each drafted token shows a confidence, and the confidence says how likely it is kept.

    Every token, independently of all others, shows confidence levels[k] with probability weights[k]
    and is then kept, if it is tested, with probability accepted[k]. Calibrated means accepted =
    levels. Drafts that ignore the confidence keep each token with p = Σ weights · accepted, so every
    formula for one p holds for them. Shapes: [levels] each. Raises ValueError for shapes that differ,
    values outside [0, 1] and weights that do not sum to 1 within 1e-9.

    >>> law = ConfidentAcceptance(levels=(0.2, 0.9), weights=(0.25, 0.75), accepted=(0.4, 0.8))
    >>> round(law.p, 12)
    0.7
    """

    levels: tuple[float, ...]
    weights: tuple[float, ...]
    accepted: tuple[float, ...]

    def __post_init__(self) -> None:
        sizes = [len(self.levels), len(self.weights), len(self.accepted)]
        if sizes[0] == 0 or len(set(sizes)) > 1:
            raise ValueError(
                "levels, weights and accepted must have one value per level each, and one level at "
                f"least; got {sizes[0]}, {sizes[1]} and {sizes[2]}."
            )
        for k in range(sizes[0]):
            as_probability(f"levels[{k}]", self.levels[k])
            as_probability(f"weights[{k}]", self.weights[k])
            as_probability(f"accepted[{k}]", self.accepted[k])
        total = math.fsum(self.weights)
        if abs(total - 1.0) > 1e-9:
            raise ValueError(f"weights must sum to 1; got {total!r}.")

    @property
    def p(self) -> float:
        """P(accepted | tested) of a token whose confidence nobody looked at."""
        kept = math.fsum(w * a for w, a in zip(self.weights, self.accepted, strict=True))
        return min(kept / math.fsum(self.weights), 1.0)  # rounding may pass 1 by one unit

    def conditional(self, gamma: int) -> tuple[float, ...]:
        """P(accepted | tested) at each of `gamma` depths of a fixed draft."""
        return (self.p,) * gamma


def calibrated_acceptance(
    *, p: float, concentration: float, levels: int = 20
) -> ConfidentAcceptance:
    """A calibrated joint law: confidence is Beta(p s, (1 - p) s), and so often is the token kept.

    s = `concentration`: near 0 the draft knows (confidence 0 or 1), large means that every token
    shows about p. The Beta law is cut at its quantiles into `levels` parts of equal probability;
    each shows the mean of its part, m_k = levels · p (I(x_k; p s + 1, (1 - p) s) - I(x_{k-1}; …)), so
    that the mean stays p. A choice of shape, not a measurement. Raises ValueError for a p outside
    [0, 1], a concentration that is not above 0, fewer than 1 or more than 10,000 levels.

    >>> law = calibrated_acceptance(p=0.7, concentration=2.0, levels=4)
    >>> [round(level, 3) for level in law.levels], round(law.p, 12)
    ([0.312, 0.654, 0.859, 0.974], 0.7)
    """
    from scipy.special import betainc, betaincinv  # noqa: PLC0415 — `import simulator` loads numpy only

    p, concentration = as_probability("p", p), as_nonnegative("concentration", concentration)
    levels = as_count("levels", levels, least=1, most=10_000)
    if concentration == 0.0:
        raise ValueError("concentration must be above 0; got 0.")
    kept, lost = p * concentration, (1.0 - p) * concentration
    if not (kept > 0.0 and lost > 0.0):  # also where the product is too small for a float
        return ConfidentAcceptance(levels=(p,), weights=(1.0,), accepted=(p,))
    cuts = [float(betaincinv(kept, lost, k / levels)) for k in range(levels + 1)]
    below = [float(betainc(kept + 1.0, lost, cut)) for cut in cuts]
    means = [
        # A mean lies within its part; the difference of two tails may miss that by rounding.
        min(max(levels * p * (below[k + 1] - below[k]), cuts[k]), cuts[k + 1])
        for k in range(levels)
    ]
    return ConfidentAcceptance(
        levels=tuple(means), weights=(1.0 / levels,) * levels, accepted=tuple(means)
    )


AcceptanceProcess: TypeAlias = ConstantAcceptance | AcceptanceByDepth | ConfidentAcceptance

"""EAGLE's acceptance split into easy and hard contexts, so that chains keep their published acceptance."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.systems.rates import sibling_rates
from simulator import Context
from simulator._checks import as_probability


def easy_and_hard(
    by_depth: Sequence[float], *, spread: float, share: float, ranks: int
) -> tuple[Context, Context]:
    """Two contexts, equally common, whose chains together are kept with `by_depth`.

    A round stays in its context. The first candidate fails (1 − spread) and (1 + spread) times a common
    chance, solved at each depth for the contexts that are left: deep down the easy one is more frequent.
    Further candidates as in `sibling_rates`. Raises ValueError where a failure would be above 1.

    >>> easy, hard = easy_and_hard((0.8, 0.8), spread=0.5, share=0.3, ranks=2)
    >>> [[round(row[0], 4) for row in context.by_depth] for context in (easy, hard)]
    [[0.9, 0.8933], [0.7, 0.68]]
    """
    spread = as_probability("spread", spread)
    fails = (1.0 - spread, 1.0 + spread)
    weights = [0.5, 0.5]
    first: list[list[float]] = [[], []]
    for depth, value in enumerate(by_depth):
        kept = as_probability(f"by_depth[{depth}]", value)
        common = (1.0 - kept) * sum(weights)
        common /= sum(weight * fail for weight, fail in zip(weights, fails, strict=True))
        for index, fail in enumerate(fails):
            if common * fail > 1.0:
                raise ValueError(
                    f"spread must leave every chance of failing at most 1; got {common * fail:.3f} at "
                    f"depth {depth + 1}."
                )
            first[index].append(1.0 - common * fail)
            weights[index] *= first[index][-1]
    easy, hard = (
        Context(share=0.5, by_depth=sibling_rates(row, share, ranks)) for row in first
    )  # fmt: skip
    return easy, hard

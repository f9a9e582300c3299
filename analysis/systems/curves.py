"""Acceptance by depth from published curves of tokens per round."""

from __future__ import annotations

from itertools import pairwise

from analysis.fitting.families import PublishedCurve, published_curves
from simulator import Method


def curve_by_name(name: str) -> PublishedCurve:
    """One published curve; ValueError for a name that is none.

    >>> curve_by_name("dflash-tpu-gsm8k").family
    'block'
    """
    for curve in published_curves():
        if curve.name == name:
            return curve
    raise ValueError(f"curve must be a published one; got {name!r}.")


def curves_by_position(method: Method) -> tuple[PublishedCurve, ...]:
    """The curves of a method that say something of every length from one on.

    >>> [curve.name for curve in curves_by_position("ngram")]
    ['ngram-pr-24344']
    """
    return tuple(
        curve
        for curve in published_curves()
        if curve.family == method
        and curve.kind == "positions"
        and sorted(curve.tokens) == list(range(1, len(curve.tokens) + 1))
    )


def depth_rates(curve: PublishedCurve) -> tuple[float, ...]:
    """P(accepted | tested) by depth, from tokens per round at every length from one on.

    >>> [round(rate, 3) for rate in depth_rates(curve_by_name("qwen3.6-27b-mtp-code"))[:2]]
    [0.912, 0.857]
    """
    tokens = [1.0, *(curve.tokens[gamma] for gamma in sorted(curve.tokens))]
    survival = [1.0, *(after - before for before, after in pairwise(tokens))]
    return tuple(round(after / before, 12) for before, after in pairwise(survival))

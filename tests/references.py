"""Slow, exact answers that share nothing with the closed forms: enumeration and fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product


def enumerated_pmf(conditional):
    """P(n accepted), shape [gamma + 1], over all 2^gamma verdicts of independent tokens."""
    pmf = [Fraction(0)] * (len(conditional) + 1)
    chances = [Fraction(p) for p in conditional]
    for verdicts in product((True, False), repeat=len(chances)):
        weight = Fraction(1)
        for kept, p in zip(verdicts, chances, strict=True):
            weight *= p if kept else 1 - p
        accepted = next((n for n, kept in enumerate(verdicts) if not kept), len(verdicts))
        pmf[accepted] += weight
    return pmf


def mean_and_variance(pmf):
    mean = sum(n * weight for n, weight in enumerate(pmf))
    return mean, sum(weight * (n - mean) ** 2 for n, weight in enumerate(pmf))


def exact_expected_tokens(p, gamma):
    """(1 - p^(gamma + 1)) / (1 - p) of a float p < 1 in whole numbers, rounded once at the end."""
    top, bottom = p.as_integer_ratio()
    length = gamma + 1
    return (bottom**length - top**length) / (bottom**gamma * (bottom - top))


def exact_variance(p, gamma):
    """Variance of min(geometric, gamma) in whole numbers, from the sums of p^i and i p^i."""
    a, d = p.as_integer_ratio()
    lost = d - a
    kept, whole = a**gamma, d**gamma  # p^gamma = kept / whole
    twice = 2 * a * whole * (whole * d - (gamma + 1) * kept * d + gamma * kept * a)
    mean = a * (whole - kept)
    return (twice - mean * lost * whole - mean**2) / (lost * whole) ** 2


def exact_speedup(p, gamma, cost_ratio, verify_cost=1.0, overhead=0.0):
    """E / cost as a Fraction, term by term; gamma = 0 is plain decoding."""
    if gamma == 0:
        return Fraction(1)
    chance = Fraction(p)
    tokens, term = Fraction(1), Fraction(1)
    for _ in range(gamma):
        term *= chance
        tokens += term
    return tokens / (gamma * Fraction(cost_ratio) + Fraction(verify_cost) + Fraction(overhead))

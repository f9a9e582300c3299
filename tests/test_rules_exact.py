"""The sampled rules against their enumerated twins: kept tokens and the token behind them, jointly."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare
from stats import CHI_SQUARE_LIMIT, FEWEST_EXPECTED

import simulator as sim
from analysis import expected_accepted
from analysis.tokens._verdicts import verdicts

ROUNDS = 150_000
VOCABULARY = 3
CASES = {  # target [gamma + 1, vocabulary], draft [gamma, vocabulary]
    "apart": (
        [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]],
        [[0.2, 0.2, 0.6], [0.5, 0.4, 0.1]],
    ),
    "zeros": (
        [[0.0, 0.4, 0.6], [0.7, 0.3, 0.0], [0.0, 0.0, 1.0]],
        [[0.3, 0.7, 0.0], [0.5, 0.0, 0.5]],
    ),
    "equal": (
        [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]],
        [[0.5, 0.3, 0.2], [0.4, 0.4, 0.2]],
    ),
    "sure": (
        [[0.0, 1.0, 0.0], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0]],
        [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
    ),
}
every_case = pytest.mark.parametrize("case", CASES)
every_rule = pytest.mark.parametrize("rule", sim.RULES, ids=lambda rule: rule.name)


def exact_law(rule, target, draft, picked):
    """P(draft, kept, next token) by enumeration, [vocabulary^gamma, gamma + 1, vocabulary]."""
    gamma = len(draft)
    law = np.zeros((VOCABULARY**gamma, gamma + 1, VOCABULARY))
    for code, drafted in enumerate(product(range(VOCABULARY), repeat=gamma)):
        if picked == "chosen":
            weight = float(drafted == tuple(row.index(max(row)) for row in draft))
        else:
            weight = math.prod(row[token] for row, token in zip(draft, drafted, strict=True))
        if weight:
            for kept, correction, chance in verdicts(rule, target, draft, drafted):
                law[code, kept] += weight * chance * np.array(correction, dtype=float)
    return law


def sampled_counts(rule, target, draft, picked, rng):
    gamma = len(draft)
    if picked == "chosen":
        drafted = np.tile(np.argmax(draft, axis=1), (ROUNDS, 1))
    else:
        drafted = np.column_stack([rng.choice(VOCABULARY, ROUNDS, p=row) for row in draft])
    contexts = [np.tile(np.arange(depths), (ROUNDS, 1)) for depths in (gamma + 1, gamma)]
    verdict = sim.verify(target, draft, drafted, rule=rule, rng=rng, contexts=tuple(contexts))
    counts = np.zeros((VOCABULARY**gamma, gamma + 1, VOCABULARY), dtype=int)
    code = drafted @ VOCABULARY ** np.arange(gamma)[::-1]
    np.add.at(counts, (code, verdict.lengths, verdict.next_token), 1)
    return counts


def fit(counts, law):
    """p-value of Pearson's test; 0 if something impossible happened. Rare outcomes are one cell."""
    if counts[law < 1e-12].any():
        return 0.0
    seen, expected = counts[law >= 1e-12], law[law >= 1e-12] * ROUNDS
    rare = expected < FEWEST_EXPECTED
    if expected[rare].sum() >= FEWEST_EXPECTED:
        seen = np.append(seen[~rare], seen[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    elif rare.any():
        order = np.argsort(expected)
        merged = np.flatnonzero(np.cumsum(expected[order]) >= FEWEST_EXPECTED)[0] + 1
        seen = np.append(seen[order][merged:], seen[order][:merged].sum())
        expected = np.append(expected[order][merged:], expected[order][:merged].sum())
    if seen.size < 2:
        return 1.0
    return chisquare(seen, expected * seen.sum() / expected.sum()).pvalue


@every_case
@every_rule
@pytest.mark.parametrize("picked", ["drawn", "chosen"])
def test_sampled_rules_follow_the_enumeration(case, rule, picked, rng):
    for gamma in (1, 2):
        target, draft = CASES[case][0][: gamma + 1], CASES[case][1][:gamma]
        law = exact_law(rule, target, draft, picked)
        assert law.sum() == pytest.approx(1.0, abs=1e-12)
        counts = sampled_counts(rule, target, draft, picked, rng)
        assert fit(counts, law) >= CHI_SQUARE_LIMIT


@every_rule
def test_another_rule_is_told_apart(rule, rng):
    """Each rule's samples against the laws of all others; twins by law are not expected to differ."""
    target, draft = CASES["apart"]
    counts = sampled_counts(rule, target, draft, "drawn", rng)
    twins = {"sample_and_match", "one_hot"}
    for other in sim.RULES:
        if other.name != rule.name and {other.name, rule.name} != twins:
            assert fit(counts, exact_law(other, target, draft, "drawn")) < CHI_SQUARE_LIMIT


@every_rule
def test_the_exact_mean_is_the_law_s(rule):
    target, draft = CASES["apart"]
    kept = exact_law(rule, target, draft, "drawn").sum(axis=(0, 2)) @ np.arange(3)

    assert expected_accepted(target[:2], draft, 2, rule=rule) == pytest.approx(kept, abs=1e-14)

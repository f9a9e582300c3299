"""Acceptance at token level: against sums over every token, exact fractions and golden cases."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from analysis import (
    acceptance_by_temperature,
    acceptance_probability,
    expected_accepted,
    total_variation,
)
from analysis.tokens._verdicts import verdicts
from simulator.rules import (
    PICKED,
    RULES,
    block_verification,
    greedy,
    lenience,
    one_hot,
    sample_and_match,
    speculative_sampling,
    typical_acceptance,
)
from simulator.sampling import Sampling

SEQUENTIAL = [rule for rule in RULES if rule.name != "block_verification"]
THRESHOLD = 0.2937  # equals no probability of `pairs`, whose denominators are at most 100


@st.composite
def pairs(draw, tokens=(2, 5), rows=()):
    """Two distributions (or stacks of them) of one vocabulary, zeros and certainty included."""
    size = draw(st.integers(*tokens))

    def row():
        weights = draw(st.lists(st.integers(0, 20), min_size=size, max_size=size).filter(any))
        return np.array(weights) / sum(weights)

    if not rows:
        return row(), row()
    count = draw(st.integers(*rows))
    return np.stack([row() for _ in range(count)]), np.stack([row() for _ in range(count)])


def fractions(row):
    numbers = [Fraction(float(p)) for p in row]
    return [p / sum(numbers) for p in numbers]


def enumerated(rule, targets, drafts, *, picked="drawn", drop_below=0.0):
    """E[accepted] over every draft and verdict of one round, in exact fractions."""
    targets, drafts = [fractions(row) for row in targets], [fractions(row) for row in drafts]
    expected = Fraction(0)
    for drafted, weight in every_draft(drafts, picked, drop_below):
        length = len(drafted)
        judged = verdicts(rule, [*targets[:length], targets[0]], drafts[:length], drafted)
        expected += weight * sum(kept * chance for kept, _, chance in judged)
    return expected


def every_draft(drafts, picked, drop_below):
    size = len(drafts[0])
    if picked == "chosen":
        yield tuple(row.index(max(row)) for row in drafts), Fraction(1)
        return
    seen = {}
    for tokens in product(range(size), repeat=len(drafts)):
        weight = math.prod(row[token] for row, token in zip(drafts, tokens, strict=True))
        low = [row[token] < drop_below for row, token in zip(drafts, tokens, strict=True)]
        cut = tokens[: low.index(True)] if True in low else tokens
        seen[cut] = seen.get(cut, Fraction(0)) + weight
    yield from ((tokens, weight) for tokens, weight in seen.items() if weight)


# One token


@pytest.mark.parametrize(
    ("rule", "drawn", "chosen"),
    [  # P = (.5, .3, .2), Q = (.2, .7, .1); most likely are token 0 and token 1
        (speculative_sampling(), 0.2 + 0.3 + 0.1, 3 / 7),
        (block_verification(), 0.2 + 0.3 + 0.1, 3 / 7),
        (lenience(0.5), 0.2 + 0.6 + 0.1, 6 / 7),
        (greedy(), 0.2, 0.0),
        (sample_and_match(), 0.1 + 0.21 + 0.02, 0.3),
        (one_hot(), 0.1 + 0.21 + 0.02, 0.3),
        (typical_acceptance(epsilon=0.25), 0.2 + 0.7 + 0.1, 1.0),  # δ e^-H = .107
        (typical_acceptance(epsilon=0.25, delta=0.7), 0.2 + 0.7, 1.0),  # ε = .25 binds
        (typical_acceptance(epsilon=1.0, delta=1.0), 0.2, 0.0),  # e^-H = .357 binds
    ],
)
def test_every_rule_by_hand(rule, drawn, chosen):
    target, draft = [0.5, 0.3, 0.2], [0.2, 0.7, 0.1]

    assert acceptance_probability(target, draft, rule=rule) == pytest.approx(drawn, abs=1e-15)
    by_best = acceptance_probability(target, draft, rule=rule, picked="chosen")
    assert by_best == pytest.approx(chosen, abs=1e-15)


@settings(max_examples=60)
@given(pairs(), st.sampled_from(RULES), st.sampled_from(PICKED))
def test_one_token_equals_the_enumeration(pair, rule, picked):
    target, draft = pair
    drop_below = THRESHOLD if picked == "dropped" else 0.0
    assume(max(draft) > drop_below)
    kept = enumerated(rule, [target], [draft], picked=picked, drop_below=drop_below)
    tested = 1 if picked != "dropped" else sum(q for q in fractions(draft) if q >= drop_below)

    accepted = acceptance_probability(
        target, draft, rule=rule, picked=picked, drop_below=drop_below
    )
    assert accepted == pytest.approx(float(kept / tested), abs=1e-14)


@given(pairs())
def test_overlap_is_one_minus_total_variation(pair):
    target, draft = pair
    overlap = acceptance_probability(target, draft, rule=speculative_sampling())

    assert overlap == pytest.approx(1.0 - total_variation(target, draft), abs=1e-14)
    assert total_variation(target, draft) == total_variation(draft, target)
    assert acceptance_probability(target, draft, rule=lenience(1.0)) == overlap


def test_identical_disjoint_and_one_hot_rows():
    same, left, right = [0.1, 0.0, 0.9], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]
    rule = speculative_sampling()

    assert acceptance_probability(same, same, rule=rule) == 1.0
    assert acceptance_probability(left, right, rule=rule) == 0.0
    assert (total_variation(same, same), total_variation(left, right)) == (0.0, 1.0)
    for rule in RULES:
        for picked in ("drawn", "chosen"):
            assert acceptance_probability(left, left, rule=rule, picked=picked) == 1.0


def test_tiny_draft_probabilities_do_not_overflow():
    target, draft = [0.5, 0.5], [1.0, 1e-320]

    for rule in RULES:
        assert 0.0 <= acceptance_probability(target, draft, rule=rule) <= 1.0


def test_nothing_is_tested_where_everything_is_dropped():
    accepted = acceptance_probability(
        [0.5, 0.5], [[0.5, 0.5], [0.9, 0.1]], rule=one_hot(), picked="dropped", drop_below=0.6
    )

    assert np.isnan(accepted[0])
    assert accepted[1] == 0.5
    halves = [[0.5, 0.5]]
    with_drops = expected_accepted(
        halves, halves, 1, rule=one_hot(), picked="dropped", drop_below=0.6
    )
    assert with_drops == 0.0


def test_leading_axes_broadcast(rng):
    target, draft = rng.dirichlet(np.ones(6), (4, 3)), rng.dirichlet(np.ones(6), 3)
    for rule in RULES:
        accepted = acceptance_probability(target, draft, rule=rule)
        assert accepted.shape == (4, 3)
        alone = acceptance_probability(target[2, 1], draft[1], rule=rule)
        assert isinstance(alone, float)
        assert accepted[2, 1] == pytest.approx(alone, abs=1e-15)


# Many tokens


@pytest.mark.parametrize(
    ("gamma", "token", "block"),
    [
        (1, Fraction(2, 3), Fraction(2, 3)),
        (2, Fraction(10, 9), Fraction(11, 9)),
        (3, Fraction(38, 27), Fraction(5, 3)),
        (4, Fraction(130, 81), Fraction(166, 81)),
    ],
)
def test_golden_case_of_block_verification(gamma, token, block):
    """G5: Q = (2/3, 1/3), P = (1/3, 2/3), exactly and through the arrays."""
    target, draft = (Fraction(1, 3), Fraction(2, 3)), (Fraction(2, 3), Fraction(1, 3))
    for rule, golden in ((speculative_sampling(), token), (block_verification(), block)):
        exact = Fraction(0)
        for drafted in product(range(2), repeat=gamma):
            weight = math.prod(draft[x] for x in drafted)
            judged = verdicts(rule, [target] * (gamma + 1), [draft] * gamma, drafted)
            exact += weight * sum(kept * chance for kept, _, chance in judged)
        assert exact == golden
        accepted = expected_accepted([1 / 3, 2 / 3], [2 / 3, 1 / 3], gamma, rule=rule)
        assert accepted == pytest.approx(float(golden), rel=1e-14)


@settings(max_examples=60)
@given(pairs(tokens=(2, 3), rows=(1, 3)), st.sampled_from(RULES))
def test_expected_accepted_equals_the_enumeration(pair, rule):
    expected = expected_accepted(*pair, len(pair[0]), rule=rule)

    assert expected == pytest.approx(float(enumerated(rule, *pair)), abs=1e-13)


@settings(max_examples=40)
@given(
    pairs(tokens=(2, 3), rows=(1, 3)),
    st.sampled_from(SEQUENTIAL),
    st.sampled_from([("chosen", 0.0), ("dropped", THRESHOLD)]),
)
def test_expected_accepted_of_other_drafts_equals_the_enumeration(pair, rule, how):
    picked, drop_below = how
    expected = expected_accepted(
        *pair, len(pair[0]), rule=rule, picked=picked, drop_below=drop_below
    )
    exact = enumerated(rule, *pair, picked=picked, drop_below=drop_below)

    assert expected == pytest.approx(float(exact), abs=1e-13)


@given(pairs(tokens=(2, 4), rows=(1, 5)))
def test_block_verification_keeps_at_least_as_many(pair):
    gamma = len(pair[0])
    token = expected_accepted(*pair, gamma, rule=speculative_sampling())
    block = expected_accepted(*pair, gamma, rule=block_verification())

    assert block >= token - 1e-13
    if gamma == 1:
        assert block == pytest.approx(token, abs=1e-14)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=6))
def test_block_verification_is_token_verification_at_temperature_0(favourites):
    target, draft = np.eye(4)[np.array(favourites).T]
    gamma = len(favourites)
    agreed = next((i for i, (p, q) in enumerate(favourites) if p != q), gamma)

    for rule in (speculative_sampling(), block_verification()):
        assert expected_accepted(target, draft, gamma, rule=rule) == agreed


def test_one_row_serves_all_depths():
    target, draft = [0.2, 0.8], [0.5, 0.5]
    for rule in RULES:
        alike = expected_accepted([target] * 3, [draft] * 3, 3, rule=rule)
        assert expected_accepted(target, draft, 3, rule=rule) == pytest.approx(alike)
    assert expected_accepted(target, draft, 0, rule=RULES[0]) == 0.0
    p = acceptance_probability(target, draft, rule=RULES[0])
    geometric = expected_accepted(target, draft, 40, rule=RULES[0])
    assert geometric == pytest.approx(p * (1 - p**40) / (1 - p))


# Temperature


@pytest.mark.parametrize("picked", ["drawn", "chosen"])
def test_curve_is_the_mean_over_contexts(rng, picked, monkeypatch):
    target, draft = rng.normal(size=(2, 7, 11)) * 2.0
    monkeypatch.setitem(
        acceptance_by_temperature.__globals__, "_BLOCK", 22
    )  # two contexts at a time
    temperatures = [0.0, 0.3, 1.0, 2.5]
    curves = acceptance_by_temperature(
        target,
        draft,
        temperatures,
        rules=RULES,
        picked=picked,
        sampling=Sampling(top_k=5, top_p=0.9),
    )

    assert [curve.rule for curve in curves] == list(RULES)
    for curve in curves:
        for temperature, p in zip(temperatures, curve.p, strict=True):
            at = Sampling(temperature=temperature, top_k=5, top_p=0.9)
            rows = acceptance_probability(
                at.probabilities(target), at.probabilities(draft), rule=curve.rule, picked=picked
            )
            assert p == pytest.approx(rows.mean(), abs=1e-14)


def test_all_rules_agree_at_temperature_0(rng):
    target, draft = rng.normal(size=(2, 50, 4))
    agree = float(np.mean(target.argmax(axis=1) == draft.argmax(axis=1)))

    assert 0.0 < agree < 1.0
    for curve in acceptance_by_temperature(target, draft, [0], rules=RULES):
        assert curve.p == pytest.approx((agree,), abs=1e-15)


# Refusals

GOOD = [0.5, 0.5]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: total_variation([0.5, 0.4], GOOD), r"target_probs .* sums to 0\.9"),
        (
            lambda: total_variation(GOOD, [1.5, -0.5]),
            r"draft_probs must hold probabilities; got -0\.5",
        ),
        (lambda: total_variation(np.float16(GOOD), GOOD), "softmax in float32"),
        (lambda: total_variation(GOOD, [0.2, 0.3, 0.5]), r"broadcast; got \[2\] and \[3\]"),
        (lambda: total_variation([GOOD] * 2, [GOOD] * 3), r"broadcast; got \[2, 2\] and \[3, 2\]"),
        (lambda: total_variation([GOOD], [[1.0]]), r"broadcast; got \[1, 2\] and \[1, 1\]"),
        (lambda: accept(picked="sampled"), "picked must be one of drawn, dropped, chosen"),
        (lambda: accept(picked="dropped"), "drop_below must be above 0"),
        (lambda: accept(drop_below=0.1), "drop_below must be above 0"),
        (
            lambda: accept(drop_below=2, picked="dropped"),
            r"drop_below must be a number in \[0, 1\]",
        ),
        (lambda: expected([GOOD] * 2, 3), r"\[3, vocabulary\], one row per depth; got \[2, 2\]"),
        (lambda: expected(GOOD, -1), "gamma must be a whole number of at least 0"),
        (lambda: expected(GOOD, 22), r"at most 4,000,000; got 4,194,304 drafts of gamma = 22"),
        (lambda: expected(GOOD, 2, picked="chosen"), "drawn from draft_probs; got picked='chosen'"),
        (lambda: acceptance_by_temperature(GOOD, GOOD, [1]), r"\[contexts, vocabulary\]"),
        (lambda: acceptance_by_temperature([GOOD], [GOOD], 1.0), "must be a sequence"),
        (lambda: acceptance_by_temperature([GOOD], [GOOD], [-1]), r"got -1 at index 0"),
        (lambda: acceptance_by_temperature([[np.nan, 1]], [GOOD], [1]), "must not be NaN"),
    ],
)
def test_bad_input_is_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence) as refused:
        call()
    assert "\n" not in str(refused.value)


def accept(**options):
    return acceptance_probability(GOOD, GOOD, rule=speculative_sampling(), **options)


def expected(probs, gamma, **options):
    return expected_accepted(probs, probs, gamma, rule=block_verification(), **options)


def test_a_rule_that_was_not_called_is_refused():
    for call in (
        lambda: acceptance_probability([1.0], [1.0], rule=speculative_sampling),
        lambda: expected_accepted([1.0], [1.0], 1, rule=speculative_sampling),
        lambda: acceptance_by_temperature([[0.0]], [[0.0]], [1.0], rules=[speculative_sampling]),
    ):
        with pytest.raises(ValueError, match="rule must be one of simulator's rules"):
            call()
    with pytest.raises(ValueError, match="rules must be a sequence of rules"):
        acceptance_by_temperature([[0.0]], [[0.0]], [1.0], rules=speculative_sampling())


def test_drafts_beyond_counting_are_refused():
    with pytest.raises(ValueError, match=r"got 10\^602 drafts of gamma = 2000 tokens"):
        expected_accepted([0.5, 0.5], [0.5, 0.5], 2000, rule=block_verification())

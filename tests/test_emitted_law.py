"""Losslessness by enumeration: the joint law of what rounds emit, in exact fractions and in floats."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import JointLaw, emitted_law, target_law
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

TARGET = [[3, 2, 1], [1, 2, 3], [0, 2, 4]]  # sixths, by the token before
DRAFT = [[1, 3, 2], [2, 2, 2], [3, 2, 1]]  # its third row drafts what the target never says
DROPPED = {"picked": "dropped", "drop_below": 0.3}  # below two sixths
LOSSLESS = [(rule, picked) for rule in RULES for picked in PICKED if rule.is_lossless(picked)]
LOSSY = [(rule, picked) for rule in RULES for picked in PICKED if not rule.is_lossless(picked)]


def chain(sixths):
    """A Markov chain in fractions; a text begins as if after token 0."""
    return lambda tokens: [Fraction(n, 6) for n in sixths[tokens[-1] if tokens else 0]]


def longer_memory(tokens):
    """Rows that depend on the whole text and not on its end alone."""
    weights = [1 + (7 * sum(tokens) + 3 * len(tokens) + token**2) % 5 for token in range(3)]
    return [Fraction(weight, sum(weights)) for weight in weights]


def how(picked):
    return DROPPED if picked == "dropped" else {"picked": picked}


def off(rule, gamma, length, *, target=None, draft=None, **options):
    """Total variation between what is emitted and what a lossless loop emits."""
    target, draft = target or chain(TARGET), draft or chain(DRAFT)
    law = emitted_law(target, draft, rule=rule, gamma=gamma, length=length, **options)
    assert sum(law.weights.values()) == pytest.approx(1, abs=1e-12)
    return law.distance(target_law(target, length=length, greedy=rule.name == "greedy"))


def named(pair):
    return f"{pair[0].name}-{pair[1]}" if isinstance(pair, tuple) else None


@pytest.mark.parametrize("gamma", [0, 1, 2, 3])
@pytest.mark.parametrize("pair", LOSSLESS, ids=named)
def test_lossless_pairs_emit_the_target_s_law_exactly(pair, gamma):
    rule, picked = pair
    for length in (2, 3):
        assert off(rule, gamma, length, **how(picked)) == 0
        assert off(rule, gamma, length, draft=longer_memory, **how(picked)) == 0
        assert off(rule, gamma, length, target=longer_memory, **how(picked)) == 0


@pytest.mark.parametrize("gamma", [1, 2, 3])
@pytest.mark.parametrize("pair", LOSSY, ids=named)
def test_every_other_pair_does_not(pair, gamma):
    rule, picked = pair
    for length in (2, 3):
        assert off(rule, gamma, length, **how(picked)) > Fraction(1, 50)


@pytest.mark.parametrize("gamma", [1, 2, 3])
def test_the_stated_controls(gamma):
    """As sentences, whatever the table of rules says."""
    ratio, blocks = speculative_sampling(), block_verification()

    assert off(ratio, gamma, 3) == off(blocks, gamma, 3) == 0
    assert off(typical_acceptance(), gamma, 3) > 0.1
    assert off(lenience(0.5), gamma, 3) > 0.1
    assert off(lenience(1.0), gamma, 3) == 0
    assert off(ratio, gamma, 3, picked="chosen") > 0.1
    assert off(ratio, gamma, 3, **DROPPED) > 0.05
    assert off(blocks, gamma, 3, **DROPPED) > 0.05
    assert off(sample_and_match(), gamma, 3, **DROPPED) == 0
    assert off(one_hot(), gamma, 3, **DROPPED) == 0


@pytest.mark.parametrize("gamma", [1, 2, 3])
@pytest.mark.parametrize("rule", [r for r in RULES if r.lossless_for], ids=lambda r: r.name)
def test_stopping_after_a_token_that_stays_is_lossless(rule, gamma):
    for stop_below in (0.2, 0.4, 1.0):
        assert off(rule, gamma, 3, stop_below=stop_below) == 0


def test_stopping_changes_the_rounds():
    """So that the test above is not about drafts of full length only."""
    options = {"rule": typical_acceptance(), "gamma": 3, "length": 3}
    free, stopped = (
        emitted_law(chain(TARGET), chain(DRAFT), **options, stop_below=low) for low in (0, 0.4)
    )
    assert free.distance(stopped) > 0.01


@pytest.mark.parametrize("picked", PICKED)
def test_sample_and_match_and_one_hot_have_one_law(picked):
    matched, tossed = (
        emitted_law(chain(TARGET), chain(DRAFT), rule=rule, gamma=2, length=3, **how(picked))
        for rule in (sample_and_match(), one_hot())
    )
    assert matched == tossed


def test_greedy_emits_the_most_likely_tokens():
    """From token 0: 0 again is the most likely; the law of plain sampling is another one."""
    law = emitted_law(chain(TARGET), chain(DRAFT), rule=greedy(), gamma=2, length=3)

    assert law.weights == {(0, 0, 0): 1}
    assert law.distance(target_law(chain(TARGET), length=3)) == 1 - Fraction(1, 2) ** 3


def test_certain_disjoint_and_equal_rows():
    first, second = (lambda _: [Fraction(1), Fraction(0)]), (lambda _: [Fraction(0), Fraction(1)])
    for rule, picked in LOSSLESS:
        options = (
            {"picked": picked, "drop_below": 0.5} if picked == "dropped" else {"picked": picked}
        )
        for target, draft in product((first, second), repeat=2):
            assert off(rule, 2, 3, target=target, draft=draft, **options) == 0
        assert off(rule, 2, 3, draft=chain(TARGET), **how(picked)) == 0


@st.composite
def float_chain(draw):
    weights = draw(
        st.lists(
            st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any), min_size=4, max_size=4
        )
    )
    rows = [[weight / sum(row) for weight in row] for row in weights]
    return lambda tokens: rows[tokens[-1] + 1 if tokens else 0]


@settings(max_examples=25)
@given(float_chain(), float_chain(), st.sampled_from(LOSSLESS), st.integers(1, 3))
def test_any_chain_in_floats(target, draft, pair, gamma):
    rule, picked = pair
    assert off(rule, gamma, 3, target=target, draft=draft, **how(picked)) < 1e-12


def test_a_wrong_residual_would_be_noticed(monkeypatch):
    """Drawing the correction from the target itself, the commonest bug, is off."""
    inside = emitted_law.__globals__["verdicts"].__globals__
    right = inside["_judge"]

    def wrong(rule, target, draft, token):
        return right(rule, target, draft, token)[0], target

    monkeypatch.setitem(inside, "_judge", wrong)
    assert off(speculative_sampling(), 2, 2) > 0.05


def test_plain_decoding_is_the_product_of_its_rows():
    law = target_law(chain(TARGET), length=3)

    assert law.weights[0, 2, 1] == Fraction(3, 6) * Fraction(1, 6) * Fraction(2, 6)
    assert (2, 0, 0) not in law.weights
    assert sum(law.weights.values()) == 1


def test_distance_is_total_variation():
    laws = [
        JointLaw(length=1, weights=weights) for weights in ({(0,): 0.75, (1,): 0.25}, {(2,): 1})
    ]

    assert laws[0].distance(laws[0]) == 0
    assert laws[0].distance(laws[1]) == laws[1].distance(laws[0]) == 1


def even(_):
    return [0.5, 0.5]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"gamma": -1}, "gamma must be a whole number of at least 0; got -1"),
        ({"length": 0}, "length must be a whole number of at least 1; got 0"),
        ({"gamma": 18}, r"vocabulary\^\(gamma \+ length\) must be at most 1,000,000 .* got 2\^20"),
        ({"picked": "dropped"}, "drop_below must be above 0"),
        ({"stop_below": 1.5}, r"stop_below must be a number in \[0, 1\]; got 1\.5"),
        ({"draft": lambda _: [1.0]}, "one vocabulary; got 2 and 1 tokens"),
        (
            {"gamma": 2, "draft": lambda t: [1.0] if t else [0.5, 0.5]},
            r"draft must .* got \[1\.0\] after \(0,\)",
        ),
        ({"target": lambda _: [0.6, 0.6]}, r"target must give distributions .* got \[0\.6, 0\.6\]"),
        ({"target": lambda _: [float("nan"), 1.0]}, "target must give distributions"),
    ],
)
def test_bad_input_is_one_sentence(options, sentence):
    options = {"target": even, "draft": even, "gamma": 1, "length": 2} | options
    with pytest.raises(ValueError, match=sentence) as refused:
        emitted_law(
            options.pop("target"), options.pop("draft"), rule=speculative_sampling(), **options
        )
    assert "\n" not in str(refused.value)


def test_plain_decoding_is_bounded_too():
    with pytest.raises(ValueError, match=r"vocabulary\^length must be at most 1,000,000 .* 2\^20"):
        target_law(even, length=20)

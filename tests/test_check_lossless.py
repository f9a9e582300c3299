"""check_lossless: false alarms and power by exact sums over outcomes, then by simulation; its sentences."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import fftconvolve
from scipy.stats import binom, chi2, multinomial, poisson

from analysis import (
    check_lossless,
    check_lossless_counts,
    emitted_law,
    samples_needed,
    smallest_visible,
)
from analysis.tokens._cells import FEWEST_EXPECTED, cells, pearson_limit, rare_bound, rare_limit
from analysis.tokens.sample_size import rare_visible
from simulator.rules import lenience, speculative_sampling, typical_acceptance

TARGET = np.array([0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
RATES = [0.05, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-9]


# Cells


@given(st.lists(st.floats(0.0, 1e3) | st.floats(0.0, 1e-3), min_size=1, max_size=60))
def test_cells_expect_enough(counts):
    expected = np.array(counts)
    made = cells(expected)
    sums = np.bincount(made.label, weights=expected, minlength=made.count)

    assert sums.size == made.count
    assert made.count == 1 or sums.min() >= FEWEST_EXPECTED * (1 - 1e-12)
    frequent = expected >= FEWEST_EXPECTED
    assert len(set(made.label[frequent])) == np.count_nonzero(frequent)
    assert expected[made.rare].sum() < FEWEST_EXPECTED


def test_cells_of_many_rare_tokens_stay_small():
    made = cells(np.full(32_000, 0.7))
    sums = np.bincount(made.label, weights=np.full(32_000, 0.7))

    assert sums.min() >= 25.0
    assert sums[:-1].max() <= 75.0
    assert sums[-1] <= 100.0


# False alarms, exactly


def sums_of_squares(number, expected=25):
    """Law of Σ (x - E)² over Poisson cells, by convolution on whole numbers up to a far tail."""
    x = np.arange(0, 12 * expected)
    one = np.bincount((x - expected) ** 2, weights=poisson.pmf(x, expected))
    size = int(expected * chi2.isf(1e-14, number)) + 2
    law, power = np.array([1.0]), one[:size]
    while number:
        law = fftconvolve(law, power)[:size] if number & 1 else law
        power = fftconvolve(power, power)[:size]
        number >>= 1
    return law


@pytest.mark.parametrize("number", [1, 2, 3, 5, 10, 30, 100, 300])
def test_limit_holds_where_cells_are_smallest(number):
    law = sums_of_squares(number)
    for rate in RATES:
        edge = math.ceil(25 * chi2.isf(pearson_limit(rate), number))
        assert 1.0 - law[:edge].sum() <= rate / 2.5


def test_the_nominal_limit_would_not_hold():
    law = sums_of_squares(2)

    assert 1.0 - law[: math.ceil(25 * chi2.isf(1e-6, 2))].sum() > 5e-6


@pytest.mark.parametrize("rate", [1e-2, 1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("share", [0.0, 1e-6, 0.001, 0.01, 0.0126, 0.02, 0.2, 0.5])
def test_false_alarms_of_two_tokens_summed_over_all_outcomes(share, rate):
    """Rare tokens, a small cell, large cells: chi-square and the bound of rare tokens together."""
    samples, alarm = 2_000, 0.0
    chances = binom.pmf(np.arange(samples + 1), samples, share)
    for seen in np.flatnonzero(chances > 1e-18):
        verdict = check_lossless_counts(
            [samples - seen, seen], [1.0 - share, share], false_alarm_rate=rate
        )
        alarm += 0.0 if verdict.passed else chances[seen]
    assert alarm <= rate


def test_false_alarms_of_three_tokens_summed_over_all_outcomes():
    target, samples, alarms = [0.5, 0.3, 0.2], 150, {1e-2: 0.0, 1e-4: 0.0}
    for low, high in combinations_with_replacement(range(samples + 1), 2):
        counts = [low, high - low, samples - high]
        chance = multinomial.pmf(counts, samples, target)
        if chance > 1e-12:
            for rate in alarms:
                passed = check_lossless_counts(counts, target, false_alarm_rate=rate).passed
                alarms[rate] += 0.0 if passed else chance
    assert all(0.0 < alarm <= rate for rate, alarm in alarms.items())


def test_false_alarms_of_a_text_per_sample_summed_over_all_outcomes(rng):
    samples = 400
    shares = rng.beta(0.5, 0.5, samples).clip(0.01, 0.98) / 2
    law = np.array([1.0])
    for share in shares:
        law = np.convolve(law, [1.0 - share, share])
    rows = np.column_stack([1.0 - shares, shares])
    alarm = 0.0
    for seen in np.flatnonzero(law > 1e-15):
        tokens = (np.arange(samples) < seen).astype(int)  # of rank 2
        passed = check_lossless(tokens, rows, false_alarm_rate=1e-3).passed
        alarm += 0.0 if passed else law[seen]
    assert 0.0 < alarm <= 1e-3


@pytest.mark.parametrize("expected", [0.0, 1e-3, 0.5, 3.0, 24.0])
def test_bound_of_rare_tokens_is_a_bound(expected):
    for rate in RATES:
        limit = rare_limit(expected, rate)
        assert poisson.sf(limit - 1, expected) <= rate
        assert rare_bound(limit - 1, expected) > rate


# Power


@pytest.mark.parametrize(("size", "power"), [(0.1, 0.99), (0.1, 0.5), (0.05, 0.9), (0.3, 0.99)])
def test_power_of_two_tokens_summed_over_all_outcomes(size, power):
    samples = samples_needed(size, [0.5, 0.5], power=power)

    assert seen_with([0.5, 0.5], [0.5 + size, 0.5 - size], samples) == pytest.approx(
        power, abs=0.02
    )
    fewer = seen_with([0.5, 0.5], [0.5 + size, 0.5 - size], int(0.6 * samples))
    assert fewer < power - 0.15


@pytest.mark.parametrize("share", [0.0, 1e-9, 1e-4, 0.01])
@pytest.mark.parametrize("size", [0.02, 0.3])
def test_power_of_rare_tokens_summed_over_all_outcomes(share, size):
    target = [1.0 - share, share]
    samples = samples_needed(size, target)

    assert seen_with(target, [1.0 - share - size, share + size], samples) >= 0.99 - 1e-9


def seen_with(target, really, samples):
    """Exact chance that two tokens with probabilities `really` fail the test against `target`."""
    power = 0.0
    chances = binom.pmf(np.arange(samples + 1), samples, really[1])
    for seen in np.flatnonzero(chances > 1e-12):
        passed = check_lossless_counts([samples - seen, seen], target).passed
        power += 0.0 if passed else chances[seen]
    return power


def test_power_of_many_tokens_in_simulation(rng):
    """The least visible shape: half of the probability grows by a factor, the other half shrinks."""
    target, size, repeats = np.full(20, 1 / 20), 0.1, 2_000
    really = target * np.where(np.arange(20) % 2, 1 + 2 * size, 1 - 2 * size)
    samples = samples_needed(size, target)
    seen = sum(
        not check_lossless_counts(counts, target).passed
        for counts in rng.multinomial(samples, really, repeats)
    )

    # The stated power, 0.01 of it granted to the normal law, at a false-alarm rate of 1e-8.
    assert binom.cdf(seen, repeats, 0.98) > 1e-8
    fewer = [
        check_lossless_counts(counts, target).passed
        for counts in rng.multinomial(samples // 2, really, repeats)
    ]
    assert binom.cdf(repeats - sum(fewer), repeats, 0.9) < 1e-8


def test_other_shapes_are_seen_earlier(rng):
    size = 0.03
    samples = samples_needed(size, TARGET)
    for token in range(1, 6):
        really = TARGET.copy()
        really[[0, token]] += [-size, size]
        for counts in rng.multinomial(samples, really, 20):
            assert not check_lossless_counts(counts, TARGET).passed


@given(st.floats(0.005, 0.5), st.sampled_from([0.5, 0.9, 0.999]), st.sampled_from([1e-2, 1e-6]))
def test_smallest_visible_is_the_inverse_of_samples_needed(size, power, rate):
    options = {"power": power, "false_alarm_rate": rate}
    samples = samples_needed(size, np.full(4, 0.25), **options)
    made = cells(np.full(4, 0.25 * samples))

    assert smallest_visible(samples, made.count - 1, **options) <= size if made.count > 1 else True
    eighth_less = samples - 1 - samples // 9  # where few samples leave one cell, it goes by eighths
    if cells(np.full(4, 0.25 * eighth_less)).count == 4:
        assert smallest_visible(samples - 1, 3, **options) > size * (1 - 1e-9)


def test_one_sighting_of_the_impossible_is_enough():
    samples = samples_needed(0.01, [1.0, 0.0])

    assert samples == math.ceil(math.log(0.01) / math.log(0.99))
    assert samples_needed(1.0, [1.0, 0.0]) == 1
    assert rare_visible(samples, 0.0) == pytest.approx(0.01, rel=1e-2)
    assert not check_lossless_counts([samples - 1, 1], [1.0, 0.0]).passed


# What it is for


@pytest.mark.parametrize(
    ("rule", "passes"),
    [(speculative_sampling(), True), (lenience(0.5), False), (typical_acceptance(), False)],
    ids=lambda value: getattr(value, "name", None),
)
def test_rules_are_told_apart_by_their_samples(rng, rule, passes):
    draft = np.full(6, 1 / 6)
    law = emitted_law(lambda _: TARGET, lambda _: draft, rule=rule, gamma=2, length=1)
    emitted = np.array([float(law.weights.get((token,), 0.0)) for token in range(6)])
    samples = rng.choice(6, size=samples_needed(0.05, TARGET), p=emitted / emitted.sum())

    assert check_lossless(samples, TARGET).passed is passes


def test_worst_cells_name_the_token(rng):
    counts = rng.multinomial(50_000, TARGET)
    counts[4] += 900
    verdict = check_lossless_counts(counts, TARGET)
    worst = verdict.worst[0]

    assert (worst.token, worst.tokens, worst.context, worst.seen) == (4, 1, None, counts[4])
    assert worst.expected == pytest.approx(50_900 * 0.06)
    spread = math.sqrt(50_900 * 0.06 * 0.94)
    assert worst.z == pytest.approx((counts[4] - worst.expected) / spread)
    assert f"token 4 came {counts[4]:,} times where {worst.expected:.1f} were expected" in str(
        verdict
    )
    assert [abs(cell.z) for cell in verdict.worst] == sorted(
        (abs(cell.z) for cell in verdict.worst), reverse=True
    )


def test_contexts_have_cells_of_their_own(rng):
    """Two texts swapped: the pooled counts are right, the texts are not."""
    rows = np.stack([TARGET, TARGET[::-1]])
    contexts = np.repeat([0, 1], 2_000)
    tokens = np.concatenate([rng.choice(6, 2_000, p=row) for row in rows])
    right = check_lossless(tokens, rows, contexts=contexts)
    counts = np.stack([np.bincount(tokens[contexts == c], minlength=6) for c in (0, 1)])

    assert right.passed
    assert right.degrees == 10
    assert right == check_lossless_counts(counts, rows)
    swapped = check_lossless(tokens, rows, contexts=1 - contexts)
    assert not swapped.passed
    assert swapped.worst[0].context in {0, 1}
    assert "in context" in swapped.verdict


def test_a_text_per_sample(rng, monkeypatch):
    rows = rng.dirichlet(np.full(8, 0.5), 5_000)
    tokens = drawn(rows, rng)
    greedy = rows.argmax(axis=1)
    whole = check_lossless(tokens, rows)
    monkeypatch.setitem(check_lossless.__globals__, "_BLOCK", 800)  # a hundred texts at a time

    assert whole.passed
    in_parts = check_lossless(tokens, rows)
    assert in_parts.statistic == pytest.approx(whole.statistic, rel=1e-9)
    assert (in_parts.degrees, in_parts.passed) == (whole.degrees, True)
    # The right sums by token id, and no look at the text.
    blind = check_lossless(rng.permutation(tokens), rows)
    assert not blind.passed
    assert blind.worst[0].token is None
    assert f"the token of rank {blind.worst[0].rank} " in blind.verdict
    assert not check_lossless(np.where(rng.random(5_000) < 0.1, greedy, tokens), rows).passed
    assert not check_lossless(drawn(rows**0.8, rng), rows).passed
    assert check_lossless(greedy, np.eye(8)[greedy]).passed
    assert check_lossless(greedy, np.eye(8)[(greedy + 1) % 8]).impossible == 5_000


def drawn(rows, rng):
    steps = rows.cumsum(axis=1)
    return (rng.random(len(rows))[:, None] * steps[:, -1:] > steps).sum(axis=1)


def test_impossible_tokens_are_named():
    verdict = check_lossless([0] * 90 + [2] * 3, [0.5, 0.5, 0.0])

    assert not verdict.passed
    assert (verdict.impossible, verdict.impossible_token) == (3, 2)
    assert verdict.verdict.endswith("3 of 93 samples have probability 0, such as token 2.")


def test_rare_tokens_cannot_hide_in_a_large_cell():
    verdict = check_lossless_counts([900, 100], [0.9999, 0.0001])

    assert not verdict.passed
    assert verdict.degrees == 0
    assert "rarest tokens were seen 100 times where 0.1 were expected" in verdict.verdict


def test_too_few_samples_say_so():
    verdict = check_lossless([0, 1, 1], [0.5, 0.5])

    assert verdict.passed
    assert math.isnan(verdict.p_value)
    assert math.isnan(verdict.visible)
    assert "too few" in verdict.verdict
    assert check_lossless(np.zeros(0, dtype=int), [0.5, 0.5]).passed


@settings(max_examples=50)
@given(st.lists(st.integers(0, 60), min_size=6, max_size=6), st.booleans())
def test_the_sentence_is_one_and_agrees_with_the_verdict(counts, certain):
    target = np.array([1.0, 0, 0, 0, 0, 0]) if certain else TARGET
    verdict = check_lossless_counts(counts, target)

    assert str(verdict) == verdict.verdict
    assert verdict.verdict.startswith("No deviation" if verdict.passed else "Not the target's")
    assert verdict.verdict.endswith(".")
    assert "\n" not in verdict.verdict
    assert verdict.samples == sum(counts)


def test_a_large_vocabulary(rng):
    target = rng.dirichlet(np.full(20_000, 0.1))
    counts = rng.multinomial(100_000, target)
    verdict = check_lossless_counts(counts, target)
    moved = np.sort(counts)  # the same numbers at other tokens

    assert verdict.passed
    assert verdict.degrees > 500
    assert not check_lossless_counts(moved, target).passed


# Refusals


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: check_lossless([0, 3], [0.5, 0.5]),
            r"samples must lie in \[0, 1\]; got 3 at index 1",
        ),
        (lambda: check_lossless([0.5], [0.5, 0.5]), "samples must be token ids, whole numbers"),
        (lambda: check_lossless([[0]], [0.5, 0.5]), r"of shape \[n\]; got int64 of shape \[1, 1\]"),
        (
            lambda: check_lossless([0], [[[1.0]]]),
            r"target_probs must have shape .* got \[1, 1, 1\]",
        ),
        (lambda: check_lossless([0, 1], [[0.5, 0.5]]), "1 rows and 2 samples"),
        (lambda: check_lossless([0], [0.5, 0.5], contexts=[0]), "contexts needs target_probs"),
        (lambda: check_lossless([0], [[0.5, 0.5]], contexts=[1]), r"contexts must lie in \[0, 0\]"),
        (lambda: check_lossless([0], [[0.5, 0.5]], contexts=[0, 0]), "got 2 for 1 samples"),
        (lambda: check_lossless([0], [0.5, 0.6]), r"target_probs .* sums to 1\.1"),
        (lambda: check_lossless([0], [0.5, 0.5], false_alarm_rate=0.5), r"lie in \[1e-9, 0\.05\]"),
        (lambda: check_lossless([0], [0.5, 0.5], power=0.2), r"power must lie in \[0\.5, 1\)"),
        (lambda: check_lossless_counts([1, 2, 3], [0.5, 0.5]), r"shape \[3\] for \[2\]"),
        (lambda: check_lossless_counts([-1, 2], [0.5, 0.5]), "whole numbers of at least 0"),
        (lambda: check_lossless_counts([1.0, 2.0], [0.5, 0.5]), "got float64"),
        (lambda: samples_needed(0.0, [0.5, 0.5]), r"must lie in \(0, 1\]; got 0"),
        (lambda: samples_needed(1.5, [0.5, 0.5]), r"total_variation must be a number in \[0, 1\]"),
        (lambda: samples_needed(0.1, [[0.5, 0.5]]), r"shape \[vocabulary\]; got \[1, 2\]"),
        (lambda: samples_needed(1e-9, [0.5, 0.5]), r"takes more than 1e\+15 samples"),
    ],
)
def test_bad_input_is_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence) as refused:
        call()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (
            np.array([2**62, 2**62, 2**62]),
            r"counts must be at most 1e\+15 samples together; got 1.38e",
        ),
        (np.array([2**63, 0, 0], np.uint64), "got 9.22e"),
        ([[1], [2, 3]], "counts must be whole numbers .* NumPy cannot read"),
    ],
)
def test_counts_that_no_run_has(counts, message):
    with pytest.raises(ValueError, match=message):
        check_lossless_counts(counts, [0.5, 0.3, 0.2])


def test_samples_under_a_mask_are_refused():
    with pytest.raises(ValueError, match=r"samples must be token ids, .* masked array"):
        check_lossless(np.ma.masked_array([0, 1], [True, False]), [0.5, 0.5])


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (smallest_visible, (-5, 3), "samples must be a whole number of at least 0; got -5"),
        (smallest_visible, (5, -3), "degrees must be a whole number of at least 0; got -3"),
        (rare_visible, (-5, 1.0), "samples must be a whole number"),
        (rare_visible, (5, math.nan), "rare_expected must be a finite number"),
    ],
)
def test_what_samples_can_show_is_asked_of_possible_samples(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)

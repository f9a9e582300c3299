"""Intervals over prompts: against scipy's, their coverage, and what too narrow ones would cover."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.runs.resampling import over_prompts

PROMPTS, REPEATS = 20, 400
LEAST_COVERAGE = 0.77
"""Coverage of 0.88 (what BCa keeps with 20 prompts) falls below this in 400 runs with chance < 1e-8."""


def ratio(seconds, tokens):
    return lambda weights: (weights @ seconds / (weights @ tokens))[:, np.newaxis]


def test_the_interval_is_scipy_s(rng):
    from scipy.stats import bootstrap  # noqa: PLC0415

    tokens = rng.integers(20, 200, size=25).astype(float)
    seconds = tokens * rng.lognormal(sigma=0.5, size=25)
    (ours,) = over_prompts(ratio(seconds, tokens), 25, rng=1, resamples=40_000)
    theirs = bootstrap(
        (seconds, tokens),
        lambda s, t, axis: s.sum(axis) / t.sum(axis),
        paired=True,
        method="BCa",
        n_resamples=40_000,
        rng=np.random.default_rng(2),
    )
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert ours.interval == pytest.approx(theirs.confidence_interval, abs=0.04 * width)
    assert ours.se == pytest.approx(theirs.standard_error, rel=0.05)


def test_intervals_cover_the_truth_and_those_of_independent_rounds_do_not(rng):
    """Each prompt has 30 rounds that share the prompt's own acceptance: Beta(4, 2), mean 2/3."""
    covered = narrow = 0
    for _ in range(REPEATS):
        kept = rng.binomial(30, rng.beta(4, 2, size=PROMPTS)).astype(float)
        (found,) = over_prompts(
            ratio(kept, np.full(PROMPTS, 30.0)), PROMPTS, rng=rng, resamples=400
        )
        covered += found.interval[0] <= 2 / 3 <= found.interval[1]
        share, rounds = kept.sum() / (30 * PROMPTS), 30 * PROMPTS
        narrow += abs(share - 2 / 3) <= 1.96 * math.sqrt(share * (1 - share) / rounds)
    assert covered / REPEATS >= LEAST_COVERAGE
    assert narrow / REPEATS < LEAST_COVERAGE  # the negative control


def test_the_same_seed_gives_the_same_interval():
    seconds, tokens = np.arange(1.0, 9.0), np.full(8, 10.0)
    first, again, other = (
        over_prompts(ratio(seconds, tokens), 8, rng=seed)[0] for seed in (5, 5, 6)
    )
    assert first.interval == again.interval
    assert first.interval != other.interval


def test_all_statistics_see_the_same_draws():
    values = np.array([1.0, 2.0, 4.0, 7.0, 11.0])

    def both(weights):
        total = weights @ values
        return np.stack([total, 2.0 * total, total - total], axis=1)

    one, two, none = over_prompts(both, 5, rng=0)
    assert two.interval == pytest.approx([2 * end for end in one.interval])
    assert (none.value, none.interval) == (0.0, (0.0, 0.0))


def test_equal_prompts_leave_no_doubt():
    (found,) = over_prompts(ratio(np.full(6, 0.3), np.full(6, 7.0)), 6, rng=0)
    assert found.interval == (found.value, found.value)
    assert found.se == 0.0


def test_one_prompt_has_no_interval():
    (found,) = over_prompts(ratio(np.array([2.0]), np.array([4.0])), 1, rng=0)
    assert (found.value, found.interval, found.se) == (0.5, None, None)


def test_what_a_draw_cannot_know_has_no_interval():
    """A width that one prompt alone has: resamples without it cannot say what it costs."""
    with np.errstate(invalid="ignore"):
        (found,) = over_prompts(
            ratio(np.array([1.0, 0.0, 0.0]), np.array([2.0, 0.0, 0.0])), 3, rng=0
        )
    assert (found.value, found.interval) == (0.5, None)


def test_more_prompts_than_groups_of_the_jackknife(rng):
    seconds = rng.lognormal(size=900)
    (found,) = over_prompts(ratio(seconds, np.ones(900)), 900, rng=0)
    assert found.se == pytest.approx(seconds.std() / 30, rel=0.15)
    assert found.interval[0] < seconds.mean() < found.interval[1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"prompts": 0}, "prompts must be a whole number of at least 1; got 0"),
        ({"level": 1.0}, r"level must be a number between 0 and 1; got 1\.0"),
        ({"resamples": 99}, "resamples must be a whole number of at least 100; got 99"),
        ({"rng": None}, "rng must be a seed"),
    ],
)
def test_bad_input_gets_a_sentence(options, sentence):
    arguments = {"prompts": 2, "rng": 0} | options
    with pytest.raises(ValueError, match=sentence):
        over_prompts(ratio(np.ones(2), np.ones(2)), **arguments)

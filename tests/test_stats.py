"""The oracle itself: right engines pass, wrong ones are caught, and the error rates are what is said.

Negative controls against p = 0.8, gamma = 5 at n = 200,000:

| wrong engine       | mean   | pmf                    | support |
|--------------------|--------|------------------------|---------|
| gamma 6            | caught | passes (tail is joined) | caught  |
| gamma 4            | caught | caught                 | passes  |
| p = 0.81           | caught | caught                 | passes  |
| last depth at 0.78 | passes | caught                 | passes  |
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, chi2, poisson
from stats import (
    CHI_SQUARE_LIMIT,
    FALSE_ALARM,
    FEWEST_EXPECTED,
    accepted_per_round,
    assert_all,
    assert_mean,
    assert_pmf,
    assert_support,
    chi_square_p,
    mean_and_sd,
    mean_limit,
    merged_starts,
)

from analysis import check, round_law
from simulator import draft_model, simulate, simulate_counts

RIGHT = draft_model(p=0.8, gamma=5)
LAW = round_law(RIGHT)
ROUNDS = 200_000
WRONG = {
    "gamma 6": (draft_model(p=0.8, gamma=6), {assert_mean, assert_support}),
    "gamma 4": (draft_model(p=0.8, gamma=4), {assert_mean, assert_pmf}),
    "p + 0.01": (draft_model(p=0.81, gamma=5), {assert_mean, assert_pmf}),
    "last depth": (draft_model(by_depth=(0.8, 0.8, 0.8, 0.8, 0.78)), {assert_pmf}),
}


def test_right_engine_passes(rng):
    assert_all(simulate(RIGHT, rounds=ROUNDS, rng=rng), LAW)


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("helper", [assert_mean, assert_pmf, assert_support])
def test_wrong_engine_is_caught_by_the_helpers_of_the_table(name, helper, rng):
    engine, catchers = WRONG[name]
    table = simulate(engine, rounds=ROUNDS, rng=rng)
    if helper in catchers:
        with pytest.raises(AssertionError):
            helper(table, LAW)
    else:
        helper(table, LAW)


@pytest.mark.parametrize(("p", "rounds"), [(0.5, 1000), (0.01, 300), (1e-4, 5000), (0.999, 2000)])
def test_mean_limit_bounds_the_exact_binomial_tail(p, rounds):
    law = round_law(draft_model(p=p, gamma=1))
    limit = rounds * mean_limit(law, rounds)
    too_many = binom.sf(np.ceil(rounds * p + limit) - 1, rounds, p)
    too_few = binom.cdf(np.floor(rounds * p - limit), rounds, p)
    assert too_many + too_few <= FALSE_ALARM


def test_mean_limit_of_many_rounds_is_about_six_sd():
    standard_error = mean_and_sd(LAW)[1] / np.sqrt(ROUNDS)
    assert 5.73 <= mean_limit(LAW, ROUNDS) / standard_error <= 6.25


@pytest.mark.parametrize("cells", [2, 3, 5, 9])
def test_chi_square_limit_bounds_the_tail_of_the_smallest_cells(cells):
    # The worst case: all cells but a huge one expect 25. Their counts are then Poisson(25), and
    # (X - 25)² is an integer, so the law of the statistic is a convolution.
    counts = np.arange(120)
    squares = np.zeros(95**2 + 1)
    np.add.at(squares, (counts - 25) ** 2, poisson.pmf(counts, FEWEST_EXPECTED))
    law = np.ones(1)
    for _ in range(cells - 1):
        law = np.convolve(law, squares)
    statistic = np.arange(law.size) / FEWEST_EXPECTED
    rejected = chi2.sf(statistic, cells - 1) < CHI_SQUARE_LIMIT
    assert law[rejected].sum() <= FALSE_ALARM


def test_merged_cells_are_large_and_cover_everything():
    expected = np.array([100.0, 30.0, 20.0, 10.0, 3.0])
    starts = merged_starts(expected)
    assert starts == [0, 1, 2]
    assert np.add.reduceat(expected, starts).min() >= FEWEST_EXPECTED


def test_analysis_check_gives_the_same_z_and_chi_square(rng):
    table = simulate(RIGHT, rounds=ROUNDS, rng=rng)
    mean, sd = mean_and_sd(LAW)
    z = (accepted_per_round(table) - mean) / (sd / np.sqrt(ROUNDS))
    result = check(RIGHT, table)
    assert result.comparisons[0].z == pytest.approx(z, rel=1e-9)
    assert result.chi_square_p == pytest.approx(chi_square_p(table, LAW), rel=1e-9)
    assert result.support_ok
    assert result.passed


@pytest.mark.parametrize("name", ["p + 0.01", "last depth"])
def test_analysis_check_catches_the_wrong_engine(name, rng):
    assert not check(RIGHT, simulate(WRONG[name][0], rounds=ROUNDS, rng=rng)).passed


@pytest.mark.parametrize("name", ["gamma 6", "gamma 4"])
def test_analysis_check_refuses_a_table_of_other_depths(name, rng):
    table = simulate(WRONG[name][0], rounds=1000, rng=rng)
    with pytest.raises(ValueError, match="the table must hold rounds of 5 depths"):
        check(RIGHT, table)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_analysis_check_names_impossible_outcomes(p, rng):
    sure = draft_model(p=p, gamma=3)
    assert check(sure, simulate(sure, rounds=100, rng=rng)).passed
    result = check(sure, simulate(draft_model(p=0.5, gamma=3), rounds=100, rng=rng))
    assert not result.support_ok
    assert not result.passed


@pytest.mark.parametrize(
    ("p", "gamma", "rounds"),
    [(0.7, 64, 200_000), (0.7, 20, 2000), (0.001, 4, 20_000), (0.999, 5, 2000), (1e-6, 2, 200_000)],
)
def test_analysis_check_does_not_reject_right_engines_with_rare_outcomes(p, gamma, rounds, rng):
    # A normal z is far off where a depth expects less than one token: 1 to 2 % were rejected so.
    strategy = draft_model(p=p, gamma=gamma)
    for _ in range(300):
        assert check(strategy, simulate_counts(strategy, rounds=rounds, rng=rng)).passed

"""The likelihoods of `fit` against slow, independent ways to the same numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from analysis.fitting.chain import EasyHard
from analysis.fitting.choice import LAWS
from analysis.fitting.laws import ByDepth, Constant, Decay, odds
from analysis.fitting.maximise import derivatives
from analysis.fitting.mixed import HitOrMiss, Mixture
from analysis.fitting.rows import replayed, rows_of_pool, rows_of_steps, rows_of_tables
from analysis.process_laws import process_tokens_per_round
from simulator import AcceptanceTable

REQUESTS = (
    ((2, 2), (2, 0), (2, 1)),
    ((2, 1),),
    ((1, 0), (2, 2), (0, 0), (2, 2)),
    ((2, 0), (1, 1), (2, 1)),
)
EXAMPLES = {
    "constant p": (0.7,),
    "geometric decay": (0.8, 0.9),
    "by depth": tuple(0.9 - 0.02 * i for i in range(12)),
    "mixture over requests": (0.7, 6.0),
    "hit or miss": (0.6, 0.9, 0.3),
    "easy/hard chain": (0.9, 0.3, 0.85, 0.7),
}


def theta_of(law):
    values = np.asarray(EXAMPLES[law.name])
    if law.name == "mixture over requests":
        return np.asarray([float(odds(values[0])), math.log(values[1])])
    return odds(values)


def chain_by_paths(steps, p, stay):
    """Σ over all sequences of states, one position after the other."""
    kinds = []  # what is seen at each position
    for drafted, kept in steps:
        kinds += ["kept"] * kept + (["lost"] if kept < drafted else ["unseen"])
    leave = (1.0 - stay[0], 1.0 - stay[1])
    first = (leave[1] / sum(leave), leave[0] / sum(leave))
    total = 0.0
    for path in itertools.product((0, 1), repeat=len(kinds)):
        weight = first[path[0]]
        for here, there in itertools.pairwise(path):
            weight *= stay[here] if here == there else leave[here]
        for state, kind in zip(path, kinds, strict=True):
            weight *= {"kept": p[state], "lost": 1.0 - p[state], "unseen": 1.0}[kind]
        total += weight
    return math.log(total)


def test_chain_is_the_sum_over_all_paths():
    rows = rows_of_steps(REQUESTS)
    found = EasyHard().log_likelihood(odds(np.asarray([[0.9, 0.3, 0.85, 0.7]])), rows)[0]
    order = sorted(range(4), key=lambda i: -len(REQUESTS[i]))
    expected = [chain_by_paths(REQUESTS[i], (0.9, 0.3), (0.85, 0.7)) for i in order]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_chain_of_long_texts_does_not_underflow():
    steps = [((5, 5), (5, 0)) * 400, ((5, 3),) * 10]
    found = EasyHard().log_likelihood(
        odds(np.asarray([[0.6, 0.001, 0.9, 0.9]])), rows_of_steps(steps)
    )
    assert np.all(np.isfinite(found))
    assert found[0, 0] < -1000.0


def test_mixture_is_the_integral_over_p():
    rows = rows_of_steps(REQUESTS)
    theta = np.asarray([[float(odds(0.7)), math.log(5.0)]])
    found = Mixture().log_likelihood(theta, rows)[0]
    for value, kept, lost in zip(
        found, rows.accepted.sum(axis=1), rows.rejected.sum(axis=1), strict=True
    ):
        integral = quad(lambda p: p**kept * (1 - p) ** lost * beta.pdf(p, 3.5, 1.5), 0, 1)[0]  # noqa: B023
        assert value == pytest.approx(math.log(integral), abs=1e-8)


@pytest.mark.parametrize(
    "law", [Constant(), Decay(), ByDepth(), HitOrMiss()], ids=lambda law: law.name
)
def test_laws_of_single_rounds_are_products(law):
    rows = rows_of_steps(REQUESTS)
    theta = theta_of(law)[: 2 if law.name == "by depth" else None]
    process = law.process(theta, 2, 1.0)
    if law.name == "hit or miss":
        survival = [
            process.right * process.p_right**i + (1 - process.right) * process.p_wrong**i
            for i in range(3)
        ]
    else:
        survival = [1.0, *np.cumprod(process.conditional(2))]
    order = sorted(range(4), key=lambda i: -len(REQUESTS[i]))
    expected = [
        sum(
            math.log(survival[kept] - (survival[kept + 1] if kept < drafted else 0.0))
            for drafted, kept in REQUESTS[i]
        )
        for i in order
    ]
    np.testing.assert_allclose(law.log_likelihood(theta[np.newaxis], rows)[0], expected, rtol=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_predictions_are_those_of_the_exact_laws(law):
    theta = theta_of(law)
    gammas = [0, 1, 2, 5, 12]
    found = law.tokens(theta[np.newaxis], gammas)[0]
    expected = [process_tokens_per_round(law.process(theta, g, 1.0), g) for g in gammas]
    np.testing.assert_allclose(found, expected, rtol=1e-7 if "mixture" in law.name else 1e-12)


@pytest.mark.parametrize("shape", [(0.3, 0.5), (0.9, 0.2), (0.5, 200.0), (0.7, 1.0)])
def test_the_mixtures_prediction_holds_for_every_shape(shape):
    law = Mixture()
    theta = np.asarray([float(odds(shape[0])), math.log(shape[1])])
    expected = process_tokens_per_round(law.process(theta, 16, 1.0), 16)
    assert law.tokens(theta[np.newaxis], [16])[0, 0] == pytest.approx(expected, rel=1e-4)


def test_derivatives_of_one_p_are_exact():
    rows = rows_of_steps(REQUESTS)
    p = 0.6
    _, score, curvature = derivatives(Constant(), odds(np.asarray([p])), rows)
    tested, accepted = rows.tested.sum(axis=1), rows.accepted.sum(axis=1)
    np.testing.assert_allclose(score[:, 0], accepted - tested * p, atol=1e-5)
    np.testing.assert_allclose(curvature[:, 0, 0], -tested * p * (1 - p), atol=1e-4)


@pytest.mark.parametrize("law", [Constant(), Decay(), HitOrMiss()], ids=lambda law: law.name)
def test_pooled_rounds_have_the_likelihood_of_the_requests(law):
    tables = [
        AcceptanceTable(rounds=9, drafted=20, tested=(8, 5, 2), accepted=(6, 3, 1)),
        AcceptanceTable(rounds=4, drafted=12, tested=(4, 3, 1), accepted=(3, 1, 1)),
    ]
    theta = theta_of(law)[np.newaxis]
    apart = rows_of_tables(tables, unit="requests")
    pool = rows_of_pool(tables[0] + tables[1])
    assert float(law.log_likelihood(theta, apart)[0].sum()) == pytest.approx(
        float(law.log_likelihood(theta, pool)[0] @ pool.weights), rel=1e-12
    )


def test_residuals_of_the_chain_have_mean_zero():
    """Over all texts of three rounds, weighted with their probability."""
    law, theta = EasyHard(), odds(np.asarray([0.9, 0.3, 0.85, 0.7]))
    texts = [tuple((2, k) for k in kept) for kept in itertools.product(range(3), repeat=3)]
    rows = rows_of_steps(texts)
    weights = np.exp(law.log_likelihood(theta[np.newaxis], rows)[0])
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(weights @ law.residuals(theta, rows), 0.0, atol=1e-12)
    wrong = odds(np.asarray([0.9, 0.3, 0.5, 0.5]))
    assert np.abs(weights @ law.residuals(wrong, rows)).max() > 0.01


def test_residuals_of_the_mixture_have_mean_zero():
    law = Mixture()
    theta = np.asarray([float(odds(0.7)), math.log(4.0)])
    texts = [tuple((2, k) for k in kept) for kept in itertools.product(range(3), repeat=3)]
    rows = rows_of_steps(texts)
    weights = np.exp(law.log_likelihood(theta[np.newaxis], rows)[0])
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(weights @ law.residuals(theta, rows), 0.0, atol=1e-12)


def test_steps_and_tables_count_alike():
    rows = rows_of_steps(REQUESTS)
    assert rows.rounds.tolist() == [4, 3, 3, 1]
    assert rows.tested[0].tolist() == [3, 2]  # (1, 0), (2, 2), (0, 0), (2, 2)
    assert rows.accepted[0].tolist() == [2, 2]
    assert rows.ended[0].tolist() == [1, 0, 2]
    with pytest.raises(ValueError, match="0 <= accepted <= drafted"):
        rows_of_steps([[(1, 2)]])


def test_replay_jumps_behind_what_was_kept():
    positions = [(3, 1), (3, 0), (3, 2), (3, 3), (3, 0), (3, 0)]
    assert replayed(positions) == [(3, 1), (3, 2), (3, 0)]

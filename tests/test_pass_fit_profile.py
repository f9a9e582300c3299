"""A fit of half of a GPU's step times predicts the other half, where V(n) grows a hundredfold.

The 25 steps of Apertus 8B on one GH200, 1 to 16,384 tokens at short contexts, are in
`analysis/data/published_load.csv` (table "step profile") with their source.
"""

from __future__ import annotations

import numpy as np
import pytest

from analysis.pass_fit import fit_pass_cost
from analysis.published_load.facts import APERTUS, load_facts
from simulator import StepSample

STEPS = sorted(
    (
        StepSample(batch=1, tokens=fact.tokens, context=0, seconds=fact.value)
        for fact in load_facts(APERTUS, "step_s")
    ),
    key=lambda sample: sample.tokens,
)
HALVES = [(STEPS[::2], STEPS[1::2]), ([STEPS[0], *STEPS[1::2]], STEPS[2::2])]
IDS = ["every other, ends included", "the others, and the first"]


def rms(predicted, samples):
    """Relative rms error of predictions for the samples."""
    seconds = np.asarray([sample.seconds for sample in samples])
    return float(np.sqrt(np.mean(np.square(np.asarray(predicted) / seconds - 1.0))))


def within(samples, found):
    """Those that lie within what was fitted."""
    return [each for each in samples if not found.extrapolates(1, each.tokens, 0)]


def test_the_steps_are_those_of_a_pass_that_grows():
    assert len(STEPS) == 25
    assert STEPS[-1].seconds > 50.0 * STEPS[0].seconds


@pytest.mark.parametrize(("half", "other"), HALVES, ids=IDS)
def test_half_of_the_steps_predicts_the_other_half(half, other):
    found = fit_pass_cost(half)
    asked = within(other, found)
    predicted = [found.seconds(1, each.tokens, 0) for each in asked]

    assert len(asked) >= 11
    assert found.knee_seen
    assert rms(predicted, asked) < 0.10


@pytest.mark.parametrize(("half", "other"), HALVES, ids=IDS)
def test_neither_a_constant_nor_a_time_in_proportion_would_do(half, other):
    asked = within(other, fit_pass_cost(half))
    constant = [np.median([each.seconds for each in half])] * len(asked)
    widest = half[-1]
    proportional = [widest.seconds * each.tokens / widest.tokens for each in asked]

    assert rms(constant, asked) > 0.5
    assert rms(proportional, asked) > 0.3
